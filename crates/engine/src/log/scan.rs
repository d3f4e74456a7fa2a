//! Going through the entries of a block on disk, over damage and to the end.

use std::io;

use super::entry::{self, EntryView, HEADER_LEN, Kind};
use super::format::BLOCK_HEADER_LEN;
use super::{Files, place_at};
use crate::index::{Place, Size, UNIT_BYTES as UNIT};

/// Bytes read at once.
const WINDOW: usize = 1 << 20;
/// A block takes fewer flushes than this from its opening until it is full, because each adds an
/// entry at least.
const BATCHES_PER_BLOCK: u32 = 1 << 20;

/// What is right and wrong with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    /// Both checksums fit.
    Intact,
    /// The header had a wrong bit or two, which the view shows put right.
    BadHeader,
    /// The body is not what was written; the header is.
    BadBody,
}

/// What stands next in a block.
#[derive(Debug)]
pub(crate) enum Scanned<'a> {
    /// An entry. Of a damaged one only the header may be believed.
    Entry { view: EntryView<'a>, place: Place, health: Health },
    /// Bytes in front of an entry that are no entry.
    Gap { from: usize, to: usize },
}

/// Reads a block a window at a time.
pub(crate) struct BlockScanner<'a> {
    files: &'a Files,
    id: u32,
    seed: u32,
    /// The number of the flush under way when the block was opened.
    batch: Option<u64>,
    offset: usize,
    end: usize,
    window: Vec<u8>,
    window_at: usize,
    /// An entry whose header was put right.
    mended: Vec<u8>,
}

impl<'a> BlockScanner<'a> {
    pub(super) fn new(
        files: &'a Files,
        id: u32,
        seed: u32,
        batch: Option<u64>,
        from: usize,
        to: usize,
    ) -> Self {
        BlockScanner {
            files,
            id,
            seed,
            batch,
            offset: from.max(BLOCK_HEADER_LEN),
            end: to,
            window: Vec::new(),
            window_at: 0,
            mended: Vec::new(),
        }
    }

    /// Where the next entry is looked for.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The next entry or gap; `None` when no entry follows. What follows the last entry is room
    /// that was never used, an earlier use of the block, or what a crash has cut off.
    pub fn next(&mut self) -> io::Result<Option<Scanned<'_>>> {
        let offset = self.offset;
        if !self.is_entry_at(offset)? {
            if let Some(len) = self.mend(offset)? {
                self.offset = offset + Size::of(len).bytes();
                return Ok(self.mended_entry(offset));
            }
            return Ok(self.find_next(offset)?.map(|to| {
                self.offset = to;
                Scanned::Gap { from: offset, to }
            }));
        }
        let len = entry::length(self.bytes(offset, HEADER_LEN)?).unwrap_or(HEADER_LEN);
        self.offset = offset + Size::of(len).bytes();
        let (id, bytes) = (self.id, self.bytes(offset, len)?);
        let Some(view) = EntryView::parse(bytes) else { return Ok(None) };
        let health = if view.has_intact_body() { Health::Intact } else { Health::BadBody };
        Ok(place_at(id, offset).ok().map(|place| Scanned::Entry { view, place, health }))
    }

    /// Bytes of the block, which lie before its end.
    fn bytes(&mut self, offset: usize, len: usize) -> io::Result<&[u8]> {
        let covered = offset >= self.window_at
            && offset + len <= self.window_at + self.window.len()
            && !self.window.is_empty();
        if !covered {
            let wanted = len.max(WINDOW).min(self.end - offset);
            self.window.resize(wanted, 0);
            self.window_at = offset;
            if let Err(error) = self.files.read_block(self.id, offset, &mut self.window) {
                self.window.clear();
                return Err(error);
            }
        }
        let at = offset - self.window_at;
        Ok(&self.window[at..at + len])
    }

    fn is_entry_at(&mut self, offset: usize) -> io::Result<bool> {
        if offset + HEADER_LEN > self.end {
            return Ok(false);
        }
        let (seed, batch, end) = (self.seed, self.batch, self.end);
        let header = self.bytes(offset, HEADER_LEN)?;
        Ok(is_plausible(header, batch, end - offset) && entry::is_header(header, seed))
    }

    /// Puts a header right that flipped bits have damaged, and says how long its entry is.
    fn mend(&mut self, offset: usize) -> io::Result<Option<usize>> {
        if offset + HEADER_LEN > self.end {
            return Ok(None);
        }
        let (seed, batch, end) = (self.seed, self.batch, self.end);
        let Some(header) = self.bytes(offset, HEADER_LEN)?.first_chunk() else { return Ok(None) };
        let Some(header) = entry::repaired_header(header, seed) else { return Ok(None) };
        if !is_plausible(&header, batch, end - offset) {
            return Ok(None);
        }
        let len = entry::length(&header).unwrap_or(HEADER_LEN);
        self.mended = self.bytes(offset, len)?.to_vec();
        self.mended[..HEADER_LEN].copy_from_slice(&header);
        Ok(Some(len))
    }

    fn mended_entry(&self, offset: usize) -> Option<Scanned<'_>> {
        let view = EntryView::parse(&self.mended)?;
        let place = place_at(self.id, offset).ok()?;
        let health = if view.has_intact_body() { Health::BadHeader } else { Health::BadBody };
        Some(Scanned::Entry { view, place, health })
    }

    /// Looks for the next entry behind bytes that are none.
    fn find_next(&mut self, from: usize) -> io::Result<Option<usize>> {
        let mut offset = from + UNIT;
        while offset + HEADER_LEN <= self.end {
            if self.is_entry_at(offset)? {
                return Ok(Some(offset));
            }
            offset += UNIT;
        }
        Ok(None)
    }
}

/// Whether a header may be one, before its checksum is computed.
fn is_plausible(header: &[u8], batch: Option<u64>, room: usize) -> bool {
    let Some(len) = entry::length(header) else { return false };
    if len < HEADER_LEN || Size::of(len.min(room)).bytes() > room || len > room {
        return false;
    }
    let set_len = header[60];
    let key_len = u32::from_le_bytes([header[61], header[62], header[63], 0]) as usize;
    let kind = header[59] & 0x0f;
    let is_kind = kind <= Kind::Tombstone as u8;
    let entry_batch = u32::from_le_bytes([header[12], header[13], header[14], header[15]]);
    let is_batch =
        batch.is_none_or(|batch| entry_batch.wrapping_sub(batch as u32) < BATCHES_PER_BLOCK);
    is_kind && is_batch && HEADER_LEN + usize::from(set_len) + key_len <= len
}

/// The whole number of an entry's flush, given the one when its block was opened.
pub(super) fn full_batch(entry_batch: u32, block_batch: u64) -> u64 {
    block_batch + u64::from(entry_batch.wrapping_sub(block_batch as u32))
}

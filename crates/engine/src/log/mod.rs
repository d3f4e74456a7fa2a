//! The block log: where records live.
//!
//! A record is an [`entry`], written once and never changed. A write appends a new entry to the
//! active block and lets the index point at it; the old entry becomes garbage in its block. A block
//! that is full is sealed; a sealed block without live entries is freed at once, one with few is
//! emptied by [defragmentation](crate::Namespace::step).
//!
//! Who may look at an entry: the holder of the lock of its partition, for as long as the lock is
//! held. An entry stops being live only under the write lock of its partition, and a block is freed
//! only when nothing in it is live and nobody has it pinned, so no reader loses its bytes.

mod block;
pub(crate) mod entry;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use cairn_value::{Error, ResultCode};
use parking_lot::Mutex;

use crate::index::{Place, Size, UNIT_BYTES as UNIT};
use block::{BlockTable, Slot};
use entry::EntryView;

/// Bytes of a block unless the namespace says otherwise; also the largest a place can address.
pub const BLOCK_SIZE_DEFAULT: usize = 16 << 20;

/// Blocks that only defragmentation may take, so that it can always free others.
const BLOCKS_RESERVED: usize = 2;

/// Who asks for room in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    /// A command.
    Foreground,
    /// Defragmentation, which may use the reserve.
    Defrag,
}

/// A block, told apart from others that use the same slot before or after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockRef {
    id: u32,
    openings: u32,
}

/// The log of one namespace.
#[derive(Debug)]
pub(crate) struct Log {
    table: BlockTable,
    active: Mutex<Active>,
    block_size: usize,
    blocks_max: usize,
    blocks_used: AtomicUsize,
    live_bytes: AtomicU64,
    appended_bytes: AtomicU64,
    sequence: AtomicU64,
    sealed_sparse: Mutex<Vec<BlockRef>>,
}

/// The block that takes new entries, and the ids to use next.
#[derive(Debug)]
struct Active {
    block: Option<u32>,
    used: usize,
    next_id: u32,
    free_ids: Vec<u32>,
}

/// Sizes of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogStats {
    /// Bytes of live entries, padding included.
    pub live_bytes: u64,
    /// Blocks in use.
    pub blocks: u64,
    /// Bytes of a block.
    pub block_size: u64,
    /// Bytes appended since start, moves by defragmentation included.
    pub appended_bytes: u64,
}

impl Log {
    pub fn new(block_size: usize, storage_size: u64) -> Self {
        Log {
            table: BlockTable::new(block_size),
            active: Mutex::new(Active { block: None, used: 0, next_id: 0, free_ids: Vec::new() }),
            block_size,
            blocks_max: (storage_size / block_size as u64).min(u64::from(Place::BLOCK_MAX))
                as usize,
            blocks_used: AtomicUsize::new(0),
            live_bytes: AtomicU64::new(0),
            appended_bytes: AtomicU64::new(0),
            sequence: AtomicU64::new(1),
            sealed_sparse: Mutex::new(Vec::new()),
        }
    }

    pub fn stats(&self) -> LogStats {
        LogStats {
            live_bytes: self.live_bytes.load(Ordering::Relaxed),
            blocks: self.blocks_used.load(Ordering::Relaxed) as u64,
            block_size: self.block_size as u64,
            appended_bytes: self.appended_bytes.load(Ordering::Relaxed),
        }
    }

    /// True when free blocks run out, so that writers should help defragmentation along.
    pub fn is_tight(&self) -> bool {
        self.blocks_used.load(Ordering::Relaxed) + 2 * BLOCKS_RESERVED >= self.blocks_max
    }

    /// The number of the next write; larger is later.
    pub fn next_sequence(&self) -> u64 {
        self.sequence.fetch_add(1, Ordering::Relaxed)
    }

    /// Room for an entry of `len` bytes. Fill it, then [`Reservation::commit`] it; dropping it
    /// leaves a void entry behind.
    pub fn reserve(&self, len: usize, writer: Writer) -> Result<Reservation<'_>, Error> {
        let size = Size::of(len);
        let allocated = size.bytes();
        debug_assert!(allocated <= self.block_size);
        let mut active = self.active.lock();
        if active.block.is_none() || active.used + allocated > self.block_size {
            self.open_block(&mut active, writer)?;
        }
        let id = active.block.ok_or(ResultCode::ServerError)?;
        let offset = active.used;
        active.used += allocated;
        let slot = self.table.slot(id);
        slot.pin();
        slot.set_used(active.used);
        drop(active);
        self.appended_bytes.fetch_add(allocated as u64, Ordering::Relaxed);
        let place = place_at(id, offset)?;
        Ok(Reservation { log: self, slot, place, offset, len, size, committed: false })
    }

    fn open_block(&self, active: &mut Active, writer: Writer) -> Result<(), Error> {
        let reserve = if writer == Writer::Defrag { 0 } else { BLOCKS_RESERVED };
        let used = self.blocks_used.load(Ordering::Relaxed);
        if used + reserve >= self.blocks_max {
            return Err(Error::new(
                ResultCode::DeviceOverload,
                format!(
                    "all {} blocks of storage are in use and defragmentation has not freed one \
                     yet; retry, or raise storage.size ({} bytes)",
                    self.blocks_max,
                    self.blocks_max as u64 * self.block_size as u64
                ),
            ));
        }
        if let Some(full) = active.block.take() {
            self.seal(full, active);
        }
        let id = active.free_ids.pop().unwrap_or_else(|| {
            active.next_id += 1;
            active.next_id - 1
        });
        self.table.slot(id).open(self.block_size);
        self.blocks_used.fetch_add(1, Ordering::Relaxed);
        active.block = Some(id);
        active.used = 0;
        Ok(())
    }

    fn seal(&self, id: u32, active: &mut Active) {
        let slot = self.table.slot(id);
        slot.seal();
        if slot.is_idle() {
            self.free(id, active);
        }
    }

    /// The entry at `place`. The caller holds the lock of the entry's partition for as long as it
    /// uses the entry, and got the place from the index under that lock.
    pub fn entry(&self, place: Place) -> Result<EntryView<'_>, Error> {
        // SAFETY: the index leads to filled entries only, and an entry that is in the index stays
        // as long as the caller holds the lock of its partition (see the module's text).
        unsafe { self.entry_in(self.table.slot(place.block()), place.unit() as usize * UNIT) }
            .ok_or_else(|| {
                Error::new(ResultCode::ServerError, format!("no entry stands at {place:?}"))
            })
    }

    /// The entry at an offset of a block. Its length is read first, so that the slice covers this
    /// entry and nothing that somebody else may be filling.
    ///
    /// # Safety
    /// As for [`Slot::slice`].
    unsafe fn entry_in<'a>(&self, slot: &Slot, offset: usize) -> Option<EntryView<'a>> {
        // SAFETY: as the caller vouches; every entry has a header.
        let header: &[u8] = unsafe { slot.slice(offset, entry::HEADER_LEN) }?;
        let len = entry::length(header)?;
        // SAFETY: as the caller vouches.
        EntryView::parse(unsafe { slot.slice(offset, len) }?)
    }

    /// Gives up a live entry. The caller holds the write lock of its partition and has taken the
    /// entry out of the index.
    pub fn release(&self, place: Place, size: Size, defrag_below_percent: u32) {
        let id = place.block();
        self.live_bytes.fetch_sub(size.bytes() as u64, Ordering::Relaxed);
        let slot = self.table.slot(id);
        let live = slot.remove_live(size.units());
        if !slot.is_sealed() {
            return;
        }
        if live == 0 {
            self.free_if_idle(id);
        } else if (live as usize * UNIT) * 100 < self.block_size * defrag_below_percent as usize
            && slot.mark_sparse()
        {
            self.sealed_sparse.lock().push(BlockRef { id, openings: slot.openings() });
        }
    }

    /// A sealed block with little live data, to be emptied.
    pub fn take_sparse(&self) -> Option<BlockRef> {
        self.sealed_sparse.lock().pop()
    }

    /// Puts a block back that could not be emptied now.
    pub fn return_sparse(&self, block: BlockRef) {
        self.sealed_sparse.lock().insert(0, block);
    }

    /// Keeps a sealed block from being freed while its entries are walked; `None` when it is gone.
    pub fn pin(&self, block: BlockRef) -> Option<Pin<'_>> {
        // Under the lock of the active block, because freeing happens there, too.
        let _active = self.active.lock();
        let slot = self.table.slot(block.id);
        let is_there = slot.is_open() && slot.is_sealed() && slot.openings() == block.openings;
        is_there.then(|| {
            slot.pin();
            Pin { log: self, slot, id: block.id }
        })
    }

    fn free_if_idle(&self, id: u32) {
        let mut active = self.active.lock();
        let slot = self.table.slot(id);
        if active.block != Some(id) && slot.is_open() && slot.is_idle() {
            self.free(id, &mut active);
        }
    }

    /// Frees a block. The lock of `active` makes sure that it happens once, and that nobody pins
    /// it at the same time.
    fn free(&self, id: u32, active: &mut Active) {
        // SAFETY: the block is sealed, has no live entry and is not pinned, so no index entry
        // leads here and no reservation or walk is going on. Readers come through the index under
        // the lock of their partition, and the entry that died last died under the write lock of
        // its partition, after all its readers had gone.
        unsafe { self.table.slot(id).close(self.block_size) };
        self.blocks_used.fetch_sub(1, Ordering::Relaxed);
        active.free_ids.push(id);
    }
}

fn place_at(block: u32, offset: usize) -> Result<Place, Error> {
    Place::new(block, (offset / UNIT) as u32).ok_or(ResultCode::ServerError.into())
}

/// Room for one entry that nobody else can see yet.
pub(crate) struct Reservation<'a> {
    log: &'a Log,
    slot: &'a Slot,
    place: Place,
    offset: usize,
    len: usize,
    size: Size,
    committed: bool,
}

impl Reservation<'_> {
    /// What the entry takes in the log.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The bytes to fill.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: `reserve` hands out every range of a block once, this reservation is borrowed
        // mutably, and no index entry leads here before `commit`.
        unsafe { self.slot.slice_mut(self.offset, self.len) }
    }

    /// The bytes as filled so far.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: this reservation owns the range, and `bytes_mut` borrows it mutably.
        unsafe { self.slot.slice(self.offset, self.len) }.unwrap_or_default()
    }

    /// Makes the entry live. The caller lets the index point at it right away, under the write
    /// lock of the partition.
    pub fn commit(mut self) -> Place {
        self.committed = true;
        self.slot.add_live(self.size.units());
        self.log.live_bytes.fetch_add(self.size.bytes() as u64, Ordering::Relaxed);
        self.place
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if !self.committed {
            let len = self.len;
            entry::write_void(self.bytes_mut(), len);
        }
        self.slot.unpin();
        if self.slot.is_idle() {
            self.log.free_if_idle(self.place.block());
        }
    }
}

/// A block that stays while its entries are walked.
pub(crate) struct Pin<'a> {
    log: &'a Log,
    slot: &'a Slot,
    id: u32,
}

impl Pin<'_> {
    /// The entry at this offset and the offset behind it; `None` at the end of the block. Only for
    /// a block that nobody fills any more, see [`is_being_filled`](Self::is_being_filled).
    pub fn entry_at(&self, offset: usize) -> Option<(EntryView<'_>, Place, usize)> {
        if self.is_being_filled() {
            return None;
        }
        // SAFETY: the block is sealed and every reservation in it was filled or voided, and the
        // pin keeps it.
        let entry = unsafe { self.log.entry_in(self.slot, offset) }?;
        let next = offset + Size::of(entry.len()).bytes();
        Some((entry, place_at(self.id, offset).ok()?, next))
    }

    /// Lets the block be marked sparse again.
    pub fn clear_sparse(&self) {
        self.slot.clear_sparse();
    }

    /// Marks the block as one to be emptied; true for the first caller.
    pub fn mark_sparse(&self) -> bool {
        self.slot.mark_sparse()
    }

    /// True when a writer is still filling a part of the block.
    pub fn is_being_filled(&self) -> bool {
        !self.slot.is_pinned_once()
    }

    /// Bytes of live entries in the block.
    pub fn live_units(&self) -> u32 {
        self.slot.live_units()
    }
}

impl Drop for Pin<'_> {
    fn drop(&mut self) {
        self.slot.unpin();
        if self.slot.is_idle() {
            self.log.free_if_idle(self.id);
        }
    }
}

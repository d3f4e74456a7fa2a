//! Reading entries, from memory or through the page cache.

use std::io;
use std::sync::Arc;

use cairn_value::{Error, ResultCode};

use super::block::{Resident, Slot};
use super::cache::{Page, PageName};
use super::entry::{self, EntryView, HEADER_LEN};
use super::{Files, Log};
use crate::index::{Place, UNIT_BYTES as UNIT};

/// An entry that spans more pages than this is read past the cache.
const PAGES_ASSEMBLED_MAX: usize = 8;

/// An entry, wherever its bytes are.
#[derive(Debug)]
pub(crate) enum EntryRef<'a> {
    /// In a block of a log in memory.
    Memory(EntryView<'a>),
    /// In a block that is not evicted as long as this lives.
    Resident { block: Resident<'a>, offset: usize, len: usize },
    /// In a page.
    Page { page: Arc<Page>, offset: usize, len: usize },
    /// Put together from several pages.
    Copy(Box<[u8]>),
}

impl EntryRef<'_> {
    /// The entry's fields.
    pub fn view(&self) -> EntryView<'_> {
        let bytes = match self {
            EntryRef::Memory(view) => return *view,
            EntryRef::Resident { block, offset, len } => {
                // SAFETY: `Log::entry` found a filled entry in this range.
                unsafe { block.slice(*offset, *len) }.unwrap_or_default()
            }
            EntryRef::Page { page, offset, len } => &page.bytes()[*offset..*offset + *len],
            EntryRef::Copy(bytes) => bytes,
        };
        EntryView::parse(bytes).expect("lengths were checked when the reference was made")
    }
}

impl Log {
    /// The entry at `place`. The caller holds the lock of the entry's partition for as long as it
    /// uses the entry, and got the place from the index under that lock.
    pub fn entry(&self, place: Place) -> Result<EntryRef<'_>, Error> {
        let slot = self.table.slot(place.block());
        let offset = place.unit() as usize * UNIT;
        let Some(files) = &self.files else {
            // SAFETY: the index leads to filled entries only, and an entry that is in the index
            // stays as long as the caller holds the lock of its partition (see the module's text).
            let view = unsafe { self.entry_in(slot, offset) };
            return view.map(EntryRef::Memory).ok_or_else(|| missing(place));
        };
        if let Some(block) = slot.resident() {
            // SAFETY: the index leads to filled entries only.
            let entry = unsafe { resident_entry(&block, offset) };
            let len = entry.ok_or_else(|| missing(place))?.len();
            return Ok(EntryRef::Resident { block, offset, len });
        }
        files.entry(slot, place)
    }

    /// The entry at an offset of a block. Its length is read first, so that the slice covers this
    /// entry and nothing that somebody else may be filling.
    ///
    /// # Safety
    /// As for [`Slot::slice`].
    pub(super) unsafe fn entry_in<'a>(&self, slot: &Slot, offset: usize) -> Option<EntryView<'a>> {
        // SAFETY: as the caller vouches; every entry has a header.
        let header: &[u8] = unsafe { slot.slice(offset, HEADER_LEN) }?;
        let len = entry::length(header)?;
        // SAFETY: as the caller vouches.
        EntryView::parse(unsafe { slot.slice(offset, len) }?)
    }

    /// The header of the entry at `place`, on the same terms. One damaged bit is put right, so
    /// that a damaged record is still known for what it is.
    pub fn header(&self, place: Place) -> Result<[u8; HEADER_LEN], Error> {
        let slot = self.table.slot(place.block());
        let offset = place.unit() as usize * UNIT;
        let Some(files) = &self.files else {
            let entry = self.entry(place)?;
            return Ok(*entry.view().bytes().first_chunk().ok_or_else(|| missing(place))?);
        };
        if let Some(block) = slot.resident() {
            // SAFETY: the index leads to filled entries only.
            let entry = unsafe { resident_entry(&block, offset) }.ok_or_else(|| missing(place))?;
            return Ok(*entry.bytes().first_chunk().ok_or_else(|| missing(place))?);
        }
        let mut header = [0; HEADER_LEN];
        files.copy(slot, place.block(), offset, &mut header).map_err(|e| unreadable(place, &e))?;
        files.mended(slot, place, &header)
    }
}

/// # Safety
/// A filled entry stands at the offset.
unsafe fn resident_entry<'a>(block: &'a Resident<'_>, offset: usize) -> Option<EntryView<'a>> {
    // SAFETY: as the caller vouches; every entry has a header.
    let len = entry::length(unsafe { block.slice(offset, HEADER_LEN) }?)?;
    // SAFETY: as the caller vouches.
    EntryView::parse(unsafe { block.slice(offset, len) }?)
}

impl Files {
    fn entry<'a>(&self, slot: &Slot, place: Place) -> Result<EntryRef<'a>, Error> {
        let (block, offset) = (place.block(), place.unit() as usize * UNIT);
        let page_size = self.cache.page_size();
        let (number, within) = (offset / page_size, offset % page_size);
        if within + HEADER_LEN > page_size {
            let mut header = [0; HEADER_LEN];
            self.copy(slot, block, offset, &mut header).map_err(|e| unreadable(place, &e))?;
            return self.assembled(slot, place, &header);
        }
        let page = self.page(slot, block, number).map_err(|e| unreadable(place, &e))?;
        let bytes = &page.bytes()[within..];
        if page.is_verified(within) {
            let len = entry::length(bytes).ok_or_else(|| missing(place))?;
            return Ok(EntryRef::Page { page, offset: within, len });
        }
        let header = bytes.first_chunk().ok_or_else(|| missing(place))?;
        if !entry::is_header(header, slot.seed()) {
            return self.assembled(slot, place, header);
        }
        let len = entry::length(header).ok_or_else(|| missing(place))?;
        let Some(bytes) = bytes.get(..len) else { return self.assembled(slot, place, header) };
        self.check_body(place, bytes)?;
        page.set_verified(within);
        Ok(EntryRef::Page { page, offset: within, len })
    }

    /// The entry as a copy, for one that spans pages or whose header has a wrong bit.
    fn assembled<'a>(
        &self,
        slot: &Slot,
        place: Place,
        header: &[u8; HEADER_LEN],
    ) -> Result<EntryRef<'a>, Error> {
        let header = self.mended(slot, place, header)?;
        let offset = place.unit() as usize * UNIT;
        let len = entry::length(&header).filter(|len| offset + len <= self.block_size);
        let mut bytes = vec![0; len.ok_or_else(|| missing(place))?].into_boxed_slice();
        self.copy(slot, place.block(), offset, &mut bytes).map_err(|e| unreadable(place, &e))?;
        let start = bytes.get_mut(..HEADER_LEN).ok_or_else(|| missing(place))?;
        start.copy_from_slice(&header);
        self.check_body(place, &bytes)?;
        Ok(EntryRef::Copy(bytes))
    }

    /// A header that fits its checksum, if need be after a flipped bit was put right.
    fn mended(
        &self,
        slot: &Slot,
        place: Place,
        header: &[u8; HEADER_LEN],
    ) -> Result<[u8; HEADER_LEN], Error> {
        if entry::is_header(header, slot.seed()) {
            return Ok(*header);
        }
        entry::repaired_header(header, slot.seed()).ok_or_else(|| {
            self.count_corrupt();
            corrupt(place, None)
        })
    }

    fn check_body(&self, place: Place, bytes: &[u8]) -> Result<(), Error> {
        let entry = EntryView::parse(bytes);
        if entry.is_some_and(|entry| entry.has_intact_body()) || crate::sabotage::skips_body_check()
        {
            return Ok(());
        }
        self.count_corrupt();
        Err(corrupt(place, entry))
    }

    /// Copies a part of a block.
    fn copy(&self, slot: &Slot, block: u32, offset: usize, out: &mut [u8]) -> io::Result<()> {
        let page_size = self.cache.page_size();
        if out.len() > PAGES_ASSEMBLED_MAX * page_size {
            return self.read_block(block, offset, out);
        }
        let mut done = 0;
        while done < out.len() {
            let at = offset + done;
            let page = self.page(slot, block, at / page_size)?;
            let bytes = &page.bytes()[at % page_size..];
            let len = bytes.len().min(out.len() - done);
            out[done..done + len].copy_from_slice(&bytes[..len]);
            done += len;
        }
        Ok(())
    }

    fn page(&self, slot: &Slot, block: u32, page: usize) -> io::Result<Arc<Page>> {
        let name = PageName { block, openings: slot.openings(), page: page as u32 };
        let offset = page * self.cache.page_size();
        self.cache.page(name, |bytes| self.read_block(block, offset, bytes))
    }
}

fn missing(place: Place) -> Error {
    Error::new(ResultCode::ServerError, format!("no entry stands at {place:?}"))
}

fn unreadable(place: Place, error: &io::Error) -> Error {
    Error::new(ResultCode::ServerError, format!("the entry at {place:?} cannot be read: {error}"))
}

fn corrupt(place: Place, entry: Option<EntryView<'_>>) -> Error {
    let whose = entry.map_or("the record".into(), |entry| format!("record {}", entry.digest()));
    Error::new(
        ResultCode::ServerError,
        format!(
            "{whose} at {place:?} is corrupt on disk: its checksum does not fit; restore it from a \
             copy with a write that replaces the record"
        ),
    )
}

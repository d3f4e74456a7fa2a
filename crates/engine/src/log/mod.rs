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
//!
//! With [`Files`] the log is on disk, too. Blocks are in memory while they are filled and until a
//! [flush](flush) has made them durable; then they are read through a [cache]. A block that
//! was freed is reused only when the disk holds all that was appended before it was freed, and
//! when its header says durably that it was given up; so a crash at any time leaves each record's
//! newest durable version, and no version comes back that a deletion or a newer one has hidden.

mod block;
mod cache;
pub(crate) mod entry;
mod flush;
pub(crate) mod format;
mod open;
mod read;
mod scan;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use cairn_value::{Error, ResultCode};
use parking_lot::Mutex;

use crate::index::{Place, Size, UNIT_BYTES as UNIT};
use block::{BlockTable, Slot};
use entry::{EntryView, Stamp};
pub(crate) use flush::Files;
use format::BlockHeader;
pub(crate) use open::{BlockRow, Survey};
pub(crate) use read::EntryRef;
pub(crate) use scan::{BlockScanner, Health, Scanned};

/// Bytes of a block unless the namespace says otherwise; also the largest a place can address.
pub const BLOCK_SIZE_DEFAULT: usize = 16 << 20;

/// Blocks beside the storage size that only defragmentation may take, so that it can always free
/// others.
const BLOCKS_RESERVED: usize = 2;

/// Who asks for room in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    /// A command.
    Foreground,
    /// A deletion, which may use a part of the reserve: it leads to free blocks.
    Delete,
    /// Defragmentation, which may use the reserve.
    Defrag,
}

impl Writer {
    fn blocks_spared(self) -> usize {
        match self {
            Writer::Foreground => BLOCKS_RESERVED,
            Writer::Delete => BLOCKS_RESERVED / 2,
            Writer::Defrag => 0,
        }
    }
}

/// A block, told apart from others that use the same slot before or after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    user_bytes: AtomicU64,
    sequence: AtomicU64,
    sealed_sparse: Mutex<Vec<BlockRef>>,
    instance: u64,
    files: Option<Files>,
}

/// The block that takes new entries, and the ids to use next.
#[derive(Debug)]
struct Active {
    block: Option<u32>,
    used: usize,
    next_id: u32,
    free_ids: Vec<u32>,
    next_stamp: u64,
    /// Bytes appended so far: the position in the log of what comes next.
    position: u64,
    /// The number of the flush that will write what is appended now.
    batch: u64,
    /// Sealed blocks of which something is not on disk yet.
    unflushed: Vec<u32>,
    /// Freed blocks whose bytes are on disk and may still be needed after a crash.
    freed: Vec<u32>,
    /// Nothing is appended any more.
    closed: bool,
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
    /// Bytes appended since start on behalf of commands.
    pub user_bytes: u64,
    /// Bytes written to disk since start; divided by `user_bytes` it is the write amplification.
    pub disk_written_bytes: u64,
    /// Flushes since start.
    pub flushes: u64,
    /// Bytes of deletions that are kept because what they delete is still on disk.
    pub tombstone_bytes: u64,
    /// Corrupt entries met since start.
    pub corrupt_entries: u64,
    /// Bytes that were read since start only to find damage.
    pub scrubbed_bytes: u64,
    /// Blocks that cannot be used because their header is damaged.
    pub damaged_blocks: u64,
}

impl LogStats {
    /// Bytes written to disk for each byte that commands appended.
    pub fn write_amplification(&self) -> f64 {
        self.disk_written_bytes as f64 / self.user_bytes.max(1) as f64
    }
}

impl Log {
    /// A log in memory.
    pub fn new(block_size: usize, storage_size: u64) -> Self {
        Log::with(block_size, storage_size, 0, None)
    }

    fn with(block_size: usize, storage_size: u64, instance: u64, files: Option<Files>) -> Self {
        let active = Active {
            block: None,
            used: 0,
            next_id: 0,
            free_ids: Vec::new(),
            next_stamp: 1,
            position: 0,
            batch: 1,
            unflushed: Vec::new(),
            freed: Vec::new(),
            closed: false,
        };
        Log {
            table: BlockTable::new(block_size),
            active: Mutex::new(active),
            block_size,
            blocks_max: (storage_size / block_size as u64 + BLOCKS_RESERVED as u64)
                .min(u64::from(Place::BLOCK_MAX)) as usize,
            blocks_used: AtomicUsize::new(0),
            live_bytes: AtomicU64::new(0),
            appended_bytes: AtomicU64::new(0),
            user_bytes: AtomicU64::new(0),
            sequence: AtomicU64::new(1),
            sealed_sparse: Mutex::new(Vec::new()),
            instance,
            files,
        }
    }

    pub fn stats(&self) -> LogStats {
        let mut stats = LogStats {
            live_bytes: self.live_bytes(),
            blocks: self.blocks_used.load(Ordering::Relaxed) as u64,
            block_size: self.block_size as u64,
            appended_bytes: self.appended_bytes.load(Ordering::Relaxed),
            user_bytes: self.user_bytes.load(Ordering::Relaxed),
            ..LogStats::default()
        };
        if let Some(files) = &self.files {
            files.add_stats(&mut stats);
            stats.tombstone_bytes =
                self.slots().map(|(_, slot)| u64::from(slot.tomb_units()) * UNIT as u64).sum();
        }
        stats
    }

    /// Bytes of live entries, padding included.
    pub fn live_bytes(&self) -> u64 {
        self.live_bytes.load(Ordering::Relaxed)
    }

    /// True when free blocks run out, so that writers should help defragmentation along.
    pub fn is_tight(&self) -> bool {
        self.blocks_used.load(Ordering::Relaxed) + 2 * BLOCKS_RESERVED >= self.blocks_max
    }

    /// The number of the next write; larger is later.
    pub fn next_sequence(&self) -> u64 {
        self.sequence.fetch_add(1, Ordering::Relaxed)
    }

    /// Refuses everything that would be appended from now on.
    pub fn close(&self) {
        self.active.lock().closed = true;
    }

    /// The files, when the log is on disk.
    pub fn files(&self) -> Option<&Files> {
        self.files.as_ref()
    }

    /// All slots that have been used, with their ids.
    fn slots(&self) -> impl Iterator<Item = (u32, &Slot)> {
        let end = self.active.lock().next_id;
        (0..end).map(|id| (id, self.table.slot(id)))
    }

    /// Room for an entry of `len` bytes. Fill it, then [`Reservation::commit`] it; dropping it
    /// leaves a void entry behind.
    pub fn reserve(&self, len: usize, writer: Writer) -> Result<Reservation<'_>, Error> {
        let size = Size::of(len);
        let allocated = size.bytes();
        debug_assert!(allocated <= self.block_size - format::BLOCK_HEADER_LEN);
        let mut active = self.active.lock();
        if active.closed {
            return Err(Error::new(ResultCode::Forbidden, "the namespace was closed"));
        }
        if active.block.is_none() || active.used + allocated > self.block_size {
            self.open_block(&mut active, writer)?;
        }
        let id = active.block.ok_or(ResultCode::ServerError)?;
        let offset = active.used;
        active.used += allocated;
        active.position += allocated as u64;
        let slot = self.table.slot(id);
        slot.pin();
        slot.set_used(active.used);
        let filling = self.files.as_ref().map(|files| files.begin_filling(active.batch));
        let stamp = Stamp { seed: slot.seed(), batch: active.batch as u32 };
        let end = active.position;
        drop(active);
        self.appended_bytes.fetch_add(allocated as u64, Ordering::Relaxed);
        if writer != Writer::Defrag {
            self.user_bytes.fetch_add(allocated as u64, Ordering::Relaxed);
        }
        let place = place_at(id, offset)?;
        let _filling = filling;
        Ok(Reservation {
            log: self,
            slot,
            place,
            offset,
            len,
            size,
            stamp,
            end,
            _filling,
            committed: false,
        })
    }

    /// Why there is no block to write to: nothing can be freed, or nothing was freed yet.
    fn no_block(&self) -> Error {
        let blocks = self.blocks_max - BLOCKS_RESERVED;
        let size = blocks as u64 * self.block_size as u64;
        if self.sealed_sparse.lock().is_empty() {
            let text = format!(
                "all {blocks} blocks of storage are full (storage.size, {size} bytes); delete \
                 records or raise storage.size"
            );
            return Error::new(ResultCode::NoSpace, text);
        }
        let text = format!(
            "all {blocks} blocks of storage are in use and defragmentation has not freed one yet; \
             retry, or raise storage.size ({size} bytes)"
        );
        Error::new(ResultCode::DeviceOverload, text)
    }

    fn open_block(&self, active: &mut Active, writer: Writer) -> Result<(), Error> {
        let used = self.blocks_used.load(Ordering::Relaxed);
        if used + writer.blocks_spared() >= self.blocks_max {
            return Err(self.no_block());
        }
        let id = match active.free_ids.last() {
            Some(&id) => id,
            None => {
                if let Some(files) = &self.files {
                    files.allocate_block(active.next_id, self.block_size)?;
                }
                active.next_id
            }
        };
        if let Some(full) = active.block.take() {
            self.seal(full, active);
        }
        // Sealing may have freed a block, which is then behind the one that was chosen.
        match active.free_ids.iter().position(|free| *free == id) {
            Some(at) => drop(active.free_ids.swap_remove(at)),
            None => active.next_id += 1,
        }
        let (stamp, batch) = (active.next_stamp, active.batch);
        active.next_stamp += 1;
        let header = BlockHeader { id, instance: self.instance, stamp, batch };
        self.table.slot(id).open(self.block_size, &header);
        self.blocks_used.fetch_add(1, Ordering::Relaxed);
        active.block = Some(id);
        active.used = format::BLOCK_HEADER_LEN;
        active.position += format::BLOCK_HEADER_LEN as u64;
        Ok(())
    }

    fn seal(&self, id: u32, active: &mut Active) {
        let slot = self.table.slot(id);
        slot.seal();
        if self.files.is_some() {
            active.unflushed.push(id);
        }
        if slot.is_idle() {
            self.free(id, active);
        }
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
        if live == 0 && slot.tomb_units() == 0 && !slot.hides_older() {
            self.free_if_idle(id);
        } else if self.is_sparse(slot, defrag_below_percent) {
            self.queue_sparse(id);
        }
    }

    fn is_sparse(&self, slot: &Slot, percent: u32) -> bool {
        let kept = (slot.live_units() + slot.tomb_units()) as usize * UNIT;
        slot.live_units() == 0 && percent > 0 || kept * 100 < self.block_size * percent as usize
    }

    /// Lets a sealed block be emptied; false when it is queued already or cannot be.
    fn queue_sparse(&self, id: u32) -> bool {
        let slot = self.table.slot(id);
        let is_new = !slot.is_damaged() && slot.mark_sparse();
        if is_new {
            self.sealed_sparse.lock().push(BlockRef { id, openings: slot.openings() });
        }
        is_new
    }

    /// An expired record that hides older versions of itself was taken out of the index. Its entry
    /// goes on hiding them, so its block may not be freed before a tombstone does.
    pub fn hide_older(&self, place: Place) {
        if self.files.is_some() {
            self.table.slot(place.block()).set_hides_older(true);
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
        let slot = self.table.slot(id);
        match &self.files {
            None => {
                // SAFETY: the block is sealed, has no live entry and is not pinned, so no index
                // entry leads here and no reservation or walk is going on. Readers come through
                // the index under the lock of their partition, and the entry that died last died
                // under the write lock of its partition, after all its readers had gone.
                unsafe { slot.close(self.block_size) };
            }
            Some(files) => {
                active.unflushed.retain(|unflushed| *unflushed != id);
                if let Some(retired) = slot.close_shared(self.block_size) {
                    files.bury(id, retired);
                }
                if slot.written() > 0 {
                    // Counted as used until the disk has forgotten it.
                    active.freed.push(id);
                    return;
                }
                slot.clear_stamp();
            }
        }
        uncount_block(self);
        active.free_ids.push(id);
    }
}

/// A block is free to be used again.
fn uncount_block(log: &Log) {
    log.blocks_used.fetch_sub(1, Ordering::Relaxed);
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
    stamp: Stamp,
    end: u64,
    /// Dropped last, after the entry was filled or voided: a flush waits for it.
    _filling: Option<flush::Filling<'a>>,
    committed: bool,
}

impl Reservation<'_> {
    /// What the entry takes in the log.
    pub fn size(&self) -> Size {
        self.size
    }

    /// What ties the entry to its place.
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// The position in the log behind the entry.
    pub fn end(&self) -> u64 {
        self.end
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

    /// Leaves a tombstone, which nothing points at.
    pub fn commit_tombstone(mut self) {
        self.committed = true;
        self.slot.add_tomb(self.size.units());
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if !self.committed {
            let stamp = self.stamp;
            entry::write_void(self.bytes_mut(), stamp);
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
    /// a block in memory that nobody fills any more, see
    /// [`is_being_filled`](Self::is_being_filled).
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

    /// Goes through the entries of a block on disk; `None` while it is in memory.
    pub fn scan(&self, offset: usize) -> Option<BlockScanner<'_>> {
        let files = self.log.files.as_ref()?;
        if self.slot.is_resident() || self.is_being_filled() {
            return None;
        }
        Some(files.scanner(self.id, self.slot.seed(), None, offset, self.slot.used()))
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

    /// Units of live entries in the block.
    pub fn live_units(&self) -> u32 {
        self.slot.live_units()
    }

    /// Nothing in the block is needed any more to hide something else.
    pub fn clear_tombs(&self) {
        self.slot.clear_tombs();
        self.slot.set_hides_older(false);
    }

    /// Whether records expired here that hide older versions of themselves.
    pub fn hides_older(&self) -> bool {
        self.slot.hides_older()
    }

    /// The stamp of the block.
    pub fn stamp(&self) -> u64 {
        self.slot.stamp()
    }

    /// Where the first entry starts.
    pub fn first_entry(&self) -> usize {
        format::BLOCK_HEADER_LEN
    }

    /// Whether something live in the block cannot be read.
    pub fn is_damaged(&self) -> bool {
        self.slot.is_damaged()
    }

    /// Something live in the block cannot be read, so that it cannot be emptied.
    pub fn set_damaged(&self) {
        self.slot.set_damaged();
    }

    /// Whether a tombstone in this block still hides something on disk, given the oldest stamp
    /// there. What it hides was written before it, so it lies in blocks of earlier stamps, or in
    /// this one, which goes as a whole.
    pub fn needs_tombstone(&self, covers: Option<(u32, u64)>, oldest_stamp: u64) -> bool {
        match covers {
            Some((block, stamp)) => block != self.id && self.log.table_stamp(block) == Some(stamp),
            None => oldest_stamp < self.slot.stamp(),
        }
    }
}

impl Log {
    /// The oldest stamp of the blocks that the disk holds.
    pub fn oldest_stamp(&self) -> u64 {
        self.slots().map(|(_, slot)| slot.stamp()).filter(|stamp| *stamp != 0).min().unwrap_or(0)
    }

    /// Sealed blocks with tombstones or hidden versions, which may be needed no more.
    pub fn blocks_with_tombstones(&self) -> Vec<BlockRef> {
        self.slots()
            .filter(|(_, slot)| slot.is_open() && slot.is_sealed() && !slot.is_damaged())
            .filter(|(_, slot)| slot.tomb_units() > 0 || slot.hides_older())
            .map(|(id, slot)| BlockRef { id, openings: slot.openings() })
            .collect()
    }

    /// Sealed blocks.
    pub fn sealed_blocks(&self) -> Vec<BlockRef> {
        self.slots()
            .filter(|(_, slot)| slot.is_open() && slot.is_sealed())
            .map(|(id, slot)| BlockRef { id, openings: slot.openings() })
            .collect()
    }

    /// Lets a block be emptied when that frees enough of it; whether it does.
    pub fn queue_if_worth(&self, block: BlockRef, droppable_units: u32, percent: u32) -> bool {
        let slot = self.table.slot(block.id);
        let tombs = slot.tomb_units();
        let kept = (slot.live_units() + tombs.saturating_sub(droppable_units)) as usize * UNIT;
        let is_worth = droppable_units > 0 && droppable_units * 2 >= tombs
            || kept * 100 < self.block_size * percent as usize;
        slot.openings() == block.openings && is_worth && self.queue_sparse(block.id)
    }

    /// The stamp of a block, when the disk holds it.
    fn table_stamp(&self, block: u32) -> Option<u64> {
        (block <= Place::BLOCK_MAX).then(|| self.table.slot(block).stamp())
    }

    /// The block and its stamp in which an entry stands, for a tombstone that covers it.
    pub fn cover(&self, place: Place) -> (u32, u64) {
        (place.block(), self.table.slot(place.block()).stamp())
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

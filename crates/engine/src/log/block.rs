//! Blocks in memory, found by id without a lock.
//!
//! The bookkeeping of a block (its [`Slot`]) is never freed, only its bytes are. So whoever touched
//! the last live entry can look at the slot afterwards without asking whether it is still there.
//!
//! The bytes of a file's block are in memory until they are on disk. Readers that may meet the
//! moment at which they go hold a [`Resident`]: they count themselves in before they look for the
//! bytes, and whoever takes the bytes out frees them only when nobody is counted in.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use super::format::{BLOCK_HEADER_LEN, BlockHeader};
use crate::index::Place;

const SLOTS: usize = 4096;
const SEGMENTS: usize = (Place::BLOCK_MAX as usize).div_ceil(SLOTS);

/// A block's bytes and what is known about them. The bytes are filled from front to back; filled
/// parts never change, so they can be read while the rest is being filled.
#[derive(Debug)]
pub struct Slot {
    bytes: AtomicPtr<u8>,
    used: AtomicU32,
    live_units: AtomicU32,
    pins: AtomicU32,
    sealed: AtomicBool,
    sparse: AtomicBool,
    /// How often the slot was opened: tells a block from the next one in its slot.
    openings: AtomicU32,
    /// Whether a block is in the slot. Its bytes may be on disk alone.
    open: AtomicBool,
    /// Those who look at the bytes now.
    readers: AtomicU32,
    /// Units of tombstones.
    tomb_units: AtomicU32,
    /// Whether records expired here that hide older versions of themselves.
    hides_older: AtomicBool,
    /// Whether live entries here cannot be read, so that emptying it is in vain.
    damaged: AtomicBool,
    /// Bytes that have been handed to the disk.
    written: AtomicU32,
    /// The stamp of the opening; 0 when the disk holds nothing of the block.
    stamp: AtomicU64,
    /// Where the checksums of its entries start.
    seed: AtomicU32,
}

/// Bytes of a block that stay in memory while somebody looks at them.
#[derive(Debug)]
pub struct Resident<'a> {
    slot: &'a Slot,
    bytes: *const u8,
}

// SAFETY: the pointer is to bytes that are only read through it, and the count of readers that
// keeps them is atomic.
unsafe impl Send for Resident<'_> {}

impl<'a> Resident<'a> {
    /// A range of filled bytes, which stay as long as `self`.
    ///
    /// # Safety
    /// The range holds filled entries only.
    pub unsafe fn slice(&self, offset: usize, len: usize) -> Option<&[u8]> {
        if offset.checked_add(len)? > self.slot.used() {
            return None;
        }
        // SAFETY: inside the allocation, filled and unchanging as the caller vouches, and kept by
        // the count of readers.
        Some(unsafe { std::slice::from_raw_parts(self.bytes.add(offset), len) })
    }
}

impl Drop for Resident<'_> {
    fn drop(&mut self) {
        self.slot.readers.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Bytes that were taken out of a slot while somebody may still look at them.
#[derive(Debug)]
pub struct Retired {
    bytes: *mut u8,
    size: usize,
}

// SAFETY: it owns the bytes and lets nobody see them.
unsafe impl Send for Retired {}

impl Retired {
    /// Frees the bytes unless somebody looks at them.
    pub fn try_free(self, slot: &Slot) -> Option<Retired> {
        if slot.readers.load(Ordering::SeqCst) > 0 {
            return Some(self);
        }
        let slice = std::ptr::slice_from_raw_parts_mut(self.bytes, self.size);
        // SAFETY: the pointer came from a Box of this size in `open` and was taken out of the
        // slot, so nobody finds it any more, and just now nobody was counted in.
        drop(unsafe { Box::from_raw(slice) });
        None
    }

    /// Frees the bytes.
    ///
    /// # Safety
    /// Nobody looks at them.
    unsafe fn free(self) {
        let slice = std::ptr::slice_from_raw_parts_mut(self.bytes, self.size);
        // SAFETY: as in `try_free`; the caller vouches that nobody looks.
        drop(unsafe { Box::from_raw(slice) });
    }
}

impl Slot {
    const fn new() -> Self {
        Slot {
            bytes: AtomicPtr::new(std::ptr::null_mut()),
            used: AtomicU32::new(0),
            live_units: AtomicU32::new(0),
            pins: AtomicU32::new(0),
            sealed: AtomicBool::new(false),
            sparse: AtomicBool::new(false),
            openings: AtomicU32::new(0),
            open: AtomicBool::new(false),
            readers: AtomicU32::new(0),
            tomb_units: AtomicU32::new(0),
            hides_older: AtomicBool::new(false),
            damaged: AtomicBool::new(false),
            written: AtomicU32::new(0),
            stamp: AtomicU64::new(0),
            seed: AtomicU32::new(0),
        }
    }

    fn reset(&self, header: &BlockHeader, used: usize) {
        self.used.store(used as u32, Ordering::SeqCst);
        self.sealed.store(false, Ordering::SeqCst);
        self.sparse.store(false, Ordering::SeqCst);
        self.hides_older.store(false, Ordering::SeqCst);
        self.tomb_units.store(0, Ordering::SeqCst);
        self.damaged.store(false, Ordering::SeqCst);
        self.written.store(0, Ordering::SeqCst);
        self.stamp.store(header.stamp, Ordering::SeqCst);
        self.seed.store(header.seed(), Ordering::SeqCst);
        self.openings.fetch_add(1, Ordering::SeqCst);
        assert!(!self.open.swap(true, Ordering::SeqCst), "a block was opened twice");
    }

    /// Gives an unused slot its bytes and writes the header. The operating system hands out the
    /// pages when they are first touched.
    pub fn open(&self, size: usize, header: &BlockHeader) {
        self.reset(header, BLOCK_HEADER_LEN);
        let mut bytes = vec![0u8; size].into_boxed_slice();
        bytes[..BLOCK_HEADER_LEN].copy_from_slice(&header.to_bytes());
        let before = self.bytes.swap(Box::into_raw(bytes).cast::<u8>(), Ordering::SeqCst);
        assert!(before.is_null(), "a block was opened twice");
    }

    /// Takes over a block that is on disk, `used` bytes of it filled.
    pub fn adopt(&self, header: &BlockHeader, used: usize) {
        self.reset(header, used);
        self.written.store(used as u32, Ordering::SeqCst);
        self.seal();
    }

    /// Frees the bytes.
    ///
    /// # Safety
    /// `size` is what `open` got, and nobody holds a slice of the bytes or will ask for one:
    /// no index entry, reservation or walk leads here any more.
    pub unsafe fn close(&self, size: usize) {
        self.open.store(false, Ordering::SeqCst);
        if let Some(retired) = self.take_bytes(size) {
            // SAFETY: the caller vouches that no reference is left.
            unsafe { retired.free() };
        }
    }

    /// Ends the use of the slot. The bytes may have readers yet.
    pub fn close_shared(&self, size: usize) -> Option<Retired> {
        self.open.store(false, Ordering::SeqCst);
        self.evict(size)
    }

    /// Takes the bytes out of memory; what is given back must be kept while it is read.
    pub fn evict(&self, size: usize) -> Option<Retired> {
        self.take_bytes(size)?.try_free(self)
    }

    fn take_bytes(&self, size: usize) -> Option<Retired> {
        let bytes = self.bytes.swap(std::ptr::null_mut(), Ordering::SeqCst);
        (!bytes.is_null()).then_some(Retired { bytes, size })
    }

    /// The bytes, kept as long as the answer; `None` when they are not in memory.
    pub fn resident(&self) -> Option<Resident<'_>> {
        if !self.is_resident() {
            return None;
        }
        self.readers.fetch_add(1, Ordering::SeqCst);
        let bytes = self.bytes.load(Ordering::SeqCst);
        if bytes.is_null() {
            self.readers.fetch_sub(1, Ordering::SeqCst);
            return None;
        }
        Some(Resident { slot: self, bytes })
    }

    /// Whether the bytes are in memory.
    pub fn is_resident(&self) -> bool {
        !self.bytes.load(Ordering::Acquire).is_null()
    }

    /// Where the checksums of its entries start.
    pub fn seed(&self) -> u32 {
        self.seed.load(Ordering::SeqCst)
    }

    /// The stamp of the opening; 0 when the disk holds nothing of the block.
    pub fn stamp(&self) -> u64 {
        self.stamp.load(Ordering::SeqCst)
    }

    /// The disk holds nothing of the block any more.
    pub fn clear_stamp(&self) {
        self.stamp.store(0, Ordering::SeqCst);
    }

    /// Bytes that have been handed to the disk.
    pub fn written(&self) -> usize {
        self.written.load(Ordering::SeqCst) as usize
    }

    /// Moves the end of what has been handed to the disk.
    pub fn set_written(&self, written: usize) {
        self.written.store(written as u32, Ordering::SeqCst);
    }

    /// Adds a tombstone.
    pub fn add_tomb(&self, units: u32) {
        self.tomb_units.fetch_add(units, Ordering::SeqCst);
    }

    /// No tombstone in the block is needed any more.
    pub fn clear_tombs(&self) {
        self.tomb_units.store(0, Ordering::SeqCst);
    }

    /// Units of tombstones.
    pub fn tomb_units(&self) -> u32 {
        self.tomb_units.load(Ordering::SeqCst)
    }

    /// Whether records expired here that hide older versions of themselves.
    pub fn hides_older(&self) -> bool {
        self.hides_older.load(Ordering::SeqCst)
    }

    /// Says whether records expired here that hide older versions of themselves.
    pub fn set_hides_older(&self, hides: bool) {
        self.hides_older.store(hides, Ordering::SeqCst);
    }

    /// Whether emptying it is in vain because something live in it cannot be read.
    pub fn is_damaged(&self) -> bool {
        self.damaged.load(Ordering::SeqCst)
    }

    /// Something live in it cannot be read.
    pub fn set_damaged(&self) {
        self.damaged.store(true, Ordering::SeqCst);
    }

    /// How often the slot was opened.
    pub fn openings(&self) -> u32 {
        self.openings.load(Ordering::SeqCst)
    }

    /// True when a block is in the slot.
    pub fn is_open(&self) -> bool {
        self.open.load(Ordering::SeqCst)
    }

    /// A range of filled bytes; `None` when it reaches over the part that was handed out.
    ///
    /// # Safety
    /// The range holds one filled entry or a part of it, and the entry stays for `'a`: the caller
    /// holds the lock of its partition, or a pin of the block, or its reservation.
    pub unsafe fn slice<'a>(&self, offset: usize, len: usize) -> Option<&'a [u8]> {
        let bytes = self.bytes.load(Ordering::Acquire);
        if bytes.is_null() || offset.checked_add(len)? > self.used() {
            return None;
        }
        // SAFETY: the range is inside the allocation (`used` never exceeds it), and by the
        // contract above it is initialised, unchanging and stays.
        Some(unsafe { std::slice::from_raw_parts(bytes.add(offset), len) })
    }

    /// A range of bytes to fill.
    ///
    /// # Safety
    /// The caller owns the range: it was handed out to nobody else, and no slice of it exists.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn slice_mut(&self, offset: usize, len: usize) -> &mut [u8] {
        let bytes = self.bytes.load(Ordering::Acquire);
        assert!(!bytes.is_null() && offset + len <= self.used(), "a reservation lies in its block");
        // SAFETY: inside the allocation as asserted, initialised to zero by `open`, and owned by
        // the caller.
        unsafe { std::slice::from_raw_parts_mut(bytes.add(offset), len) }
    }

    /// Bytes handed out so far.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Acquire) as usize
    }

    /// Moves the end of the part that was handed out.
    pub fn set_used(&self, used: usize) {
        self.used.store(used as u32, Ordering::Release);
    }

    /// Adds a live entry.
    pub fn add_live(&self, units: u32) {
        self.live_units.fetch_add(units, Ordering::SeqCst);
    }

    /// Takes a live entry away and returns the units that are left.
    pub fn remove_live(&self, units: u32) -> u32 {
        self.live_units.fetch_sub(units, Ordering::SeqCst) - units
    }

    /// Units of live entries.
    pub fn live_units(&self) -> u32 {
        self.live_units.load(Ordering::SeqCst)
    }

    /// No entry comes any more.
    pub fn seal(&self) {
        self.sealed.store(true, Ordering::SeqCst);
    }

    /// True when no entry comes any more.
    pub fn is_sealed(&self) -> bool {
        self.sealed.load(Ordering::SeqCst)
    }

    /// True when nothing keeps the block: sealed, nothing live, nothing hidden, nobody inside.
    pub fn is_idle(&self) -> bool {
        self.is_sealed()
            && self.live_units() == 0
            && self.tomb_units() == 0
            && !self.hides_older()
            && self.pins.load(Ordering::SeqCst) == 0
    }

    /// Keeps the block.
    pub fn pin(&self) {
        self.pins.fetch_add(1, Ordering::SeqCst);
    }

    /// Lets it go.
    pub fn unpin(&self) {
        self.pins.fetch_sub(1, Ordering::SeqCst);
    }

    /// True when the caller's pin is the only one.
    pub fn is_pinned_once(&self) -> bool {
        self.pins.load(Ordering::SeqCst) == 1
    }

    /// Marks the block as one to be emptied; true for the first caller.
    pub fn mark_sparse(&self) -> bool {
        !self.sparse.swap(true, Ordering::SeqCst)
    }

    /// Takes the mark away.
    pub fn clear_sparse(&self) {
        self.sparse.store(false, Ordering::SeqCst);
    }
}

/// The slots of all blocks: two levels, the second allocated when first used.
pub struct BlockTable {
    segments: Box<[OnceLock<Box<[Slot]>>]>,
    block_size: usize,
}

impl std::fmt::Debug for BlockTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockTable").field("block_size", &self.block_size).finish_non_exhaustive()
    }
}

impl BlockTable {
    /// An empty table for blocks of this size.
    pub fn new(block_size: usize) -> Self {
        BlockTable { segments: (0..SEGMENTS).map(|_| OnceLock::new()).collect(), block_size }
    }

    /// The slot of this id, which is at most [`Place::BLOCK_MAX`].
    pub fn slot(&self, id: u32) -> &Slot {
        let segment = &self.segments[id as usize / SLOTS];
        &segment.get_or_init(|| (0..SLOTS).map(|_| Slot::new()).collect())[id as usize % SLOTS]
    }
}

impl Drop for BlockTable {
    fn drop(&mut self) {
        for slot in self.segments.iter().filter_map(OnceLock::get).flatten() {
            // SAFETY: the table is borrowed mutably, so nobody holds bytes of it.
            unsafe { slot.close(self.block_size) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = 256;
    const ROUNDS: u64 = if cfg!(miri) { 20 } else { 2000 };

    fn header(stamp: u64) -> BlockHeader {
        BlockHeader { id: 0, instance: 7, stamp, batch: 1 }
    }

    #[test]
    fn bytes_outlive_their_eviction_while_somebody_reads_them() {
        let (slot, done) = (Slot::new(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        let Some(bytes) = slot.resident() else { continue };
                        // SAFETY: the header is filled before the bytes are in the slot.
                        let seen = unsafe { bytes.slice(0, BLOCK_HEADER_LEN) }.unwrap();
                        assert!(seen.iter().any(|&byte| byte != 0));
                    }
                });
            }
            for stamp in 1..=ROUNDS {
                slot.open(SIZE, &header(stamp));
                std::thread::yield_now();
                let mut retired = slot.close_shared(SIZE);
                while let Some(read) = retired {
                    retired = read.try_free(&slot);
                }
            }
            done.store(true, Ordering::Relaxed);
        });
        assert!(!slot.is_resident());
    }
}

//! Blocks in memory, found by id without a lock.
//!
//! The bookkeeping of a block (its [`Slot`]) is never freed, only its bytes are. So whoever touched
//! the last live entry can look at the slot afterwards without asking whether it is still there.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

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
        }
    }

    /// Gives an unused slot its bytes. The operating system hands out their pages when they are
    /// first touched.
    pub fn open(&self, size: usize) {
        self.used.store(0, Ordering::SeqCst);
        self.sealed.store(false, Ordering::SeqCst);
        self.sparse.store(false, Ordering::SeqCst);
        self.openings.fetch_add(1, Ordering::SeqCst);
        let bytes = Box::into_raw(vec![0u8; size].into_boxed_slice()).cast::<u8>();
        let before = self.bytes.swap(bytes, Ordering::AcqRel);
        assert!(before.is_null(), "a block was opened twice");
    }

    /// Frees the bytes.
    ///
    /// # Safety
    /// `size` is what `open` got, and nobody holds a slice of the bytes or will ask for one:
    /// no index entry, reservation or walk leads here any more.
    pub unsafe fn close(&self, size: usize) {
        let bytes = self.bytes.swap(std::ptr::null_mut(), Ordering::AcqRel);
        if !bytes.is_null() {
            let slice = std::ptr::slice_from_raw_parts_mut(bytes, size);
            // SAFETY: the pointer came from a Box of this size in `open`, was taken out just now,
            // and the caller vouches that no reference is left.
            drop(unsafe { Box::from_raw(slice) });
        }
    }

    /// How often the slot was opened.
    pub fn openings(&self) -> u32 {
        self.openings.load(Ordering::SeqCst)
    }

    /// True when the slot has bytes.
    pub fn is_open(&self) -> bool {
        !self.bytes.load(Ordering::Acquire).is_null()
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

    /// True when nothing keeps the block: sealed, nothing live, nobody inside.
    pub fn is_idle(&self) -> bool {
        self.is_sealed() && self.live_units() == 0 && self.pins.load(Ordering::SeqCst) == 0
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

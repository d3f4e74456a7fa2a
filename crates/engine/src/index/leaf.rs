//! A short sorted array of entries that wastes little memory.

use super::entry::PackedEntry;

/// The most entries of a leaf.
pub(super) const LEAF_MAX: usize = 128;
/// Two neighbours merge when they hold no more than this together: three quarters of a leaf, so
/// that a merged leaf is not soon full again.
pub(super) const MERGE_MAX: usize = LEAF_MAX * 3 / 4;
/// Entries that a leaf grows by where leaves are few.
const GROWTH: usize = 32;

/// Entries in digest order. Never empty while in a directory.
#[derive(Debug, Default)]
pub(super) struct Leaf(Vec<PackedEntry>);

impl Leaf {
    /// A leaf with one entry.
    pub fn of(entry: PackedEntry) -> Leaf {
        let mut leaf = Leaf::default();
        leaf.insert(0, entry);
        leaf
    }

    /// A leaf of entries that are in digest order, [`LEAF_MAX`] at most.
    pub fn from_entries(entries: Vec<PackedEntry>) -> Leaf {
        Leaf(entries)
    }

    pub fn entries(&self) -> &[PackedEntry] {
        &self.0
    }

    pub fn entries_mut(&mut self) -> &mut [PackedEntry] {
        &mut self.0
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// How many more entries the leaf may take.
    pub fn room(&self) -> usize {
        LEAF_MAX.saturating_sub(self.0.len())
    }

    pub fn is_full(&self) -> bool {
        self.room() == 0
    }

    /// Bytes of heap memory that the entries occupy, spare room included.
    pub fn heap_bytes(&self) -> usize {
        self.0.capacity() * size_of::<PackedEntry>()
    }

    pub fn insert(&mut self, slot: usize, entry: PackedEntry) {
        let len = self.0.len();
        if len == self.0.capacity() {
            // Doubles from one entry first, for the many partitions of a small namespace.
            self.0.reserve_exact(len.clamp(1, GROWTH));
        }
        self.0.insert(slot, entry);
    }

    pub fn remove(&mut self, slot: usize) -> PackedEntry {
        let entry = self.0.remove(slot);
        self.give_back();
        entry
    }

    /// Keeps the entries that `keep` wants among `count` from `slot` on; says how many went.
    pub fn retain(
        &mut self,
        slot: usize,
        count: usize,
        mut keep: impl FnMut(&PackedEntry) -> bool,
    ) -> usize {
        let removed = self.0.extract_if(slot..slot + count, |entry| !keep(entry)).count();
        self.give_back();
        removed
    }

    /// Replaces all entries. With `whole`, the leaf takes the memory of a full one at once: leaves
    /// of one size fit into each other's holes in the heap, and nearly all get full.
    pub fn refill(&mut self, entries: &[PackedEntry], whole: bool) {
        self.0.clear();
        let room = if whole { LEAF_MAX } else { entries.len().next_multiple_of(GROWTH) };
        self.0.reserve_exact(room);
        self.0.extend_from_slice(entries);
    }

    /// Takes over the entries of the next leaf.
    pub fn append(&mut self, mut next: Leaf) {
        let room = (self.len() + next.len()).next_multiple_of(GROWTH);
        self.0.reserve_exact(room - self.len());
        self.0.append(&mut next.0);
    }

    /// Returns spare room to the allocator when it is more than one step of growth, so that a leaf
    /// whose size goes up and down does not move each time.
    fn give_back(&mut self) {
        if self.0.capacity() - self.len() >= GROWTH * 3 / 2 {
            self.0.shrink_to(self.len().next_multiple_of(GROWTH));
        }
    }
}

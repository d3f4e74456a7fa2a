//! A short sorted array of entries that wastes little memory.

use super::entry::PackedEntry;

/// A leaf splits when it would hold more entries than this.
pub(super) const LEAF_MAX: usize = 128;
/// Two neighbours merge when they hold no more than this together: half a leaf, so that a merged
/// leaf is far from splitting again.
pub(super) const MERGE_MAX: usize = LEAF_MAX / 2;
/// Entries that a leaf grows by. An array that doubled would leave a quarter of the index unused.
const GROWTH: usize = 8;

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

    pub fn is_full(&self) -> bool {
        self.0.len() >= LEAF_MAX
    }

    /// Bytes of heap memory that the entries occupy, spare room included.
    pub fn heap_bytes(&self) -> usize {
        self.0.capacity() * size_of::<PackedEntry>()
    }

    /// The first slot whose prefix is not below `prefix`.
    pub fn lower_bound(&self, prefix: u64) -> usize {
        self.0.partition_point(|entry| entry.prefix() < prefix)
    }

    pub fn insert(&mut self, slot: usize, entry: PackedEntry) {
        let len = self.0.len();
        if len == self.0.capacity() {
            // The leaf of a nearly empty partition grows by doubling from one entry.
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

    /// Moves the upper half into a new leaf.
    pub fn split(&mut self) -> Leaf {
        let upper = self.0.split_off(self.0.len() / 2);
        self.give_back();
        Leaf(upper)
    }

    /// Takes over the entries of the next leaf.
    pub fn append(&mut self, mut next: Leaf) {
        let room = (self.len() + next.len()).next_multiple_of(GROWTH);
        self.0.reserve_exact(room - self.len());
        self.0.append(&mut next.0);
    }

    /// Returns spare room to the allocator; waits for two steps of it, so that a leaf whose size
    /// goes up and down by one does not move each time.
    fn give_back(&mut self) {
        if self.0.capacity() - self.len() >= 2 * GROWTH {
            self.0.shrink_to(self.len().next_multiple_of(GROWTH));
        }
    }
}

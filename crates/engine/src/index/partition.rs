//! The index of one partition: finding, inserting, changing and removing entries.

use std::cmp::Ordering;

use cairn_value::Digest;

use super::entry::{PREFIX_BITS, PackedEntry, prefix_of};
use super::leaf::Leaf;
use super::search::{binary_search, interpolate, partition_point_near};
use super::{Entry, Place};

/// The records of one partition in digest order. See the [module](super).
///
/// Invariants, checked by the tests after every change:
/// - no leaf is empty, and entries ascend by full digest through all leaves;
/// - two neighbours hold more than `MERGE_MAX` entries together;
/// - `lows` and `leaves` have the same length, and `lows[0]` is 0;
/// - `lows[i]` is not above the first prefix of leaf `i`, nor below the last prefix of leaf
///   `i - 1`. Both may be equal to it, because digests may share a prefix.
#[derive(Debug, Default)]
pub struct PartitionIndex {
    /// Lower bounds of the leaves' prefixes, apart from the leaves so that a search touches few
    /// cache lines.
    pub(super) lows: Vec<u64>,
    pub(super) leaves: Vec<Leaf>,
    pub(super) len: usize,
    /// Counts the changes that move entries, so that a position from before is recognised.
    pub(super) moves: u32,
}

/// Where an entry is, until the next insert or remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    leaf: usize,
    slot: usize,
    moves: u32,
}

/// Where a digest that is not in the index belongs, until the next insert or remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vacancy {
    position: Position,
    prefix: u64,
}

/// An entry and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// For [`PartitionIndex::replace`] and [`PartitionIndex::remove_at`].
    pub position: Position,
    /// The entry at the position.
    pub entry: Entry,
}

/// What [`PartitionIndex::search`] answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// The digest is in the index.
    Found(Found),
    /// It is not; here it belongs.
    Vacant(Vacancy),
}

impl PartitionIndex {
    /// An index without records. It owns no heap memory.
    pub const fn new() -> PartitionIndex {
        PartitionIndex { lows: Vec::new(), leaves: Vec::new(), len: 0, moves: 0 }
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of memory that the index occupies: itself and all that it asked the allocator for,
    /// spare room included.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.lows.capacity() * size_of::<u64>()
            + self.leaves.capacity() * size_of::<Leaf>()
            + self.leaves.iter().map(Leaf::heap_bytes).sum::<usize>()
    }

    /// Finds a digest or the place where it belongs.
    ///
    /// `full` reads the full digest from the header of the record at a place. It is called only
    /// for entries whose prefix is that of `digest`: once for a digest that is in the index, unless
    /// others share its prefix; never, as a rule, for one that is not.
    pub fn search<E>(
        &self,
        digest: &Digest,
        full: impl FnMut(Place) -> Result<Digest, E>,
    ) -> Result<Search, E> {
        let prefix = prefix_of(digest);
        let (leaf, slot, found) = self.locate(digest, prefix, full)?;
        let position = Position { leaf, slot, moves: self.moves };
        Ok(match found {
            Some(packed) => Search::Found(Found { position, entry: packed.unpack() }),
            None => Search::Vacant(Vacancy { position, prefix }),
        })
    }

    /// Finds a digest; `full` is as in [`search`](Self::search).
    pub fn find<E>(
        &self,
        digest: &Digest,
        full: impl FnMut(Place) -> Result<Digest, E>,
    ) -> Result<Option<Found>, E> {
        Ok(match self.search(digest, full)? {
            Search::Found(found) => Some(found),
            Search::Vacant(_) => None,
        })
    }

    /// Finds the entry of the record with this digest if its place is `place`: asks whether a copy
    /// in the log is the living one. `full` is called only when several digests share the prefix.
    pub fn find_place<E>(
        &self,
        digest: &Digest,
        place: Place,
        full: impl FnMut(Place) -> Result<Digest, E>,
    ) -> Result<Option<Found>, E> {
        let prefix = prefix_of(digest);
        let (leaf, slot) = self.lower_bound(prefix);
        let mut same = self.entries_from(leaf, slot).take_while(|entry| entry.prefix() == prefix);
        let found = match (same.next(), same.next()) {
            (None, _) => None,
            (Some(only), None) => {
                let (leaf, slot) = self.on_an_entry(leaf, slot);
                let position = Position { leaf, slot, moves: self.moves };
                Some(Found { position, entry: only.unpack() })
            }
            (Some(_), Some(_)) => self.find(digest, full)?,
        };
        Ok(found.filter(|found| found.entry.place == place))
    }

    /// Inserts an entry where [`search`](Self::search) found its digest missing.
    ///
    /// # Panics
    /// When entries were inserted or removed since.
    pub fn insert_at(&mut self, vacancy: Vacancy, entry: &Entry) {
        let Vacancy { position, prefix } = vacancy;
        self.check_fresh(position);
        self.insert_packed(position.leaf, position.slot, PackedEntry::new(prefix, entry));
        self.len += 1;
        self.moves = self.moves.wrapping_add(1);
    }

    /// Inserts the entry of a digest, or puts it in the place of the one that is there, which it
    /// returns. `full` is as in [`search`](Self::search).
    pub fn upsert<E>(
        &mut self,
        digest: &Digest,
        entry: &Entry,
        full: impl FnMut(Place) -> Result<Digest, E>,
    ) -> Result<Option<Entry>, E> {
        match self.search(digest, full)? {
            Search::Found(found) => Ok(Some(self.replace(found.position, entry))),
            Search::Vacant(vacancy) => {
                self.insert_at(vacancy, entry);
                Ok(None)
            }
        }
    }

    /// Puts another entry of the same record at a position and returns the old one. The position
    /// stays good.
    ///
    /// # Panics
    /// When entries were inserted or removed since the position was found.
    pub fn replace(&mut self, position: Position, entry: &Entry) -> Entry {
        self.check_fresh(position);
        let packed = &mut self.leaves[position.leaf].entries_mut()[position.slot];
        let new = PackedEntry::new(packed.prefix(), entry);
        std::mem::replace(packed, new).unpack()
    }

    /// Removes the entry at a position.
    ///
    /// # Panics
    /// When entries were inserted or removed since the position was found.
    pub fn remove_at(&mut self, position: Position) -> Entry {
        self.check_fresh(position);
        let packed = self.leaves[position.leaf].remove(position.slot);
        self.len -= 1;
        self.moves = self.moves.wrapping_add(1);
        self.tidy(position.leaf);
        packed.unpack()
    }

    /// Removes a digest and returns its entry; `full` is as in [`search`](Self::search).
    pub fn remove<E>(
        &mut self,
        digest: &Digest,
        full: impl FnMut(Place) -> Result<Digest, E>,
    ) -> Result<Option<Entry>, E> {
        Ok(self.find(digest, full)?.map(|found| self.remove_at(found.position)))
    }

    /// Removes all entries and gives their memory back.
    pub fn clear(&mut self) {
        *self = PartitionIndex { moves: self.moves.wrapping_add(1), ..PartitionIndex::new() };
    }

    /// The leaf and slot of the first entry that is not below `digest`, and that entry if it is
    /// the digest's. The slot may be one past the end of its leaf.
    pub(super) fn locate<E>(
        &self,
        digest: &Digest,
        prefix: u64,
        mut full: impl FnMut(Place) -> Result<Digest, E>,
    ) -> Result<(usize, usize, Option<PackedEntry>), E> {
        // `full` may read a disk, so a prefix that differs decides without it.
        let mut compare = |packed: &PackedEntry| match packed.prefix().cmp(&prefix) {
            Ordering::Equal => full(packed.place()).map(|full| full.cmp(digest)),
            unequal => Ok(unequal),
        };
        let mut leaf = self.first_leaf(prefix);
        if self.lows.get(leaf + 1) == Some(&prefix) {
            // Digests of this prefix may lie in later leaves too.
            let end = self.lows.partition_point(|low| *low <= prefix);
            let firsts = |leaf: usize| compare(&self.leaves[leaf].entries()[0]);
            leaf = match binary_search(leaf + 1..end, firsts)? {
                Ok(leaf) => return Ok((leaf, 0, Some(self.leaves[leaf].entries()[0]))),
                Err(after) => after - 1,
            };
        }
        let Some(entries) = self.leaves.get(leaf).map(Leaf::entries) else {
            return Ok((0, 0, None));
        };
        let start = self.slot_in(leaf, prefix);
        let rest = &entries[start..];
        let same = partition_point_near(0, rest.len(), |slot| rest[slot].prefix() == prefix);
        Ok(match binary_search(start..start + same, |slot| compare(&entries[slot]))? {
            Ok(slot) => (leaf, slot, Some(entries[slot])),
            Err(slot) => (leaf, slot, None),
        })
    }

    /// The leaf and slot of the first entry whose prefix is not below `prefix`. The slot may be
    /// one past the end of its leaf.
    pub(super) fn lower_bound(&self, prefix: u64) -> (usize, usize) {
        let leaf = self.first_leaf(prefix);
        (leaf, self.slot_in(leaf, prefix))
    }

    /// The first leaf that may hold a prefix: the last one with a lower bound below it.
    fn first_leaf(&self, prefix: u64) -> usize {
        let guess = interpolate(prefix, 0, 1 << PREFIX_BITS, self.lows.len());
        let after = partition_point_near(guess, self.lows.len(), |leaf| self.lows[leaf] < prefix);
        after.saturating_sub(1)
    }

    /// The first slot of a leaf whose prefix is not below `prefix`.
    fn slot_in(&self, leaf: usize, prefix: u64) -> usize {
        let Some(entries) = self.leaves.get(leaf).map(Leaf::entries) else { return 0 };
        let low = self.lows[leaf];
        let high = self.lows.get(leaf + 1).copied().unwrap_or(1 << PREFIX_BITS);
        let guess = interpolate(prefix, low, high, entries.len());
        partition_point_near(guess, entries.len(), |slot| entries[slot].prefix() < prefix)
    }

    /// The same place in the order, named by an entry's own leaf and slot unless it is the end.
    pub(super) fn on_an_entry(&self, leaf: usize, slot: usize) -> (usize, usize) {
        match self.leaves.get(leaf) {
            Some(full) if slot >= full.len() => (leaf + 1, 0),
            _ => (leaf, slot),
        }
    }

    fn check_fresh(&self, position: Position) {
        assert_eq!(
            position.moves, self.moves,
            "a position is good until the next insert or remove"
        );
    }
}

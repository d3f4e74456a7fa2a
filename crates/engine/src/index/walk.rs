//! Going through the entries in digest order, at once or step by step.

use std::slice;

use cairn_value::Digest;

use super::entry::{PACKED_LEN, PackedEntry, prefix_of};
use super::leaf::{LEAF_MAX, Leaf};
use super::{Entry, PartitionIndex, Place};

/// How far a step-by-step walk has come. It is good across any changes between the steps: entries
/// that stay are visited once, except that inserts and removes among digests that share a prefix
/// may make the walk miss or repeat a few of those.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// The prefix visited last.
    prefix: u64,
    /// How many entries with that prefix were visited and stayed.
    stayed: usize,
}

impl Walk {
    /// A walk that starts before the first entry.
    pub const fn new() -> Walk {
        Walk { prefix: 0, stayed: 0 }
    }

    fn visited(&mut self, prefix: u64, stays: bool) {
        if self.prefix != prefix {
            *self = Walk { prefix, stayed: 0 };
        }
        self.stayed += usize::from(stays);
    }
}

/// What a step of a walk came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The budget is used up and entries are left.
    More,
    /// All entries were visited; the next step starts over.
    Finished,
}

/// Entries in digest order.
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    packed: PackedIter<'a>,
}

impl Iterator for Iter<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        self.packed.next().map(PackedEntry::unpack)
    }
}

#[derive(Clone, Debug)]
pub(super) struct PackedIter<'a> {
    entries: slice::Iter<'a, PackedEntry>,
    leaves: slice::Iter<'a, Leaf>,
}

impl<'a> Iterator for PackedIter<'a> {
    type Item = &'a PackedEntry;

    fn next(&mut self) -> Option<&'a PackedEntry> {
        loop {
            if let Some(entry) = self.entries.next() {
                return Some(entry);
            }
            self.entries = self.leaves.next()?.entries().iter();
        }
    }
}

/// Entries against the digest order.
#[derive(Clone, Debug)]
pub struct IterDown<'a> {
    entries: slice::Iter<'a, PackedEntry>,
    leaves: slice::Iter<'a, Leaf>,
}

impl Iterator for IterDown<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        loop {
            if let Some(entry) = self.entries.next_back() {
                return Some(entry.unpack());
            }
            self.entries = self.leaves.next_back()?.entries().iter();
        }
    }
}

impl PartitionIndex {
    /// All entries in digest order.
    pub fn iter(&self) -> Iter<'_> {
        Iter { packed: self.entries_from(0, 0) }
    }

    /// All entries in digest order, as a snapshot keeps them.
    pub(crate) fn packed(&self) -> impl Iterator<Item = [u8; PACKED_LEN]> {
        self.entries_from(0, 0).map(|entry| entry.to_bytes())
    }

    /// Puts an index together from the entries of a snapshot; `None` when they are not in order.
    pub(crate) fn from_packed(bytes: &[u8]) -> Option<PartitionIndex> {
        let (entries, rest) = bytes.as_chunks::<PACKED_LEN>();
        let mut index = PartitionIndex { len: entries.len(), ..PartitionIndex::new() };
        let mut last = 0;
        for chunk in entries.chunks(LEAF_MAX) {
            let leaf: Vec<PackedEntry> = chunk.iter().map(PackedEntry::from_bytes).collect();
            let is_sorted = leaf.is_sorted_by_key(PackedEntry::prefix);
            let first = leaf.first()?.prefix();
            if !is_sorted || first < last {
                return None;
            }
            last = leaf.last()?.prefix();
            index.lows.push(if index.leaves.is_empty() { 0 } else { first });
            index.leaves.push(Leaf::from_entries(leaf));
        }
        index.lows.shrink_to_fit();
        index.leaves.shrink_to_fit();
        rest.is_empty().then_some(index)
    }

    /// The entries whose digests follow `after`, or all, in digest order. `after` need not be in
    /// the index. `full` is as in [`search`](Self::search) and is not called while iterating.
    pub fn iter_after<E>(
        &self,
        after: Option<&Digest>,
        full: impl FnMut(Place) -> Result<Digest, E>,
    ) -> Result<Iter<'_>, E> {
        let Some(after) = after else { return Ok(self.iter()) };
        let (leaf, slot, found) = self.locate(after, prefix_of(after), full)?;
        let packed = self.entries_from(leaf, slot + usize::from(found.is_some()));
        Ok(Iter { packed })
    }

    /// The entries whose digests come before `before`, or all, the greatest first. `before` need
    /// not be in the index. `full` is as in [`search`](Self::search) and is not called while
    /// iterating.
    pub fn iter_before<E>(
        &self,
        before: Option<&Digest>,
        full: impl FnMut(Place) -> Result<Digest, E>,
    ) -> Result<IterDown<'_>, E> {
        let Some(before) = before else {
            return Ok(IterDown { entries: [].iter(), leaves: self.leaves.iter() });
        };
        let (leaf, slot, _) = self.locate(before, prefix_of(before), full)?;
        let (done, rest) = self.leaves.split_at(leaf.min(self.leaves.len()));
        let entries = rest.first().and_then(|leaf| leaf.entries().get(..slot));
        Ok(IterDown { entries: entries.unwrap_or_default().iter(), leaves: done.iter() })
    }

    /// The entries whose digests start like this one, as far as the index knows digests: one, or
    /// several whose full digests decide.
    pub fn iter_like(&self, digest: &Digest) -> impl Iterator<Item = Entry> + '_ {
        let prefix = prefix_of(digest);
        let (leaf, slot) = self.lower_bound(prefix);
        let like = self.entries_from(leaf, slot).take_while(move |entry| entry.prefix() == prefix);
        like.map(PackedEntry::unpack)
    }

    /// Shows `visit` up to `budget` entries from where the walk stands, in digest order and from
    /// the index alone.
    pub fn walk(&self, walk: &mut Walk, budget: usize, mut visit: impl FnMut(Entry)) -> Progress {
        let (leaf, slot) = self.resume(walk);
        let mut entries = self.entries_from(leaf, slot);
        for packed in entries.by_ref().take(budget) {
            visit(packed.unpack());
            walk.visited(packed.prefix(), true);
        }
        if entries.next().is_some() {
            return Progress::More;
        }
        *walk = Walk::new();
        Progress::Finished
    }

    /// Shows `visit` the entries that are expired at `now` among up to `budget` entries from where
    /// the walk stands.
    pub fn for_each_expired(
        &self,
        now: u32,
        walk: &mut Walk,
        budget: usize,
        mut visit: impl FnMut(Entry),
    ) -> Progress {
        self.walk(walk, budget, |entry| {
            if entry.is_expired(now) {
                visit(entry);
            }
        })
    }

    /// Removes the entries that `keep` refuses among up to `budget` entries from where the walk
    /// stands, in digest order and from the index alone: expiry and truncation.
    pub fn retain_step(
        &mut self,
        walk: &mut Walk,
        budget: usize,
        mut keep: impl FnMut(&Entry) -> bool,
    ) -> Progress {
        let (mut leaf, mut slot) = self.resume(walk);
        let mut left = budget;
        while let Some(current) = self.leaves.get_mut(leaf) {
            let count = left.min(current.len() - slot);
            if count == 0 {
                self.tidy(leaf);
                return Progress::More;
            }
            let len = &mut self.len;
            let removed = current.retain(slot, count, |packed| {
                let stays = keep(&packed.unpack());
                walk.visited(packed.prefix(), stays);
                *len -= usize::from(!stays);
                stays
            });
            left -= count;
            slot += count - removed;
            if removed > 0 {
                self.moves = self.moves.wrapping_add(1);
            }
            if slot < self.leaves[leaf].len() {
                self.tidy(leaf);
                return Progress::More;
            }
            // The leaf is done: go on behind it, wherever it went.
            let leaves_before = self.leaves.len();
            self.tidy_behind(leaf);
            leaf += 1 - (leaves_before - self.leaves.len());
            slot = 0;
        }
        *walk = Walk::new();
        Progress::Finished
    }

    /// The entries from a slot on; the slot may be one past the end of its leaf.
    pub(super) fn entries_from(&self, leaf: usize, slot: usize) -> PackedIter<'_> {
        let mut leaves = self.leaves.get(leaf..).unwrap_or_default().iter();
        let entries = leaves.next().and_then(|leaf| leaf.entries().get(slot..));
        PackedIter { entries: entries.unwrap_or_default().iter(), leaves }
    }

    /// The leaf and slot of the entry that a walk visits next.
    fn resume(&self, walk: &Walk) -> (usize, usize) {
        let (mut leaf, mut slot) = self.lower_bound(walk.prefix);
        let mut skip = walk.stayed;
        while let Some(current) = self.leaves.get(leaf) {
            let rest = &current.entries()[slot..];
            let same = rest.partition_point(|entry| entry.prefix() == walk.prefix);
            slot += same.min(skip);
            skip -= same.min(skip);
            if slot < current.len() {
                break;
            }
            (leaf, slot) = (leaf + 1, 0);
        }
        (leaf, slot)
    }
}

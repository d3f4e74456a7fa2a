//! Keeping the leaves well filled: sharing, splitting and merging.

use std::ops::Range;

use super::PartitionIndex;
use super::entry::PackedEntry;
use super::leaf::{LEAF_MAX, Leaf, MERGE_MAX};

/// Neighbours that take part in a split: so many full leaves become one more. Alone, a leaf would
/// split into halves and the index be filled to 69%; five together keep it at about 90%.
const WINDOW: usize = 5;
/// Sharing with neighbours must leave this much room in each leaf, or it would soon come again.
const ROOM_MIN: usize = 4;

impl PartitionIndex {
    pub(super) fn insert_packed(&mut self, leaf: usize, slot: usize, entry: PackedEntry) {
        let Some(target) = self.leaves.get_mut(leaf) else {
            return self.insert_leaf(leaf, 0, Leaf::of(entry));
        };
        if !target.is_full() {
            return target.insert(slot, entry);
        }
        if slot == target.len() && leaf + 1 == self.leaves.len() {
            // Loading in digest order fills leaf after leaf.
            return self.insert_leaf(leaf + 1, entry.prefix(), Leaf::of(entry));
        }
        match self.neighbours_with_room(leaf) {
            Some(range) => self.deal(range, leaf, slot, entry),
            None => {
                let window = self.window(leaf);
                let new = window.end;
                // Dealing sets its lower bound.
                self.insert_leaf(new, 0, Leaf::default());
                self.deal(window.start..new + 1, leaf, slot, entry);
            }
        }
    }

    /// The leaves around one that a split takes together.
    fn window(&self, leaf: usize) -> Range<usize> {
        let start = leaf.saturating_sub(WINDOW / 2);
        let end = (start + WINDOW).min(self.leaves.len());
        end.saturating_sub(WINDOW)..end
    }

    /// The shortest range from a full leaf to one with room, if all in it then have enough.
    fn neighbours_with_room(&self, leaf: usize) -> Option<Range<usize>> {
        let window = self.window(leaf);
        let ranges = (1..WINDOW).flat_map(|distance| {
            [leaf.saturating_sub(distance)..leaf + 1, leaf..leaf + distance + 1]
        });
        ranges.filter(|range| window.start <= range.start && range.end <= window.end).find(
            |range| {
                let room: usize = self.leaves[range.clone()].iter().map(Leaf::room).sum();
                room >= ROOM_MIN * range.len()
            },
        )
    }

    /// Inserts an entry into a leaf of a range and spreads all entries of the range evenly.
    fn deal(&mut self, range: Range<usize>, leaf: usize, slot: usize, entry: PackedEntry) {
        // On the stack: a buffer from the heap would come and go between leaves, and tear holes.
        let mut buffer = [PackedEntry::ZERO; (WINDOW + 1) * LEAF_MAX];
        let mut total = 0;
        let mut push = |entries: &[PackedEntry]| {
            buffer[total..total + entries.len()].copy_from_slice(entries);
            total += entries.len();
        };
        for index in range.clone() {
            let entries = self.leaves[index].entries();
            if index == leaf {
                push(&entries[..slot]);
                push(&[entry]);
                push(&entries[slot..]);
            } else {
                push(entries);
            }
        }
        let (mut left, many) = (&buffer[..total], self.leaves.len() > WINDOW);
        for index in range.clone() {
            let (part, rest) = left.split_at(left.len() / (range.end - index));
            self.leaves[index].refill(part, many);
            if index > range.start {
                self.lows[index] = part[0].prefix();
            }
            left = rest;
        }
    }

    fn insert_leaf(&mut self, at: usize, low: u64, leaf: Leaf) {
        if self.leaves.len() == self.leaves.capacity() {
            let more = (self.leaves.len() / 4).max(1);
            self.lows.reserve_exact(more);
            self.leaves.reserve_exact(more);
        }
        self.lows.insert(at, low);
        self.leaves.insert(at, leaf);
    }

    fn remove_leaf(&mut self, at: usize) -> Leaf {
        self.lows.remove(at);
        if let Some(first) = self.lows.first_mut() {
            *first = 0;
        }
        let leaf = self.leaves.remove(at);
        if self.leaves.capacity() > self.leaves.len() * 2 {
            self.lows.shrink_to_fit();
            self.leaves.shrink_to_fit();
        }
        leaf
    }

    /// Repairs the directory after entries left a leaf: drops it when empty, merges it with
    /// neighbours when they are small.
    pub(super) fn tidy(&mut self, leaf: usize) {
        if self.leaves[leaf].len() > 0 {
            self.merge_with_next(leaf);
        }
        self.tidy_behind(leaf);
    }

    /// As [`tidy`](Self::tidy), but leaves what comes after the leaf untouched: for a walk.
    pub(super) fn tidy_behind(&mut self, leaf: usize) {
        if self.leaves[leaf].len() == 0 {
            self.remove_leaf(leaf);
        } else if leaf > 0 {
            self.merge_with_next(leaf - 1);
        }
    }

    /// Merges a leaf with the one after it if both fit well into one.
    fn merge_with_next(&mut self, leaf: usize) {
        let Some(next) = self.leaves.get(leaf + 1) else { return };
        if self.leaves[leaf].len() + next.len() <= MERGE_MAX {
            let next = self.remove_leaf(leaf + 1);
            self.leaves[leaf].append(next);
        }
    }
}

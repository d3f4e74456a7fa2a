//! The postings of one index in one partition: sorted, in leaves that waste little memory.

use std::ops::Range;

use cairn_value::{Digest, PartitionId};

/// The most postings of a leaf.
const LEAF_MAX: usize = 128;
/// Two neighbours merge when they hold no more than this together.
const MERGE_MAX: usize = LEAF_MAX * 3 / 4;
/// Neighbours that take part in a split: so many full leaves become one more, which keeps the
/// leaves about 90% full where halves would keep them 69% full.
const WINDOW: usize = 5;
/// Sharing with neighbours must leave this much room in each leaf, or it would soon come again.
const ROOM_MIN: usize = 4;
/// Postings that a leaf grows by where leaves are few.
const GROWTH: usize = 16;

/// One value of one record: a sort key of the value, and the start of the record's digest. Digests
/// that agree in all 64 bits beyond the partition are told apart in the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Posting {
    /// Sort key of the value.
    pub value: u64,
    /// The 64 digest bits behind the 12 of the partition, which sort as the digests do.
    pub prefix: u64,
}

const _: () = assert!(size_of::<Posting>() == 16);

/// The 64 digest bits behind the 12 of the partition.
pub(super) fn prefix_of(digest: &Digest) -> u64 {
    let [_, b1, b2, b3, b4, b5, b6, b7, b8, b9, ..] = digest.0;
    let middle = u64::from_be_bytes([b2, b3, b4, b5, b6, b7, b8, b9]);
    u64::from(b1 >> 4) << 60 | middle >> 4
}

/// The least digest of a partition with this prefix.
pub(super) fn least_digest(PartitionId(partition): PartitionId, prefix: u64) -> Digest {
    let [b0, low] = partition.to_le_bytes();
    let mut bytes = [0; 20];
    bytes[0] = b0;
    bytes[1] = ((prefix >> 60) as u8) << 4 | low & 0x0f;
    bytes[2..10].copy_from_slice(&(prefix << 4).to_be_bytes());
    Digest(bytes)
}

/// A sorted bag of postings. Equal ones may stand several times, for records whose digests start
/// alike.
///
/// Invariants, checked by the tests: no leaf is empty, postings ascend through all leaves, and two
/// neighbours hold more than `MERGE_MAX` together.
#[derive(Debug, Default)]
pub(super) struct Tree {
    leaves: Vec<Vec<Posting>>,
    len: usize,
}

impl Tree {
    /// How many postings there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Bytes that the tree asked the allocator for, spare room included.
    pub fn heap_bytes(&self) -> usize {
        let leaves: usize = self.leaves.iter().map(Vec::capacity).sum();
        self.leaves.capacity() * size_of::<Vec<Posting>>() + leaves * size_of::<Posting>()
    }

    /// Adds a posting.
    pub fn insert(&mut self, posting: Posting) {
        self.len += 1;
        let (leaf, slot) = self.lower_bound(posting);
        let Some(target) = self.leaves.get_mut(leaf) else {
            return self.insert_leaf(leaf, vec![posting]);
        };
        if target.len() < LEAF_MAX {
            if target.len() == target.capacity() {
                target.reserve_exact(target.len().clamp(1, GROWTH));
            }
            return target.insert(slot, posting);
        }
        if slot == LEAF_MAX && leaf + 1 == self.leaves.len() {
            // Ascending values fill leaf after leaf.
            return self.insert_leaf(leaf + 1, vec![posting]);
        }
        let range = self.neighbours_with_room(leaf).unwrap_or_else(|| {
            let window = self.window(leaf);
            self.insert_leaf(window.end, Vec::new());
            window.start..window.end + 1
        });
        self.deal(range, leaf, slot, posting);
    }

    /// Takes away one posting that is equal; false when there is none.
    pub fn remove(&mut self, posting: Posting) -> bool {
        let (leaf, slot) = self.lower_bound(posting);
        let Some(target) = self.leaves.get_mut(leaf) else { return false };
        if target.get(slot) != Some(&posting) {
            return false;
        }
        target.remove(slot);
        self.len -= 1;
        if target.capacity() - target.len() >= LEAF_MAX / 2 {
            target.shrink_to(target.len().next_multiple_of(GROWTH));
        }
        self.tidy(leaf);
        true
    }

    /// The postings from this one on, upwards.
    pub fn iter_from(&self, posting: Posting) -> impl Iterator<Item = Posting> + '_ {
        let (leaf, slot) = self.lower_bound(posting);
        let rest = self.leaves.get(leaf..).unwrap_or_default();
        rest.iter().flatten().skip(slot).copied()
    }

    /// The postings up to this one, downwards.
    pub fn iter_down_from(&self, posting: Posting) -> impl Iterator<Item = Posting> + '_ {
        let leaf = self.leaves.partition_point(|leaf| leaf[0] <= posting);
        let (below, _) = self.leaves.split_at(leaf);
        below
            .iter()
            .rev()
            .flat_map(|leaf| leaf.iter().rev())
            .copied()
            .skip_while(move |p| *p > posting)
    }

    /// Where the first posting that is not below this one stands, or would.
    fn lower_bound(&self, posting: Posting) -> (usize, usize) {
        let after = self.leaves.partition_point(|leaf| leaf[0] < posting);
        let leaf = after.saturating_sub(1);
        let Some(postings) = self.leaves.get(leaf) else { return (0, 0) };
        let slot = postings.partition_point(|other| *other < posting);
        if slot == postings.len() && after < self.leaves.len() && self.leaves[after][0] == posting {
            return (after, 0);
        }
        (leaf, slot)
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
                let full = LEAF_MAX * range.len();
                let held: usize = self.leaves[range.clone()].iter().map(Vec::len).sum();
                full - held >= ROOM_MIN * range.len()
            },
        )
    }

    /// Inserts a posting into a leaf of a range and spreads all postings of the range evenly.
    fn deal(&mut self, range: Range<usize>, leaf: usize, slot: usize, posting: Posting) {
        let mut all = Vec::with_capacity(LEAF_MAX * range.len());
        for index in range.clone() {
            let postings = &self.leaves[index];
            if index == leaf {
                all.extend_from_slice(&postings[..slot]);
                all.push(posting);
                all.extend_from_slice(&postings[slot..]);
            } else {
                all.extend_from_slice(postings);
            }
        }
        let mut left = &all[..];
        for index in range.clone() {
            let (part, rest) = left.split_at(left.len() / (range.end - index));
            let postings = &mut self.leaves[index];
            postings.clear();
            // All leaves of one size fit into each other's holes in the heap.
            postings.reserve_exact(LEAF_MAX);
            postings.extend_from_slice(part);
            left = rest;
        }
    }

    fn insert_leaf(&mut self, at: usize, leaf: Vec<Posting>) {
        if self.leaves.len() == self.leaves.capacity() {
            self.leaves.reserve_exact((self.leaves.len() / 4).max(1));
        }
        self.leaves.insert(at, leaf);
    }

    /// Drops a leaf that has become empty, or merges it with a small neighbour.
    fn tidy(&mut self, leaf: usize) {
        if self.leaves[leaf].is_empty() {
            self.remove_leaf(leaf);
        } else {
            self.merge_with_next(leaf);
        }
        if leaf > 0 {
            self.merge_with_next(leaf - 1);
        }
    }

    fn remove_leaf(&mut self, at: usize) -> Vec<Posting> {
        let leaf = self.leaves.remove(at);
        if self.leaves.capacity() > self.leaves.len() * 2 {
            self.leaves.shrink_to_fit();
        }
        leaf
    }

    fn merge_with_next(&mut self, leaf: usize) {
        let (Some(one), Some(next)) = (self.leaves.get(leaf), self.leaves.get(leaf + 1)) else {
            return;
        };
        if one.len() + next.len() <= MERGE_MAX {
            let mut next = self.remove_leaf(leaf + 1);
            self.leaves[leaf].append(&mut next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Tree {
        fn check(&self, twin: &[Posting]) {
            assert_eq!(self.len, twin.len());
            assert!(self.leaves.iter().flatten().eq(twin));
            assert!(self.leaves.iter().all(|leaf| (1..=LEAF_MAX).contains(&leaf.len())));
            let pairs = self.leaves.windows(2);
            assert!(pairs.into_iter().all(|pair| pair[0].len() + pair[1].len() > MERGE_MAX));
        }
    }

    fn posting(number: u64, few: bool) -> Posting {
        let spread = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let value = if few { spread % 7 } else { spread };
        Posting { value, prefix: if few { spread >> 60 } else { spread >> 7 } }
    }

    #[derive(Clone, Debug)]
    enum Change {
        Insert(u64),
        RemoveNth(usize),
        Remove(u64),
        LookFrom(u64),
    }

    fn change() -> impl Strategy<Value = Change> {
        prop_oneof![
            5 => any::<u64>().prop_map(Change::Insert),
            4 => any::<usize>().prop_map(Change::RemoveNth),
            1 => any::<u64>().prop_map(Change::Remove),
            1 => any::<u64>().prop_map(Change::LookFrom),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn a_tree_is_a_sorted_bag(
            few: bool,
            start in 0u64..2500,
            changes in prop::collection::vec(change(), 0..500),
        ) {
            let (mut tree, mut twin) = (Tree::default(), Vec::new());
            let add = |tree: &mut Tree, twin: &mut Vec<Posting>, posting| {
                tree.insert(posting);
                let at = twin.partition_point(|other| *other < posting);
                twin.insert(at, posting);
            };
            (0..start).for_each(|number| add(&mut tree, &mut twin, posting(number, few)));
            tree.check(&twin);
            for change in changes {
                match change {
                    Change::Insert(number) => add(&mut tree, &mut twin, posting(number, few)),
                    Change::RemoveNth(n) => {
                        if let Some(n) = n.checked_rem(twin.len()) {
                            prop_assert!(tree.remove(twin.remove(n)));
                        }
                    }
                    Change::Remove(number) => {
                        let gone = posting(number, few);
                        let at = twin.iter().position(|other| *other == gone);
                        at.map(|at| twin.remove(at));
                        prop_assert_eq!(tree.remove(gone), at.is_some());
                    }
                    Change::LookFrom(number) => {
                        let from = posting(number, few);
                        let up = twin.iter().filter(|other| **other >= from);
                        prop_assert!(tree.iter_from(from).eq(up.copied()));
                        let down = twin.iter().rev().filter(|other| **other <= from);
                        prop_assert!(tree.iter_down_from(from).eq(down.copied()));
                    }
                }
            }
            tree.check(&twin);
            while let Some(posting) = twin.pop() {
                prop_assert!(tree.remove(posting));
            }
            tree.check(&twin);
            prop_assert_eq!(tree.heap_bytes(), 0);
        }

        #[test]
        fn prefixes_sort_as_digests_and_lead_back(a: [u8; 20], b: [u8; 20]) {
            let mut b = b;
            b[0] = a[0];
            b[1] = (b[1] & 0xf0) | (a[1] & 0x0f);
            let (a, b) = (Digest(a), Digest(b));
            prop_assume!(prefix_of(&a) != prefix_of(&b));
            prop_assert_eq!(prefix_of(&a).cmp(&prefix_of(&b)), a.cmp(&b));
            let least = least_digest(a.partition(), prefix_of(&a));
            prop_assert!(least <= a && least.0[..9] == a.0[..9]);
            prop_assert_eq!(least.partition(), a.partition());
            prop_assert_eq!(prefix_of(&least), prefix_of(&a));
        }
    }

    #[test]
    fn a_posting_takes_less_than_24_bytes_in_any_order_of_arrival() {
        let mixed = (0..2441u64).map(|n| posting(n, false));
        let ascending = (0..2441).map(|value| Posting { value, prefix: !value });
        for arrivals in [mixed.collect::<Vec<_>>(), ascending.collect()] {
            let mut tree = Tree::default();
            arrivals.into_iter().for_each(|posting| tree.insert(posting));
            let bytes = size_of::<Tree>() + tree.heap_bytes();
            assert!(bytes < 22 * tree.len(), "{bytes} bytes for {} postings", tree.len());
        }
    }
}

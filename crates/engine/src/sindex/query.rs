//! The way of a query through the postings of one partition.

use std::sync::Arc;

use cairn_value::{Digest, PartitionId, RecordView};

use super::filter::IndexFilter;
use super::index::SecondaryIndex;
use super::tree::{Posting, least_digest, prefix_of};

/// Where a query stands in a partition: behind this record under this sort key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub key: u64,
    pub digest: Digest,
}

/// A query's filter, prepared for one index.
#[derive(Debug)]
pub(crate) struct Lookup {
    index: Arc<SecondaryIndex>,
    filter: IndexFilter,
    ranges: Vec<(u64, u64)>,
    /// The record that was looked at last and where it matches: one record's postings often follow
    /// each other. Forgotten when the lock is let go.
    last: Option<(Digest, Option<u64>)>,
}

impl Lookup {
    pub fn new(index: Arc<SecondaryIndex>, filter: IndexFilter) -> Lookup {
        let ranges = filter.key_ranges();
        Lookup { index, filter, ranges, last: None }
    }

    /// Up to `count` different postings behind the cursor, each with the least digest that it can
    /// mean and the sort key; and whether there are more. The caller holds the partition's lock.
    pub fn next(
        &mut self,
        partition: PartitionId,
        after: Option<Cursor>,
        count: usize,
    ) -> (Vec<(u64, Digest)>, bool) {
        self.last = None;
        let shard = self.index.shards[usize::from(partition.0)].read();
        let Some(tree) = shard.as_deref() else { return (Vec::new(), false) };
        let start =
            after.map(|cursor| Posting { value: cursor.key, prefix: prefix_of(&cursor.digest) });
        let mut found: Vec<Posting> = Vec::new();
        for &(first, last) in &self.ranges {
            let begin = Posting { value: first, prefix: 0 };
            let begin = start.map_or(begin, |start| start.max(begin));
            for posting in tree.iter_from(begin).take_while(|posting| posting.value <= last) {
                if found.last() == Some(&posting) {
                    continue;
                }
                if found.len() == count {
                    return (digests(partition, &found), true);
                }
                found.push(posting);
            }
        }
        (digests(partition, &found), false)
    }

    /// Whether a record is to be told under this sort key.
    pub fn is_told_at(&mut self, key: u64, record: &RecordView<'_>) -> bool {
        let least = match self.last {
            Some((digest, least)) if digest == record.digest => least,
            _ => self.filter.least_match(&*self.index.extractor, record, &self.ranges),
        };
        self.last = Some((record.digest, least));
        least == Some(key)
    }

    /// The value of a sort key as cursors on the wire carry it, and back.
    pub fn cursor_value(&self, key: u64) -> u64 {
        self.filter.cursor_value(key)
    }
}

fn digests(partition: PartitionId, postings: &[Posting]) -> Vec<(u64, Digest)> {
    let digest = |posting: &Posting| (posting.value, least_digest(partition, posting.prefix));
    postings.iter().map(digest).collect()
}

/// Whether two digests of one partition start alike as far as postings know them.
pub(crate) fn start_alike(one: &Digest, other: &Digest) -> bool {
    prefix_of(one) == prefix_of(other)
}

/// Members of a set below a digest, from the greatest down: up to `count` digests, each the least
/// that the posting can mean, and whether there are more. The caller holds the partition's lock.
pub(crate) fn members_below(
    index: &SecondaryIndex,
    partition: PartitionId,
    below: Option<Digest>,
    count: usize,
) -> (Vec<Digest>, bool) {
    let shard = index.shards[usize::from(partition.0)].read();
    let Some(tree) = shard.as_deref() else { return (Vec::new(), false) };
    let prefix = below.map_or(u64::MAX, |digest| prefix_of(&digest));
    let mut prefixes: Vec<u64> = Vec::new();
    for posting in tree.iter_down_from(Posting { value: 0, prefix }) {
        if prefixes.last() == Some(&posting.prefix) {
            continue;
        }
        if prefixes.len() == count {
            let found = prefixes.iter().map(|prefix| least_digest(partition, *prefix));
            return (found.collect(), true);
        }
        prefixes.push(posting.prefix);
    }
    (prefixes.iter().map(|prefix| least_digest(partition, *prefix)).collect(), false)
}

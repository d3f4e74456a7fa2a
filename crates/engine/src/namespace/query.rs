//! Queries: the records of a partition that an index leads to, in the order of their values.

use std::ops::ControlFlow;
use std::sync::Arc;

use cairn_value::{Digest, Error, PartitionId, RecordView, ResultCode};

use super::{Namespace, ScanEnd};
use crate::log::EntryRef;
use crate::sindex::{Cursor, IndexFilter, Lookup, SecondaryIndex, members_below, start_alike};

/// Postings followed under one hold of a partition's lock.
const BATCH: usize = 64;

/// Where a query of a partition ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryEnd {
    /// Every match was seen.
    Finished,
    /// The visitor stopped it; it resumes after this place.
    Stopped(QueryPlace),
}

/// A place in the order of a query's matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryPlace {
    /// The value under which the record was told: an integer's bits, a hash or a cell.
    pub value: u64,
    /// The record.
    pub digest: Digest,
}

/// A query of one index, to be run over partitions.
#[derive(Debug)]
pub struct Query {
    index: Arc<SecondaryIndex>,
    lookup: Lookup,
}

impl Query {
    /// Prepares a query; refused while the index is not built.
    pub fn new(index: Arc<SecondaryIndex>, filter: IndexFilter) -> Result<Query, Error> {
        if !index.is_ready() {
            let text = format!("index `{}` is still being built; try again later", index.name());
            return Err(Error::new(ResultCode::IndexNotReadable, text));
        }
        Ok(Query { lookup: Lookup::new(index.clone(), filter), index })
    }

    /// The index that answers.
    pub fn index(&self) -> &SecondaryIndex {
        &self.index
    }
}

impl Namespace {
    /// Shows `visit` the records of a partition that match, by value and digest, from the first or
    /// after a place, until it breaks.
    ///
    /// Writes go on meanwhile: the lock is let go every few records. A record that matches from
    /// beginning to end with the same values is seen exactly once, however many of them match.
    pub fn query(
        &self,
        query: &mut Query,
        partition: PartitionId,
        after: Option<QueryPlace>,
        mut visit: impl FnMut(&RecordView<'_>, QueryPlace) -> ControlFlow<()>,
    ) -> Result<QueryEnd, Error> {
        let lookup = &mut query.lookup;
        let mut after = after
            .map(|place| Cursor { key: lookup.cursor_value(place.value), digest: place.digest });
        loop {
            let index = self.partitions[usize::from(partition.0)].read();
            let now_ns = self.clock.now_ns();
            let (postings, more) = lookup.next(partition, after, BATCH);
            for (key, least) in postings {
                for entry in index.iter_like(&least) {
                    let stored = self.log.entry(entry.place)?;
                    let stored = stored.view();
                    let cursor = Cursor { key, digest: stored.digest() };
                    let done = after.is_some_and(|a| a.key == key && a.digest >= cursor.digest);
                    if done || !start_alike(&cursor.digest, &least) {
                        continue;
                    }
                    if !self.is_alive(&entry, &stored, now_ns)
                        || !lookup.is_told_at(key, &stored.record())
                    {
                        continue;
                    }
                    let place =
                        QueryPlace { value: lookup.cursor_value(key), digest: cursor.digest };
                    if visit(&stored.record(), place).is_break() {
                        return Ok(QueryEnd::Stopped(place));
                    }
                }
                // Behind all records that this posting can mean.
                after = Some(Cursor { key, digest: greatest_like(&least) });
            }
            if !more {
                return Ok(QueryEnd::Finished);
            }
        }
    }

    /// As [`scan`](Self::scan), but only the records of a set, found through an index on its
    /// membership.
    pub fn scan_set(
        &self,
        index: &SecondaryIndex,
        partition: PartitionId,
        below: Option<Digest>,
        mut visit: impl FnMut(&RecordView<'_>) -> ControlFlow<()>,
    ) -> Result<ScanEnd, Error> {
        let mut below = below;
        loop {
            let primary = self.partitions[usize::from(partition.0)].read();
            let now_ns = self.clock.now_ns();
            let (members, more) = members_below(index, partition, below, BATCH);
            for least in members {
                let mut alike: Vec<(Digest, EntryRef<'_>)> = Vec::new();
                for entry in primary.iter_like(&least) {
                    let stored = self.log.entry(entry.place)?;
                    let digest = stored.view().digest();
                    if start_alike(&digest, &least) && self.is_alive(&entry, &stored.view(), now_ns)
                    {
                        alike.push((digest, stored));
                    }
                }
                for (digest, stored) in alike.into_iter().rev() {
                    let record = stored.view().record();
                    if below.is_some_and(|below| digest >= below)
                        || record.set != index.definition().set
                    {
                        continue;
                    }
                    below = Some(digest);
                    if visit(&record).is_break() {
                        return Ok(ScanEnd::Stopped(digest));
                    }
                }
                below = Some(least);
            }
            if !more {
                return Ok(ScanEnd::Finished);
            }
        }
    }
}

/// The greatest digest that starts like this one as far as postings know digests.
fn greatest_like(least: &Digest) -> Digest {
    let mut bytes = least.0;
    bytes[9] |= 0x0f;
    bytes[10..].fill(0xff);
    Digest(bytes)
}

//! Secondary indexes of a namespace: created and dropped while it serves, kept true by every
//! change of a record, built in steps.

use std::sync::Arc;

use cairn_value::Error;

use super::Namespace;
use crate::index::{Entry, Place, Search};
use crate::sindex::{IndexDefinition, SecondaryIndex};

/// Records put into an index under one hold of a partition's lock.
const BUILD_BATCH: usize = 64;

impl Namespace {
    /// Creates a secondary index, which [`step`](Self::step) builds. An index about the same gets
    /// the new name instead.
    pub fn create_index(
        &self,
        name: &str,
        definition: IndexDefinition,
    ) -> Result<Arc<SecondaryIndex>, Error> {
        self.secondary.create(name, definition, self.clock.now_ns())
    }

    /// Drops a secondary index; false when there is none of this name.
    pub fn drop_index(&self, name: &str) -> bool {
        self.secondary.drop_named(name)
    }

    /// The secondary indexes, in the order of their creation.
    pub fn indexes(&self) -> Vec<Arc<SecondaryIndex>> {
        self.secondary.all()
    }

    /// The first secondary index that `wanted` wants.
    pub fn find_index(
        &self,
        wanted: impl Fn(&SecondaryIndex) -> bool,
    ) -> Option<Arc<SecondaryIndex>> {
        self.secondary.find(wanted)
    }

    /// Goes on building indexes and looks at up to `entries` records; true when there is more to
    /// do.
    pub fn step_index_build(&self, entries: usize) -> bool {
        if !self.secondary.any() {
            return false;
        }
        let Some(_building) = self.building.try_lock() else { return true };
        let mut left = entries;
        for index in self.secondary.all() {
            while let Some(partition) = self.partitions.get(index.built_partitions()) {
                if left == 0 {
                    return true;
                }
                let partition = partition.read();
                let cursor = index.build_cursor();
                let records = partition.iter_before(cursor.as_ref(), |place| self.digest_at(place));
                // A place that cannot be read hides what is below it; the next digest is tried.
                let mut records = records.into_iter().flatten().peekable();
                let mut last = cursor;
                for entry in records.by_ref().take(BUILD_BATCH.min(left)) {
                    left -= 1;
                    if let Ok(stored) = self.log.entry(entry.place) {
                        index.add(&stored.record());
                        last = Some(stored.digest());
                    }
                }
                let more = records.peek().is_some() && last != cursor;
                index.built_to(last.filter(|_| more), self.clock.now_ns());
            }
        }
        false
    }

    /// Moves the postings of a record whose new entry was just written, before its old entry is
    /// given up.
    pub(super) fn index_written(&self, search: &Search, new: Place) {
        if !self.secondary.any() {
            return;
        }
        let old = match search {
            Search::Found(found) => self.log.entry(found.entry.place).ok(),
            Search::Vacant(_) => None,
        };
        let new = self.log.entry(new).ok();
        self.secondary.change(old.map(|old| old.record()), new.map(|new| new.record()));
    }

    /// Takes the postings of a record out that is deleted, before its entry is given up.
    pub(super) fn index_deleted(&self, old: Place) {
        if self.secondary.any()
            && let Ok(old) = self.log.entry(old)
        {
            self.secondary.change(Some(old.record()), None);
        }
    }

    /// Takes the postings of a record out that a sweep removes, before its entry is given up. The
    /// record is read only when an index is about its set.
    pub(super) fn index_swept(&self, old: &Entry) {
        let covered = || self.sets.with(old.set_id, |set| self.secondary.cover_set(set.name()));
        if self.secondary.any()
            && covered()
            && let Ok(old) = self.log.entry(old.place)
        {
            self.secondary.sweep(old.record());
        }
    }
}

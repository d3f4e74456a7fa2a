//! Secondary indexes of a namespace: created and dropped while it serves, kept true by every
//! change of a record, built in steps.

use std::sync::Arc;

use cairn_value::Error;

use super::Namespace;
use crate::index::{Entry, Place, Search};
use crate::sindex::{IndexDefinition, SecondaryIndex, catalogue};

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
        let index = self.secondary.create(name, definition, self.clock.now_ns())?;
        self.keep_index_catalogue()?;
        Ok(index)
    }

    /// Drops a secondary index; false when there is none of this name.
    pub fn drop_index(&self, name: &str) -> bool {
        // Should the change not reach the disk, a restart brings back an index, which is harmless.
        self.secondary.drop_named(name) && {
            let _ = self.keep_index_catalogue();
            true
        }
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

    /// The definitions of all secondary indexes as bytes, for [`restore_indexes`].
    ///
    /// [`restore_indexes`]: Self::restore_indexes
    pub fn index_catalogue(&self) -> Vec<u8> {
        let all = self.secondary.all();
        catalogue::encode(all.iter().map(|index| (index.name(), index.definition())))
    }

    /// Creates the indexes that [`index_catalogue`](Self::index_catalogue) told of; they are built
    /// like new ones.
    pub fn restore_indexes(&self, catalogue: &[u8]) -> Result<(), Error> {
        for (name, definition) in catalogue::decode(catalogue)? {
            self.secondary.create(&name, definition, self.clock.now_ns())?;
        }
        // Once all are there: a part of them must not take the place of what is on disk.
        self.keep_index_catalogue()
    }

    /// Goes on building indexes and looks at up to `entries` records; true when there is more to
    /// do.
    pub fn step_index_build(&self, entries: usize) -> bool {
        if !self.secondary.any() {
            return false;
        }
        let Some(_building) = self.building.try_lock() else { return true };
        let (mut left, mut all_built) = (entries, true);
        for index in self.secondary.all() {
            while let Some(partition) = self.partitions.get(index.built_partitions()) {
                if left == 0 {
                    return true;
                }
                let partition = partition.read();
                let cursor = index.build_cursor();
                let below = partition.iter_before(cursor.as_ref(), |place| self.digest_at(place));
                let Ok(mut records) = below else {
                    // The cursor's record cannot be read now; the index is not ready meanwhile.
                    all_built = false;
                    break;
                };
                let mut last = None;
                let mut batch = BUILD_BATCH.min(left);
                for entry in records.by_ref() {
                    left = left.saturating_sub(1);
                    batch = batch.saturating_sub(1);
                    // A record that cannot be read cannot be told by a query either.
                    if let Ok(stored) = self.log.entry(entry.place) {
                        let stored = stored.view();
                        index.add(&stored.record());
                        last = Some(stored.digest());
                    }
                    if batch == 0 && last.is_some() {
                        break;
                    }
                }
                let more = records.next().is_some();
                index.built_to(last.filter(|_| more), self.clock.now_ns());
            }
        }
        !all_built
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
        self.secondary.change(
            old.as_ref().map(|old| old.view().record()),
            new.as_ref().map(|new| new.view().record()),
        );
    }

    /// Takes the postings of a record out that is deleted, before its entry is given up.
    pub(super) fn index_deleted(&self, old: Place) {
        if self.secondary.any()
            && let Ok(old) = self.log.entry(old)
        {
            self.secondary.change(Some(old.view().record()), None);
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
            self.secondary.sweep(old.view().record());
        }
    }
}

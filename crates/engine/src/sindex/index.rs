//! One index: its postings by partition, and how far it is built.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use cairn_value::limits::PARTITIONS;
use cairn_value::{Digest, Error, PartitionId, RecordView};
use parking_lot::{Mutex, RwLock};

use super::definition::IndexDefinition;
use super::extract::{Extractor, KeyExtractor};
use super::tree::{Posting, Tree, prefix_of};

/// Postings looked at for the estimate of how many share a value.
const SAMPLE: usize = 10_000;

/// A secondary index of a namespace.
///
/// Lock order: the lock of a partition first, then the shard of the same partition here. A record
/// changes under the partition's lock, and its postings change with it before the lock is let go.
#[derive(Debug)]
pub struct SecondaryIndex {
    name: RwLock<String>,
    definition: IndexDefinition,
    pub(super) extractor: Box<dyn KeyExtractor>,
    pub(super) shards: Box<[RwLock<Option<Box<Tree>>>]>,
    build: Build,
    pub(super) counters: IndexCounters,
}

/// How far an index is built: all partitions below `partitions`, and in the next one all digests
/// from the cursor up. Both move under the lock of the partition that is being built.
#[derive(Debug)]
struct Build {
    partitions: AtomicUsize,
    cursor: Mutex<Option<Digest>>,
    began_ns: u64,
    took_s: AtomicU64,
}

#[derive(Debug, Default)]
pub(super) struct IndexCounters {
    pub postings: AtomicU64,
    pub records: AtomicU64,
    pub swept: AtomicU64,
}

/// Counts and sizes of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexStats {
    /// Values of records in the index.
    pub entries: u64,
    /// Bytes of memory that the index takes.
    pub used_bytes: u64,
    /// How many entries share a value, estimated.
    pub entries_per_value: u64,
    /// How many entries an indexed record has.
    pub entries_per_record: u64,
    /// How far the index is built, in percent.
    pub load_percent: u32,
    /// How many seconds building took.
    pub load_time_s: u64,
    /// Records that expiry and truncation took out.
    pub swept_records: u64,
}

impl SecondaryIndex {
    pub(super) fn new(
        name: String,
        definition: IndexDefinition,
        now_ns: u64,
    ) -> Result<Self, Error> {
        let build = Build {
            partitions: AtomicUsize::new(0),
            cursor: Mutex::new(None),
            began_ns: now_ns,
            took_s: AtomicU64::new(0),
        };
        Ok(SecondaryIndex {
            name: RwLock::new(name),
            extractor: Box::new(Extractor::new(&definition)?),
            definition,
            shards: (0..PARTITIONS).map(|_| RwLock::default()).collect(),
            build,
            counters: IndexCounters::default(),
        })
    }

    /// Its name now; it may be given another one.
    pub fn name(&self) -> String {
        self.name.read().clone()
    }

    pub(super) fn rename(&self, name: &str) {
        name.clone_into(&mut self.name.write());
    }

    /// What it is about.
    pub fn definition(&self) -> &IndexDefinition {
        &self.definition
    }

    /// Whether it is built, so that queries can use it.
    pub fn is_ready(&self) -> bool {
        self.built_partitions() == PARTITIONS
    }

    /// Counts and sizes.
    pub fn stats(&self) -> IndexStats {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (entries, records) = (load(&self.counters.postings), load(&self.counters.records));
        let (sampled, distinct) = self.sample_values();
        IndexStats {
            entries,
            used_bytes: self.memory_bytes() as u64,
            entries_per_value: sampled.checked_div(distinct).unwrap_or(0),
            entries_per_record: entries.checked_div(records).unwrap_or(0),
            load_percent: (self.built_partitions() * 100 / PARTITIONS) as u32,
            load_time_s: load(&self.build.took_s),
            swept_records: load(&self.counters.swept),
        }
    }

    /// Bytes of memory: itself and all that it asked the allocator for, spare room included.
    pub fn memory_bytes(&self) -> usize {
        let trees = self.shards.iter().filter_map(|shard| {
            let shard = shard.read();
            shard.as_ref().map(|tree| size_of::<Tree>() + tree.heap_bytes())
        });
        size_of::<Self>() + size_of_val(&*self.shards) + trees.sum::<usize>()
    }

    /// Postings in the first partitions, and how many values they have.
    fn sample_values(&self) -> (u64, u64) {
        let (mut seen, mut values) = (0, HashSet::new());
        for shard in &self.shards {
            let shard = shard.read();
            for posting in shard.iter().flat_map(|tree| tree.iter_from(FIRST)).take(SAMPLE - seen) {
                seen += 1;
                values.insert(posting.value);
            }
        }
        (seen as u64, values.len() as u64)
    }

    /// The partition that is to be built next.
    pub(crate) fn built_partitions(&self) -> usize {
        self.build.partitions.load(Ordering::Acquire)
    }

    /// Where building goes on in that partition: below this digest.
    pub(crate) fn build_cursor(&self) -> Option<Digest> {
        *self.build.cursor.lock()
    }

    /// Notes that the partition under way is built down to a digest, or whole.
    pub(crate) fn built_to(&self, cursor: Option<Digest>, now_ns: u64) {
        *self.build.cursor.lock() = cursor;
        if cursor.is_none() {
            let built = self.build.partitions.fetch_add(1, Ordering::AcqRel) + 1;
            if built == PARTITIONS {
                let took_s = now_ns.saturating_sub(self.build.began_ns) / 1_000_000_000;
                self.build.took_s.store(took_s, Ordering::Relaxed);
            }
        }
    }

    /// Whether the record of this digest is in the index already, or left to the build.
    fn covers(&self, digest: &Digest) -> bool {
        let partition = usize::from(digest.partition().0);
        match self.built_partitions() {
            built if built != partition => built > partition,
            _ => self.build_cursor().is_some_and(|cursor| *digest >= cursor),
        }
    }

    /// Takes the postings of the old record out and puts those of the new one in. The caller holds
    /// the lock of their partition alone.
    pub(super) fn change(&self, old: Option<&RecordView<'_>>, new: Option<&RecordView<'_>>) {
        let Some(digest) = old.or(new).map(|record| record.digest) else { return };
        if !self.covers(&digest) {
            return;
        }
        if self.is_untouched(old, new) {
            return;
        }
        let (old, new) = (self.keys(old), self.keys(new));
        if old != new {
            let partition = digest.partition();
            let prefix = prefix_of(&digest);
            let mut shard = self.shards[usize::from(partition.0)].write();
            self.apply(&mut shard, prefix, &old, &new);
        }
    }

    /// Puts a record in while the index is built. The caller holds the lock of its partition.
    pub(crate) fn add(&self, record: &RecordView<'_>) {
        let new = self.keys(Some(record));
        if !new.is_empty() {
            let PartitionId(partition) = record.digest.partition();
            let mut shard = self.shards[usize::from(partition)].write();
            self.apply(&mut shard, prefix_of(&record.digest), &[], &new);
        }
    }

    /// Whether a bin that is indexed stays as it is: the usual case of a write to other bins.
    fn is_untouched(&self, old: Option<&RecordView<'_>>, new: Option<&RecordView<'_>>) -> bool {
        let super::IndexSource::Bin { name, .. } = &self.definition.source else { return false };
        let (Some(old), Some(new)) = (old, new) else { return false };
        old.set == new.set && old.bins.get(name) == new.bins.get(name)
    }

    /// The sort keys of a record, ascending, each once.
    fn keys(&self, record: Option<&RecordView<'_>>) -> Vec<u64> {
        let mut keys = Vec::new();
        if let Some(record) = record {
            self.extractor.values(record, &mut |value| value.for_each_key(|key| keys.push(key)));
        }
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    fn apply(&self, shard: &mut Option<Box<Tree>>, prefix: u64, old: &[u64], new: &[u64]) {
        let tree = shard.get_or_insert_default();
        let mut postings = 0i64;
        for &value in old.iter().filter(|key| new.binary_search(key).is_err()) {
            postings -= i64::from(tree.remove(Posting { value, prefix }));
        }
        for &value in new.iter().filter(|key| old.binary_search(key).is_err()) {
            tree.insert(Posting { value, prefix });
            postings += 1;
        }
        if tree.len() == 0 {
            *shard = None;
        }
        let records = i64::from(!new.is_empty()) - i64::from(!old.is_empty());
        // Wrapping: adding what is -1 modulo 2^64 counts one down.
        self.counters.postings.fetch_add(postings as u64, Ordering::Relaxed);
        self.counters.records.fetch_add(records as u64, Ordering::Relaxed);
    }
}

/// The least posting there can be.
pub(super) const FIRST: Posting = Posting { value: 0, prefix: 0 };

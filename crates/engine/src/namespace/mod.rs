//! A namespace: records by digest, in 4,096 partitions.
//!
//! Each partition has a lock and an index; all share one log. A read holds the lock of its
//! partition shared, an update holds it alone, so the closure of an update is the only one that
//! sees its record. The lock is fair: writers of one hot record take turns in the order they came.

mod batch;
mod defrag;
mod files;
mod indexes;
mod meta;
mod pending;
mod query;
mod recover;
mod scan;
mod scrub;
mod snapshot;
mod sweep;
mod write;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cairn_value::limits::PARTITIONS;
use cairn_value::{Digest, Error, Meta, RecordView, ResultCode};
use parking_lot::{Mutex, RwLock};

use crate::clock::{Clock, seconds_since_2010};
use crate::config::{NamespaceConfig, Settings, Storage};
use crate::guard::WriteGuard;
use crate::index::{Entry, PartitionIndex, Place};
use crate::log::entry::EntryView;
use crate::log::{EntryRef, Log, LogStats};
use crate::policy::{Change, Failure, GenerationCheck, ReadPolicy, ReadTouch, Target, WritePolicy};
use crate::seams::Seams;
use crate::sets::{SetStats, Sets};
use crate::sindex::SecondaryIndexes;
use files::FileState;
pub use files::Ticket;
use pending::Pending;
pub use query::{Query, QueryEnd, QueryPlace};
pub use scan::ScanEnd;
use sweep::Sweeper;
pub use sweep::{Budget, Progress};

/// A flag in the index: older versions of the record may be in the log.
const FLAG_SUPERSEDES: u8 = 1;
/// A flag in the index while the log is read: the record was deleted.
const FLAG_TOMBSTONE: u8 = 2;

/// A collection of records with its own storage, limits and defaults.
pub struct Namespace {
    config: NamespaceConfig,
    settings: Settings,
    partitions: Box<[RwLock<PartitionIndex>]>,
    log: Log,
    sets: Sets,
    pending: Pending,
    clock: Arc<dyn Clock>,
    guard: RwLock<Option<Arc<dyn WriteGuard>>>,
    truncated_before_ns: AtomicU64,
    sweeper: Mutex<Sweeper>,
    secondary: SecondaryIndexes,
    /// Held by whoever builds secondary indexes.
    building: Mutex<()>,
    counters: Counters,
    files: Option<FileState>,
}

/// What happened since start.
#[derive(Debug, Default)]
struct Counters {
    expired: AtomicU64,
    truncated: AtomicU64,
    defrag_moved_bytes: AtomicU64,
    defrag_freed_blocks: AtomicU64,
}

/// Sizes and counts of a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamespaceStats {
    /// Records, those that have expired or were truncated but not yet swept included.
    pub objects: u64,
    /// Bytes of memory in the index.
    pub index_bytes: u64,
    /// Bytes of memory in the secondary indexes.
    pub secondary_index_bytes: u64,
    /// Sizes of the log.
    pub log: LogStats,
    /// Records removed because they expired.
    pub expired: u64,
    /// Records removed because their set or namespace was truncated.
    pub truncated: u64,
    /// Bytes that defragmentation moved.
    pub defrag_moved_bytes: u64,
    /// Blocks that defragmentation emptied.
    pub defrag_freed_blocks: u64,
    /// Whether writes are refused because storage is full.
    pub stop_writes: bool,
}

impl std::fmt::Debug for Namespace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Namespace").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Namespace {
    pub(crate) fn open(config: NamespaceConfig, seams: &Seams) -> Result<Self, Error> {
        config.check()?;
        let (log, files) = match &config.storage {
            Storage::Memory => (Log::new(config.block_size, config.storage_size), None),
            Storage::File(storage) => {
                let (log, files) = recover::open_files(&config, storage, seams)?;
                (log, Some(files))
            }
        };
        let namespace = Namespace {
            settings: Settings::new(&config),
            partitions: (0..PARTITIONS).map(|_| RwLock::new(PartitionIndex::new())).collect(),
            log,
            sets: Sets::new(),
            pending: Pending::new(),
            clock: seams.clock.clone(),
            guard: RwLock::new(None),
            truncated_before_ns: AtomicU64::new(0),
            sweeper: Mutex::new(Sweeper::default()),
            secondary: SecondaryIndexes::default(),
            building: Mutex::new(()),
            counters: Counters::default(),
            files,
            config,
        };
        namespace.start(seams)?;
        Ok(namespace)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.config.name
    }

    /// The configuration it was opened with.
    pub fn config(&self) -> &NamespaceConfig {
        &self.config
    }

    /// What can change while it serves.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The time, as this namespace sees it.
    pub fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    /// Calls `f` with the record, under the shared lock of its partition.
    ///
    /// The result carries the record's metadata; a refusal does so, too, when there is a record.
    /// With [`ReadPolicy::touch`] the read may extend the record's life afterwards.
    pub fn read<R>(
        &self,
        target: &Target<'_>,
        policy: &ReadPolicy,
        f: impl FnOnce(&RecordView<'_>) -> Result<R, Error>,
    ) -> Result<(R, Meta), Failure> {
        let partition = self.partition(&target.digest).read();
        let mut seen = None;
        let found = partition
            .find(&target.digest, |place| self.digest_seen(place, &mut seen))?
            .ok_or(ResultCode::NotFound)?;
        let entry = self.entry_seen(found.entry.place, seen)?;
        let entry = entry.view();
        let meta = entry.meta();
        let now_ns = self.clock.now_ns();
        if !self.is_alive(&found.entry, &entry, now_ns) {
            return Err(Failure::of(ResultCode::NotFound, Some(meta)));
        }
        let record = entry.record();
        check_key(target, &record)?;
        let result = f(&record).map_err(|error| Failure::of(error, Some(meta)))?;
        drop(partition);
        if self.read_extends_life(policy.touch, &meta, now_ns) {
            self.extend_life(target, &meta);
        }
        Ok((result, meta))
    }

    /// Removes a record; [`ResultCode::NotFound`] when there is none.
    pub fn delete(&self, target: &Target<'_>, generation: GenerationCheck) -> Result<(), Failure> {
        let policy = WritePolicy { generation, ..WritePolicy::default() };
        self.update(target, &policy, |slot| match slot.record {
            Some(_) => Ok((Change::Delete, ())),
            None => Err(ResultCode::NotFound.into()),
        })?;
        Ok(())
    }

    /// Lets `guard` check every write before anything changes; `None` takes it away.
    pub fn set_guard(&self, guard: Option<Arc<dyn WriteGuard>>) {
        *self.guard.write() = guard;
    }

    /// Hides all records of a set (or of the namespace) that were last written before a time, at
    /// once; [`step`](Self::step) removes them afterwards. Without a time it is now.
    pub fn truncate(&self, set: Option<&[u8]>, before_ns: Option<u64>) -> Result<(), Error> {
        let now_ns = self.clock.now_ns();
        let before_ns = before_ns.unwrap_or(now_ns);
        if before_ns > now_ns {
            return Err(Error::new(
                ResultCode::Parameter,
                format!("truncate time {before_ns} lies in the future; it is {now_ns} now"),
            ));
        }
        if let Some(name) = set {
            self.sets.id_or_create(name)?;
        }
        self.keep_cut_off(set, before_ns)?;
        match set {
            None => {
                self.truncated_before_ns.fetch_max(before_ns, Ordering::SeqCst);
            }
            Some(name) => {
                let id = self.sets.id_or_create(name)?;
                self.sets.with(id, |set| set.truncate_before(before_ns));
            }
        }
        self.sweeper.lock().start_truncation();
        Ok(())
    }

    /// Counts of all sets, the records without a set first.
    pub fn set_stats(&self) -> Vec<SetStats> {
        self.sets.stats()
    }

    /// Sizes and counts.
    pub fn stats(&self) -> NamespaceStats {
        let mut stats = NamespaceStats {
            log: self.log.stats(),
            expired: self.counters.expired.load(Ordering::Relaxed),
            truncated: self.counters.truncated.load(Ordering::Relaxed),
            defrag_moved_bytes: self.counters.defrag_moved_bytes.load(Ordering::Relaxed),
            defrag_freed_blocks: self.counters.defrag_freed_blocks.load(Ordering::Relaxed),
            stop_writes: self.stop_writes().is_err(),
            ..NamespaceStats::default()
        };
        for index in self.secondary.all() {
            stats.secondary_index_bytes += index.memory_bytes() as u64;
        }
        for partition in &self.partitions {
            let index = partition.read();
            stats.objects += index.len() as u64;
            stats.index_bytes += index.memory_bytes() as u64;
        }
        stats
    }

    fn partition(&self, digest: &Digest) -> &RwLock<PartitionIndex> {
        &self.partitions[usize::from(digest.partition().0)]
    }

    fn digest_at(&self, place: Place) -> Result<Digest, Error> {
        self.log.header(place).map(|header| EntryView::of_header(&header).digest())
    }

    /// The digest at a place, keeping the entry for whoever wants it next: the index asks for the
    /// digest of the one record that is about to be read.
    fn digest_seen<'a>(
        &'a self,
        place: Place,
        seen: &mut Option<(Place, EntryRef<'a>)>,
    ) -> Result<Digest, Error> {
        match self.log.entry(place) {
            Ok(entry) => {
                let digest = entry.view().digest();
                *seen = Some((place, entry));
                Ok(digest)
            }
            // The record may be another one than the damaged one.
            Err(_) => self.digest_at(place),
        }
    }

    fn entry_seen<'a>(
        &'a self,
        place: Place,
        seen: Option<(Place, EntryRef<'a>)>,
    ) -> Result<EntryRef<'a>, Error> {
        match seen {
            Some((at, entry)) if at == place => Ok(entry),
            _ => self.log.entry(place),
        }
    }

    /// Whether a record is there for commands: not expired and not truncated.
    fn is_alive(&self, entry: &Entry, stored: &EntryView<'_>, now_ns: u64) -> bool {
        if entry.is_expired(seconds_since_2010(now_ns)) {
            return false;
        }
        !self.is_truncated(entry, stored)
    }

    fn is_truncated(&self, entry: &Entry, stored: &EntryView<'_>) -> bool {
        stored.meta().last_update_ns < self.cut_off_ns(entry.set_id)
    }

    /// Records of a set that were written before this time are gone.
    fn cut_off_ns(&self, set_id: u16) -> u64 {
        let of_set = self.sets.with(set_id, |set| set.truncated_before_ns());
        of_set.max(self.truncated_before_ns.load(Ordering::SeqCst))
    }

    fn read_extends_life(&self, touch: ReadTouch, meta: &Meta, now_ns: u64) -> bool {
        let percent = match touch {
            ReadTouch::Never => 0,
            ReadTouch::Below(percent) => percent,
            ReadTouch::Default => self.settings.read_touch_ttl_percent(),
        };
        if percent == 0 || meta.void_time == 0 {
            return false;
        }
        let left = u64::from(meta.void_time.saturating_sub(seconds_since_2010(now_ns)));
        left * 100 < u64::from(life_s(meta)) * u64::from(percent)
    }
}

/// Seconds of life that the last write gave a record.
fn life_s(meta: &Meta) -> u32 {
    meta.void_time.saturating_sub(seconds_since_2010(meta.last_update_ns))
}

/// Refuses a command whose key is not the one that the record was stored with.
fn check_key(target: &Target<'_>, record: &RecordView<'_>) -> Result<(), Failure> {
    match (target.key, record.key) {
        (Some(sent), Some(stored)) if sent != stored => Err(Failure::of(
            Error::new(
                ResultCode::KeyMismatch,
                format!(
                    "record {} was stored under another user key than the one sent",
                    record.digest
                ),
            ),
            Some(record.meta),
        )),
        _ => Ok(()),
    }
}

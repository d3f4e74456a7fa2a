//! The log on disk: flushing, group commit and the reuse of blocks.
//!
//! A position in the log (bytes appended) is the ticket of a write. A flush takes all that is
//! appended, writes and syncs it, and moves the durable position. It is done by whoever needs it
//! first; the others find their tickets covered when it has ended.
//!
//! Flushes are numbered, and each entry carries the number of the flush that writes it. A flush
//! begins only when the one before has synced. So an entry of flush n on disk proves that all of
//! flush n - 1 was durable, and that is how recovery tells damage from what a crash cut off.
//!
//! A freed block passes through two flushes before it is reused: the first makes durable what was
//! appended before the block was freed, then the block's header is marked as given up, and the
//! second makes the mark durable. Without the mark, a crash could leave a part of the old entries
//! in place, among them one whose tombstone has been overwritten already.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use cairn_value::{Error, ResultCode};
use parking_lot::{Condvar, Mutex, RwLock};

use super::block::{Resident, Retired};
use super::cache::PageCache;
use super::format::{BLOCK_HEADER_LEN, BlockHeader, FILE_HEADER_LEN};
use super::{BlockScanner, Log, LogStats};
use crate::disk::DiskFile;

/// Called after each flush, whether it succeeded or not.
pub(crate) type FlushHook = Arc<dyn Fn() + Send + Sync>;

/// The data file of a log and what is on its way there.
pub(crate) struct Files {
    file: Box<dyn DiskFile>,
    pub(super) cache: PageCache,
    pub(super) block_size: usize,
    /// True while somebody flushes.
    busy: Mutex<bool>,
    ended: Condvar,
    /// Someone waits for a flush that is left to the background.
    wanted: AtomicBool,
    durable: AtomicU64,
    /// Entries that are being filled, apart for even and odd batches.
    filling: [AtomicU32; 2],
    /// Bytes out of use that somebody still looked at.
    graveyard: Mutex<Vec<(u32, Retired)>>,
    /// Blocks marked as given up, but not durably yet.
    given_up: Mutex<Vec<u32>>,
    failure: OnceLock<String>,
    hook: RwLock<Option<FlushHook>>,
    pub(super) counters: Counters,
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    pub written_bytes: AtomicU64,
    pub flushes: AtomicU64,
    pub corrupt_entries: AtomicU64,
    pub damaged_blocks: AtomicU64,
    pub scrubbed_bytes: AtomicU64,
    pub recycled_blocks: AtomicU64,
}

impl std::fmt::Debug for Files {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Files").field("counters", &self.counters).finish_non_exhaustive()
    }
}

/// An entry that is being filled.
pub(super) struct Filling<'a>(&'a AtomicU32);

impl Drop for Filling<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A range of a block that goes to disk.
struct Range<'a> {
    id: u32,
    from: usize,
    to: usize,
    sealed: bool,
    /// Keeps the bytes also when the block is freed meanwhile: what made it garbage may come after
    /// this flush, and until then a crash must find the old entries.
    bytes: Option<Resident<'a>>,
}

/// What one flush makes durable.
struct Cut<'a> {
    ranges: Vec<Range<'a>>,
    position: u64,
    batch: u64,
    freed: Vec<u32>,
}

impl Files {
    pub(super) fn new(file: Box<dyn DiskFile>, block_size: usize, cache_bytes: u64) -> Self {
        Files {
            file,
            cache: PageCache::new(cache_bytes, block_size),
            block_size,
            busy: Mutex::new(false),
            ended: Condvar::new(),
            wanted: AtomicBool::new(false),
            durable: AtomicU64::new(0),
            filling: Default::default(),
            graveyard: Mutex::default(),
            given_up: Mutex::default(),
            failure: OnceLock::new(),
            hook: RwLock::new(None),
            counters: Counters::default(),
        }
    }

    pub(super) fn add_stats(&self, stats: &mut LogStats) {
        stats.disk_written_bytes = self.counters.written_bytes.load(Ordering::Relaxed);
        stats.flushes = self.counters.flushes.load(Ordering::Relaxed);
        stats.corrupt_entries = self.counters.corrupt_entries.load(Ordering::Relaxed);
        stats.scrubbed_bytes = self.counters.scrubbed_bytes.load(Ordering::Relaxed);
        stats.damaged_blocks = self.counters.damaged_blocks.load(Ordering::Relaxed);
    }

    /// Blocks that came back into use since start.
    pub fn recycled_blocks(&self) -> u64 {
        self.counters.recycled_blocks.load(Ordering::Relaxed)
    }

    /// Counts a corrupt entry.
    pub fn count_corrupt(&self) {
        self.counters.corrupt_entries.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts bytes that were read to find damage.
    pub fn count_scrubbed(&self, bytes: u64) {
        self.counters.scrubbed_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Everything appended before this position is on disk.
    pub fn durable(&self) -> u64 {
        self.durable.load(Ordering::Acquire)
    }

    /// Refuses when a write to disk has failed.
    pub fn check(&self) -> Result<(), Error> {
        match self.failure.get() {
            None => Ok(()),
            Some(failure) => Err(Error::new(
                ResultCode::ServerError,
                format!(
                    "the namespace is read-only because its disk failed ({failure}); replace the \
                     disk or free space on it, and start again"
                ),
            )),
        }
    }

    pub fn set_hook(&self, hook: Option<FlushHook>) {
        *self.hook.write() = hook;
    }

    /// Asks the background for a flush.
    pub fn want_flush(&self) {
        if !self.wanted.swap(true, Ordering::SeqCst) {
            // Under the lock, so that it does not fall between the look and the wait.
            let _busy = self.busy.lock();
            self.ended.notify_all();
        }
    }

    /// Waits until a flush is wanted, at most this long; whether one is.
    pub fn wait_wanted(&self, at_most: Duration) -> bool {
        let mut busy = self.busy.lock();
        if !self.wanted.load(Ordering::SeqCst) {
            self.ended.wait_for(&mut busy, at_most);
        }
        self.wanted.load(Ordering::SeqCst)
    }

    pub(super) fn begin_filling(&self, batch: u64) -> Filling<'_> {
        let count = &self.filling[batch as usize & 1];
        count.fetch_add(1, Ordering::SeqCst);
        Filling(count)
    }

    /// Keeps bytes until nobody looks at them.
    pub(super) fn bury(&self, id: u32, retired: Retired) {
        self.graveyard.lock().push((id, retired));
    }

    pub(super) fn offset_of(&self, id: u32) -> u64 {
        FILE_HEADER_LEN + u64::from(id) * self.block_size as u64
    }

    pub(super) fn read_block(&self, id: u32, offset: usize, bytes: &mut [u8]) -> io::Result<()> {
        self.file.read_at(self.offset_of(id) + offset as u64, bytes)
    }

    pub(super) fn write_block(&self, id: u32, offset: usize, bytes: &[u8]) -> io::Result<()> {
        self.counters.written_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.file.write_at(self.offset_of(id) + offset as u64, bytes)
    }

    pub(super) fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    /// Takes room on disk for a block that is used for the first time.
    pub(super) fn allocate_block(&self, id: u32, block_size: usize) -> Result<(), Error> {
        self.check()?;
        self.file.allocate(self.offset_of(id), block_size as u64).map_err(|error| {
            Error::new(
                ResultCode::NoSpace,
                format!(
                    "the disk has no room for another block of {block_size} bytes ({error}); free \
                     space on it or delete records"
                ),
            )
        })
    }

    pub fn scanner(
        &self,
        id: u32,
        seed: u32,
        batch: Option<u64>,
        from: usize,
        to: usize,
    ) -> BlockScanner<'_> {
        BlockScanner::new(self, id, seed, batch, from, to)
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if let Some(files) = &self.files {
            for (id, retired) in files.graveyard.lock().drain(..) {
                // Nobody borrows the log any more, so nobody is counted in.
                let left = retired.try_free(self.table.slot(id));
                debug_assert!(left.is_none());
            }
        }
    }
}

impl Log {
    /// Bytes that are appended but not durable.
    pub fn unflushed_bytes(&self) -> u64 {
        match &self.files {
            Some(files) => self.active.lock().position.saturating_sub(files.durable()),
            None => 0,
        }
    }

    /// Whether sealed blocks wait to be written.
    pub fn has_unflushed_blocks(&self) -> bool {
        !self.active.lock().unflushed.is_empty()
    }

    /// Whether freed blocks wait for a flush to be usable again.
    pub fn has_quarantined_blocks(&self) -> bool {
        let Some(files) = &self.files else { return false };
        !self.active.lock().freed.is_empty() || !files.given_up.lock().is_empty()
    }

    /// Waits until everything before `position` is durable, and flushes when nobody else does.
    pub fn wait_durable(&self, position: u64) -> Result<(), Error> {
        let Some(files) = &self.files else { return Ok(()) };
        let mut busy = files.busy.lock();
        while files.durable() < position {
            files.check()?;
            if *busy {
                files.ended.wait(&mut busy);
                continue;
            }
            *busy = true;
            drop(busy);
            self.flush_alone(files);
            busy = files.busy.lock();
            *busy = false;
            files.ended.notify_all();
        }
        Ok(())
    }

    /// Makes everything durable that is appended by now.
    pub fn flush(&self) -> Result<(), Error> {
        let Some(files) = &self.files else { return Ok(()) };
        let mut busy = files.busy.lock();
        while *busy {
            files.ended.wait(&mut busy);
        }
        files.check()?;
        *busy = true;
        drop(busy);
        self.flush_alone(files);
        *files.busy.lock() = false;
        files.ended.notify_all();
        files.check()
    }

    /// One flush; the caller has made sure that there is no other.
    fn flush_alone(&self, files: &Files) {
        files.wanted.store(false, Ordering::SeqCst);
        let cut = self.cut();
        // Nobody fills for longer than it takes to copy one record.
        while files.filling[cut.batch as usize & 1].load(Ordering::SeqCst) > 0 {
            std::thread::yield_now();
        }
        match self.write_cut(files, cut) {
            Ok(()) => {
                files.counters.flushes.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => {
                // What the disk holds now is unknown, so nothing may be built on it.
                let _ = files.failure.set(error.to_string());
            }
        }
        let hook = files.hook.read().clone();
        if let Some(hook) = hook {
            hook();
        }
    }

    /// Decides what a flush writes, and lets what comes later belong to the next.
    fn cut(&self) -> Cut<'_> {
        let mut active = self.active.lock();
        let sealed = std::mem::take(&mut active.unflushed);
        let blocks = sealed.into_iter().map(|id| (id, true));
        let blocks = blocks.chain(active.block.map(|id| (id, false)));
        let ranges = blocks
            .map(|(id, sealed)| {
                let slot = self.table.slot(id);
                let (from, to) = (slot.written(), slot.used());
                // From now on the block counts as written, whenever it is freed.
                slot.set_written(to);
                Range { id, from, to, sealed, bytes: slot.resident() }
            })
            .collect();
        let batch = active.batch;
        active.batch += 1;
        let freed = std::mem::take(&mut active.freed);
        Cut { ranges, position: active.position, batch, freed }
    }

    fn write_cut(&self, files: &Files, cut: Cut<'_>) -> io::Result<()> {
        for range in cut.ranges.iter().filter(|range| range.from < range.to) {
            let bytes = range.bytes.as_ref().and_then(|bytes| {
                // SAFETY: the range was handed out before the cut, and all who filled it are done.
                unsafe { bytes.slice(range.from, range.to - range.from) }
            });
            let bytes = bytes.ok_or_else(|| io::Error::other("a block left memory too early"))?;
            files.write_block(range.id, range.from, bytes)?;
        }
        let given_up = std::mem::take(&mut *files.given_up.lock());
        if !crate::sabotage::skips_sync() {
            files.sync()?;
        }
        files.durable.store(cut.position, Ordering::Release);
        for Range { id, sealed, bytes, .. } in cut.ranges {
            drop(bytes);
            if sealed && let Some(retired) = self.table.slot(id).evict(self.block_size) {
                files.bury(id, retired);
            }
        }
        self.recycle(files, given_up);
        self.give_up(files, cut.freed, cut.batch)?;
        let buried = std::mem::take(&mut *files.graveyard.lock());
        let kept = buried.into_iter().filter_map(|(id, retired)| {
            retired.try_free(self.table.slot(id)).map(|retired| (id, retired))
        });
        let kept: Vec<_> = kept.collect();
        files.graveyard.lock().extend(kept);
        Ok(())
    }

    /// Marks freed blocks on disk as given up: all that was appended before they were freed is
    /// durable now.
    fn give_up(&self, files: &Files, freed: Vec<u32>, batch: u64) -> io::Result<()> {
        for id in freed {
            let stamp = self.table.slot(id).stamp();
            let header = BlockHeader { id, instance: self.instance, stamp, batch };
            files.write_block(id, 0, &header.given_up()[..BLOCK_HEADER_LEN])?;
            files.given_up.lock().push(id);
        }
        Ok(())
    }

    /// Lets blocks be used again whose mark is durable now.
    fn recycle(&self, files: &Files, given_up: Vec<u32>) {
        let mut active = self.active.lock();
        for id in given_up {
            self.table.slot(id).clear_stamp();
            active.free_ids.push(id);
            files.counters.recycled_blocks.fetch_add(1, Ordering::Relaxed);
            super::uncount_block(self);
        }
    }
}

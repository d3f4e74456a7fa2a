//! A namespace in files: durability, its tickets, and the clean stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use cairn_value::{Error, ResultCode};
use parking_lot::Mutex;

use super::Namespace;
use super::meta::Meta;
use super::snapshot;
use crate::config::Durability;
use crate::disk::Disk;
use crate::seams::Seams;

/// Appended bytes that may wait for the disk, in blocks.
const UNFLUSHED_BLOCKS_MAX: u64 = 4;

/// How often a writer tries to make room when blocks run out.
const TIGHT_ROUNDS: usize = 8;

/// Names the moment at which a write is durable. See [`Namespace::update_nowait`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(u64);

impl Ticket {
    /// The position in the log that must be durable, as [`Namespace::durable_position`] counts.
    pub fn position(self) -> u64 {
        self.0
    }
}

/// What a namespace in files has besides its log.
pub(super) struct FileState {
    pub disk: Arc<dyn Disk>,
    pub meta: Mutex<Meta>,
    pub closed: AtomicBool,
    /// When the oldest write was made that is not durable; 0 when all are.
    dirty_since_ns: AtomicU64,
}

impl FileState {
    pub fn new(disk: Arc<dyn Disk>, meta: Meta) -> Self {
        FileState {
            disk,
            meta: Mutex::new(meta),
            closed: AtomicBool::new(false),
            dirty_since_ns: AtomicU64::new(0),
        }
    }
}

impl Namespace {
    /// Everything appended before this position is on disk. A write with a [`Ticket`] whose
    /// position is not above it is durable. In memory it is always 0.
    pub fn durable_position(&self) -> u64 {
        self.log.files().map_or(0, |files| files.durable())
    }

    /// Whether a write is on disk.
    pub fn is_durable(&self, ticket: Ticket) -> bool {
        self.durable_position() >= ticket.0
    }

    /// Waits until a write is on disk; flushes when nobody else does. An error says that the disk
    /// failed, and that the write may be lost.
    pub fn wait_durable(&self, ticket: Ticket) -> Result<(), Error> {
        self.log.wait_durable(ticket.0)
    }

    /// Calls `hook` after each flush, on the thread that flushed, whether the flush succeeded
    /// ([`durable_position`](Self::durable_position) has moved) or not
    /// ([`write_failure`](Self::write_failure) says why). The hook must not block.
    pub fn set_flush_hook(&self, hook: Option<Arc<dyn Fn() + Send + Sync>>) {
        if let Some(files) = self.log.files() {
            files.set_hook(hook);
        }
    }

    /// Why every write is refused: the disk failed, or the namespace was closed.
    pub fn write_failure(&self) -> Option<Error> {
        self.check_writable().err()
    }

    /// Makes everything durable that was written by now.
    pub fn flush(&self) -> Result<(), Error> {
        if let Some(state) = &self.files {
            // Before the flush: what is appended from here on notes its own time.
            state.dirty_since_ns.store(0, Ordering::SeqCst);
        }
        self.log.flush()
    }

    /// Waits until somebody needs a flush and flushes; gives up after a while, so that a thread
    /// that calls this in a loop can be stopped. Returns at once for a namespace in memory.
    pub(crate) fn flush_when_wanted(&self, patience: Duration) {
        let Some(files) = self.log.files() else { return };
        let patience = match self.config.durability {
            Durability::Interval(ms) => {
                patience.min(Duration::from_millis(u64::from(ms / 4).max(1)))
            }
            _ => patience,
        };
        if files.check().is_err() {
            return std::thread::sleep(patience);
        }
        let wanted = files.wait_wanted(patience);
        if wanted || self.is_flush_due(self.clock.now_ns()) {
            // A failure stays in the log and refuses every later write.
            let _ = self.flush();
        }
    }

    /// Whether the namespace's durability asks for a flush now.
    pub(super) fn is_flush_due(&self, now_ns: u64) -> bool {
        let Some(state) = &self.files else { return false };
        match self.config.durability {
            Durability::Commit => self.log.unflushed_bytes() > 0,
            Durability::Interval(ms) => {
                // Half the time is left to the disk.
                let since_ns = state.dirty_since_ns.load(Ordering::SeqCst);
                let patience_ns = u64::from(ms) * 500_000;
                since_ns != 0 && now_ns.saturating_sub(since_ns) >= patience_ns
            }
            Durability::None => self.log.has_unflushed_blocks(),
        }
    }

    /// Refuses when the namespace cannot be written to any more.
    pub(super) fn check_writable(&self) -> Result<(), Error> {
        let (Some(state), Some(files)) = (&self.files, self.log.files()) else { return Ok(()) };
        if state.closed.load(Ordering::SeqCst) {
            let text = format!("namespace `{}` was closed; writes are refused", self.name());
            return Err(Error::new(ResultCode::Forbidden, text));
        }
        files.check()
    }

    fn unflushed_max(&self) -> u64 {
        UNFLUSHED_BLOCKS_MAX * self.config.block_size as u64
    }

    /// Lets a writer that can wait make room in memory and among the blocks.
    pub(super) fn make_room(&self) -> Result<(), Error> {
        self.check_writable()?;
        if self.log.files().is_some() && self.log.unflushed_bytes() > self.unflushed_max() {
            self.flush()?;
        }
        if self.log.files().is_none() {
            if self.log.is_tight() {
                self.defrag_inline();
            }
            return Ok(());
        }
        // A block that is emptied comes back into use two flushes later.
        for _ in 0..TIGHT_ROUNDS {
            if !self.log.is_tight() {
                break;
            }
            self.defrag_on_disk_inline();
            if self.log.has_quarantined_blocks() {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Refuses a writer that cannot wait when too much waits for the disk already.
    pub(super) fn check_load(&self) -> Result<(), Error> {
        self.check_writable()?;
        let Some(files) = self.log.files() else {
            return if self.log.is_tight() { self.make_room() } else { Ok(()) };
        };
        let (waiting, limit) = (self.log.unflushed_bytes(), self.unflushed_max());
        if waiting > limit || self.log.is_tight() {
            files.want_flush();
        }
        if waiting <= limit {
            return Ok(());
        }
        Err(Error::new(
            ResultCode::DeviceOverload,
            format!(
                "{waiting} bytes of namespace `{}` wait for the disk already, the limit is {limit}; \
                 retry later, or write slower",
                self.name()
            ),
        ))
    }

    /// Notes that something was appended.
    pub(super) fn appended(&self, end: u64, now_ns: u64) -> Option<Ticket> {
        let state = self.files.as_ref()?;
        match self.config.durability {
            Durability::Commit => return Some(Ticket(end)),
            Durability::Interval(_) if state.dirty_since_ns.load(Ordering::Relaxed) == 0 => {
                let _ = state.dirty_since_ns.compare_exchange(
                    0,
                    now_ns.max(1),
                    Ordering::SeqCst,
                    Ordering::SeqCst,
                );
            }
            _ => {}
        }
        None
    }

    /// Asks the background to flush, for a writer that does not wait.
    pub(super) fn want_flush(&self) {
        if let Some(files) = self.log.files() {
            files.want_flush();
        }
    }

    /// Stops cleanly. See [`Engine::close`](crate::Engine::close).
    pub fn close(&self) -> Result<(), Error> {
        let Some(state) = &self.files else { return Ok(()) };
        // Background work ends here, too.
        let _sweeper = self.sweeper.lock();
        if state.closed.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        self.log.close();
        self.log.flush()?;
        // Freed blocks become free.
        while self.log.has_quarantined_blocks() {
            self.log.flush()?;
        }
        self.write_snapshot(&*state.disk)?;
        let mut meta = state.meta.lock();
        meta.clean = true;
        meta.write(&*state.disk)
    }

    /// Makes the namespace what it was: from the snapshot of a clean stop, or from the log.
    pub(super) fn start(&self, seams: &Seams) -> Result<(), Error> {
        let Some(state) = &self.files else { return Ok(()) };
        let mut meta = state.meta.lock();
        let snapshot = if meta.clean { snapshot::read(&*state.disk, meta.instance) } else { None };
        match snapshot {
            Some(snapshot) => self.restore(snapshot, seams.rng.next_u64() >> 32)?,
            None => self.recover(seams)?,
        }
        if meta.clean {
            // From the first write on, the snapshot is wrong.
            meta.clean = false;
            meta.write(&*state.disk)?;
        }
        let indexes = meta.indexes.clone();
        drop(meta);
        self.restore_cut_offs()?;
        if indexes.is_empty() { Ok(()) } else { self.restore_indexes(&indexes) }
    }

    /// Keeps the definitions of secondary indexes across restarts.
    pub(super) fn keep_index_catalogue(&self) -> Result<(), Error> {
        let Some(state) = &self.files else { return Ok(()) };
        let mut meta = state.meta.lock();
        let new = Meta { indexes: self.index_catalogue(), ..meta.clone() };
        if new != *meta {
            new.write(&*state.disk)?;
            *meta = new;
        }
        Ok(())
    }

    /// Keeps a cut-off across restarts.
    pub(super) fn keep_cut_off(&self, set: Option<&[u8]>, before_ns: u64) -> Result<(), Error> {
        let Some(state) = &self.files else { return Ok(()) };
        self.check_writable()?;
        let mut meta = state.meta.lock();
        let mut new = meta.clone();
        match set {
            None => new.truncated_before_ns = new.truncated_before_ns.max(before_ns),
            Some(name) => new.truncate_set(name, before_ns),
        }
        if new != *meta {
            new.write(&*state.disk)?;
            *meta = new;
        }
        Ok(())
    }

    /// Puts the cut-offs of earlier runs in force.
    pub(super) fn restore_cut_offs(&self) -> Result<(), Error> {
        let Some(state) = &self.files else { return Ok(()) };
        let meta = state.meta.lock();
        self.truncated_before_ns.store(meta.truncated_before_ns, Ordering::SeqCst);
        for (name, before_ns) in &meta.sets {
            let id = self.sets.id_or_create(name)?;
            self.sets.with(id, |set| set.truncate_before(*before_ns));
        }
        if meta.truncated_before_ns > 0 || !meta.sets.is_empty() {
            self.sweeper.lock().start_truncation();
        }
        Ok(())
    }
}

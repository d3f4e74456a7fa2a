//! Queries that run, queries that ran, and the threads of those that run in the background.

use std::collections::VecDeque;
use std::fmt::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use cairn_value::{Error, ResultCode};
use parking_lot::{Condvar, Mutex};

/// Queries that may run at the same time, those that wait for a thread included.
const ACTIVE_MAX: usize = 1024;
/// Background queries that may wait for a thread.
const WAITING_MAX: usize = 128;
/// Threads for background queries.
const WORKERS_MAX: usize = 2;
/// Queries that are remembered after their end.
const DONE_DEFAULT: usize = 100;
/// Most that may be remembered.
const DONE_MAX: usize = 10_000;

/// All queries of a server.
#[derive(Debug)]
pub(crate) struct Queries {
    lists: Mutex<Lists>,
    worker_ended: Condvar,
    done_max: AtomicUsize,
}

#[derive(Debug, Default)]
struct Lists {
    active: Vec<Arc<Tracked>>,
    done: VecDeque<Arc<Tracked>>,
    waiting: VecDeque<Box<dyn BackgroundWork>>,
    workers: usize,
    stopping: bool,
}

/// A query that runs on a thread of its own.
pub(crate) trait BackgroundWork: Send + std::fmt::Debug {
    /// Works until it is done or aborted.
    fn run(self: Box<Self>);
}

/// What a query is about.
#[derive(Clone, Debug)]
pub(crate) struct About {
    pub id: u64,
    pub namespace: String,
    pub set: String,
    pub index: Option<String>,
    pub partitions: usize,
    pub digests: usize,
    pub records_per_second: u32,
    pub socket_timeout_ms: u32,
    pub background: bool,
    pub from: Option<SocketAddr>,
}

/// A query under way or ended, with its counts.
#[derive(Debug)]
pub(crate) struct Tracked {
    pub about: About,
    started: Instant,
    aborted: AtomicBool,
    ended: Mutex<Option<Instant>>,
    pub partitions_done: AtomicUsize,
    pub succeeded: AtomicU64,
    pub failed: AtomicU64,
    pub filtered_meta: AtomicU64,
    pub filtered_bins: AtomicU64,
    pub throttled: AtomicU64,
    pub bytes: AtomicU64,
}

/// Keeps a query among the active ones; dropping it ends the query.
#[derive(Debug)]
pub(crate) struct Running {
    queries: Arc<Queries>,
    pub tracked: Arc<Tracked>,
    listed: bool,
}

impl Default for Queries {
    fn default() -> Self {
        Queries {
            lists: Mutex::default(),
            worker_ended: Condvar::new(),
            done_max: AtomicUsize::new(DONE_DEFAULT),
        }
    }
}

impl Queries {
    /// Registers a query; an id that is in use is refused. An unlisted query is not told by
    /// `query-show`.
    pub fn begin(self: &Arc<Self>, about: About, listed: bool) -> Result<Running, Error> {
        let tracked = Arc::new(Tracked::new(about));
        if listed {
            let mut lists = self.lists.lock();
            lists.check_room(tracked.about.id)?;
            lists.active.push(Arc::clone(&tracked));
        }
        Ok(Running { queries: Arc::clone(self), tracked, listed })
    }

    /// Lets a query run on a thread of its own.
    pub fn run_in_background(self: &Arc<Self>, work: Box<dyn BackgroundWork>) -> Result<(), Error> {
        let mut lists = self.lists.lock();
        if lists.stopping || lists.waiting.len() >= WAITING_MAX {
            let text = format!("{WAITING_MAX} background queries wait already; try again later");
            return Err(Error::new(ResultCode::QueryQueueFull, text));
        }
        lists.waiting.push_back(work);
        if lists.workers < WORKERS_MAX {
            let queries = Arc::clone(self);
            let thread = std::thread::Builder::new().name("cairn-query".into());
            match thread.spawn(move || queries.work()) {
                Ok(_) => lists.workers += 1,
                // Another worker will come to it.
                Err(_) if lists.workers > 0 => {}
                Err(error) => {
                    let unstarted = lists.waiting.pop_back();
                    // Dropping a query takes the lock.
                    drop(lists);
                    drop(unstarted);
                    let text = format!("no thread for a background query: {error}");
                    return Err(Error::new(ResultCode::QueryGeneric, text));
                }
            }
        }
        Ok(())
    }

    /// Runs what waits until nothing does.
    fn work(&self) {
        loop {
            let mut lists = self.lists.lock();
            let Some(work) = lists.waiting.pop_front() else {
                lists.workers -= 1;
                drop(lists);
                self.worker_ended.notify_all();
                return;
            };
            drop(lists);
            // A defect that one query hits must not end the others.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work.run()));
        }
    }

    /// Aborts what runs and waits for the threads to end.
    pub fn stop(&self) {
        let mut lists = self.lists.lock();
        lists.stopping = true;
        let waiting = std::mem::take(&mut lists.waiting);
        lists.active.iter().for_each(|query| query.abort());
        parking_lot::MutexGuard::unlocked(&mut lists, || drop(waiting));
        while lists.workers > 0 {
            self.worker_ended.wait(&mut lists);
        }
    }

    /// All queries as `query-show` tells them, those that run first.
    pub fn show_all(&self) -> String {
        let lists = self.lists.lock();
        let all = lists.active.iter().chain(&lists.done);
        all.map(|query| query.show()).collect::<Vec<_>>().join(";")
    }

    /// One query as `query-show` tells it.
    pub fn show(&self, id: u64) -> Option<String> {
        let lists = self.lists.lock();
        let mut all = lists.active.iter().chain(&lists.done);
        all.find(|query| query.about.id == id).map(|query| query.show())
    }

    /// Aborts a query that runs; false when there is none.
    pub fn abort(&self, id: u64) -> bool {
        let lists = self.lists.lock();
        let query = lists.active.iter().find(|query| query.about.id == id);
        query.inspect(|query| query.abort()).is_some()
    }

    /// Aborts all queries that run and says how many.
    pub fn abort_all(&self) -> usize {
        let lists = self.lists.lock();
        lists.active.iter().for_each(|query| query.abort());
        lists.active.len()
    }

    /// Changes how many queries are remembered after their end.
    pub fn set_done_max(&self, max: usize) {
        self.done_max.store(max.min(DONE_MAX), Ordering::Relaxed);
        self.lists.lock().done.truncate(max);
    }

    /// How many queries are remembered after their end.
    pub fn done_max(&self) -> usize {
        self.done_max.load(Ordering::Relaxed)
    }

    fn end(&self, query: &Arc<Tracked>) {
        *query.ended.lock() = Some(Instant::now());
        let mut lists = self.lists.lock();
        lists.active.retain(|other| !Arc::ptr_eq(other, query));
        lists.done.push_front(Arc::clone(query));
        lists.done.truncate(self.done_max());
    }
}

impl Lists {
    fn check_room(&self, id: u64) -> Result<(), Error> {
        if self.active.iter().any(|other| other.about.id == id) {
            let text = format!("a query with the id {id} runs already");
            return Err(Error::new(ResultCode::Parameter, text));
        }
        if self.active.len() >= ACTIVE_MAX {
            let text = format!("{ACTIVE_MAX} queries run already, which is the limit");
            return Err(Error::new(ResultCode::QueryQueueFull, text));
        }
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.listed {
            self.queries.end(&self.tracked);
        }
    }
}

impl Tracked {
    fn new(about: About) -> Tracked {
        Tracked {
            about,
            started: Instant::now(),
            aborted: AtomicBool::new(false),
            ended: Mutex::new(None),
            partitions_done: AtomicUsize::new(0),
            succeeded: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            filtered_meta: AtomicU64::new(0),
            filtered_bins: AtomicU64::new(0),
            throttled: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    fn abort(&self) {
        self.aborted.store(true, Ordering::Relaxed);
    }

    /// Whether the query is to end before its time.
    pub fn is_aborted(&self) -> bool {
        self.aborted.load(Ordering::Relaxed)
    }

    fn show(&self) -> String {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let About { id, namespace, set, index, .. } = &self.about;
        let ended = *self.ended.lock();
        let run_time = ended.unwrap_or_else(Instant::now) - self.started;
        let since_done = ended.map_or(0, |ended| ended.elapsed().as_millis());
        let mut text = format!("trid={id}:ns={namespace}");
        // Writing to a string cannot fail.
        if !set.is_empty() {
            let _ = write!(text, ":set={set}");
        }
        if let Some(index) = index {
            let _ = write!(text, ":sindex-name={index}");
        }
        let _ = write!(
            text,
            ":n-pids-requested={}:n-keyds-requested={}:rps={}:active-threads={}:status={}:\
             job-progress={:.2}:run-time={}:time-since-done={since_done}:recs-throttled={}:\
             recs-filtered-meta={}:recs-filtered-bins={}:recs-succeeded={}:recs-failed={}",
            self.about.partitions,
            self.about.digests,
            self.about.records_per_second,
            u8::from(ended.is_none()),
            self.status(ended.is_some()),
            self.progress_percent(ended.is_some()),
            run_time.as_millis(),
            count(&self.throttled),
            count(&self.filtered_meta),
            count(&self.filtered_bins),
            count(&self.succeeded),
            count(&self.failed),
        );
        let from = self.about.from.map(|from| format!("{}+{}", from.ip(), from.port()));
        let _ = write!(text, ":from={}", from.as_deref().unwrap_or("unknown"));
        if self.about.background {
            text.push_str(":job-type=background-ops");
        } else {
            let _ = write!(
                text,
                ":job-type=basic:net-io-bytes={}:net-io-time=0:socket-timeout={}",
                count(&self.bytes),
                self.about.socket_timeout_ms,
            );
        }
        text
    }

    fn status(&self, ended: bool) -> &'static str {
        match (ended, self.is_aborted()) {
            (true, true) => "done(user-aborted)",
            (true, false) => "done(ok)",
            (false, _) => "active(ok)",
        }
    }

    fn progress_percent(&self, ended: bool) -> f64 {
        if ended && !self.is_aborted() {
            return 100.0;
        }
        let all = (self.about.partitions + self.about.digests).max(1);
        let done = self.partitions_done.load(Ordering::Relaxed).min(all);
        100.0 * done as f64 / all as f64
    }
}

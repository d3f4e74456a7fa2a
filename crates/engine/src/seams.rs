//! What the engine takes from its surroundings, so that a simulator can supply its own.

use std::sync::Arc;

use crate::clock::{Clock, SystemClock};
use crate::disk::{Disks, RealDisks};
use crate::rng::{Rng, SystemRng};

/// How far the start of a namespace after a crash has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The namespace.
    pub namespace: String,
    /// Blocks read.
    pub blocks_done: u32,
    /// Blocks there are.
    pub blocks: u32,
}

/// Time, randomness, files, and who hears about progress.
#[derive(Clone)]
pub struct Seams {
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Gives random numbers.
    pub rng: Arc<dyn Rng>,
    /// Gives directories.
    pub disks: Arc<dyn Disks>,
    /// Threads that read the log after a crash.
    pub recovery_threads: usize,
    /// Called now and then while the log is read after a crash.
    pub on_recovery: Option<Arc<dyn Fn(Recovery) + Send + Sync>>,
}

impl Default for Seams {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(2, usize::from);
        Seams {
            clock: Arc::new(SystemClock),
            rng: Arc::new(SystemRng),
            disks: Arc::new(RealDisks),
            recovery_threads: threads.min(8),
            on_recovery: None,
        }
    }
}

impl std::fmt::Debug for Seams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seams")
            .field("recovery_threads", &self.recovery_threads)
            .finish_non_exhaustive()
    }
}

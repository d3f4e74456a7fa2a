//! Time as a parameter, so that tests and the simulator decide what time it is.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use cairn_value::record::EPOCH_2010_S;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Nanoseconds since the Unix epoch.
    fn now_ns(&self) -> u64;
}

/// Seconds since 2010-01-01 UTC, the unit of void times.
pub fn seconds_since_2010(now_ns: u64) -> u32 {
    (now_ns / 1_000_000_000).saturating_sub(EPOCH_2010_S).min(u64::from(u32::MAX)) as u32
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ns(&self) -> u64 {
        // A machine whose clock stands before 1970 still gets a time, the epoch.
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64)
    }
}

/// A clock that moves when it is told to.
#[derive(Debug)]
pub struct ManualClock(AtomicU64);

impl ManualClock {
    /// A clock that stands at `now_ns`.
    pub fn at(now_ns: u64) -> Self {
        ManualClock(AtomicU64::new(now_ns))
    }

    /// Moves the clock forward.
    pub fn advance_s(&self, seconds: u64) {
        self.0.fetch_add(seconds * 1_000_000_000, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now_ns(&self) -> u64 {
        // Every look moves a nanosecond on, so that two writes never share a time.
        self.0.fetch_add(1, Ordering::SeqCst)
    }
}

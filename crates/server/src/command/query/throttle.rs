//! Records per second.

use std::time::{Duration, Instant};

/// Lets so many records pass in a second, evenly.
#[derive(Debug)]
pub(super) struct Throttle {
    per_second: u32,
    started: Instant,
    passed: u64,
}

impl Throttle {
    /// A throttle that starts now; 0 is no limit.
    pub fn new(per_second: u32, now: Instant) -> Throttle {
        Throttle { per_second, started: now, passed: 0 }
    }

    /// How many records may pass now, or when the next one may.
    pub fn allowance(&self, now: Instant) -> Result<u64, Instant> {
        if self.per_second == 0 {
            return Ok(u64::MAX);
        }
        let per_second = u64::from(self.per_second);
        let elapsed_ms = now.saturating_duration_since(self.started).as_millis() as u64;
        // The first one passes at once.
        let due = 1 + elapsed_ms.saturating_mul(per_second) / 1000;
        match due.saturating_sub(self.passed) {
            0 => {
                let wait_ms = (self.passed * 1000).div_ceil(per_second);
                Err(self.started + Duration::from_millis(wait_ms))
            }
            due => Ok(due),
        }
    }

    /// Notes that records passed.
    pub fn pass(&mut self, records: u64) {
        self.passed = self.passed.saturating_add(records);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_pass_evenly_over_the_seconds() {
        let start = Instant::now();
        let mut throttle = Throttle::new(10, start);
        let (mut now, mut passed) = (start, 0);
        while now < start + Duration::from_secs(5) {
            match throttle.allowance(now) {
                Ok(count) => {
                    throttle.pass(count);
                    passed += count;
                }
                Err(later) => {
                    assert!(later > now && later <= now + Duration::from_millis(100));
                    now = later;
                }
            }
        }
        assert!((50..=51).contains(&passed), "{passed}");
        assert_eq!(Throttle::new(0, start).allowance(start), Ok(u64::MAX));
    }
}

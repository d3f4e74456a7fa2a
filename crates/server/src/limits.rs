//! Bounds on what connections may take. Each is a field here, nowhere else.

use std::time::Duration;

use crate::wire::frame::FRAME_SIZE_CEILING;

/// Limits of a server.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Largest frame in bytes, 128 MiB at most. It must admit a batch of the largest records.
    pub frame_size_max: usize,
    /// Connections open at once; one more is closed as soon as it is accepted.
    pub connections_max: usize,
    /// A connection without traffic for this long is closed; `None` never closes one. Clients keep
    /// pools of idle connections and expect them to stay.
    pub idle_max: Option<Duration>,
    /// A connection whose frame stays incomplete for this long without a byte is closed.
    pub stalled_max: Duration,
    /// Once this many bytes of answers wait to be taken, nothing more is read from the connection.
    pub output_pause_len: usize,
}

/// Largest info request in bytes.
pub const INFO_REQUEST_MAX: usize = 1024 * 1024;
/// Once the answer to an info request is this long, further commands in it are refused.
pub const INFO_ANSWER_MAX: usize = 8 * 1024 * 1024;

impl Default for Limits {
    fn default() -> Self {
        Limits {
            frame_size_max: 64 * 1024 * 1024,
            connections_max: 15_000,
            idle_max: None,
            stalled_max: Duration::from_secs(60),
            output_pause_len: 1024 * 1024,
        }
    }
}

impl Limits {
    /// The frame limit that is in force.
    pub fn frame_size(&self) -> usize {
        self.frame_size_max.min(FRAME_SIZE_CEILING)
    }
}

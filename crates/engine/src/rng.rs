//! Randomness as a parameter, so that the simulator can repeat a run.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Gives numbers that others cannot guess.
pub trait Rng: Send + Sync {
    /// A random number.
    fn next_u64(&self) -> u64;
}

/// Randomness of the operating system, by way of the seeds that hash maps get from it.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRng;

impl Rng for SystemRng {
    fn next_u64(&self) -> u64 {
        RandomState::new().build_hasher().finish()
    }
}

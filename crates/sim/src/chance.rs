//! Repeatable randomness.

use std::cell::Cell;

use cairn_engine::Rng;
use parking_lot::Mutex;

/// A stream of numbers that a seed decides (splitmix64).
#[derive(Debug)]
pub struct Chance(Cell<u64>);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Chance(Cell::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bf0_3635))
    }

    pub fn next(&self) -> u64 {
        let state = self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.set(state);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `end`, which is not 0.
    pub fn below(&self, end: u64) -> u64 {
        self.next() % end
    }

    /// True once in `n` times.
    pub fn one_in(&self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// The engine's randomness in a simulation.
#[derive(Debug)]
pub struct SeededRng(Mutex<Chance>);

impl SeededRng {
    pub fn new(seed: u64) -> Self {
        SeededRng(Mutex::new(Chance::new(seed)))
    }
}

impl Rng for SeededRng {
    fn next_u64(&self) -> u64 {
        self.0.lock().next()
    }
}

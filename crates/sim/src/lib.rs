//! A simulator: seeded workloads on the real engine with a simulated disk, against a naive model.
//!
//! One seed decides everything: the operations, the time, the random numbers that the engine asks
//! for, and what goes wrong with the disk. The engine runs on one thread and its background work is
//! done when the simulation says so, so two runs of a seed have the same history.

mod chance;
mod disk;
mod model;
mod run;

pub use run::{Outcome, run};

//! How a contest is measured: by the clock, or by counted work.

use serde::Serialize;

use super::contest::Contest;

/// Nanoseconds per operation.
#[derive(Serialize)]
pub struct Times {
    /// Cairn, up to the edits and the answer.
    pub cairn_ns: f64,
    /// Cairn with the new value written out in one piece; only where something is written.
    pub whole_ns: Option<f64>,
    /// The twin, which always writes the new value out.
    pub naive_ns: f64,
    /// How many times faster Cairn is than the twin, where both write the new value out.
    pub ratio: f64,
}

/// What one operation did.
#[derive(Clone, Copy, Serialize)]
pub struct Work {
    /// Elements walked over or read.
    pub decoded: f64,
    /// Comparisons of two values.
    pub compared: f64,
    /// Entries of the persisted index read.
    pub entries: f64,
    /// Bytes that edits insert.
    pub moved: f64,
}

#[cfg(not(feature = "work-counters"))]
pub fn measure(contest: &dyn Contest) -> (Option<Times>, Option<Work>) {
    (Some(clock::times(contest)), None)
}

#[cfg(feature = "work-counters")]
pub fn measure(contest: &dyn Contest) -> (Option<Times>, Option<Work>) {
    use super::contest::Side;
    use cairn_ops::cdt::work;

    work::take();
    contest.run(Side::Cairn);
    let done = work::take();
    let per_operation = |count: u64| count as f64 / contest.operations() as f64;
    let work = Work {
        decoded: per_operation(done.decoded),
        compared: per_operation(done.compared),
        entries: per_operation(done.entries),
        moved: per_operation(done.moved),
    };
    (None, Some(work))
}

#[cfg(not(feature = "work-counters"))]
mod clock {
    use std::time::{Duration, Instant};

    use super::Times;
    use crate::ops::contest::{Contest, Side};

    /// The sides take turns, and the best round of each counts: what else the machine does
    /// disturbs some rounds, not all.
    const ROUNDS: usize = 7;
    /// How long a side works in one round, at least one run.
    const ROUND: Duration = Duration::from_millis(2);

    pub fn times(contest: &dyn Contest) -> Times {
        let mut sides = vec![Side::Cairn, Side::Naive];
        if contest.writes() {
            sides.push(Side::Whole);
        }
        let runs: Vec<u32> = sides.iter().map(|&side| runs_of(contest, side)).collect();
        let mut best = vec![f64::INFINITY; sides.len()];
        for _ in 0..ROUNDS {
            for (at, &side) in sides.iter().enumerate() {
                let start = Instant::now();
                (0..runs[at]).for_each(|_| contest.run(side));
                let operations = f64::from(runs[at]) * contest.operations() as f64;
                best[at] = best[at].min(start.elapsed().as_nanos() as f64 / operations);
            }
        }
        let (cairn_ns, naive_ns, whole_ns) = (best[0], best[1], best.get(2).copied());
        Times { cairn_ns, whole_ns, naive_ns, ratio: naive_ns / whole_ns.unwrap_or(cairn_ns) }
    }

    /// How many runs fill a round.
    fn runs_of(contest: &dyn Contest, side: Side) -> u32 {
        let mut runs = 1;
        loop {
            let start = Instant::now();
            (0..runs).for_each(|_| contest.run(side));
            let taken = start.elapsed();
            if taken >= ROUND || runs > 1 << 20 {
                return runs;
            }
            runs *= 2;
        }
    }
}

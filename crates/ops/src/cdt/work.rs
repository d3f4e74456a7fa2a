//! Counts of the work that collection operations do.
//!
//! The counters exist in tests and with the feature `work-counters`; otherwise every call here is
//! empty and compiles to nothing. They let a test assert how work grows with a collection's size,
//! which a stopwatch on a shared machine cannot.

/// Work done since it was last taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Elements walked over or read.
    pub decoded: u64,
    /// Comparisons of two values.
    pub compared: u64,
    /// Bytes that edits insert.
    pub moved: u64,
    /// Entries of persisted indexes read.
    pub entries: u64,
}

#[cfg(any(test, feature = "work-counters"))]
mod counters {
    use super::Work;
    use std::cell::Cell;

    thread_local! {
        static WORK: Cell<Work> = const { Cell::new(Work { decoded: 0, compared: 0, moved: 0, entries: 0 }) };
    }

    fn change(with: impl FnOnce(&mut Work)) {
        WORK.with(|cell| {
            let mut work = cell.get();
            with(&mut work);
            cell.set(work);
        });
    }

    pub(crate) fn decoded(count: u64) {
        change(|work| work.decoded += count);
    }

    pub(crate) fn compared() {
        change(|work| work.compared += 1);
    }

    pub(crate) fn moved(bytes: usize) {
        change(|work| work.moved += bytes as u64);
    }

    pub(crate) fn entries(count: usize) {
        change(|work| work.entries += count as u64);
    }

    /// The work since the last call on this thread.
    pub fn take() -> Work {
        WORK.with(Cell::take)
    }
}

#[cfg(not(any(test, feature = "work-counters")))]
mod counters {
    #[inline(always)]
    pub(crate) fn decoded(_: u64) {}
    #[inline(always)]
    pub(crate) fn compared() {}
    #[inline(always)]
    pub(crate) fn moved(_: usize) {}
    #[inline(always)]
    pub(crate) fn entries(_: usize) {}
}

#[cfg(any(test, feature = "work-counters"))]
pub use counters::take;
pub(crate) use counters::{compared, decoded, entries, moved};

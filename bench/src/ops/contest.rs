//! What is measured: the same work done by Cairn and by a naive twin.

/// Who does the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Side {
    /// Cairn, up to the edits against the old value and the answer.
    Cairn,
    /// Cairn, and the new value is written out in one piece, as the naive twin does.
    Whole,
    /// The twin.
    Naive,
}

/// The same work, done in two ways.
pub trait Contest {
    /// Compares the results of both sides, byte by byte; the error says where they differ.
    fn check(&self) -> Result<(), String>;

    /// Does the work once.
    fn run(&self, side: Side);

    /// How many operations a run does; results are reported per operation.
    fn operations(&self) -> u64 {
        1
    }

    /// Whether the work leaves a new value, so that [`Side::Whole`] differs from [`Side::Cairn`].
    fn writes(&self) -> bool;
}

//! Scans: the records of a partition, from the greatest digest down.

use std::ops::ControlFlow;

use cairn_value::{Digest, Error, PartitionId, RecordView};

use super::Namespace;

/// Records looked at under one hold of a partition's lock.
const BATCH: usize = 64;

/// Where a scan of a partition ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanEnd {
    /// Every record was seen.
    Finished,
    /// The visitor stopped it; it resumes below this digest.
    Stopped(Digest),
}

impl Namespace {
    /// Shows `visit` the records of a partition against the digest order, from the greatest or
    /// below a digest (which need not exist any more), until it breaks.
    ///
    /// Writes go on meanwhile: the lock is let go every few records. A record that is there from
    /// beginning to end is seen exactly once.
    pub fn scan(
        &self,
        partition: PartitionId,
        below: Option<Digest>,
        mut visit: impl FnMut(&RecordView<'_>) -> ControlFlow<()>,
    ) -> Result<ScanEnd, Error> {
        let partition = &self.partitions[usize::from(partition.0)];
        let mut below = below;
        loop {
            let index = partition.read();
            let now_ns = self.clock.now_ns();
            let mut entries = index.iter_before(below.as_ref(), |place| self.digest_at(place))?;
            for entry in entries.by_ref().take(BATCH) {
                let stored = self.log.entry(entry.place)?;
                let stored = stored.view();
                below = Some(stored.digest());
                if self.is_alive(&entry, &stored, now_ns) && visit(&stored.record()).is_break() {
                    return Ok(ScanEnd::Stopped(stored.digest()));
                }
            }
            if entries.next().is_none() {
                return Ok(ScanEnd::Finished);
            }
        }
    }
}

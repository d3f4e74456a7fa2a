//! Background work, in steps: flushes, expiry and truncation. The work on blocks is in
//! [`defrag`](super::defrag).

use std::sync::atomic::Ordering;

use super::defrag::{BlockWalk, Raid};
use super::scrub::Scrub;
use super::{FLAG_SUPERSEDES, Namespace};
use crate::clock::seconds_since_2010;
use crate::index::{Entry, Progress as IndexProgress, Walk};
use crate::log::entry::EntryView;

/// How much a step may do.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Index entries to look at.
    pub entries: usize,
    /// Bytes to move.
    pub bytes: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { entries: 4096, bytes: 1 << 20 }
    }
}

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// There is more to do now.
    More,
    /// Nothing to do now.
    Idle,
}

/// Where background work stands.
#[derive(Debug, Default)]
pub(super) struct Sweeper {
    expiry: Option<PartitionWalk>,
    next_expiry_ns: u64,
    truncation: Option<PartitionWalk>,
    pub defrag: Option<BlockWalk>,
    pub raid: Raid,
    scrub: Scrub,
}

#[derive(Clone, Copy, Debug, Default)]
struct PartitionWalk {
    partition: usize,
    walk: Walk,
}

impl Sweeper {
    /// Begins a truncation, also when one is under way: the cut-off has moved.
    pub fn start_truncation(&mut self) {
        self.truncation = Some(PartitionWalk::default());
    }
}

impl Namespace {
    /// Does some background work. Threads and simulators call it again and again.
    pub fn step(&self, budget: Budget) -> Progress {
        let Some(mut sweeper) = self.sweeper.try_lock() else { return Progress::More };
        let now_ns = self.clock.now_ns();
        let period_ns = u64::from(self.settings.nsup_period_s()) * 1_000_000_000;
        if period_ns > 0 && sweeper.expiry.is_none() && now_ns >= sweeper.next_expiry_ns {
            sweeper.expiry = Some(PartitionWalk::default());
            sweeper.next_expiry_ns = now_ns + period_ns;
        }
        let mut progress = Progress::Idle;
        if let Some(walk) = sweeper.expiry.take() {
            sweeper.expiry = self.step_expiry(walk, budget);
            progress = Progress::More;
        }
        if let Some(walk) = sweeper.truncation.take() {
            sweeper.truncation = self.step_truncation(walk, budget);
            progress = Progress::More;
        }
        if self.step_flush(now_ns) {
            progress = Progress::More;
        }
        if self.step_defrag(&mut sweeper.defrag, budget.bytes) {
            progress = Progress::More;
        }
        if progress == Progress::Idle && self.step_raid(&mut sweeper.raid) {
            progress = Progress::More;
        }
        if progress == Progress::Idle && self.log.has_quarantined_blocks() {
            // Nothing else to do, so blocks that were freed may as well become usable.
            progress = if self.flush().is_ok() { Progress::More } else { Progress::Idle };
        }
        self.step_scrub(&mut sweeper.scrub, now_ns);
        drop(sweeper);
        if self.step_index_build(budget.entries) {
            progress = Progress::More;
        }
        progress
    }

    /// Flushes when the namespace's durability asks for it.
    fn step_flush(&self, now_ns: u64) -> bool {
        // A failure stays in the log and refuses every later write.
        self.is_flush_due(now_ns) && self.check_writable().is_ok() && self.flush().is_ok()
    }

    /// Removes expired records. The index alone tells which they are.
    fn step_expiry(&self, walk: PartitionWalk, budget: Budget) -> Option<PartitionWalk> {
        let now_s = seconds_since_2010(self.clock.now_ns());
        let mut removed = 0;
        let walk = self.retain(walk, budget.entries, |entry| {
            let expired = entry.is_expired(now_s);
            removed += u64::from(expired);
            if expired && entry.flags & FLAG_SUPERSEDES != 0 {
                self.log.hide_older(entry.place);
            }
            !expired
        });
        self.counters.expired.fetch_add(removed, Ordering::Relaxed);
        walk
    }

    /// Removes records that a truncation has hidden.
    fn step_truncation(&self, walk: PartitionWalk, budget: Budget) -> Option<PartitionWalk> {
        let mut removed = 0;
        let walk = self.retain(walk, budget.entries, |entry| {
            // The header alone, also of a record whose body is damaged.
            let truncated = self
                .log
                .header(entry.place)
                .is_ok_and(|header| self.is_truncated(entry, &EntryView::of_header(&header)));
            removed += u64::from(truncated);
            !truncated
        });
        self.counters.truncated.fetch_add(removed, Ordering::Relaxed);
        walk
    }

    /// Goes on with a walk over all partitions and drops the entries that `keep` refuses.
    fn retain(
        &self,
        mut at: PartitionWalk,
        entries: usize,
        mut keep: impl FnMut(&Entry) -> bool,
    ) -> Option<PartitionWalk> {
        let mut left = entries;
        while let Some(partition) = self.partitions.get(at.partition) {
            if left == 0 {
                return Some(at);
            }
            let mut dropped = Vec::new();
            let mut index = partition.write();
            let progress = index.retain_step(&mut at.walk, left, |entry| {
                left = left.saturating_sub(1);
                let keeps = keep(entry);
                if !keeps {
                    dropped.push(*entry);
                }
                keeps
            });
            // Still under the lock: nobody may see an entry that was given up.
            for entry in &dropped {
                self.index_swept(entry);
                self.account_removed(entry);
            }
            if progress == IndexProgress::Finished {
                at = PartitionWalk { partition: at.partition + 1, walk: Walk::new() };
            }
        }
        None
    }
}

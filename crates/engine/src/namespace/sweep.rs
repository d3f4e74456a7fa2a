//! Background work, in steps: defragmentation, expiry and truncation.

use std::sync::atomic::Ordering;

use super::Namespace;
use crate::clock::seconds_since_2010;
use crate::index::{Progress as IndexProgress, Walk};
use crate::log::{BlockRef, Pin, Writer};

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
    defrag: Option<BlockWalk>,
}

#[derive(Clone, Copy, Debug, Default)]
struct PartitionWalk {
    partition: usize,
    walk: Walk,
}

#[derive(Clone, Copy, Debug)]
struct BlockWalk {
    block: BlockRef,
    offset: usize,
}

impl Sweeper {
    /// Begins a truncation, also when one is under way: the cut-off has moved.
    pub fn start_truncation(&mut self) {
        self.truncation = Some(PartitionWalk::default());
    }
}

/// Bytes that a writer moves to help defragmentation when storage is tight.
const INLINE_BYTES: usize = 256 << 10;

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
        if self.step_defrag(&mut sweeper.defrag, budget.bytes) {
            progress = Progress::More;
        }
        drop(sweeper);
        if self.step_index_build(budget.entries) {
            progress = Progress::More;
        }
        progress
    }

    /// Moves a little, on the thread of a writer, when blocks run out.
    pub(super) fn defrag_inline(&self) {
        if let Some(mut sweeper) = self.sweeper.try_lock() {
            self.step_defrag(&mut sweeper.defrag, INLINE_BYTES);
        }
    }

    /// Removes expired records. The index alone tells which they are.
    fn step_expiry(&self, walk: PartitionWalk, budget: Budget) -> Option<PartitionWalk> {
        let now_s = seconds_since_2010(self.clock.now_ns());
        let mut removed = 0;
        let walk = self.retain(walk, budget.entries, |entry| {
            let expired = entry.is_expired(now_s);
            removed += u64::from(expired);
            !expired
        });
        self.counters.expired.fetch_add(removed, Ordering::Relaxed);
        walk
    }

    /// Removes records that a truncation has hidden.
    fn step_truncation(&self, walk: PartitionWalk, budget: Budget) -> Option<PartitionWalk> {
        let mut removed = 0;
        let walk = self.retain(walk, budget.entries, |entry| {
            let truncated =
                self.log.entry(entry.place).is_ok_and(|stored| self.is_truncated(entry, &stored));
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
        mut keep: impl FnMut(&crate::index::Entry) -> bool,
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

    /// Moves live entries out of sparse blocks; true when there may be more to do.
    fn step_defrag(&self, at: &mut Option<BlockWalk>, bytes: usize) -> bool {
        let mut left = bytes;
        loop {
            let walk = match at.take().or_else(|| self.next_sparse_block()) {
                Some(walk) => walk,
                None => return false,
            };
            let Some(pin) = self.log.pin(walk.block) else { continue };
            if pin.is_being_filled() {
                // Somebody is about to finish a write there; come back later.
                drop(pin);
                self.log.return_sparse(walk.block);
                return false;
            }
            match self.empty_block(&pin, walk, &mut left) {
                BlockEnd::Paused(walk) => {
                    *at = Some(walk);
                    return true;
                }
                BlockEnd::Emptied => {
                    self.counters.defrag_freed_blocks.fetch_add(1, Ordering::Relaxed);
                }
                BlockEnd::StillLive => {
                    // Entries whose writers were between commit and index when we came by.
                    pin.clear_sparse();
                    if pin.live_units() > 0 && pin.mark_sparse() {
                        self.log.return_sparse(walk.block);
                    }
                    return true;
                }
                BlockEnd::NoRoom => {
                    *at = Some(BlockWalk { block: walk.block, offset: 0 });
                    return false;
                }
            }
        }
    }

    fn next_sparse_block(&self) -> Option<BlockWalk> {
        self.log.take_sparse().map(|block| BlockWalk { block, offset: 0 })
    }

    fn empty_block(&self, pin: &Pin<'_>, walk: BlockWalk, left: &mut usize) -> BlockEnd {
        let mut offset = walk.offset;
        while let Some((entry, place, next)) = pin.entry_at(offset) {
            if *left == 0 {
                return BlockEnd::Paused(BlockWalk { offset, ..walk });
            }
            if entry.is_record() {
                let digest = entry.digest();
                let mut index = self.partition(&digest).write();
                let found = index.find_place(&digest, place, |place| self.digest_at(place));
                if let Ok(Some(found)) = found {
                    let Ok(mut copy) = self.log.reserve(entry.len(), Writer::Defrag) else {
                        return BlockEnd::NoRoom;
                    };
                    debug_assert!(entry.is_intact(), "entries do not change");
                    copy.bytes_mut().copy_from_slice(entry.bytes());
                    let moved = crate::index::Entry { place: copy.commit(), ..found.entry };
                    let old = index.replace(found.position, &moved);
                    self.log.release(old.place, old.size, 0);
                    *left = left.saturating_sub(entry.len());
                    let moved_bytes = old.size.bytes() as u64;
                    self.counters.defrag_moved_bytes.fetch_add(moved_bytes, Ordering::Relaxed);
                }
            }
            offset = next;
        }
        if pin.live_units() == 0 { BlockEnd::Emptied } else { BlockEnd::StillLive }
    }
}

/// How the walk over one block ended.
enum BlockEnd {
    /// The budget is used up.
    Paused(BlockWalk),
    /// Nothing live is left in it.
    Emptied,
    /// Something live was not found in the index yet.
    StillLive,
    /// No block is free to move to.
    NoRoom,
}

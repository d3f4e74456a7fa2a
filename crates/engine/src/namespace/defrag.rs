//! Background work on blocks: emptying those with little live data, and dropping tombstones that
//! hide nothing any more.

use std::sync::atomic::Ordering;

use super::sweep::Sweeper;
use super::{FLAG_SUPERSEDES, Namespace};
use crate::index::{Entry, Place, Size};
use crate::log::entry::{
    self, EntryView, HEADER_LEN, Kind, TOMBSTONE_COVERING_LEN, write_tombstone,
};
use crate::log::{BlockRef, Health, Pin, Scanned, Writer};

/// Bytes that a writer moves to help defragmentation when storage is tight.
const INLINE_BYTES: usize = 256 << 10;

/// How far a block has been emptied.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockWalk {
    block: BlockRef,
    offset: usize,
}

/// How the walk over one block ended.
enum BlockEnd {
    /// The budget is used up.
    Paused(BlockWalk),
    /// Nothing live is left in it.
    Emptied,
    /// Something live is left in it.
    StillLive,
    /// No block is free to move to.
    NoRoom(BlockWalk),
    /// It is not on disk yet.
    InMemory,
}

/// Why an entry was not moved.
struct NoRoom;

/// The search for tombstones that hide nothing any more.
#[derive(Debug, Default)]
pub(super) struct Raid {
    blocks: Vec<BlockRef>,
    /// Blocks that had come back into use when the last raid began.
    recycled_before: u64,
}

impl Namespace {
    /// Moves a little, on the thread of a writer, when blocks run out.
    pub(super) fn defrag_inline(&self) {
        if let Some(mut sweeper) = self.sweeper.try_lock() {
            self.step_defrag(&mut sweeper.defrag, INLINE_BYTES);
        }
    }

    /// As [`defrag_inline`](Self::defrag_inline), for a log on disk: waits for its turn, and looks
    /// for tombstones to drop, too.
    pub(super) fn defrag_on_disk_inline(&self) {
        let mut sweeper = self.sweeper.lock();
        let Sweeper { defrag, raid, .. } = &mut *sweeper;
        if !self.step_defrag(defrag, INLINE_BYTES) {
            self.step_raid(raid);
        }
    }

    /// Moves live entries out of sparse blocks; true when there may be more to do.
    pub(super) fn step_defrag(&self, at: &mut Option<BlockWalk>, bytes: usize) -> bool {
        if self.check_writable().is_err() {
            return false;
        }
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
            let end = match self.log.files() {
                None => self.empty_block(&pin, walk, &mut left),
                Some(_) => self.empty_block_on_disk(&pin, walk, &mut left),
            };
            match end {
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
                    if !pin.is_damaged() && pin.live_units() > 0 && pin.mark_sparse() {
                        self.log.return_sparse(walk.block);
                    }
                    return true;
                }
                BlockEnd::NoRoom(walk) => {
                    *at = Some(walk);
                    return false;
                }
                BlockEnd::InMemory => {
                    *at = Some(walk);
                    drop(pin);
                    return self.flush().is_ok();
                }
            }
        }
    }

    fn next_sparse_block(&self) -> Option<BlockWalk> {
        self.log.take_sparse().map(|block| BlockWalk { block, offset: 0 })
    }

    fn empty_block(&self, pin: &Pin<'_>, walk: BlockWalk, left: &mut usize) -> BlockEnd {
        let mut offset = walk.offset.max(pin.first_entry());
        while let Some((entry, place, next)) = pin.entry_at(offset) {
            if *left == 0 {
                return BlockEnd::Paused(BlockWalk { offset, ..walk });
            }
            if entry.is_record() && self.move_record(&entry, place, left).is_err() {
                return BlockEnd::NoRoom(BlockWalk { offset, ..walk });
            }
            offset = next;
        }
        if pin.live_units() == 0 { BlockEnd::Emptied } else { BlockEnd::StillLive }
    }

    fn empty_block_on_disk(&self, pin: &Pin<'_>, walk: BlockWalk, left: &mut usize) -> BlockEnd {
        let Some(mut scanner) = pin.scan(walk.offset) else { return BlockEnd::InMemory };
        let oldest_stamp = self.log.oldest_stamp();
        loop {
            let offset = scanner.offset();
            if *left == 0 {
                return BlockEnd::Paused(BlockWalk { offset, ..walk });
            }
            let (view, place, health) = match scanner.next() {
                Ok(Some(Scanned::Entry { view, place, health })) => (view, place, health),
                Ok(Some(Scanned::Gap { .. })) => continue,
                Ok(None) => break,
                Err(_) => {
                    // What cannot be read cannot be moved; reads of it say so.
                    pin.set_damaged();
                    return BlockEnd::StillLive;
                }
            };
            let moved = match view.kind() {
                Some(Kind::Record) if health == Health::BadBody => {
                    if self.is_living(&view, place) {
                        // It stays where it is, so that reads of it go on to say so.
                        pin.set_damaged();
                        Ok(())
                    } else {
                        self.bury_hidden(pin, &view, oldest_stamp, left)
                    }
                }
                Some(Kind::Record) => match self.move_record(&view, place, left) {
                    Ok(true) => Ok(()),
                    Ok(false) => self.bury_hidden(pin, &view, oldest_stamp, left),
                    Err(error) => Err(error),
                },
                Some(Kind::Tombstone) => {
                    self.move_tombstone(pin, &view, health, oldest_stamp, left)
                }
                _ => Ok(()),
            };
            if moved.is_err() {
                return BlockEnd::NoRoom(BlockWalk { offset, ..walk });
            }
        }
        // Every tombstone that is needed has a copy elsewhere now.
        pin.clear_tombs();
        if pin.live_units() == 0 { BlockEnd::Emptied } else { BlockEnd::StillLive }
    }

    /// Copies a record to the end of the log if it is the living version; whether it was.
    fn move_record(
        &self,
        stored: &EntryView<'_>,
        place: Place,
        left: &mut usize,
    ) -> Result<bool, NoRoom> {
        let digest = stored.digest();
        let mut index = self.partition(&digest).write();
        let found = index.find_place(&digest, place, |place| self.digest_at(place));
        let Ok(Some(found)) = found else { return Ok(false) };
        let mut copy = self.log.reserve(stored.len(), Writer::Defrag).map_err(|_| NoRoom)?;
        let stamp = copy.stamp();
        let bytes = copy.bytes_mut();
        bytes.copy_from_slice(stored.bytes());
        // With a number of its own: a tombstone that takes over for what is left behind, once
        // that has expired, must not hide the copy.
        entry::supersede(bytes, self.log.next_sequence());
        entry::restamp(bytes, stamp);
        let flags = found.entry.flags | FLAG_SUPERSEDES;
        let end = copy.end();
        let moved = Entry { place: copy.commit(), flags, ..found.entry };
        let old = index.replace(found.position, &moved);
        self.log.release(old.place, old.size, 0);
        drop(index);
        self.appended(end, self.clock.now_ns());
        *left = left.saturating_sub(stored.len());
        let moved_bytes = old.size.bytes() as u64;
        self.counters.defrag_moved_bytes.fetch_add(moved_bytes, Ordering::Relaxed);
        Ok(true)
    }

    /// Whether the index leads to an entry, or cannot tell.
    pub(super) fn is_living(&self, stored: &EntryView<'_>, place: Place) -> bool {
        let digest = stored.digest();
        let index = self.partition(&digest).read();
        let found = index.find_place(&digest, place, |place| self.digest_at(place));
        !matches!(found, Ok(None))
    }

    /// A record that has expired may hide older versions of itself, which would come back after a
    /// restart once its block is gone. A tombstone with its number takes over.
    fn bury_hidden(
        &self,
        pin: &Pin<'_>,
        stored: &EntryView<'_>,
        oldest_stamp: u64,
        left: &mut usize,
    ) -> Result<(), NoRoom> {
        let hides = pin.hides_older() && stored.meta().void_time != 0;
        if !hides || oldest_stamp >= pin.stamp() {
            return Ok(());
        }
        let digest = stored.digest();
        let index = self.partition(&digest).read();
        let newer = index.find(&digest, |place| self.digest_at(place));
        if newer.is_ok_and(|newer| newer.is_some_and(|n| n.entry.flags & FLAG_SUPERSEDES != 0)) {
            // It did not expire but was replaced, and what replaced it hides the older ones, too.
            // A tombstone might reach the disk before the replacement does.
            return Ok(());
        }
        drop(index);
        self.copy_tombstone(stored, None, left)
    }

    fn move_tombstone(
        &self,
        pin: &Pin<'_>,
        stored: &EntryView<'_>,
        health: Health,
        oldest_stamp: u64,
        left: &mut usize,
    ) -> Result<(), NoRoom> {
        // A body that is damaged cannot say what it covers, so it covers all.
        let covers = stored.covers().filter(|_| health != Health::BadBody);
        if !pin.needs_tombstone(covers, oldest_stamp) {
            return Ok(());
        }
        self.copy_tombstone(stored, covers, left)
    }

    fn copy_tombstone(
        &self,
        stored: &EntryView<'_>,
        covers: Option<(u32, u64)>,
        left: &mut usize,
    ) -> Result<(), NoRoom> {
        let len = if covers.is_some() { TOMBSTONE_COVERING_LEN } else { HEADER_LEN };
        let mut copy = self.log.reserve(len, Writer::Defrag).map_err(|_| NoRoom)?;
        let stamp = copy.stamp();
        let (digest, sequence) = (stored.digest(), stored.sequence());
        write_tombstone(copy.bytes_mut(), &digest, sequence, covers, stamp);
        let end = copy.end();
        copy.commit_tombstone();
        self.appended(end, self.clock.now_ns());
        *left = left.saturating_sub(len);
        Ok(())
    }

    /// Looks through one block with tombstones, when blocks have come back into use so that some
    /// may hide nothing any more; true when there is more to do.
    pub(super) fn step_raid(&self, raid: &mut Raid) -> bool {
        let Some(files) = self.log.files() else { return false };
        if raid.blocks.is_empty() {
            let recycled = files.recycled_blocks();
            let is_tight = self.log.is_tight();
            if recycled == raid.recycled_before && !is_tight {
                return false;
            }
            let blocks = self.log.blocks_with_tombstones();
            // Each raid reads these blocks, so it waits until a fair number may have changed.
            if recycled - raid.recycled_before < blocks.len() as u64 / 4 && !is_tight {
                return false;
            }
            *raid = Raid { blocks, recycled_before: recycled };
        }
        let Some(block) = raid.blocks.pop() else { return false };
        let has_more = !raid.blocks.is_empty();
        let Some(pin) = self.log.pin(block) else { return has_more };
        let Some(mut scanner) = pin.scan(0) else { return has_more };
        let oldest_stamp = self.log.oldest_stamp();
        let mut droppable = 0;
        while let Ok(Some(scanned)) = scanner.next() {
            let Scanned::Entry { view, health, .. } = scanned else { continue };
            let covers = view.covers().filter(|_| health != Health::BadBody);
            if view.kind() == Some(Kind::Tombstone) && !pin.needs_tombstone(covers, oldest_stamp) {
                droppable += Size::of(view.len()).units();
            }
        }
        drop(scanner);
        drop(pin);
        let percent = self.settings.defrag_below_percent();
        self.log.queue_if_worth(block, droppable, percent) || has_more
    }
}

//! Reading all blocks now and then, so that damage is found before it is needed.

use super::Namespace;
use crate::log::entry::Kind;
use crate::log::{BlockRef, Health, Scanned};

/// Time between two portions, and their size: 1 MiB a second at most.
const PAUSE_NS: u64 = 250_000_000;
const PORTION: usize = 256 << 10;

/// How far the blocks have been read.
#[derive(Debug, Default)]
pub(super) struct Scrub {
    /// Blocks that are left in this round, the current one last.
    blocks: Vec<BlockRef>,
    offset: usize,
    next_ns: u64,
}

impl Namespace {
    /// Reads the next portion when it is time.
    pub(super) fn step_scrub(&self, scrub: &mut Scrub, now_ns: u64) {
        if self.log.files().is_none() || now_ns < scrub.next_ns {
            return;
        }
        scrub.next_ns = now_ns + PAUSE_NS;
        if scrub.blocks.is_empty() {
            scrub.blocks = self.log.sealed_blocks();
            scrub.offset = 0;
        }
        let Some(block) = scrub.blocks.last() else { return };
        match self.scrub_block(*block, scrub.offset) {
            Some(offset) => scrub.offset = offset,
            None => {
                scrub.blocks.pop();
                scrub.offset = 0;
            }
        }
    }

    /// Reads a portion of a block; where to go on, or `None` at its end.
    fn scrub_block(&self, block: BlockRef, from: usize) -> Option<usize> {
        let files = self.log.files()?;
        let pin = self.log.pin(block)?;
        let mut scanner = pin.scan(from)?;
        let mut has_more = true;
        while has_more && scanner.offset() < from + PORTION {
            // What cannot be read at all is told by those who need it.
            let scanned = scanner.next().unwrap_or_default();
            has_more = scanned.is_some();
            let Some(Scanned::Entry { view, place, health }) = scanned else { continue };
            let is_damaged = health == Health::BadBody && view.kind() == Some(Kind::Record);
            if is_damaged && !pin.is_damaged() && self.is_living(&view, place) {
                files.count_corrupt();
                pin.set_damaged();
            }
        }
        files.count_scrubbed(scanner.offset().saturating_sub(from) as u64);
        has_more.then(|| scanner.offset())
    }
}

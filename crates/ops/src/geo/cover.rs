//! Covering a region with a few cells.

use super::Shape;
use super::cell::Cell;

/// Cells are not split beyond this level (a few metres), which is enough for an index.
const LEVEL_DEEPEST: u8 = 20;

/// A cell that may touch the region, and whether splitting it could still help.
struct Candidate {
    cell: Cell,
    done: bool,
}

/// Cells that cover the region: starting from the faces, the largest cell is split as long as the
/// number of cells stays within `cells_max`. A cell goes when it certainly does not touch the region.
pub(super) fn cover(region: &Shape, cells_max: usize) -> Vec<u64> {
    let mut kept: Vec<Candidate> =
        Cell::faces().filter_map(|cell| candidate(region, cell)).collect();
    while let Some(at) = largest(&kept) {
        let parent = kept[at].cell;
        let children: Vec<_> =
            parent.children().into_iter().filter_map(|cell| candidate(region, cell)).collect();
        if kept.len() - 1 + children.len() > cells_max {
            kept[at].done = true;
            continue;
        }
        kept.swap_remove(at);
        kept.extend(children);
    }
    let mut ids: Vec<u64> = kept.iter().map(|candidate| candidate.cell.id()).collect();
    ids.sort_unstable();
    ids
}

/// The largest cell that may be split.
fn largest(kept: &[Candidate]) -> Option<usize> {
    let open = kept.iter().enumerate().filter(|(_, candidate)| !candidate.done);
    open.min_by_key(|(_, candidate)| candidate.cell.level).map(|(at, _)| at)
}

fn candidate(region: &Shape, cell: Cell) -> Option<Candidate> {
    let (middle, radius) = cell.middle_and_radius();
    let touches = region.distance(&middle) <= radius;
    touches.then_some(Candidate { cell, done: cell.level >= LEVEL_DEEPEST })
}

//! Covering a region with a few cells.

use super::Shape;
use super::cell::{Cell, LEVEL_MAX, parent};
use super::sphere::Relation;

/// A cell that meets the region.
struct Candidate {
    cell: Cell,
    /// Those of its quarters that meet the region; `None` when splitting the cell cannot help.
    quarters: Option<Vec<Cell>>,
    /// How many of the quarters the region covers.
    covered: usize,
}

/// Cells that cover the region: starting from the faces, cells are split, larger ones and those with
/// fewer quarters in the region first, as long as the number of cells stays within `cells_max`.
/// Splitting a cell of which only one quarter meets the region costs nothing.
pub(super) fn cover(region: &Shape, cells_max: usize) -> Vec<u64> {
    let mut open = Queue::default();
    let mut done: Vec<u64> = Vec::new();
    let faces: Vec<Cell> = Cell::faces().collect();
    add(region, &faces, &mut open, &mut done);
    while let Some(Candidate { cell, quarters, .. }) = open.pop() {
        match quarters {
            Some(quarters)
                if quarters.len() == 1
                    || done.len() + open.list.len() + quarters.len() <= cells_max =>
            {
                add(region, &quarters, &mut open, &mut done);
            }
            _ => done.push(cell.id()),
        }
    }
    merge_quarters(done)
}

/// Adds the cells that meet the region: to those whose turn will come, or to the finished ones.
fn add(region: &Shape, cells: &[Cell], open: &mut Queue, done: &mut Vec<u64>) {
    for candidate in cells.iter().filter_map(|&cell| candidate(region, cell)) {
        if candidate.quarters.is_none() {
            done.push(candidate.cell.id());
        } else {
            open.push(candidate);
        }
    }
}

/// A binary heap: the candidate whose turn it is comes first. It is written out because candidates
/// often tie, and which of them comes first then decides which cells a covering has: a candidate
/// passes one above it only when its turn is earlier, and of two equal ones below a gap the right
/// one moves up.
#[derive(Default)]
struct Queue {
    list: Vec<Candidate>,
}

impl Queue {
    fn push(&mut self, candidate: Candidate) {
        self.list.push(candidate);
        self.rise(self.list.len() - 1);
    }

    /// Moves a candidate up to where its turn is not earlier than that above it.
    fn rise(&mut self, mut at: usize) {
        while at > 0 {
            let above = (at - 1) / 2;
            if self.list[above].turn() <= self.list[at].turn() {
                return;
            }
            self.list.swap(at, above);
            at = above;
        }
    }

    fn pop(&mut self) -> Option<Candidate> {
        let last = self.list.len().checked_sub(1)?;
        self.list.swap(0, last);
        let first = self.list.pop();
        // The gap at the top goes all the way down, what fills it rises again.
        let mut at = 0;
        while 2 * at + 2 < last {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            let next = if self.list[right].turn() > self.list[left].turn() { left } else { right };
            self.list.swap(at, next);
            at = next;
        }
        if 2 * at + 1 < last {
            self.list.swap(at, 2 * at + 1);
            at = 2 * at + 1;
        }
        self.rise(at);
        first
    }
}

impl Candidate {
    /// Larger cells first, then those with fewer quarters in the region, then with fewer of them
    /// covered.
    fn turn(&self) -> (u8, usize, usize) {
        (self.cell.level, self.quarters.as_ref().map_or(0, Vec::len), self.covered)
    }
}

/// Sorts cells and puts the whole in place of four quarters, again and again.
fn merge_quarters(mut cells: Vec<u64>) -> Vec<u64> {
    cells.sort_unstable();
    let mut merged: Vec<u64> = Vec::with_capacity(cells.len());
    for cell in cells {
        merged.push(cell);
        while let [.., a, _, _, d] = merged[..]
            && let Some(whole) = parent(d)
            && merged.iter().rev().take(4).all(|&quarter| parent(quarter) == Some(whole))
            && a != d
        {
            merged.truncate(merged.len() - 4);
            merged.push(whole);
        }
    }
    merged
}

fn candidate(region: &Shape, cell: Cell) -> Option<Candidate> {
    let (mut quarters, mut covered) = (Vec::new(), 0);
    match region.and_cell(&cell) {
        Relation::Apart => return None,
        Relation::Meets if cell.level < LEVEL_MAX => {
            let mut children = cell.children();
            children.sort_by_key(Cell::id);
            for quarter in children {
                let relation = region.and_cell(&quarter);
                if relation != Relation::Apart {
                    covered += usize::from(relation == Relation::Covers);
                    quarters.push(quarter);
                }
            }
        }
        _ => {}
    }
    // Quarters that only touch may be missed by rounding; then the cell itself stays.
    let quarters = (!quarters.is_empty()).then_some(quarters);
    Some(Candidate { cell, quarters, covered })
}

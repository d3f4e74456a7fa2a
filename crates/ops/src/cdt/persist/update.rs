//! Keeping a persisted index true when elements come and go.
//!
//! Only the groups and leaves that a change touches are read and written; what lies between two
//! touched places stays as it is.

use std::ops::Range;

use cairn_value::Edits;
use cairn_value::packed::Malformed;

use super::{
    GROUP_SIZE, Group, Index, LEAF_MAX, LEAF_SIZE, Leaf, PREFIX, group_leaves, leaf_of, piece_size,
    prefix, total, write_groups, write_leaves,
};

/// Elements that go and come at one place, in bytes and elements of the old collection.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    /// First element concerned.
    pub at: u32,
    /// Elements that go.
    pub remove: u32,
    /// Offset of the first byte concerned, from the collection's body.
    pub start: usize,
    /// Offset behind the last byte that goes, from the collection's body.
    pub end: usize,
    /// Lengths of the elements that come.
    pub insert: Vec<u32>,
}

impl Span {
    /// True when the span lies behind units that end at element `end`. What comes right at their
    /// end belongs to them, so that appends fill the last leaf.
    fn is_behind(&self, end: u32) -> bool {
        if self.remove == 0 { self.at > end } else { self.at >= end }
    }
}

/// What becomes of an index.
pub(crate) struct Update {
    /// Edits against the bin.
    pub edits: Edits,
    /// Length of the new payload up to the end of the leaves.
    pub tables_len: usize,
}

/// Gives the lengths of elements `from..to` of the old collection.
type Lengths<'l> = &'l dyn Fn(u32, u32) -> Result<Vec<u32>, Malformed>;

impl Index<'_> {
    /// The edits that keep the index true to a change of its collection. Spans ascend.
    pub(crate) fn update(&self, spans: &[Span], lengths: Lengths<'_>) -> Result<Update, Malformed> {
        let groups: Vec<Group> = self.groups(0..self.groups).collect();
        let old_groups = groups.len();
        let sizes: Vec<u32> = groups.iter().map(|group| group.elements).collect();
        let mut leaf_edits = Vec::new();
        let mut new_groups = Vec::new();
        let (mut first_leaf, mut counted) = (0, 0);
        for window in divide(&sizes, 0, spans) {
            first_leaf += leaves_of(&groups[counted..window.units.start]);
            counted = window.units.start;
            let range = first_leaf..first_leaf + leaves_of(&groups[window.units.clone()]);
            let appending = window.units.end == old_groups;
            let mut leaves: Vec<Leaf> = self.leaves(range.clone()).collect();
            change_leaves(&mut leaves, &window, spans, appending, lengths)?;
            let mut packed = Vec::with_capacity(leaves.len() * LEAF_SIZE);
            write_leaves(&mut packed, &leaves);
            leaf_edits.push((range, packed));
            new_groups.push((window.units, group_leaves(&leaves, appending)));
        }
        let group_count = new_groups
            .iter()
            .fold(old_groups, |count, (units, new)| count - units.len() + new.len());
        let mut edits = Edits::none();
        self.replace(&mut edits, 0..PREFIX, &prefix(group_count));
        for (units, new) in new_groups {
            let range = PREFIX + units.start * GROUP_SIZE..PREFIX + units.end * GROUP_SIZE;
            let mut packed = Vec::with_capacity(new.len() * GROUP_SIZE);
            write_groups(&mut packed, &new);
            self.replace(&mut edits, range, &packed);
        }
        let leaves_at = PREFIX + old_groups * GROUP_SIZE;
        for (range, packed) in leaf_edits {
            let range = leaves_at + range.start * LEAF_SIZE..leaves_at + range.end * LEAF_SIZE;
            self.replace(&mut edits, range, &packed);
        }
        let tables_len = edits.new_len(self.payload.len());
        Ok(Update { edits, tables_len })
    }

    /// Pushes an edit for what differs between the old payload's `range` and `new`.
    fn replace(&self, edits: &mut Edits, range: Range<usize>, new: &[u8]) {
        let old = self.payload.get(range.clone()).unwrap_or_default();
        let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let (old, new) = (&old[same..], &new[same..]);
        let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
        let insert = new[..new.len() - tail].to_vec();
        edits.push(self.at + range.start + same, old.len() - tail, insert);
    }
}

fn leaves_of(groups: &[Group]) -> usize {
    groups.iter().map(|group| group.leaves).sum()
}

/// Neighbouring units, groups or leaves, that a change touches.
struct Division {
    units: Range<usize>,
    /// Old elements in the units.
    elements: Range<u32>,
    /// The spans in the units.
    spans: Range<usize>,
}

/// Divides spans among the units they touch, given how many elements each unit has and the first
/// element of all. A unit belongs to one division.
fn divide(units: &[u32], first: u32, spans: &[Span]) -> Vec<Division> {
    let mut divisions: Vec<Division> = Vec::new();
    let (mut next, mut element) = (0, first);
    for (at, span) in spans.iter().enumerate() {
        let joins = divisions.last().is_some_and(|last| !span.is_behind(last.elements.end));
        if !joins {
            while next + 1 < units.len() && span.is_behind(element.saturating_add(units[next])) {
                element = element.saturating_add(units[next]);
                next += 1;
            }
            divisions.push(Division {
                units: next..next,
                elements: element..element,
                spans: at..at,
            });
        }
        let Some(last) = divisions.last_mut() else { continue };
        last.spans.end = at + 1;
        let end = span.at + span.remove;
        while next < units.len() && (last.units.is_empty() || element < end) {
            element = element.saturating_add(units[next]);
            next += 1;
            last.units.end = next;
            last.elements.end = element;
        }
    }
    divisions
}

/// Changes the leaves of a window of groups.
fn change_leaves(
    leaves: &mut Vec<Leaf>,
    window: &Division,
    spans: &[Span],
    appending: bool,
    lengths: Lengths<'_>,
) -> Result<(), Malformed> {
    let spans = &spans[window.spans.clone()];
    let sizes: Vec<u32> = leaves.iter().map(|leaf| leaf.elements).collect();
    // From the right, so that the places of what lies to the left stay those of the old list.
    for cluster in divide(&sizes, window.elements.start, spans).into_iter().rev() {
        let appending = appending && cluster.units.end == leaves.len();
        let bytes = leaves[cluster.units.clone()].iter().map(|leaf| leaf.bytes as usize).sum();
        let new = new_leaves(&cluster, bytes, &spans[cluster.spans.clone()], appending, lengths)?;
        leaves.splice(cluster.units, new);
    }
    Ok(())
}

/// The leaves that take the place of a cluster of old ones with `bytes` in total. Elements are
/// looked at only when they do not fit into one leaf.
fn new_leaves(
    cluster: &Division,
    mut bytes: usize,
    spans: &[Span],
    appending: bool,
    lengths: Lengths<'_>,
) -> Result<Vec<Leaf>, Malformed> {
    let mut elements = u64::from(cluster.elements.end - cluster.elements.start);
    for span in spans {
        let gone = span.end - span.start;
        elements = elements.checked_sub(span.remove.into()).ok_or(Malformed::Truncated)?;
        bytes = bytes.checked_sub(gone).ok_or(Malformed::Truncated)? + total(&span.insert);
        elements += span.insert.len() as u64;
    }
    if elements == 0 {
        return Ok(Vec::new());
    }
    if elements <= u64::from(LEAF_MAX) {
        return Ok(vec![Leaf { elements: elements as u32, bytes: bytes as u32 }]);
    }
    let mut all = Vec::new();
    let mut next = cluster.elements.start;
    for span in spans {
        all.extend(lengths(next, span.at)?);
        all.extend_from_slice(&span.insert);
        next = span.at + span.remove;
    }
    all.extend(lengths(next, cluster.elements.end)?);
    let appending = appending && next == cluster.elements.end;
    let size = piece_size(all.len(), LEAF_MAX as usize, appending);
    Ok(all.chunks(size).map(leaf_of).collect())
}

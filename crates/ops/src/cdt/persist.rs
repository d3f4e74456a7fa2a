//! The offset index that `persistIndex` keeps with a top-level list or map.
//!
//! # Layout
//!
//! The index is the payload of the extension element that carries the collection's flags. It
//! stores *lengths*, not offsets, in two levels of fixed-width entries:
//!
//! ```text
//! c9 <payload length: u32> <flags>        the extension element's head, always in this form
//! version: u8 = 1   groups: u32
//! group:  leaves: u8   elements: u32   bytes: u32      9 bytes each
//! leaf:   elements: u8   bytes: u32                    5 bytes each, those of group 0 first
//! ```
//!
//! A leaf covers up to 32 neighbouring elements, a group up to 64 leaves. All numbers are
//! big-endian.
//!
//! Why so: a table of offsets would change in every entry behind an insertion, so inserting at the
//! front of 100,000 elements would rewrite 400 KB. With lengths an insertion changes one leaf and
//! one group, 14 bytes wherever it happens, plus one new entry when a leaf is full. Finding an
//! element adds up the groups (one per 2,048 elements), then the leaves of one group, then walks
//! at most 31 elements. A binary search compares the first element of groups, of leaves, and then
//! the elements of one leaf, which are log2(N) comparisons in total.
//!
//! The index never leaves the store: bins are answered in their
//! [reply form](cairn_value::collection::reply_form). It is read with every bound checked:
//! a damaged index makes an operation fail, nothing else.

use cairn_value::Edits;
use cairn_value::packed::{Head, Malformed, Reader, Token, flags};

use super::work;

/// Most elements under one leaf.
pub const LEAF_MAX: u32 = 32;
/// Most leaves under one group.
pub const GROUP_MAX: usize = 64;

const VERSION: u8 = 1;
/// First byte of an extension element with a 32-bit length.
const EXT_32: u8 = 0xc9;
const PREFIX: usize = 5;
const GROUP_SIZE: usize = 9;
const LEAF_SIZE: usize = 5;
/// Bytes of the extension element before its payload.
const EXT_HEAD: usize = 6;

/// Neighbouring elements: how many, and how many bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Leaf {
    elements: u32,
    bytes: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Group {
    leaves: usize,
    elements: u32,
    bytes: u32,
}

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
    /// True when the span lies behind leaves that end at element `end`. What comes right at their
    /// end belongs to them, so that appends fill the last leaf.
    fn is_behind(&self, end: u32) -> bool {
        if self.remove == 0 { self.at > end } else { self.at >= end }
    }
}

/// A persisted index, as it stands in a bin.
#[derive(Clone, Copy, Debug)]
pub struct Index<'a> {
    payload: &'a [u8],
    /// Offset of the payload in the bin.
    at: usize,
    groups: usize,
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let read = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
    read.map_or(0, u32::from_be_bytes)
}

impl<'a> Index<'a> {
    /// The index in the head of the collection that fills `bytes`, when it has one that fits.
    pub(crate) fn read(bytes: &'a [u8], head: Head) -> Option<Index<'a>> {
        if head.flags & flags::PERSIST_INDEX == 0 {
            return None;
        }
        let Ok(Token::Ext(_, payload)) = Reader::at(bytes, head.ext).token() else { return None };
        if bytes.get(head.ext) != Some(&EXT_32) || payload.first() != Some(&VERSION) {
            return None;
        }
        let groups = u32_at(payload, 1) as usize;
        let index = Index { payload, at: head.ext + EXT_HEAD, groups };
        if payload.len() < PREFIX.checked_add(groups.checked_mul(GROUP_SIZE)?)? {
            return None;
        }
        let (mut elements, mut length, mut leaves) = (0u64, 0u64, 0usize);
        for group in index.groups(0..groups) {
            elements += u64::from(group.elements);
            length += u64::from(group.bytes);
            leaves += group.leaves;
        }
        let fits = elements == u64::from(head.count)
            && length == (bytes.len() - head.body) as u64
            && payload.len() == PREFIX + groups * GROUP_SIZE + leaves * LEAF_SIZE;
        fits.then_some(index)
    }

    /// Offset of the payload in the bin.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    fn group(&self, g: usize) -> Group {
        let at = PREFIX + g * GROUP_SIZE;
        Group {
            leaves: usize::from(self.payload.get(at).copied().unwrap_or(0)),
            elements: u32_at(self.payload, at + 1),
            bytes: u32_at(self.payload, at + 5),
        }
    }

    fn groups(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = Group> + '_ {
        work::entries(range.len());
        range.map(|g| self.group(g))
    }

    fn leaf(&self, leaf: usize) -> Leaf {
        let at = PREFIX + self.groups * GROUP_SIZE + leaf * LEAF_SIZE;
        Leaf {
            elements: u32::from(self.payload.get(at).copied().unwrap_or(0)),
            bytes: u32_at(self.payload, at + 1),
        }
    }

    fn leaves(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = Leaf> + '_ {
        work::entries(range.len());
        range.map(|leaf| self.leaf(leaf))
    }

    /// The nearest fence at or before element `i`: an element and its distance in bytes from the
    /// collection's body.
    pub(crate) fn locate(&self, i: u32) -> (u32, usize) {
        let (mut element, mut distance, mut leaf) = (0u32, 0usize, 0usize);
        for group in self.groups(0..self.groups) {
            if i - element < group.elements {
                for entry in self.leaves(leaf..leaf + group.leaves) {
                    if i - element < entry.elements {
                        break;
                    }
                    element = element.saturating_add(entry.elements).min(i);
                    distance += entry.bytes as usize;
                }
                break;
            }
            element = element.saturating_add(group.elements).min(i);
            distance += group.bytes as usize;
            leaf += group.leaves;
        }
        (element, distance)
    }

    /// Narrows a binary search to one leaf by asking about the first element of groups, then of
    /// leaves, each given by its distance from the collection's body. Gives the leaf's first
    /// element, its distance and how many it has; `None` when even the first element of all is
    /// behind the searched place.
    pub(crate) fn narrow(
        &self,
        before: &mut impl FnMut(usize) -> Result<bool, Malformed>,
    ) -> Result<Option<Fence>, Malformed> {
        let mut first_leaf = 0;
        let mut fences = Vec::with_capacity(self.groups);
        let mut fence = Fence { element: 0, distance: 0, elements: 0 };
        for group in self.groups(0..self.groups) {
            fence.elements = group.elements;
            fences.push((fence, first_leaf..first_leaf + group.leaves));
            fence = fence.next(group.elements, group.bytes);
            first_leaf += group.leaves;
        }
        let passed = fences_before(&fences, |(fence, _)| before(fence.distance))?;
        let Some((mut fence, leaves)) =
            passed.checked_sub(1).and_then(|at| fences.get(at).cloned())
        else {
            return Ok(None);
        };
        let mut fences = Vec::with_capacity(leaves.len());
        for leaf in self.leaves(leaves) {
            fence.elements = leaf.elements;
            fences.push(fence);
            fence = fence.next(leaf.elements, leaf.bytes);
        }
        // The first leaf of the group passed already.
        let others = fences.get(1..).unwrap_or_default();
        let passed = fences_before(others, |fence| before(fence.distance))?;
        Ok(fences.get(passed).copied())
    }

    /// The edits that keep the index true to a change of its collection. Spans ascend.
    /// `lengths` gives the lengths of elements `from..to` of the old collection.
    pub(crate) fn update(
        &self,
        spans: &[Span],
        lengths: &dyn Fn(u32, u32) -> Result<Vec<u32>, Malformed>,
    ) -> Result<Update, Malformed> {
        let (Some(first), Some(last)) = (spans.first(), spans.last()) else {
            return Ok(Update { edits: Edits::none(), payload_len: self.payload.len() });
        };
        let mut groups: Vec<Group> = self.groups(0..self.groups).collect();
        let window = Window::around(&groups, first, last.at + last.remove);
        let leaf_range = window.first_leaf..window.first_leaf + window.leaf_count;
        let mut leaves: Vec<Leaf> = self.leaves(leaf_range.clone()).collect();
        let appending = window.groups.end == self.groups;
        // From the right, so that the places of what lies to the left stay those of the old list.
        for cluster in clusters(&leaves, &window, spans).into_iter().rev() {
            let appending = appending && cluster.leaves.end == leaves.len();
            let new = cluster.new_leaves(appending, lengths)?;
            leaves.splice(cluster.leaves, new);
        }
        let old_leaves = PREFIX + self.groups * GROUP_SIZE + leaf_range.start * LEAF_SIZE
            ..PREFIX + self.groups * GROUP_SIZE + leaf_range.end * LEAF_SIZE;
        groups.splice(window.groups.clone(), group_leaves(&leaves, appending));
        let mut table = Vec::with_capacity(PREFIX + groups.len() * GROUP_SIZE);
        write_table(&mut table, &groups);
        let mut packed = Vec::with_capacity(leaves.len() * LEAF_SIZE);
        write_leaves(&mut packed, &leaves);
        let mut edits = Edits::none();
        self.replace(&mut edits, 0..PREFIX, &table[..PREFIX]);
        self.replace(&mut edits, PREFIX..PREFIX + self.groups * GROUP_SIZE, &table[PREFIX..]);
        self.replace(&mut edits, old_leaves, &packed);
        let payload_len = edits.new_len(self.payload.len());
        Ok(Update { edits, payload_len })
    }

    /// Pushes an edit for what differs between the old payload's `range` and `new`.
    fn replace(&self, edits: &mut Edits, range: std::ops::Range<usize>, new: &[u8]) {
        let old = self.payload.get(range.clone()).unwrap_or_default();
        let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let (old, new) = (&old[same..], &new[same..]);
        let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
        let insert = new[..new.len() - tail].to_vec();
        edits.push(self.at + range.start + same, old.len() - tail, insert);
    }

    /// True when many removals have left leaves so empty that building anew pays.
    pub(crate) fn is_sparse(&self, elements: u32) -> bool {
        let leaves = self.payload.len().saturating_sub(PREFIX + self.groups * GROUP_SIZE);
        leaves / LEAF_SIZE > 64 + elements as usize / 4
    }
}

/// What becomes of an index.
pub(crate) struct Update {
    /// Edits against the bin.
    pub edits: Edits,
    /// Length of the new payload.
    pub payload_len: usize,
}

/// Neighbouring elements: the first, its distance in bytes from the collection's body, how many.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fence {
    pub element: u32,
    pub distance: usize,
    pub elements: u32,
}

impl Fence {
    /// The place behind this many elements and bytes.
    fn next(self, elements: u32, bytes: u32) -> Fence {
        Fence {
            element: self.element.saturating_add(elements),
            distance: self.distance + bytes as usize,
            elements: 0,
        }
    }
}

/// How many of the ascending `fences` are before the searched place.
fn fences_before<F>(
    fences: &[F],
    mut before: impl FnMut(&F) -> Result<bool, Malformed>,
) -> Result<usize, Malformed> {
    let (mut low, mut high) = (0, fences.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if before(&fences[middle])? {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

/// The groups that a change touches, and what lies before them.
struct Window {
    groups: std::ops::Range<usize>,
    first_leaf: usize,
    leaf_count: usize,
    /// Elements before the window.
    elements: u32,
}

impl Window {
    fn around(groups: &[Group], first: &Span, to: u32) -> Window {
        let mut window = Window { groups: 0..0, first_leaf: 0, leaf_count: 0, elements: 0 };
        let mut at = 0;
        while at + 1 < groups.len() && first.is_behind(window.elements + groups[at].elements) {
            window.elements += groups[at].elements;
            window.first_leaf += groups[at].leaves;
            at += 1;
        }
        let start = at;
        let mut covered = window.elements;
        while at < groups.len() && (at == start || covered < to) {
            covered = covered.saturating_add(groups[at].elements);
            window.leaf_count += groups[at].leaves;
            at += 1;
        }
        window.groups = start..at;
        window
    }
}

/// Neighbouring leaves that a change touches, with the spans in them.
struct Cluster<'s> {
    leaves: std::ops::Range<usize>,
    spans: Vec<&'s Span>,
    /// Old elements and bytes of the leaves: first, and behind the last.
    elements: std::ops::Range<u32>,
    bytes: usize,
}

/// Divides spans among the leaves they touch; a leaf belongs to one cluster.
fn clusters<'s>(leaves: &[Leaf], window: &Window, spans: &'s [Span]) -> Vec<Cluster<'s>> {
    let mut clusters: Vec<Cluster<'s>> = Vec::new();
    let (mut next, mut element) = (0, window.elements);
    for span in spans {
        let joins = clusters.last().is_some_and(|last| !span.is_behind(last.elements.end));
        if !joins {
            while next + 1 < leaves.len() && span.is_behind(element + leaves[next].elements) {
                element += leaves[next].elements;
                next += 1;
            }
            let elements = element..element;
            clusters.push(Cluster { leaves: next..next, spans: Vec::new(), elements, bytes: 0 });
        }
        let Some(cluster) = clusters.last_mut() else { continue };
        cluster.spans.push(span);
        while next < leaves.len() && (cluster.leaves.is_empty() || element < span.at + span.remove)
        {
            element += leaves[next].elements;
            cluster.bytes += leaves[next].bytes as usize;
            next += 1;
            cluster.leaves.end = next;
            cluster.elements.end = element;
        }
    }
    clusters
}

impl Cluster<'_> {
    /// The leaves that take the place of the old ones. Elements are looked at only when they do
    /// not fit into one leaf.
    fn new_leaves(
        &self,
        appending: bool,
        lengths: &dyn Fn(u32, u32) -> Result<Vec<u32>, Malformed>,
    ) -> Result<Vec<Leaf>, Malformed> {
        let (mut elements, mut bytes) =
            (u64::from(self.elements.end - self.elements.start), self.bytes);
        for span in &self.spans {
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
        let mut next = self.elements.start;
        for span in &self.spans {
            all.extend(lengths(next, span.at)?);
            all.extend_from_slice(&span.insert);
            next = span.at + span.remove;
        }
        all.extend(lengths(next, self.elements.end)?);
        let appending = appending && next == self.elements.end;
        let size = piece_size(all.len(), LEAF_MAX as usize, appending);
        Ok(all.chunks(size).map(leaf_of).collect())
    }
}

fn total(lengths: &[u32]) -> usize {
    lengths.iter().map(|&length| length as usize).sum()
}

fn leaf_of(lengths: &[u32]) -> Leaf {
    Leaf { elements: lengths.len() as u32, bytes: total(lengths) as u32 }
}

/// Size of the pieces in which `count` things are cut, at most `most` each: full pieces where the
/// collection grows at its end, even pieces with room to grow elsewhere.
fn piece_size(count: usize, most: usize, appending: bool) -> usize {
    if appending || count <= most {
        return most;
    }
    let pieces = count.div_ceil(most * 3 / 4);
    count.div_ceil(pieces)
}

fn group_leaves(leaves: &[Leaf], appending: bool) -> Vec<Group> {
    leaves
        .chunks(piece_size(leaves.len(), GROUP_MAX, appending))
        .map(|chunk| Group {
            leaves: chunk.len(),
            elements: chunk.iter().map(|leaf| leaf.elements).sum(),
            bytes: chunk.iter().map(|leaf| leaf.bytes).sum(),
        })
        .collect()
}

fn write_table(out: &mut Vec<u8>, groups: &[Group]) {
    out.push(VERSION);
    out.extend_from_slice(&(groups.len() as u32).to_be_bytes());
    for group in groups {
        out.push(group.leaves as u8);
        out.extend_from_slice(&group.elements.to_be_bytes());
        out.extend_from_slice(&group.bytes.to_be_bytes());
    }
}

fn write_leaves(out: &mut Vec<u8>, leaves: &[Leaf]) {
    for leaf in leaves {
        out.push(leaf.elements as u8);
        out.extend_from_slice(&leaf.bytes.to_be_bytes());
    }
}

/// Writes the extension element with a new index over elements of these lengths.
pub(crate) fn write_new(out: &mut Vec<u8>, flags: u8, lengths: &[u32]) {
    let leaves: Vec<Leaf> = lengths.chunks(LEAF_MAX as usize).map(leaf_of).collect();
    let groups = group_leaves(&leaves, true);
    let mut payload = Vec::new();
    write_table(&mut payload, &groups);
    write_leaves(&mut payload, &leaves);
    write_head(out, flags, payload.len());
    out.extend_from_slice(&payload);
}

/// Writes the extension element up to its payload.
pub(crate) fn write_head(out: &mut Vec<u8>, flags: u8, payload_len: usize) {
    out.push(EXT_32);
    out.extend_from_slice(&(payload_len as u32).to_be_bytes());
    out.push(flags);
}

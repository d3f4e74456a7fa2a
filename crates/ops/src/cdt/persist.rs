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

    /// Narrows a binary search over `count` elements to one leaf by asking about the first
    /// element of groups, then of leaves.
    pub(crate) fn narrow(
        &self,
        count: u32,
        before: &mut impl FnMut(u32) -> Result<bool, Malformed>,
    ) -> Result<(u32, u32), Malformed> {
        let mut starts = Vec::with_capacity(self.groups);
        let mut element = 0u32;
        for group in self.groups(0..self.groups) {
            starts.push(element);
            element = element.saturating_add(group.elements);
        }
        let passed = starts_before(&starts, before)?;
        if passed == 0 {
            return Ok((0, 0));
        }
        let high = starts.get(passed).copied().unwrap_or(count);
        let mut element = starts[passed - 1];
        let first: usize = self.groups(0..passed - 1).map(|group| group.leaves).sum();
        starts.clear();
        for leaf in self.leaves(first..first + self.group(passed - 1).leaves) {
            starts.push(element);
            element = element.saturating_add(leaf.elements);
        }
        let passed = 1 + starts_before(starts.get(1..).unwrap_or_default(), before)?;
        let high = starts.get(passed).copied().unwrap_or(high);
        let low = starts.get(passed - 1).map_or(0, |start| start + 1);
        Ok((low.min(high), high.min(count)))
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
        let window = Window::around(&groups, first.at, last.at + last.remove);
        let leaf_range = window.first_leaf..window.first_leaf + window.leaf_count;
        let mut leaves: Vec<Leaf> = self.leaves(leaf_range.clone()).collect();
        // From the right, so that the numbers of what lies to the left stay those of the old list.
        let appending = window.groups.end == self.groups;
        for span in spans.iter().rev() {
            apply_span(&mut leaves, &window, span, appending, lengths)?;
        }
        let old_leaves = PREFIX + self.groups * GROUP_SIZE + leaf_range.start * LEAF_SIZE
            ..PREFIX + self.groups * GROUP_SIZE + leaf_range.end * LEAF_SIZE;
        groups.splice(window.groups.clone(), group_leaves(&leaves, appending));
        let mut table = Vec::with_capacity(PREFIX + groups.len() * GROUP_SIZE);
        write_table(&mut table, &groups);
        let mut packed = Vec::with_capacity(leaves.len() * LEAF_SIZE);
        write_leaves(&mut packed, &leaves);
        let mut edits = Edits::none();
        self.replace(&mut edits, 0..PREFIX + self.groups * GROUP_SIZE, &table);
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

/// How many of the ascending `starts` are before the searched place.
fn starts_before(
    starts: &[u32],
    before: &mut impl FnMut(u32) -> Result<bool, Malformed>,
) -> Result<usize, Malformed> {
    let (mut low, mut high) = (0, starts.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if before(starts[middle])? {
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
    /// Elements and bytes before the window.
    elements: u32,
    bytes: usize,
}

impl Window {
    fn around(groups: &[Group], from: u32, to: u32) -> Window {
        let mut window =
            Window { groups: 0..0, first_leaf: 0, leaf_count: 0, elements: 0, bytes: 0 };
        let mut at = 0;
        // A change right behind a group belongs to it, so that appends fill the last group.
        while at + 1 < groups.len() && window.elements + groups[at].elements < from {
            window.elements += groups[at].elements;
            window.bytes += groups[at].bytes as usize;
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

/// Replaces the leaves that a span touches by new ones.
fn apply_span(
    leaves: &mut Vec<Leaf>,
    window: &Window,
    span: &Span,
    appending: bool,
    lengths: &dyn Fn(u32, u32) -> Result<Vec<u32>, Malformed>,
) -> Result<(), Malformed> {
    let (mut first, mut element, mut byte) = (0, window.elements, window.bytes);
    while first + 1 < leaves.len() && element + leaves[first].elements < span.at {
        element += leaves[first].elements;
        byte += leaves[first].bytes as usize;
        first += 1;
    }
    let span_end = span.at + span.remove;
    let (mut last, mut end, mut end_byte) = (first, element, byte);
    while last < leaves.len() && (last == first || end < span_end) {
        end += leaves[last].elements;
        end_byte += leaves[last].bytes as usize;
        last += 1;
    }
    let kept = (end - element).checked_sub(span.remove).ok_or(Malformed::Truncated)?;
    let kept_bytes = (end_byte - byte).checked_sub(span.end - span.start);
    let bytes = kept_bytes.ok_or(Malformed::Truncated)? + total(&span.insert);
    let elements = kept as usize + span.insert.len();
    let new = match elements {
        0 => Vec::new(),
        1.. if elements <= LEAF_MAX as usize => {
            vec![Leaf { elements: elements as u32, bytes: bytes as u32 }]
        }
        _ => {
            let mut all = lengths(element, span.at)?;
            all.extend_from_slice(&span.insert);
            all.extend(lengths(span_end, end)?);
            let appending = appending && last == leaves.len() && span_end == end;
            let size = piece_size(all.len(), LEAF_MAX as usize, appending);
            all.chunks(size).map(leaf_of).collect()
        }
    };
    leaves.splice(first..last, new);
    Ok(())
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

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
//! keys by value: a packed list                         only in maps ordered by value too
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

use cairn_value::packed::{Head, Malformed, Reader, Token, flags};

use super::work;

mod update;

pub(crate) use update::Span;

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

/// A persisted index, as it stands in a bin.
#[derive(Clone, Copy, Debug)]
pub struct Index<'a> {
    /// Prefix, groups and leaves.
    payload: &'a [u8],
    /// Offset of the payload in the bin.
    at: usize,
    groups: usize,
    /// What follows the leaves: the order of a map's values, see [`super::value_order`].
    order: &'a [u8],
}

/// True when a map with this head keeps the order of its values.
pub(crate) fn keeps_order(is_map: bool, flags: u8) -> bool {
    is_map && flags & flags::VALUE_ORDERED != 0
}

/// True when `order` is what has to follow the leaves.
fn order_fits(order: &[u8], head: Head) -> bool {
    if !keeps_order(head.is_map, head.flags) {
        return order.is_empty();
    }
    matches!(Head::read(order, 0), Ok(Some(keys)) if !keys.is_map && keys.count == head.count)
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
        if payload.len() < PREFIX.checked_add(groups.checked_mul(GROUP_SIZE)?)? {
            return None;
        }
        let index = Index { payload, at: head.ext + EXT_HEAD, groups, order: &[] };
        let (mut elements, mut length, mut leaves) = (0u64, 0u64, 0usize);
        for group in index.groups(0..groups) {
            elements += u64::from(group.elements);
            length += u64::from(group.bytes);
            leaves += group.leaves;
        }
        let tables = PREFIX + groups * GROUP_SIZE + leaves * LEAF_SIZE;
        let (payload, order) = payload.split_at_checked(tables)?;
        let fits = elements == u64::from(head.count)
            && length == (bytes.len() - head.body) as u64
            && order_fits(order, head);
        fits.then_some(Index { payload, order, ..index })
    }

    /// The kept order of a map's values, when there is one.
    pub(crate) fn value_order(&self) -> Option<&'a [u8]> {
        (!self.order.is_empty()).then_some(self.order)
    }

    /// Offset in the bin of what follows the leaves.
    pub(crate) fn order_at(&self) -> usize {
        self.at + self.payload.len()
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

    /// True when many removals have left leaves so empty that building anew pays.
    pub(crate) fn is_sparse(&self, elements: u32) -> bool {
        let leaves = self.payload.len().saturating_sub(PREFIX + self.groups * GROUP_SIZE);
        leaves / LEAF_SIZE > 64 + elements as usize / 4
    }
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

/// The first bytes of a payload.
fn prefix(groups: usize) -> [u8; PREFIX] {
    let [a, b, c, d] = (groups as u32).to_be_bytes();
    [VERSION, a, b, c, d]
}

fn write_groups(out: &mut Vec<u8>, groups: &[Group]) {
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

/// Writes the extension element with a new index over elements of these lengths, followed by the
/// order of a map's values, if any.
pub(crate) fn write_new(out: &mut Vec<u8>, flags: u8, lengths: &[u32], order: &[u8]) {
    let leaves: Vec<Leaf> = lengths.chunks(LEAF_MAX as usize).map(leaf_of).collect();
    let groups = group_leaves(&leaves, true);
    let mut payload = prefix(groups.len()).to_vec();
    write_groups(&mut payload, &groups);
    write_leaves(&mut payload, &leaves);
    payload.extend_from_slice(order);
    write_head(out, flags, payload.len());
    out.extend_from_slice(&payload);
}

/// Writes the extension element up to its payload.
pub(crate) fn write_head(out: &mut Vec<u8>, flags: u8, payload_len: usize) {
    out.push(EXT_32);
    out.extend_from_slice(&(payload_len as u32).to_be_bytes());
    out.push(flags);
}

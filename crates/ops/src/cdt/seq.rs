//! A packed list or map as a sequence of elements, found without decoding the rest.
//!
//! The packed form has counts but no byte lengths, so element `i` is found by walking. [`Seq`]
//! remembers the offsets it walked over (lazily, only as far as asked) and, when the collection
//! carries a [persisted index](super::persist), starts at the nearest fence instead.

use std::cell::{Cell, RefCell};
use std::cmp::Ordering;

use cairn_value::order;
use cairn_value::packed::{Head, Malformed, Reader, flags};

use super::persist::{Index, LEAF_MAX};
use super::work;

/// Where a collection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It is the whole bin.
    Top,
    /// It is an element of another collection.
    Nested,
    /// It will be an element of a collection in a bin that does not exist yet.
    NestedInNewBin,
}

/// A packed list or map. An element of a list is one value, an element of a map is a key followed
/// by its value.
pub struct Seq<'a> {
    bytes: &'a [u8],
    at: usize,
    head: Head,
    place: Place,
    /// Offsets of the first elements; the last entry may be the end of the collection.
    known: RefCell<Vec<u32>>,
    /// Where the walk from a fence stopped: element and offset.
    near: Cell<(u32, usize)>,
    end: Cell<Option<usize>>,
    index: Option<Index<'a>>,
    is_new: bool,
}

/// A packed key and its packed value.
pub type Pair<'a> = (&'a [u8], &'a [u8]);

/// What an empty collection of each kind looks like.
const EMPTY_LIST: &[u8] = &[0x90];
const EMPTY_MAP: &[u8] = &[0x80];

impl<'a> Seq<'a> {
    /// The collection that starts at offset `at` of the bin's `bytes`; `None` when something else
    /// stands there. At the top the collection must fill `bytes`.
    pub fn read(bytes: &'a [u8], at: usize, place: Place) -> Result<Option<Seq<'a>>, Malformed> {
        let Some(head) = Head::read(bytes, at)? else { return Ok(None) };
        let top = place == Place::Top;
        let index = if top { Index::read(bytes, head) } else { None };
        Ok(Some(Seq {
            bytes,
            at,
            head,
            place,
            known: RefCell::new(vec![head.body as u32]),
            near: Cell::new((0, head.body)),
            end: Cell::new(top.then_some(bytes.len())),
            index,
            is_new: false,
        }))
    }

    /// An empty collection that is about to be created.
    pub fn empty(is_map: bool, place: Place) -> Seq<'a> {
        let bytes = if is_map { EMPTY_MAP } else { EMPTY_LIST };
        let head = Head { count: 0, flags: 0, ext: 1, body: 1, is_map };
        Seq {
            bytes,
            at: 0,
            head,
            place,
            known: RefCell::new(vec![1]),
            near: Cell::new((0, 1)),
            end: Cell::new(Some(1)),
            index: None,
            is_new: true,
        }
    }

    /// Elements (list) or pairs (map).
    pub fn len(&self) -> u32 {
        self.head.count
    }

    /// True when there is no element.
    pub fn is_empty(&self) -> bool {
        self.head.count == 0
    }

    /// True for a collection that does not exist yet, see [`Seq::empty`].
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// True for a map.
    pub fn is_map(&self) -> bool {
        self.head.is_map
    }

    /// Order and persist bits, see [`flags`].
    pub fn flags(&self) -> u8 {
        self.head.flags
    }

    /// True for an ordered list or a key-ordered map.
    pub fn is_ordered(&self) -> bool {
        self.head.flags & flags::ORDERED != 0
    }

    /// The head as packed.
    pub fn head(&self) -> Head {
        self.head
    }

    /// Offset of the collection's first byte in its bin.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The bin's bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Where the collection stands.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The persisted index, when there is one.
    pub fn index(&self) -> Option<&Index<'a>> {
        self.index.as_ref()
    }

    #[inline]
    fn step(&self, reader: &mut Reader<'a>) -> Result<(), Malformed> {
        work::decoded(1);
        reader.skip()?;
        if self.head.is_map {
            reader.skip()?;
        }
        Ok(())
    }

    /// Offset of element `i`, or of the end when `i` is the length (or more).
    pub fn offset(&self, i: u32) -> Result<usize, Malformed> {
        if i >= self.head.count
            && let Some(end) = self.end.get()
        {
            return Ok(end);
        }
        let i = i.min(self.head.count);
        match &self.index {
            Some(index) => self.offset_near(index, i),
            None => self.offset_walking(i),
        }
    }

    fn offset_walking(&self, i: u32) -> Result<usize, Malformed> {
        let mut known = self.known.borrow_mut();
        if let Some(&offset) = known.get(i as usize) {
            return Ok(offset as usize);
        }
        let from = known.last().map_or(self.head.body, |&offset| offset as usize);
        let mut reader = Reader::at(self.bytes, from);
        let missing = i as usize + 1 - known.len();
        known.reserve(missing);
        for _ in 0..missing {
            self.step(&mut reader)?;
            known.push(reader.position() as u32);
        }
        if i == self.head.count {
            self.end.set(Some(reader.position()));
        }
        Ok(reader.position())
    }

    fn offset_near(&self, index: &Index<'a>, i: u32) -> Result<usize, Malformed> {
        // Elements are mostly asked for one after the other. From the last one it is no further
        // than from a fence, and no entries have to be added up.
        let (mut element, mut offset) = self.near.get();
        if element > i || i - element >= LEAF_MAX {
            let (fence, distance) = index.locate(i);
            (element, offset) = (fence, self.head.body + distance);
        }
        let mut reader = Reader::at(self.bytes, offset);
        while element < i {
            self.step(&mut reader)?;
            element += 1;
        }
        self.near.set((i, reader.position()));
        Ok(reader.position())
    }

    /// The bytes of elements `from..to`.
    pub fn range(&self, from: u32, to: u32) -> Result<&'a [u8], Malformed> {
        let start = self.offset(from)?;
        let end = self.offset(to.max(from))?;
        self.bytes.get(start..end).ok_or(Malformed::Truncated)
    }

    /// The bytes of element `i`: a value, or a key and its value.
    pub fn element(&self, i: u32) -> Result<&'a [u8], Malformed> {
        if i >= self.head.count {
            return Err(Malformed::Truncated);
        }
        self.range(i, i + 1)
    }

    /// Key and value of pair `i`.
    pub fn pair(&self, i: u32) -> Result<Pair<'a>, Malformed> {
        split_pair(self.element(i)?)
    }

    /// All elements. The allocation is bounded by the bytes: an element takes one at least.
    pub fn elements(&self) -> Result<Vec<&'a [u8]>, Malformed> {
        let mut reader = Reader::at(self.bytes, self.head.body);
        let mut elements = Vec::with_capacity(self.head.count as usize);
        for _ in 0..self.head.count {
            let start = reader.position();
            self.step(&mut reader)?;
            elements.push(&self.bytes[start..reader.position()]);
        }
        if self.end.get().is_none() {
            self.end.set(Some(reader.position()));
        }
        Ok(elements)
    }

    /// All pairs of a map.
    pub fn pairs(&self) -> Result<Vec<Pair<'a>>, Malformed> {
        self.elements()?.into_iter().map(split_pair).collect()
    }

    /// The first element (in order of position) for which `before` is false, by binary search:
    /// `before` must be true for a prefix of the elements and false for the rest. It is given an
    /// element's bytes; in a map those start with the key.
    pub fn partition(
        &self,
        mut before: impl FnMut(&'a [u8]) -> Result<bool, Malformed>,
    ) -> Result<u32, Malformed> {
        let mut before = |element: &'a [u8]| {
            work::compared();
            before(element)
        };
        if let Some(index) = &self.index {
            let body = self.head.body;
            let fence =
                index.narrow(&mut |distance| before(self.element_at(body + distance)?.0))?;
            let Some(fence) = fence else { return Ok(0) };
            let mut elements = Vec::with_capacity(fence.elements as usize);
            let mut offset = body + fence.distance;
            for _ in 0..fence.elements {
                let (element, next) = self.element_at(offset)?;
                elements.push(element);
                offset = next;
            }
            let passed = partition_of(fence.elements, |i| before(elements[i as usize]))?;
            return Ok(fence.element + passed);
        }
        partition_of(self.head.count, |i| before(self.element(i)?))
    }

    /// The element at an offset, and the offset behind it.
    fn element_at(&self, offset: usize) -> Result<(&'a [u8], usize), Malformed> {
        let mut reader = Reader::at(self.bytes, offset);
        self.step(&mut reader)?;
        let element = self.bytes.get(offset..reader.position()).ok_or(Malformed::Truncated)?;
        Ok((element, reader.position()))
    }

    /// How many elements of a sorted list, or keys of a map, are below `value`.
    pub fn count_below(&self, value: &[u8]) -> Result<u32, Malformed> {
        self.partition(|element| Ok(order::compare(element, value)? == Ordering::Less))
    }

    /// How many elements of a sorted list, or keys of a map, are at most `value`.
    pub fn count_up_to(&self, value: &[u8]) -> Result<u32, Malformed> {
        self.partition(|element| Ok(order::compare(element, value)? != Ordering::Greater))
    }

    /// The pair with this key, when a map has one.
    pub fn find_key(&self, key: &[u8]) -> Result<Result<u32, u32>, Malformed> {
        let at = self.count_below(key)?;
        let found = at < self.len() && order::compare(self.element(at)?, key)? == Ordering::Equal;
        Ok(if found { Ok(at) } else { Err(at) })
    }
}

/// How many of the first `count` numbers are before the searched place, by binary search.
fn partition_of(
    count: u32,
    mut before: impl FnMut(u32) -> Result<bool, Malformed>,
) -> Result<u32, Malformed> {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle)? {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

/// Divides a pair of a map into key and value.
pub(crate) fn split_pair(element: &[u8]) -> Result<Pair<'_>, Malformed> {
    let key = Reader::new(element).skip()?.len();
    Ok(element.split_at(key))
}

/// Compares two packed values, counting the work.
pub fn compare(a: &[u8], b: &[u8]) -> Result<Ordering, Malformed> {
    work::compared();
    order::compare(a, b)
}

/// The index that a request means by `index` in a collection of `len`: negative counts from the
/// end. `None` when it lies outside.
pub fn resolve(index: i64, len: u32) -> Option<u32> {
    let len = i64::from(len);
    let index = if index < 0 { index.checked_add(len)? } else { index };
    (0..len).contains(&index).then_some(index as u32)
}

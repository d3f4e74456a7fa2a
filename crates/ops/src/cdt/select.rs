//! What selections share: return types, ranges and their complements, rank windows.

use cairn_value::{Error, ResultCode};

use super::seq::{Seq, compare};
use cairn_value::packed::{EXT_SPECIAL, Malformed, Reader, Token};
use std::cmp::Ordering;

/// What a selection answers about each element it picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Nothing.
    None,
    /// Indexes.
    Index,
    /// Indexes counted from the end.
    ReverseIndex,
    /// Ranks.
    Rank,
    /// Ranks counted from the end.
    ReverseRank,
    /// How many.
    Count,
    /// Keys of a map.
    Key,
    /// Values.
    Value,
    /// Keys and values of a map, in stored order.
    KeyValue,
    /// First index and how many.
    IndexRange,
    /// First index from the end and how many.
    ReverseIndexRange,
    /// First rank and how many.
    RankRange,
    /// First rank from the end and how many.
    ReverseRankRange,
    /// Whether there is any.
    Exists,
    /// An unordered map of the pairs.
    UnorderedMap,
    /// An ordered map of the pairs.
    OrderedMap,
}

/// A return type: what is wanted, and whether of the elements that were *not* selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Return {
    /// What is wanted.
    pub want: Want,
    /// Of the others.
    pub inverted: bool,
}

/// Bit of a return type that inverts the selection.
const INVERTED: i64 = 0x1_0000;

impl Return {
    /// Reads a return type.
    pub fn parse(number: i64) -> Result<Return, Error> {
        let want = match number & 0xffff {
            0 => Want::None,
            1 => Want::Index,
            2 => Want::ReverseIndex,
            3 => Want::Rank,
            4 => Want::ReverseRank,
            5 => Want::Count,
            6 => Want::Key,
            7 => Want::Value,
            8 => Want::KeyValue,
            9 => Want::IndexRange,
            10 => Want::ReverseIndexRange,
            11 => Want::RankRange,
            12 => Want::ReverseRankRange,
            13 => Want::Exists,
            16 => Want::UnorderedMap,
            17 => Want::OrderedMap,
            _ => return Err(unknown(number)),
        };
        Ok(Return { want, inverted: number & INVERTED != 0 })
    }

    /// Reads a return type of a list operation, which knows no keys.
    pub fn parse_for_list(number: i64) -> Result<Return, Error> {
        let parsed = Return::parse(number)?;
        match parsed.want {
            Want::Key | Want::KeyValue | Want::UnorderedMap | Want::OrderedMap => {
                Err(unknown(number))
            }
            _ => Ok(parsed),
        }
    }
}

fn unknown(number: i64) -> Error {
    let text = format!("return type {number} does not apply to this operation");
    Error::new(ResultCode::OpNotApplicable, text)
}

/// A range of indexes or ranks: first and how many.
pub type Run = (u32, u32);

/// What `runs` (in any order, overlapping or not) leave of `0..len`.
pub fn complement(runs: &[Run], len: u32) -> Vec<Run> {
    let mut sorted: Vec<Run> = runs.iter().copied().filter(|run| run.1 > 0).collect();
    sorted.sort_unstable();
    let mut left = Vec::new();
    let mut next = 0;
    for (start, count) in sorted {
        if start > next {
            left.push((next, start - next));
        }
        next = next.max(start + count);
    }
    if next < len {
        left.push((next, len - next));
    }
    left
}

/// The runs as seen from the end of `0..len`, each still ascending.
pub fn reversed(runs: &[Run], len: u32) -> Vec<Run> {
    runs.iter().map(|&(start, count)| (len - start - count, count)).collect()
}

/// How many things the runs hold.
pub fn total(runs: &[Run]) -> u32 {
    runs.iter().map(|run| run.1).sum()
}

/// The numbers in the runs, one after the other.
pub fn numbers(runs: &[Run]) -> Vec<u32> {
    runs.iter().flat_map(|&(start, count)| start..start + count).collect()
}

/// The part of `0..len` that starts at `start` (which may lie outside) and has `count` members,
/// all the rest when absent or negative.
pub fn window(start: i128, count: Option<i64>, len: u32) -> Run {
    let len = i128::from(len);
    let wanted = match count {
        Some(count) if count >= 0 => i128::from(count),
        _ => i128::from(u64::MAX),
    };
    let end = (start + wanted).clamp(0, len);
    let start = start.clamp(0, len);
    (start as u32, (end - start).max(0) as u32)
}

/// As [`window`], with a negative `start` counted from the end. The lowest start of all, which
/// has no positive counterpart, selects nothing.
pub fn window_from(start: i64, count: Option<i64>, len: u32) -> Run {
    if start == i64::MIN {
        return (len, 0);
    }
    let start = i128::from(start);
    window(if start < 0 { start + i128::from(len) } else { start }, count, len)
}

/// The elements that have ranks `start..start + count`, in the order in which answers list them.
///
/// The order comes from sorting only as far as needed: a heap gives up its smallest elements when
/// the ranks lie nearer to the low end, its largest otherwise; what it gives up fills the array
/// from the end, so low ranks are listed downwards and high ranks upwards.
pub fn by_rank(values: &[&[u8]], (start, count): Run) -> Result<Vec<u32>, Malformed> {
    let len = values.len();
    let (start, count) = (start as usize, count as usize);
    let above = len.saturating_sub(start + count);
    let from_low_end = start <= above;
    let mut heap = Heap { order: (0..len as u32).collect(), values, smallest_first: from_low_end };
    let pops = if from_low_end { start + count } else { len - start };
    heap.build()?;
    for done in 0..pops.min(len) {
        heap.pop(len - done)?;
    }
    let found = if from_low_end { above } else { start };
    Ok(heap.order.get(found..found + count).unwrap_or_default().to_vec())
}

/// A binary heap of element numbers over their values.
struct Heap<'a> {
    order: Vec<u32>,
    values: &'a [&'a [u8]],
    smallest_first: bool,
}

impl Heap<'_> {
    /// True when the element at heap position `a` goes before the one at `b`.
    fn precedes(&self, a: usize, b: usize) -> Result<bool, Malformed> {
        let value = |at: usize| self.values[self.order[at] as usize];
        let first = if self.smallest_first { Ordering::Less } else { Ordering::Greater };
        Ok(compare(value(a), value(b))? == first)
    }

    fn sift(&mut self, mut at: usize, len: usize) -> Result<(), Malformed> {
        loop {
            let mut child = 2 * at + 1;
            if child >= len {
                return Ok(());
            }
            if child + 1 < len && self.precedes(child + 1, child)? {
                child += 1;
            }
            if !self.precedes(child, at)? {
                return Ok(());
            }
            self.order.swap(at, child);
            at = child;
        }
    }

    fn build(&mut self) -> Result<(), Malformed> {
        let len = self.order.len();
        for at in (0..len / 2).rev() {
            self.sift(at, len)?;
        }
        Ok(())
    }

    /// Moves the first of `len` elements behind the rest.
    fn pop(&mut self, len: usize) -> Result<(), Malformed> {
        self.order.swap(0, len - 1);
        self.sift(0, len - 1)
    }
}

/// How many of `values` are below `bound`.
pub fn count_below(values: &[&[u8]], bound: &[u8]) -> Result<u32, Malformed> {
    let mut below = 0;
    for value in values {
        below += u32::from(compare(value, bound)? == Ordering::Less);
    }
    Ok(below)
}

/// True when `value` lies in the interval from `begin` up to, not including, `end`.
pub fn in_interval(value: &[u8], begin: &[u8], end: Option<&[u8]>) -> Result<bool, Malformed> {
    if compare(value, begin)? == Ordering::Less {
        return Ok(false);
    }
    match end {
        Some(end) => Ok(compare(value, end)? == Ordering::Less),
        None => Ok(true),
    }
}

/// The ranks of an ordered list, or indexes of a map's keys, in the interval.
pub fn sorted_interval(seq: &Seq<'_>, begin: &[u8], end: Option<&[u8]>) -> Result<Run, Malformed> {
    let start = seq.count_below(begin)?;
    let stop = match end {
        Some(end) => seq.count_below(end)?,
        None => seq.len(),
    };
    Ok((start, stop.saturating_sub(start)))
}

/// The values of a list argument. Whatever its flags are, they say nothing about the values.
pub fn items(list: &[u8]) -> Result<Vec<&[u8]>, Error> {
    let mut reader = Reader::new(list);
    let Token::List(count) = reader.token()? else { return Err(Malformed::Truncated.into()) };
    let mut items = Vec::with_capacity(count as usize);
    for at in 0..count {
        let is_flags =
            at == 0 && matches!(reader.peek()?, Token::Ext(kind, _) if kind != EXT_SPECIAL);
        let item = reader.skip()?;
        if !is_flags {
            items.push(item);
        }
    }
    Ok(items)
}

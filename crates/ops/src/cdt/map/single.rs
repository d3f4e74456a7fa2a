//! Operations on one pair, and the size.

use std::cmp::Ordering;

use cairn_value::packed::{Malformed, flags};
use cairn_value::{Error, ResultCode};

use super::pick::map_of;
use crate::Reply;
use crate::cdt::change::Change;
use crate::cdt::reply;
use crate::cdt::row::{Args, Outcome};
use crate::cdt::select::{Return, Want};
use crate::cdt::seq::{Seq, compare, resolve};
use crate::cdt::stored;

/// The pairs of a map sorted by value: which pair has which rank.
#[derive(Clone, Debug)]
pub(super) struct Ranking {
    order: Vec<usize>,
}

impl Ranking {
    /// Sorts a map's pairs by value, equal values by key.
    pub fn of(seq: &Seq<'_>) -> Result<Ranking, Error> {
        Ok(Ranking { order: stored::sorted_order(&values(seq)?)? })
    }

    /// Index of the pair with a rank.
    pub fn index_of(&self, rank: u32) -> u32 {
        self.order.get(rank as usize).map_or(rank, |&index| index as u32)
    }

    /// How many of the map's `values` are below `bound`, by binary search.
    pub fn count_below(&self, values: &[&[u8]], bound: &[u8]) -> Result<u32, Malformed> {
        let (mut low, mut high) = (0, self.order.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if compare(values[self.order[middle]], bound)? == Ordering::Less {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low as u32)
    }

    /// Ranks of the pairs at `indexes`.
    pub fn ranks_of(&self, indexes: &[u32]) -> Vec<u32> {
        let mut ranks = vec![0; self.order.len()];
        for (rank, &index) in self.order.iter().enumerate() {
            ranks[index] = rank as u32;
        }
        indexes.iter().filter_map(|&index| ranks.get(index as usize).copied()).collect()
    }
}

/// The values of a map in the order of their keys.
pub(super) fn values<'a>(seq: &Seq<'a>) -> Result<Vec<&'a [u8]>, Error> {
    Ok(seq.pairs()?.into_iter().map(|(_, value)| value).collect())
}

/// Index of the pair with a key.
pub(super) fn index_of_key(seq: &Seq<'_>, key: &[u8]) -> Result<Option<u32>, Error> {
    Ok(if stored::is_key(key) { seq.find_key(key)?.ok() } else { None })
}

/// `size()`
pub(super) fn size<'a>(_: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    Ok(Outcome::answer(Reply::int(i64::from(seq.len()))))
}

fn find_by_key(args: &Args<'_>, seq: &Seq<'_>) -> Result<Option<u32>, Error> {
    index_of_key(seq, args.value(1))
}

fn outside(what: &str, number: i64, len: u32) -> Error {
    let text = format!("{what} {number} lies outside a map of {len} pairs");
    Error::new(ResultCode::OpNotApplicable, text)
}

fn find_by_index(args: &Args<'_>, seq: &Seq<'_>) -> Result<Option<u32>, Error> {
    let number = args.int(1);
    resolve(number, seq.len()).map(Some).ok_or_else(|| outside("index", number, seq.len()))
}

fn find_by_rank(args: &Args<'_>, seq: &Seq<'_>) -> Result<Option<u32>, Error> {
    let number = args.int(1);
    let rank = resolve(number, seq.len()).ok_or_else(|| outside("rank", number, seq.len()))?;
    Ok(Some(Ranking::of(seq)?.index_of(rank)))
}

/// The first pair with a value.
fn find_by_value(args: &Args<'_>, seq: &Seq<'_>) -> Result<Option<u32>, Error> {
    let wanted = args.value(1);
    for (index, value) in values(seq)?.into_iter().enumerate() {
        if compare(value, wanted)? == Ordering::Equal {
            return Ok(Some(index as u32));
        }
    }
    Ok(None)
}

/// A return type for one pair, which cannot be inverted.
fn wanted(args: &Args<'_>) -> Result<Want, Error> {
    let parsed = Return::parse(args.int(0))?;
    if parsed.inverted {
        let text = "a selection of one pair cannot be inverted";
        return Err(Error::new(ResultCode::OpNotApplicable, text));
    }
    Ok(parsed.want)
}

/// Rank of a pair: how many values are below its own, and how many equal ones have lower keys.
fn rank_of(seq: &Seq<'_>, index: u32) -> Result<u32, Error> {
    let own = seq.pair(index)?.1;
    let mut rank = 0;
    for (at, value) in values(seq)?.into_iter().enumerate() {
        rank += u32::from(match compare(value, own)? {
            Ordering::Less => true,
            Ordering::Equal => at < index as usize,
            Ordering::Greater => false,
        });
    }
    Ok(rank)
}

/// What is wanted about a pair.
fn describe(seq: &Seq<'_>, index: u32, want: Want) -> Result<Option<Reply>, Error> {
    let from_end = |number: u32| seq.len() - 1 - number;
    let rank = || rank_of(seq, index);
    let number = |number: u32| Reply::int(i64::from(number));
    let range = |first: u32| reply::numbers([first, 1].into_iter());
    Ok(Some(match want {
        Want::None => return Ok(None),
        Want::Index => number(index),
        Want::ReverseIndex => number(from_end(index)),
        Want::Rank => number(rank()?),
        Want::ReverseRank => number(from_end(rank()?)),
        Want::Count => Reply::int(1),
        Want::Exists => reply::boolean(true),
        Want::Key => reply::particle_of(seq.pair(index)?.0)?,
        Want::Value => reply::particle_of(seq.pair(index)?.1)?,
        Want::KeyValue => map_of(seq, &[index], flags::PRESERVE_ORDER)?,
        Want::UnorderedMap => map_of(seq, &[index], 0)?,
        Want::OrderedMap => map_of(seq, &[index], flags::ORDERED)?,
        Want::IndexRange => range(index),
        Want::ReverseIndexRange => range(from_end(index)),
        Want::RankRange => range(rank()?),
        Want::ReverseRankRange => range(from_end(rank()?)),
    }))
}

/// What is answered when no pair is found.
fn describe_none(seq: &Seq<'_>, want: Want) -> Result<Option<Reply>, Error> {
    Ok(Some(match want {
        Want::Index | Want::ReverseIndex | Want::Rank | Want::ReverseRank => Reply::int(-1),
        Want::Count => Reply::int(0),
        Want::Exists => reply::boolean(false),
        Want::KeyValue => map_of(seq, &[], flags::PRESERVE_ORDER)?,
        Want::UnorderedMap => map_of(seq, &[], 0)?,
        Want::OrderedMap => map_of(seq, &[], flags::ORDERED)?,
        _ => return Ok(None),
    }))
}

fn answer(args: &Args<'_>, seq: &Seq<'_>, found: Option<u32>) -> Result<Option<Reply>, Error> {
    let want = wanted(args)?;
    match found {
        Some(index) => describe(seq, index, want),
        None => describe_none(seq, want),
    }
}

fn get(args: &Args<'_>, seq: &Seq<'_>, found: Option<u32>) -> Result<Outcome, Error> {
    let reply = answer(args, seq, found)?;
    Ok(Outcome { change: None, reply: reply.or_else(crate::cdt::nothing) })
}

fn remove(args: &Args<'_>, seq: &Seq<'_>, found: Option<u32>) -> Result<Outcome, Error> {
    let reply = answer(args, seq, found)?;
    Ok(Outcome { change: found.map(|index| Change::remove(seq, [index])), reply })
}

/// `get_by_key(return type, key)`
pub(super) fn by_key<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    get(args, seq, find_by_key(args, seq)?)
}

/// `get_by_index(return type, index)`
pub(super) fn by_index<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    get(args, seq, find_by_index(args, seq)?)
}

/// `get_by_rank(return type, rank)`
pub(super) fn by_rank<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    get(args, seq, find_by_rank(args, seq)?)
}

/// `get_by_value(return type, value)`
pub(super) fn by_value<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    get(args, seq, find_by_value(args, seq)?)
}

/// `remove_by_key(return type, key)`
pub(super) fn remove_by_key<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    remove(args, seq, find_by_key(args, seq)?)
}

/// `remove_by_index(return type, index)`
pub(super) fn remove_by_index<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    remove(args, seq, find_by_index(args, seq)?)
}

/// `remove_by_rank(return type, rank)`
pub(super) fn remove_by_rank<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    remove(args, seq, find_by_rank(args, seq)?)
}

/// `remove_by_value(return type, value)`
pub(super) fn remove_by_value<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    remove(args, seq, find_by_value(args, seq)?)
}

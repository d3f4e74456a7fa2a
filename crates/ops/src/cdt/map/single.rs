//! Operations on one pair, and the size.

use std::cmp::Ordering;

use cairn_value::packed::flags;
use cairn_value::{Error, ResultCode};

use super::pick::map_of;
use super::ranking::{Ranking, values};
use crate::Reply;
use crate::cdt::change::Change;
use crate::cdt::reply;
use crate::cdt::row::{Args, Outcome};
use crate::cdt::select::{Return, Want};
use crate::cdt::seq::{Seq, compare, resolve};
use crate::cdt::stored;

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
    Ok(Ranking::of(seq)?.indexes_of(seq, &[rank])?.first().copied())
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

//! Operations on one element, and the size.

use std::cmp::Ordering;

use cairn_value::{Error, ResultCode};

use super::picked::ranks_of;
use super::select::sorted_equal;
use crate::Reply;
use crate::cdt::change::Change;
use crate::cdt::reply;
use crate::cdt::row::{Args, Outcome};
use crate::cdt::select::{self, Return, Want};
use crate::cdt::seq::{Seq, compare, resolve};

/// `size()`
pub(super) fn size<'a>(_: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    Ok(Outcome::answer(Reply::int(i64::from(seq.len()))))
}

pub(super) fn outside(what: &str, number: i64, len: u32) -> Error {
    let text = format!("{what} {number} lies outside a list of {len} elements");
    Error::new(ResultCode::OpNotApplicable, text)
}

fn index_of(number: i64, seq: &Seq<'_>) -> Result<u32, Error> {
    resolve(number, seq.len()).ok_or_else(|| outside("index", number, seq.len()))
}

/// `get(index)`
pub(super) fn get<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    let index = index_of(args.int(0), seq)?;
    Ok(Outcome::answer(reply::particle_of(seq.element(index)?)?))
}

/// `pop(index)`
pub(super) fn pop<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    let index = index_of(args.int(0), seq)?;
    let reply = reply::particle_of(seq.element(index)?)?;
    Ok(Outcome::changed(Change::remove(seq, [index]), Some(reply)))
}

/// `remove(index)`: answers that one went.
pub(super) fn remove<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    let index = index_of(args.int(0), seq)?;
    Ok(Outcome::changed(Change::remove(seq, [index]), Some(Reply::int(1))))
}

/// What is wanted about the element at `index`; its rank is found when it is not known.
fn describe(
    seq: &Seq<'_>,
    index: u32,
    rank: Option<u32>,
    want: Want,
) -> Result<Option<Reply>, Error> {
    let len = seq.len();
    let rank = || match rank {
        _ if seq.is_ordered() => Ok(index),
        Some(rank) => Ok(rank),
        None => Ok::<u32, Error>(ranks_of(seq, &[index])?.first().copied().unwrap_or(0)),
    };
    let number = |number: u32| Reply::int(i64::from(number));
    let range = |first: u32| reply::numbers([first, 1].into_iter());
    Ok(Some(match want {
        Want::None => return Ok(None),
        Want::Index => number(index),
        Want::ReverseIndex => number(len - 1 - index),
        Want::Rank => number(rank()?),
        Want::ReverseRank => number(len - 1 - rank()?),
        Want::Count => Reply::int(1),
        Want::Exists => reply::boolean(true),
        Want::Value => reply::particle_of(seq.element(index)?)?,
        Want::IndexRange => range(index),
        Want::ReverseIndexRange => range(len - 1 - index),
        Want::RankRange => range(rank()?),
        Want::ReverseRankRange => range(len - 1 - rank()?),
        Want::Key | Want::KeyValue | Want::UnorderedMap | Want::OrderedMap => {
            return Err(ResultCode::OpNotApplicable.into());
        }
    }))
}

/// What is answered when no element is found.
fn describe_none(want: Want) -> Option<Reply> {
    match want {
        Want::Index | Want::ReverseIndex | Want::Rank | Want::ReverseRank => Some(Reply::int(-1)),
        Want::Count => Some(Reply::int(0)),
        Want::Exists => Some(reply::boolean(false)),
        _ => None,
    }
}

/// A return type for one element, which cannot be inverted.
fn wanted(args: &Args<'_>) -> Result<Want, Error> {
    let parsed = Return::parse_for_list(args.int(0))?;
    if parsed.inverted {
        let text = "a selection of one element cannot be inverted";
        return Err(Error::new(ResultCode::OpNotApplicable, text));
    }
    Ok(parsed.want)
}

fn find_by_rank(args: &Args<'_>, seq: &Seq<'_>) -> Result<(u32, u32), Error> {
    let number = args.int(1);
    let rank = resolve(number, seq.len()).ok_or_else(|| outside("rank", number, seq.len()))?;
    if seq.is_ordered() {
        return Ok((rank, rank));
    }
    let index = select::by_rank(&seq.elements()?, (rank, 1))?.first().copied();
    Ok((index.unwrap_or(rank), rank))
}

fn find_by_value(args: &Args<'_>, seq: &Seq<'_>) -> Result<Option<u32>, Error> {
    let value = args.value(1);
    if seq.is_ordered() {
        let (start, count) = sorted_equal(seq, value)?;
        return Ok((count > 0).then_some(start));
    }
    for (index, element) in seq.elements()?.into_iter().enumerate() {
        if compare(element, value)? == Ordering::Equal {
            return Ok(Some(index as u32));
        }
    }
    Ok(None)
}

fn answered(reply: Option<Reply>) -> Outcome {
    Outcome { change: None, reply: reply.or_else(crate::cdt::nothing) }
}

/// `get_by_index(return type, index)`
pub(super) fn by_index<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    let index = index_of(args.int(1), seq)?;
    Ok(answered(describe(seq, index, None, wanted(args)?)?))
}

/// `get_by_rank(return type, rank)`
pub(super) fn by_rank<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    let (index, rank) = find_by_rank(args, seq)?;
    Ok(answered(describe(seq, index, Some(rank), wanted(args)?)?))
}

/// `get_by_value(return type, value)`
pub(super) fn by_value<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    let want = wanted(args)?;
    Ok(answered(match find_by_value(args, seq)? {
        Some(index) => describe(seq, index, None, want)?,
        None => describe_none(want),
    }))
}

/// `remove_by_index(return type, index)`
pub(super) fn remove_by_index<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    let index = index_of(args.int(1), seq)?;
    let reply = describe(seq, index, None, wanted(args)?)?;
    Ok(Outcome::changed(Change::remove(seq, [index]), reply))
}

/// `remove_by_rank(return type, rank)`
pub(super) fn remove_by_rank<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    let (index, rank) = find_by_rank(args, seq)?;
    let reply = describe(seq, index, Some(rank), wanted(args)?)?;
    Ok(Outcome::changed(Change::remove(seq, [index]), reply))
}

/// `remove_by_value(return type, value)`
pub(super) fn remove_by_value<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    let want = wanted(args)?;
    let Some(index) = find_by_value(args, seq)? else {
        return Ok(Outcome { change: None, reply: describe_none(want) });
    };
    let reply = describe(seq, index, None, want)?;
    Ok(Outcome::changed(Change::remove(seq, [index]), reply))
}

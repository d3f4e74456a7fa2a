//! Operations on many elements: by index, rank, value, value list, interval, relative rank.

use std::cmp::Ordering;

use cairn_value::limits::RECORD_SIZE_CEILING;
use cairn_value::packed::Malformed;
use cairn_value::{Error, ResultCode};

use super::picked::{Picked, Ranks, sorted_below};
use crate::Reply;
use crate::cdt::change::Change;
use crate::cdt::reply;
use crate::cdt::row::{Args, Outcome};
use crate::cdt::select::{
    self, Return, Run, complement, items, sorted_interval, total, window, window_from,
};
use crate::cdt::seq::{Seq, compare};
use crate::cdt::stored::sort_by_value;

fn answer<'a>(seq: &Seq<'a>, picked: Picked<'a>, number: i64) -> Result<Outcome, Error> {
    let wanted = Return::parse_for_list(number)?;
    let picked = if wanted.inverted { picked.invert(seq) } else { picked };
    let reply = picked.reply(seq, wanted.want)?;
    Ok(Outcome { change: None, reply: reply.or_else(crate::cdt::nothing) })
}

fn take<'a>(seq: &Seq<'a>, picked: Picked<'a>, number: i64) -> Result<Outcome, Error> {
    let wanted = Return::parse_for_list(number)?;
    let picked = if wanted.inverted { picked.invert(seq) } else { picked };
    let reply = picked.reply(seq, wanted.want)?;
    let change = Change::remove(seq, picked.indexes(seq.len()));
    Ok(Outcome::changed(change, reply))
}

fn pick_index_range<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Picked<'a> {
    Picked::Runs(vec![window_from(args.int(1), args.optional_int(2), seq.len())])
}

fn pick_ranks<'a>(seq: &Seq<'a>, run: Run) -> Result<Picked<'a>, Error> {
    if seq.is_ordered() {
        return Ok(Picked::Runs(vec![run]));
    }
    let elements = seq.elements()?;
    let listed = select::by_rank(&elements, run)?;
    let mut indexes = listed.clone();
    indexes.sort_unstable();
    let ranks = Ranks::Runs(vec![run]);
    let exists = !indexes.is_empty();
    Ok(Picked::Scattered { elements, indexes, listed: Some(listed), ranks, exists })
}

fn pick_rank_range<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Picked<'a>, Error> {
    pick_ranks(seq, window_from(args.int(1), args.optional_int(2), seq.len()))
}

fn pick_relative_rank<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Picked<'a>, Error> {
    let value = args.value(1);
    let rank = if seq.is_ordered() {
        seq.count_below(value)?
    } else {
        select::count_below(&seq.elements()?, value)?
    };
    let start = i128::from(rank) + i128::from(args.int(2));
    pick_ranks(seq, window(start, args.optional_int(3), seq.len()))
}

fn pick_interval<'a>(seq: &Seq<'a>, begin: &[u8], end: Option<&[u8]>) -> Result<Picked<'a>, Error> {
    if seq.is_ordered() {
        return Ok(Picked::Runs(vec![sorted_interval(seq, begin, end)?]));
    }
    pick_matching(seq, |element| match compare(element, begin)? {
        Ordering::Less => Ok(Ordering::Less),
        _ if end.is_some_and(|end| compare(element, end) != Ok(Ordering::Less)) => {
            Ok(Ordering::Greater)
        }
        _ => Ok(Ordering::Equal),
    })
}

fn pick_value<'a>(seq: &Seq<'a>, value: &[u8]) -> Result<Picked<'a>, Error> {
    if seq.is_ordered() {
        return Ok(Picked::Runs(vec![sorted_equal(seq, value)?]));
    }
    pick_matching(seq, |element| compare(element, value))
}

/// The run of elements of an ordered list that equal `value`.
pub(super) fn sorted_equal(seq: &Seq<'_>, value: &[u8]) -> Result<Run, Malformed> {
    let start = seq.count_below(value)?;
    let stop = seq.count_up_to(value)?;
    Ok((start, stop.saturating_sub(start)))
}

/// The elements of an unordered list that are neither below what is wanted nor above it; their
/// ranks follow on those below.
fn pick_matching<'a>(
    seq: &Seq<'a>,
    side: impl Fn(&[u8]) -> Result<Ordering, Malformed>,
) -> Result<Picked<'a>, Error> {
    let elements = seq.elements()?;
    let mut indexes = Vec::new();
    let mut below = 0;
    for (index, element) in elements.iter().enumerate() {
        match side(element)? {
            Ordering::Less => below += 1,
            Ordering::Equal => indexes.push(index as u32),
            Ordering::Greater => {}
        }
    }
    let ranks = Ranks::Runs(vec![(below, indexes.len() as u32)]);
    let exists = !indexes.is_empty();
    Ok(Picked::Scattered { elements, indexes, listed: None, ranks, exists })
}

/// Refuses to list the elements of an ordered list again and again, for each of many equal values
/// or wildcards, beyond the size of the largest record.
fn bounded(bytes: usize) -> Result<(), Error> {
    if bytes <= RECORD_SIZE_CEILING {
        return Ok(());
    }
    let text = format!(
        "the values match more than {RECORD_SIZE_CEILING} bytes of elements, counting repeated ones; \
         name each value once"
    );
    Err(Error::new(ResultCode::RecordTooBig, text))
}

fn pick_value_list<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Picked<'a>, Error> {
    let wanted = items(args.value(1))?;
    if seq.is_ordered() {
        let mut runs = Vec::with_capacity(wanted.len());
        let mut bytes = 0;
        for value in wanted {
            let (start, count) = sorted_equal(seq, value)?;
            bytes += seq.range(start, start + count)?.len();
            bounded(bytes)?;
            runs.push((start, count));
        }
        return Ok(Picked::ValueRuns(runs));
    }
    let elements = seq.elements()?;
    let mut sorted: Vec<(&[u8], usize)> = wanted.iter().copied().zip(0..).collect();
    sort_by_value(&mut sorted, |entry| entry.0)?;
    let mut indexes = Vec::new();
    // How many elements each wanted value matched, by its place in the argument.
    let mut matched = vec![0u32; wanted.len()];
    for (index, element) in elements.iter().enumerate() {
        if let Some(place) = find(&sorted, element)? {
            matched[place] += 1;
            indexes.push(index as u32);
        }
    }
    let mut all = elements.clone();
    sort_by_value(&mut all, |element| element)?;
    let mut ranks = Vec::new();
    for (value, &count) in wanted.iter().zip(&matched) {
        if count > 0 {
            ranks.push((sorted_below(&all, value)?, count));
        }
    }
    let (ranks, exists) = (Ranks::Each(ranks), !indexes.is_empty());
    Ok(Picked::Scattered { elements, indexes, listed: None, ranks, exists })
}

/// Finds a value in sorted ones; of equal ones, the first.
fn find(sorted: &[(&[u8], usize)], value: &[u8]) -> Result<Option<usize>, Malformed> {
    let (mut low, mut high) = (0, sorted.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if compare(sorted[middle].0, value)? == Ordering::Less {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    match sorted.get(low) {
        Some(&(found, place)) if compare(found, value)? == Ordering::Equal => Ok(Some(place)),
        _ => Ok(None),
    }
}

/// `get_by_index_range(return type, index, count)`
pub(super) fn by_index_range<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    answer(seq, pick_index_range(args, seq), args.int(0))
}

/// `get_by_rank_range(return type, rank, count)`
pub(super) fn by_rank_range<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    answer(seq, pick_rank_range(args, seq)?, args.int(0))
}

/// `get_by_value_rel_rank_range(return type, value, rank, count)`
pub(super) fn by_relative_rank<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    answer(seq, pick_relative_rank(args, seq)?, args.int(0))
}

/// `get_by_value_interval(return type, begin, end)`
pub(super) fn by_interval<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    answer(seq, pick_interval(seq, args.value(1), args.optional(2))?, args.int(0))
}

/// `get_all_by_value(return type, value)`
pub(super) fn by_value<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    answer(seq, pick_value(seq, args.value(1))?, args.int(0))
}

/// `get_by_value_list(return type, values)`
pub(super) fn by_value_list<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    answer(seq, pick_value_list(args, seq)?, args.int(0))
}

/// `remove_by_index_range(return type, index, count)`
pub(super) fn remove_by_index_range<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    take(seq, pick_index_range(args, seq), args.int(0))
}

/// `remove_by_rank_range(return type, rank, count)`
pub(super) fn remove_by_rank_range<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    take(seq, pick_rank_range(args, seq)?, args.int(0))
}

/// `remove_by_value_rel_rank_range(return type, value, rank, count)`
pub(super) fn remove_by_relative_rank<'a>(
    args: &Args<'a>,
    seq: &Seq<'a>,
) -> Result<Outcome, Error> {
    take(seq, pick_relative_rank(args, seq)?, args.int(0))
}

/// `remove_by_value_interval(return type, begin, end)`
pub(super) fn remove_by_interval<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    take(seq, pick_interval(seq, args.value(1), args.optional(2))?, args.int(0))
}

/// `remove_all_by_value(return type, value)`
pub(super) fn remove_by_value<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    take(seq, pick_value(seq, args.value(1))?, args.int(0))
}

/// `remove_by_value_list(return type, values)`
pub(super) fn remove_by_value_list<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    take(seq, pick_value_list(args, seq)?, args.int(0))
}

/// `get_range(index, count)`
pub(super) fn get_range<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    let (start, count) = window_from(args.int(0), args.optional_int(1), seq.len());
    Ok(Outcome::answer(reply::list_of(count, seq.range(start, start + count)?)))
}

/// `pop_range(index, count)`
pub(super) fn pop_range<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    let (start, count) = window_from(args.int(0), args.optional_int(1), seq.len());
    let reply = reply::list_of(count, seq.range(start, start + count)?);
    Ok(Outcome::changed(Change::remove(seq, start..start + count), Some(reply)))
}

/// `remove_range(index, count)`: answers how many went.
pub(super) fn remove_range<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    let (start, count) = window_from(args.int(0), args.optional_int(1), seq.len());
    let change = Change::remove(seq, start..start + count);
    Ok(Outcome::changed(change, Some(Reply::int(i64::from(count)))))
}

/// `trim(index, count)`: all but the range goes; answers how many went.
pub(super) fn trim<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    let kept = window_from(args.int(0), args.optional_int(1), seq.len());
    let gone = complement(&[kept], seq.len());
    let change = Change::remove(seq, select::numbers(&gone));
    Ok(Outcome::changed(change, Some(Reply::int(i64::from(total(&gone))))))
}

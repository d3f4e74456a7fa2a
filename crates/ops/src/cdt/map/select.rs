//! Operations on many pairs: by index, key, rank, value, lists and intervals of them.

use std::cmp::Ordering;

use cairn_value::Error;
use cairn_value::packed::{EXT_SPECIAL, Malformed, SPECIAL_WILDCARD};

use super::pick::{Matching, Picked, Ranks};
use super::ranking::{Ranking, kept_interval, values, values_below};
use super::single::index_of_key;
use crate::cdt::change::Change;
use crate::cdt::row::{Args, Outcome};
use crate::cdt::select::{
    self, Return, Run, in_interval, items, sorted_interval, window, window_from,
};
use crate::cdt::seq::{Seq, compare};
use crate::cdt::stored::sorted_order;

/// Answers what is wanted about a selection.
fn answer(seq: &Seq<'_>, picked: Picked, number: i64) -> Result<Outcome, Error> {
    let wanted = Return::parse(number)?;
    let picked = if wanted.inverted { picked.invert(seq.len()) } else { picked };
    let reply = picked.reply(seq, wanted.want, wanted.inverted)?;
    Ok(Outcome { change: None, reply: reply.or_else(crate::cdt::nothing) })
}

/// Answers what is wanted about a selection and removes it.
fn take(seq: &Seq<'_>, picked: Picked, number: i64) -> Result<Outcome, Error> {
    let wanted = Return::parse(number)?;
    let picked = if wanted.inverted { picked.invert(seq.len()) } else { picked };
    let reply = picked.reply(seq, wanted.want, wanted.inverted)?;
    Ok(Outcome::changed(Change::remove(seq, picked.indexes(seq)?), reply))
}

fn pick_index_range(args: &Args<'_>, seq: &Seq<'_>) -> Result<Picked, Error> {
    Ok(Picked::Indexes(vec![window_from(args.int(1), args.optional_int(2), seq.len())]))
}

fn pick_key_interval(args: &Args<'_>, seq: &Seq<'_>) -> Result<Picked, Error> {
    Ok(Picked::Indexes(vec![sorted_interval(seq, args.value(1), args.optional(2))?]))
}

fn pick_relative_index(args: &Args<'_>, seq: &Seq<'_>) -> Result<Picked, Error> {
    let start = i128::from(seq.count_below(args.value(1))?) + i128::from(args.int(2));
    Ok(Picked::Indexes(vec![window(start, args.optional_int(3), seq.len())]))
}

fn pick_rank_range(args: &Args<'_>, seq: &Seq<'_>) -> Result<Picked, Error> {
    let run = window_from(args.int(1), args.optional_int(2), seq.len());
    Ok(Picked::Ranks(vec![run], Ranking::of(seq)?))
}

fn pick_relative_rank(args: &Args<'_>, seq: &Seq<'_>) -> Result<Picked, Error> {
    let below = values_below(seq, args.value(1))?;
    let start = i128::from(below) + i128::from(args.int(2));
    let run = window(start, args.optional_int(3), seq.len());
    Ok(Picked::Ranks(vec![run], Ranking::of(seq)?))
}

fn pick_value(args: &Args<'_>, seq: &Seq<'_>) -> Result<Picked, Error> {
    let wanted = args.value(1);
    pick_matching(seq, wanted, |value| Ok(compare(value, wanted)? == Ordering::Equal))
}

fn pick_interval(args: &Args<'_>, seq: &Seq<'_>) -> Result<Picked, Error> {
    let (begin, end) = (args.value(1), args.optional(2));
    if let Some(run) = kept_interval(seq, begin, end)? {
        let ranks = select::numbers(&[run]);
        let mut indexes = Ranking::Kept.indexes_of(seq, &ranks)?;
        indexes.sort_unstable();
        let exists = !indexes.is_empty();
        let ranks = Ranks::Runs(vec![run]);
        return Ok(Picked::Matching(Matching { indexes, ranks, exists }));
    }
    pick_matching(seq, begin, |value| in_interval(value, begin, end))
}

/// The pairs whose values match; their ranks follow on those below `lowest`.
fn pick_matching(
    seq: &Seq<'_>,
    lowest: &[u8],
    matches: impl Fn(&[u8]) -> Result<bool, Malformed>,
) -> Result<Picked, Error> {
    let values = values(seq)?;
    let mut indexes = Vec::new();
    for (index, value) in values.iter().enumerate() {
        if matches(value)? {
            indexes.push(index as u32);
        }
    }
    let first = select::count_below(&values, lowest)?;
    let ranks = Ranks::Runs(vec![(first, indexes.len() as u32)]);
    Ok(Picked::Matching(Matching { exists: !indexes.is_empty(), indexes, ranks }))
}

fn pick_key_list(args: &Args<'_>, seq: &Seq<'_>) -> Result<Picked, Error> {
    let mut indexes = Vec::new();
    for key in items(args.value(1))? {
        indexes.extend(index_of_key(seq, key)?);
    }
    indexes.sort_unstable();
    indexes.dedup();
    let exists = !indexes.is_empty();
    Ok(Picked::Matching(Matching { indexes, ranks: Ranks::Untold, exists }))
}

fn pick_value_list(args: &Args<'_>, seq: &Seq<'_>) -> Result<Picked, Error> {
    let wanted = Wanted::new(items(args.value(1))?)?;
    let values = values(seq)?;
    let mut indexes = Vec::new();
    // How many pairs each wanted value matched, by its place in the argument.
    let mut matched = vec![0u32; wanted.list.len()];
    for (index, value) in values.iter().enumerate() {
        if let Some(place) = wanted.find(value)? {
            matched[place] += 1;
            indexes.push(index as u32);
        }
    }
    let ranking = Ranking::of(seq)?;
    let mut runs: Vec<Run> = Vec::new();
    for (value, &count) in wanted.list.iter().zip(&matched) {
        if count > 0 {
            runs.push((ranking.count_below(&values, value)?, count));
        }
    }
    let exists = !indexes.is_empty();
    Ok(Picked::Matching(Matching { indexes, ranks: Ranks::Each(runs), exists }))
}

/// Values to look for.
struct Wanted<'a> {
    list: Vec<&'a [u8]>,
    /// Places in the list, sorted by value.
    sorted: Vec<usize>,
    /// Places of values that hold a wildcard, which have no place in an order.
    patterns: Vec<usize>,
}

impl<'a> Wanted<'a> {
    fn new(list: Vec<&'a [u8]>) -> Result<Wanted<'a>, Malformed> {
        let (patterns, plain): (Vec<usize>, Vec<usize>) =
            (0..list.len()).partition(|&place| holds_wildcard(list[place]));
        let values: Vec<&[u8]> = plain.iter().map(|&place| list[place]).collect();
        let sorted = sorted_order(&values)?.into_iter().map(|at| plain[at]).collect();
        Ok(Wanted { list, sorted, patterns })
    }

    /// Place of a wanted value that matches; of equal ones, the first.
    fn find(&self, value: &[u8]) -> Result<Option<usize>, Malformed> {
        let (mut low, mut high) = (0, self.sorted.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if compare(self.list[self.sorted[middle]], value)? == Ordering::Less {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        for &place in self.sorted.get(low).into_iter().chain(&self.patterns) {
            if compare(self.list[place], value)? == Ordering::Equal {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }
}

/// True when the bytes of a wildcard stand in a value, so that it must be compared by itself.
fn holds_wildcard(value: &[u8]) -> bool {
    value.windows(3).any(|bytes| bytes == [0xd4, EXT_SPECIAL, SPECIAL_WILDCARD])
}

/// Defines the two operations of a selection: one that answers, one that also removes.
macro_rules! operations {
    ($($doc:literal: $get:ident, $remove:ident = $pick:ident;)*) => {$(
        #[doc = concat!("`get_", $doc, "`")]
        pub(super) fn $get<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
            answer(seq, $pick(args, seq)?, args.int(0))
        }

        #[doc = concat!("`remove_", $doc, "`")]
        pub(super) fn $remove<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
            take(seq, $pick(args, seq)?, args.int(0))
        }
    )*};
}

operations! {
    "by_index_range(return type, index, count)":
        by_index_range, remove_by_index_range = pick_index_range;
    "by_key_interval(return type, begin, end)":
        by_key_interval, remove_by_key_interval = pick_key_interval;
    "by_key_rel_index_range(return type, key, index, count)":
        by_relative_index, remove_by_relative_index = pick_relative_index;
    "by_key_list(return type, keys)":
        by_key_list, remove_by_key_list = pick_key_list;
    "by_rank_range(return type, rank, count)":
        by_rank_range, remove_by_rank_range = pick_rank_range;
    "by_value_rel_rank_range(return type, value, rank, count)":
        by_relative_rank, remove_by_relative_rank = pick_relative_rank;
    "all_by_value(return type, value)":
        by_value, remove_by_value = pick_value;
    "by_value_interval(return type, begin, end)":
        by_interval, remove_by_interval = pick_interval;
    "by_value_list(return type, values)":
        by_value_list, remove_by_value_list = pick_value_list;
}

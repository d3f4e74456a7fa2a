//! Operations on many elements: by index, rank, value, value list, interval, relative rank.

use std::cmp::Ordering;

use cairn_value::packed::Malformed;
use cairn_value::{Error, ResultCode};

use crate::Reply;
use crate::cdt::change::Change;
use crate::cdt::reply;
use crate::cdt::row::{Args, Outcome};
use crate::cdt::select::{
    self, Return, Run, Want, complement, in_interval, items, reversed, sorted_interval, total,
    window, window_from,
};
use crate::cdt::seq::{Seq, compare};
use crate::cdt::stored::sort_by_value;

/// Elements that a selection picked.
enum Picked<'a> {
    /// Runs of indexes; in an ordered list these are ranks as well.
    Runs(Vec<Run>),
    /// The runs of a list of values in an ordered list.
    ValueRuns(Vec<Run>),
    /// What such runs leave; here each element is counted by itself from the end.
    Each(Vec<Run>),
    /// Elements anywhere in an unordered list.
    Scattered {
        elements: Vec<&'a [u8]>,
        /// Indexes, ascending.
        indexes: Vec<u32>,
        /// The order in which values are listed, when it is not that of the indexes.
        listed: Option<Vec<u32>>,
        /// Ranks of the elements.
        ranks: Ranks,
        /// What `EXISTS` answers.
        exists: bool,
    },
}

/// Ranks of scattered elements, in the order in which they are listed.
enum Ranks {
    /// As runs, listed upwards from either end.
    Runs(Vec<Run>),
    /// As runs, each element counted by itself.
    Each(Vec<Run>),
}

impl Ranks {
    fn runs(&self) -> &[Run] {
        match self {
            Ranks::Runs(runs) | Ranks::Each(runs) => runs,
        }
    }
}

impl<'a> Picked<'a> {
    /// The elements that were not picked.
    fn invert(self, seq: &Seq<'a>) -> Picked<'a> {
        match self {
            Picked::Runs(runs) => Picked::Runs(complement(&runs, seq.len())),
            Picked::ValueRuns(runs) | Picked::Each(runs) => {
                Picked::Each(complement(&runs, seq.len()))
            }
            Picked::Scattered { elements, indexes, ranks, exists, .. } => {
                let runs: Vec<Run> = indexes.iter().map(|&index| (index, 1)).collect();
                let indexes = select::numbers(&complement(&runs, seq.len()));
                Picked::Scattered {
                    elements,
                    // The reference answers here whether nothing was found, not whether others
                    // are there; only for a list of values it looks for others.
                    exists: match ranks {
                        Ranks::Runs(_) => !exists,
                        Ranks::Each(_) => !indexes.is_empty(),
                    },
                    indexes,
                    listed: None,
                    ranks: Ranks::Runs(complement(ranks.runs(), seq.len())),
                }
            }
        }
    }

    fn count(&self) -> u32 {
        match self {
            Picked::Runs(runs) | Picked::ValueRuns(runs) | Picked::Each(runs) => total(runs),
            Picked::Scattered { indexes, .. } => indexes.len() as u32,
        }
    }

    fn exists(&self) -> bool {
        match self {
            Picked::Runs(runs) | Picked::ValueRuns(runs) | Picked::Each(runs) => total(runs) > 0,
            Picked::Scattered { exists, .. } => *exists,
        }
    }

    /// Indexes in ascending order, each once.
    fn indexes(&self, len: u32) -> Vec<u32> {
        match self {
            Picked::Runs(runs) if runs.len() == 1 => select::numbers(runs),
            Picked::Runs(runs) | Picked::ValueRuns(runs) | Picked::Each(runs) => {
                select::numbers(&complement(&complement(runs, len), len))
            }
            Picked::Scattered { indexes, .. } => indexes.clone(),
        }
    }

    fn reply(&self, seq: &Seq<'a>, want: Want) -> Result<Option<Reply>, Error> {
        let len = seq.len();
        Ok(Some(match want {
            Want::None => return Ok(None),
            Want::Count => Reply::int(i64::from(self.count())),
            Want::Exists => reply::boolean(self.exists()),
            Want::Value => self.values(seq)?,
            Want::Index => number_list(self.index_numbers(len, false)),
            Want::ReverseIndex => number_list(self.index_numbers(len, true)),
            Want::Rank => number_list(self.rank_numbers(seq, false)?),
            Want::ReverseRank => number_list(self.rank_numbers(seq, true)?),
            Want::IndexRange => self.first_of(self.index_numbers(len, false)),
            Want::ReverseIndexRange => self.first_of(self.index_numbers(len, true)),
            Want::RankRange => self.first_of(self.rank_numbers(seq, false)?),
            Want::ReverseRankRange => self.first_of(self.rank_numbers(seq, true)?),
            Want::Key | Want::KeyValue | Want::UnorderedMap | Want::OrderedMap => {
                return Err(ResultCode::OpNotApplicable.into());
            }
        }))
    }

    fn first_of(&self, numbers: Vec<u32>) -> Reply {
        let first = match (numbers.first(), self) {
            (Some(&first), _) => first,
            (None, Picked::Runs(runs) | Picked::ValueRuns(runs) | Picked::Each(runs)) => {
                runs.first().map_or(0, |run| run.0)
            }
            (None, _) => 0,
        };
        reply::numbers([first, self.count()].into_iter())
    }

    fn values(&self, seq: &Seq<'a>) -> Result<Reply, Error> {
        match self {
            Picked::Runs(runs) | Picked::ValueRuns(runs) | Picked::Each(runs) => {
                let mut bytes = Vec::new();
                for &(start, count) in runs {
                    bytes.extend_from_slice(seq.range(start, start + count)?);
                }
                Ok(reply::list_of(total(runs), &bytes))
            }
            Picked::Scattered { elements, indexes, listed, .. } => {
                let order = listed.as_ref().unwrap_or(indexes);
                Ok(reply::list(order.iter().map(|&index| elements[index as usize])))
            }
        }
    }

    fn index_numbers(&self, len: u32, from_end: bool) -> Vec<u32> {
        match self {
            Picked::Runs(runs) | Picked::ValueRuns(runs) if from_end => {
                select::numbers(&reversed(runs, len))
            }
            Picked::Each(runs) if from_end => {
                select::numbers(runs).into_iter().map(|index| len - 1 - index).collect()
            }
            Picked::Runs(runs) | Picked::ValueRuns(runs) | Picked::Each(runs) => {
                select::numbers(runs)
            }
            Picked::Scattered { indexes, .. } if from_end => {
                indexes.iter().map(|index| len - 1 - index).collect()
            }
            Picked::Scattered { indexes, .. } => indexes.clone(),
        }
    }

    fn rank_numbers(&self, seq: &Seq<'a>, from_end: bool) -> Result<Vec<u32>, Error> {
        let len = seq.len();
        Ok(match self {
            Picked::Runs(_) | Picked::ValueRuns(_) | Picked::Each(_) if seq.is_ordered() => {
                self.index_numbers(len, from_end)
            }
            Picked::Runs(runs) | Picked::ValueRuns(runs) | Picked::Each(runs) => {
                let ranks = ranks_of(seq, &select::numbers(runs))?;
                ranks.into_iter().map(|rank| if from_end { len - 1 - rank } else { rank }).collect()
            }
            Picked::Scattered { ranks: Ranks::Runs(runs), .. } if from_end => {
                select::numbers(&reversed(runs, len))
            }
            Picked::Scattered { ranks, .. } => {
                let numbers = select::numbers(ranks.runs());
                numbers
                    .into_iter()
                    .map(|rank| if from_end { len - 1 - rank } else { rank })
                    .collect()
            }
        })
    }
}

fn number_list(numbers: Vec<u32>) -> Reply {
    reply::numbers(numbers.into_iter())
}

/// Ranks of the elements at `indexes`: how many elements are below each.
pub(super) fn ranks_of(seq: &Seq<'_>, indexes: &[u32]) -> Result<Vec<u32>, Error> {
    if indexes.is_empty() {
        return Ok(Vec::new());
    }
    let elements = seq.elements()?;
    if let [index] = indexes {
        return Ok(vec![select::count_below(&elements, elements[*index as usize])?]);
    }
    let mut sorted = elements.clone();
    sort_by_value(&mut sorted, |element| element)?;
    let mut ranks = Vec::with_capacity(indexes.len());
    for &index in indexes {
        ranks.push(sorted_below(&sorted, elements[index as usize])?);
    }
    Ok(ranks)
}

fn sorted_below(sorted: &[&[u8]], value: &[u8]) -> Result<u32, Malformed> {
    let (mut low, mut high) = (0, sorted.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if compare(sorted[middle], value)? == Ordering::Less {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low as u32)
}

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
    pick_matching(seq, begin, |element| in_interval(element, begin, end))
}

fn pick_value<'a>(seq: &Seq<'a>, value: &[u8]) -> Result<Picked<'a>, Error> {
    if seq.is_ordered() {
        return Ok(Picked::Runs(vec![sorted_equal(seq, value)?]));
    }
    pick_matching(seq, value, |element| Ok(compare(element, value)? == Ordering::Equal))
}

/// The run of elements of an ordered list that equal `value`.
pub(super) fn sorted_equal(seq: &Seq<'_>, value: &[u8]) -> Result<Run, Malformed> {
    let start = seq.count_below(value)?;
    let stop = seq.count_up_to(value)?;
    Ok((start, stop.saturating_sub(start)))
}

/// The elements of an unordered list that match; their ranks follow on those below `lowest`.
fn pick_matching<'a>(
    seq: &Seq<'a>,
    lowest: &[u8],
    matches: impl Fn(&[u8]) -> Result<bool, Malformed>,
) -> Result<Picked<'a>, Error> {
    let elements = seq.elements()?;
    let mut indexes = Vec::new();
    for (index, element) in elements.iter().enumerate() {
        if matches(element)? {
            indexes.push(index as u32);
        }
    }
    let first = select::count_below(&elements, lowest)?;
    let ranks = Ranks::Runs(vec![(first, indexes.len() as u32)]);
    let exists = !indexes.is_empty();
    Ok(Picked::Scattered { elements, indexes, listed: None, ranks, exists })
}

fn pick_value_list<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Picked<'a>, Error> {
    let wanted = items(args.value(1))?;
    if seq.is_ordered() {
        let mut runs = Vec::with_capacity(wanted.len());
        for value in wanted {
            runs.push(sorted_equal(seq, value)?);
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

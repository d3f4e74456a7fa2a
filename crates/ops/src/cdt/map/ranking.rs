//! Which pair of a map has which rank: read from a kept order of values, or sorted now.

use std::cmp::Ordering;

use cairn_value::Error;
use cairn_value::packed::Malformed;

use crate::cdt::select::Run;
use crate::cdt::seq::{Seq, compare};
use crate::cdt::stored::sorted_order;
use crate::cdt::value_order::ValueOrder;

/// The pairs of a map by value, equal values by key.
#[derive(Clone, Debug)]
pub(super) enum Ranking {
    /// Indexes in the order of their values.
    Sorted(Vec<usize>),
    /// The map keeps the order of its values.
    Kept,
}

/// The values of a map in the order of their keys.
pub(super) fn values<'a>(seq: &Seq<'a>) -> Result<Vec<&'a [u8]>, Error> {
    Ok(seq.pairs()?.into_iter().map(|(_, value)| value).collect())
}

impl Ranking {
    /// The ranking of a map.
    pub fn of(seq: &Seq<'_>) -> Result<Ranking, Error> {
        if ValueOrder::of(seq)?.is_some() {
            return Ok(Ranking::Kept);
        }
        Ok(Ranking::Sorted(sorted_order(&values(seq)?)?))
    }

    /// Indexes of the pairs with these ranks.
    pub fn indexes_of(&self, seq: &Seq<'_>, ranks: &[u32]) -> Result<Vec<u32>, Error> {
        let order = match self {
            Ranking::Sorted(order) => order,
            Ranking::Kept => {
                let kept = ValueOrder::of(seq)?.ok_or(Malformed::Truncated)?;
                return Ok(ranks
                    .iter()
                    .map(|&rank| kept.index_of(rank))
                    .collect::<Result<_, _>>()?);
            }
        };
        let index_of = |&rank: &u32| order.get(rank as usize).map_or(rank, |&index| index as u32);
        Ok(ranks.iter().map(index_of).collect())
    }

    /// Ranks of the pairs at `indexes`.
    pub fn ranks_of(&self, seq: &Seq<'_>, indexes: &[u32]) -> Result<Vec<u32>, Error> {
        let order = match self {
            Ranking::Sorted(order) => order,
            Ranking::Kept => {
                let kept = ValueOrder::of(seq)?.ok_or(Malformed::Truncated)?;
                let rank_of = |&index: &u32| kept.rank_of(seq.pair(index)?);
                return Ok(indexes.iter().map(rank_of).collect::<Result<_, _>>()?);
            }
        };
        let mut ranks = vec![0; order.len()];
        for (rank, &index) in order.iter().enumerate() {
            ranks[index] = rank as u32;
        }
        Ok(indexes.iter().filter_map(|&index| ranks.get(index as usize).copied()).collect())
    }

    /// How many of the map's `values` are below `bound`.
    pub fn count_below(&self, values: &[&[u8]], bound: &[u8]) -> Result<u32, Malformed> {
        let Ranking::Sorted(order) = self else {
            return crate::cdt::select::count_below(values, bound);
        };
        let (mut low, mut high) = (0, order.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if compare(values[order[middle]], bound)? == Ordering::Less {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low as u32)
    }
}

/// How many values of a map are below `bound`.
pub(super) fn values_below(seq: &Seq<'_>, bound: &[u8]) -> Result<u32, Error> {
    if let Some(kept) = ValueOrder::of(seq)? {
        return Ok(kept.count_below(bound)?);
    }
    Ok(crate::cdt::select::count_below(&values(seq)?, bound)?)
}

/// The ranks of the values from `begin` up to, not including, `end`, in a map that keeps their
/// order; `None` in others.
pub(super) fn kept_interval(
    seq: &Seq<'_>,
    begin: &[u8],
    end: Option<&[u8]>,
) -> Result<Option<Run>, Error> {
    let Some(kept) = ValueOrder::of(seq)? else { return Ok(None) };
    let start = kept.count_below(begin)?;
    let stop = match end {
        Some(end) => kept.count_below(end)?,
        None => seq.len(),
    };
    Ok(Some((start, stop.saturating_sub(start))))
}

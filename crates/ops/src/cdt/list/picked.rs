//! Elements that a selection picked, and what is answered about them.

use std::cmp::Ordering;

use cairn_value::packed::Malformed;
use cairn_value::{Error, ResultCode};

use crate::Reply;
use crate::cdt::reply;
use crate::cdt::select::{self, Run, Want, complement, reversed, total};
use crate::cdt::seq::{Seq, compare};
use crate::cdt::stored::sort_by_value;

/// Elements that a selection picked.
pub(super) enum Picked<'a> {
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
pub(super) enum Ranks {
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
    pub fn invert(self, seq: &Seq<'a>) -> Picked<'a> {
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
    pub fn indexes(&self, len: u32) -> Vec<u32> {
        match self {
            Picked::Runs(runs) if runs.len() == 1 => select::numbers(runs),
            Picked::Runs(runs) | Picked::ValueRuns(runs) | Picked::Each(runs) => {
                select::numbers(&complement(&complement(runs, len), len))
            }
            Picked::Scattered { indexes, .. } => indexes.clone(),
        }
    }

    pub fn reply(&self, seq: &Seq<'a>, want: Want) -> Result<Option<Reply>, Error> {
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

/// How many of `sorted` values are below `value`.
pub(super) fn sorted_below(sorted: &[&[u8]], value: &[u8]) -> Result<u32, Malformed> {
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

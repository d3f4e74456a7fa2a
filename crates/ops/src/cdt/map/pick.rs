//! Pairs that a selection picked, and what is answered about them.
//!
//! The order in which an answer lists pairs depends on how they were picked. Ranges count upwards
//! from either end; a range of ranks lists its pairs by rank; everything else lists them by index.
//! Where a range of indexes holds all pairs, numbers simply count up.

use cairn_value::packed::{flags, write};
use cairn_value::{Error, ParticleType, ResultCode};

use super::ranking::Ranking;
use crate::Reply;
use crate::cdt::reply;
use crate::cdt::select::{self, Run, Want, complement, reversed, total};
use crate::cdt::seq::Seq;

/// Pairs that a selection picked.
#[derive(Clone, Debug)]
pub(super) enum Picked {
    /// Runs of indexes.
    Indexes(Vec<Run>),
    /// Runs of ranks.
    Ranks(Vec<Run>, Ranking),
    /// Pairs by their values.
    Matching(Matching),
}

/// Pairs anywhere in the map.
#[derive(Clone, Debug)]
pub(super) struct Matching {
    /// Indexes, ascending.
    pub indexes: Vec<u32>,
    /// Their ranks.
    pub ranks: Ranks,
    /// Whether the selection found something, or after an inversion, what is answered to that.
    pub exists: bool,
}

/// Ranks of scattered pairs, in the order in which they are listed.
#[derive(Clone, Debug)]
pub(super) enum Ranks {
    /// As runs, listed upwards from either end.
    Runs(Vec<Run>),
    /// As runs, each pair counted by itself.
    Each(Vec<Run>),
    /// A selection by keys does not tell ranks.
    Untold,
}

impl Picked {
    /// The pairs that were not picked.
    pub fn invert(self, len: u32) -> Picked {
        match self {
            Picked::Indexes(runs) => Picked::Indexes(complement(&runs, len)),
            Picked::Ranks(runs, ranking) => Picked::Ranks(complement(&runs, len), ranking),
            // Where nothing was found, all is left, as one range.
            Picked::Matching(Matching { indexes, ranks: Ranks::Runs(_), .. })
                if indexes.is_empty() =>
            {
                Picked::Indexes(vec![(0, len)])
            }
            Picked::Matching(Matching { indexes, ranks, .. }) => {
                let runs: Vec<Run> = indexes.iter().map(|&index| (index, 1)).collect();
                let indexes = select::numbers(&complement(&runs, len));
                // The reference does not look at what is left by a value or an interval that was
                // found, nor by a list of values; by a list of keys it does.
                let exists = match ranks {
                    Ranks::Runs(_) => false,
                    Ranks::Each(_) => len > 0,
                    Ranks::Untold => !indexes.is_empty(),
                };
                let ranks = match ranks {
                    Ranks::Runs(runs) | Ranks::Each(runs) => Ranks::Runs(complement(&runs, len)),
                    Ranks::Untold => Ranks::Untold,
                };
                Picked::Matching(Matching { indexes, ranks, exists })
            }
        }
    }

    fn count(&self) -> u32 {
        match self {
            Picked::Indexes(runs) | Picked::Ranks(runs, _) => total(runs),
            Picked::Matching(matching) => matching.indexes.len() as u32,
        }
    }

    /// Indexes in the order in which answers list pairs.
    fn listed(&self, seq: &Seq<'_>) -> Result<Vec<u32>, Error> {
        Ok(match self {
            Picked::Indexes(runs) => select::numbers(runs),
            Picked::Ranks(runs, ranking) => {
                let mut listed = ranking.indexes_of(seq, &select::numbers(runs))?;
                // What lies around a range of ranks is listed by index.
                if runs.len() > 1 {
                    listed.sort_unstable();
                }
                listed
            }
            Picked::Matching(matching) => matching.indexes.clone(),
        })
    }

    /// Indexes in ascending order.
    pub fn indexes(&self, seq: &Seq<'_>) -> Result<Vec<u32>, Error> {
        let mut indexes = self.listed(seq)?;
        indexes.sort_unstable();
        Ok(indexes)
    }

    fn index_numbers(&self, seq: &Seq<'_>, from_end: bool) -> Result<Vec<u32>, Error> {
        let len = seq.len();
        Ok(match self {
            Picked::Indexes(_) if self.count() == len => (0..len).collect(),
            Picked::Indexes(runs) if from_end => select::numbers(&reversed(runs, len)),
            _ => turn(self.listed(seq)?, len, from_end),
        })
    }

    fn rank_numbers(&self, seq: &Seq<'_>, from_end: bool) -> Result<Vec<u32>, Error> {
        let len = seq.len();
        let runs = match self {
            Picked::Indexes(_) if self.count() == len => return Ok((0..len).collect()),
            Picked::Indexes(runs) => {
                let ranking = Ranking::of(seq)?;
                let ranks = ranking.ranks_of(seq, &select::numbers(runs))?;
                return Ok(turn(ranks, len, from_end));
            }
            Picked::Matching(Matching { ranks: Ranks::Each(runs), .. }) => {
                return Ok(turn(select::numbers(runs), len, from_end));
            }
            Picked::Matching(Matching { ranks: Ranks::Untold, .. }) => {
                let text = "a selection by keys does not answer ranks";
                return Err(Error::new(ResultCode::OpNotApplicable, text));
            }
            Picked::Ranks(runs, _)
            | Picked::Matching(Matching { ranks: Ranks::Runs(runs), .. }) => runs,
        };
        Ok(select::numbers(&if from_end { reversed(runs, len) } else { runs.clone() }))
    }

    /// Whether there is a pair. What an inverted range leaves is looked at only in a map ordered by
    /// key and a range of indexes; otherwise the answer is whether the range itself was empty.
    fn exists(&self, seq: &Seq<'_>, inverted: bool) -> bool {
        let all = !seq.is_empty() && self.count() == seq.len();
        match self {
            Picked::Indexes(_) if inverted && !seq.is_ordered() => all,
            Picked::Ranks(..) if inverted => all,
            Picked::Indexes(_) | Picked::Ranks(..) => self.count() > 0,
            Picked::Matching(matching) => matching.exists,
        }
    }

    /// What is wanted about the pairs; `inverted` tells that they are what another selection left.
    pub fn reply(&self, seq: &Seq<'_>, want: Want, inverted: bool) -> Result<Option<Reply>, Error> {
        let numbers = |numbers: Vec<u32>| reply::numbers(numbers.into_iter());
        Ok(Some(match want {
            Want::None => return Ok(None),
            Want::Count => Reply::int(i64::from(self.count())),
            Want::Exists => reply::boolean(self.exists(seq, inverted)),
            Want::Index => numbers(self.index_numbers(seq, false)?),
            Want::ReverseIndex => numbers(self.index_numbers(seq, true)?),
            Want::Rank => numbers(self.rank_numbers(seq, false)?),
            Want::ReverseRank => numbers(self.rank_numbers(seq, true)?),
            Want::IndexRange => self.first_of(self.index_numbers(seq, false)?),
            Want::ReverseIndexRange => self.first_of(self.index_numbers(seq, true)?),
            Want::RankRange => self.first_of(self.rank_numbers(seq, false)?),
            Want::ReverseRankRange => self.first_of(self.rank_numbers(seq, true)?),
            Want::Key | Want::Value => {
                let mut parts = Vec::new();
                for index in self.listed(seq)? {
                    let (key, value) = seq.pair(index)?;
                    parts.push(if want == Want::Key { key } else { value });
                }
                reply::list(parts.into_iter())
            }
            Want::KeyValue => map_of(seq, &self.listed(seq)?, flags::PRESERVE_ORDER)?,
            Want::UnorderedMap => map_of(seq, &self.listed(seq)?, 0)?,
            Want::OrderedMap => map_of(seq, &self.indexes(seq)?, flags::ORDERED)?,
        }))
    }

    fn first_of(&self, numbers: Vec<u32>) -> Reply {
        let first = match (numbers.first(), self) {
            (Some(&first), _) => first,
            (None, Picked::Indexes(runs) | Picked::Ranks(runs, _)) => {
                runs.first().map_or(0, |run| run.0)
            }
            (None, _) => 0,
        };
        reply::numbers([first, self.count()].into_iter())
    }
}

/// Numbers below `len`, from the end when that is wanted.
fn turn(numbers: Vec<u32>, len: u32, from_end: bool) -> Vec<u32> {
    if !from_end {
        return numbers;
    }
    numbers.into_iter().map(|number| len - 1 - number).collect()
}

/// A map of the pairs at `indexes`, as they come, with these flags.
pub(super) fn map_of(seq: &Seq<'_>, indexes: &[u32], flags: u8) -> Result<Reply, Error> {
    let mut bytes = Vec::new();
    write::map_head(&mut bytes, indexes.len() as u32 + u32::from(flags != 0));
    if flags != 0 {
        write::flags_ext(&mut bytes, flags);
        write::nil(&mut bytes);
    }
    for &index in indexes {
        bytes.extend_from_slice(seq.element(index)?);
    }
    Ok(Reply { kind: ParticleType::Map, bytes })
}

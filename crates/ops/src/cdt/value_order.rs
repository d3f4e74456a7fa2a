//! The order of a map's values, kept with a persisted index of a map that is ordered by value too.
//!
//! It is a packed list of the map's keys, sorted by value and then by key, with an offset index of
//! its own: the same form as a list with `persistIndex`, and changed by the same splices. Keys
//! stand for their pairs because they stay what they are when pairs come and go, unlike indexes.
//! Finding the pair of a rank costs one search by key, finding the rank of a value a search per
//! probe: log2(N) squared comparisons. A put or a removal moves two keys' bytes at most.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use cairn_value::packed::{Malformed, flags};
use cairn_value::{Edits, Error};

use super::change::{Change, Splice};
use super::seq::{Pair, Place, Seq, compare};
use super::stored::sorted_order;

/// Changed pairs from which on the order is built anew instead of edited.
const EDITED_MAX: usize = 64;

/// The kept order of a map's values.
pub struct ValueOrder<'s, 'a> {
    map: &'s Seq<'a>,
    keys: Seq<'a>,
}

impl<'s, 'a> ValueOrder<'s, 'a> {
    /// The order that is kept with a map, when one is.
    pub fn of(map: &'s Seq<'a>) -> Result<Option<ValueOrder<'s, 'a>>, Malformed> {
        let Some(bytes) = map.index().and_then(|index| index.value_order()) else {
            return Ok(None);
        };
        let keys = Seq::read(bytes, 0, Place::Top)?.ok_or(Malformed::Truncated)?;
        Ok(Some(ValueOrder { map, keys }))
    }

    fn pair_of(&self, key: &[u8]) -> Result<(u32, Pair<'a>), Malformed> {
        let index = self.map.find_key(key)?.map_err(|_| Malformed::Truncated)?;
        Ok((index, self.map.pair(index)?))
    }

    /// Index of the pair with this rank.
    pub fn index_of(&self, rank: u32) -> Result<u32, Malformed> {
        Ok(self.pair_of(self.keys.element(rank)?)?.0)
    }

    /// How many values are below `value`.
    pub fn count_below(&self, value: &[u8]) -> Result<u32, Malformed> {
        self.keys.partition(|key| {
            let (_, pair) = self.pair_of(key)?;
            Ok(compare(pair.1, value)? == Ordering::Less)
        })
    }

    /// Rank of a pair, or where it would go.
    pub fn rank_of(&self, pair: Pair<'_>) -> Result<u32, Malformed> {
        self.keys.partition(|key| {
            let (_, other) = self.pair_of(key)?;
            let by_value = compare(other.1, pair.1)?;
            Ok(match by_value {
                Ordering::Equal => compare(other.0, pair.0)? == Ordering::Less,
                unequal => unequal == Ordering::Less,
            })
        })
    }

    /// The edits against the kept order when pairs of the map go and others come; `None` when
    /// there are so many that building it anew is cheaper.
    pub(crate) fn edits(
        &self,
        gone: &[Pair<'_>],
        come: &[Pair<'_>],
    ) -> Result<Option<Edits>, Error> {
        if gone.len() + come.len() > EDITED_MAX {
            return Ok(None);
        }
        let mut places: BTreeMap<u32, (Vec<Pair<'_>>, bool)> = BTreeMap::new();
        for &pair in gone {
            places.entry(self.rank_of(pair)?).or_default().1 = true;
        }
        for &pair in come {
            places.entry(self.rank_of(pair)?).or_default().0.push(pair);
        }
        let mut splices = Vec::with_capacity(places.len());
        for (at, (come, gone)) in places {
            let count = come.len() as u32;
            let insert = sorted_keys(&come)?;
            splices.push(Splice { at, remove: u32::from(gone), insert, count });
        }
        let change = Change { flags: self.keys.flags(), splices };
        Ok(Some(change.edits(&self.keys)?))
    }
}

/// The keys of pairs in the order of their values, then of their keys.
fn sorted_keys(pairs: &[Pair<'_>]) -> Result<Vec<u8>, Malformed> {
    let keys: Vec<&[u8]> = pairs.iter().map(|pair| pair.0).collect();
    let by_key = sorted_order(&keys)?;
    let values: Vec<&[u8]> = by_key.iter().map(|&at| pairs[at].1).collect();
    let mut bytes = Vec::new();
    for at in sorted_order(&values)? {
        bytes.extend_from_slice(pairs[by_key[at]].0);
    }
    Ok(bytes)
}

/// The order of a map with these pairs, in the form in which it is kept.
pub(crate) fn build(pairs: &[Pair<'_>]) -> Result<Vec<u8>, Error> {
    let empty = Seq::empty(false, Place::Top);
    let keys = sorted_keys(pairs)?;
    let change = Change::replace(&empty, flags::PERSIST_INDEX, keys, pairs.len() as u32);
    Ok(change.edits(&empty)?.apply(empty.bytes()))
}

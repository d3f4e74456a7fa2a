//! Which element a step picks.

use std::cmp::Ordering;

use cairn_value::Error;

use super::{Pick, Step, no_such_element};
use crate::cdt::seq::{Seq, compare, resolve};
use crate::cdt::stored;

/// The element that a step picks, `None` when there is none.
pub(super) fn pick(step: &Step<'_>, seq: &Seq<'_>) -> Result<Option<u32>, Error> {
    let pick = step.pick().ok_or_else(no_such_element)?;
    let of_map = matches!(pick, Pick::MapIndex | Pick::MapRank | Pick::MapKey | Pick::MapValue);
    if of_map != seq.is_map() {
        return Err(no_such_element());
    }
    let number = || step.number().ok_or_else(no_such_element);
    Ok(match pick {
        Pick::ListIndex | Pick::MapIndex => resolve(number()?, seq.len()),
        Pick::ListRank if seq.is_ordered() => resolve(number()?, seq.len()),
        Pick::ListRank | Pick::MapRank => match resolve(number()?, seq.len()) {
            Some(rank) => Some(nth_smallest(seq, rank)?),
            None => None,
        },
        Pick::ListValue if seq.is_ordered() => seq.find_key(step.value)?.ok(),
        Pick::ListValue | Pick::MapValue => first_equal(seq, step.value)?,
        Pick::MapKey => {
            if !stored::is_key(step.value) {
                return Err(no_such_element());
            }
            seq.find_key(step.value)?.ok()
        }
    })
}

/// The values of a collection: elements of a list, values of a map.
fn values<'a>(seq: &Seq<'a>) -> Result<Vec<&'a [u8]>, Error> {
    if !seq.is_map() {
        return Ok(seq.elements()?);
    }
    Ok(seq.pairs()?.into_iter().map(|(_, value)| value).collect())
}

fn nth_smallest(seq: &Seq<'_>, rank: u32) -> Result<u32, Error> {
    let values = values(seq)?;
    let order = stored::sorted_order(&values)?;
    Ok(order[rank as usize] as u32)
}

fn first_equal(seq: &Seq<'_>, value: &[u8]) -> Result<Option<u32>, Error> {
    for (i, candidate) in values(seq)?.into_iter().enumerate() {
        if compare(candidate, value)? == Ordering::Equal {
            return Ok(Some(i as u32));
        }
    }
    Ok(None)
}

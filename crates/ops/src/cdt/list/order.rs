//! Operations on a list as a whole: order, sort, clear.

use std::cmp::Ordering;

use cairn_value::packed::flags;
use cairn_value::{Error, ResultCode};

use crate::cdt::change::Change;
use crate::cdt::row::{Args, Outcome};
use crate::cdt::seq::{Seq, compare};
use crate::cdt::stored::sort_by_value;

/// Sort flags.
const DESCENDING: i64 = 1;
const DROP_DUPLICATES: i64 = 2;

/// The flags of a list with this order argument.
pub(super) fn list_flags(order: i64) -> Result<u8, Error> {
    match u8::try_from(order) {
        Ok(bits) if bits & !(flags::ORDERED | flags::PERSIST_INDEX) == 0 => Ok(bits),
        _ => {
            let text = format!("list order {order} is unknown; 0 or 1, with 16 for persistIndex");
            Err(Error::new(ResultCode::OpNotApplicable, text))
        }
    }
}

/// `set_type(order)`
pub(super) fn set_type<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    let flags = list_flags(args.int(0))?;
    let sorts = flags & flags::ORDERED != 0 && !seq.is_ordered();
    let change = if sorts {
        let elements = sorted(seq)?;
        Change::replace(seq, flags, elements.concat(), seq.len())
    } else {
        Change { flags, splices: Vec::new() }
    };
    Ok(Outcome::changed(change, None))
}

fn sorted<'a>(seq: &Seq<'a>) -> Result<Vec<&'a [u8]>, Error> {
    let mut elements = seq.elements()?;
    sort_by_value(&mut elements, |element| element)?;
    Ok(elements)
}

/// `sort(flags)`
pub(super) fn sort<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    let how = args.int(0);
    let (descending, drop) = (how & DESCENDING != 0, how & DROP_DUPLICATES != 0);
    if descending && drop {
        let text = "sort cannot both descend and drop duplicates; do one after the other";
        return Err(Error::new(ResultCode::Parameter, text));
    }
    let mut elements = if seq.is_ordered() { seq.elements()? } else { sorted(seq)? };
    if drop {
        let mut kept: Vec<&[u8]> = Vec::with_capacity(elements.len());
        for element in elements {
            match kept.last() {
                Some(last) if compare(last, element)? == Ordering::Equal => {}
                _ => kept.push(element),
            }
        }
        elements = kept;
    }
    if descending && !seq.is_ordered() {
        elements.reverse();
    }
    let count = elements.len() as u32;
    Ok(Outcome::changed(Change::replace(seq, seq.flags(), elements.concat(), count), None))
}

/// `clear()`
pub(super) fn clear<'a>(_: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    Ok(Outcome::changed(Change::replace(seq, seq.flags(), Vec::new(), 0), None))
}

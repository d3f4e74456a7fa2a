//! Operations on a map as a whole: order and clear.

use cairn_value::packed::flags;
use cairn_value::{Error, ResultCode};

use crate::cdt::change::Change;
use crate::cdt::row::{Args, Outcome};
use crate::cdt::seq::Seq;

/// The flags of a map with this order argument.
pub(super) fn map_flags(order: i64) -> Result<u8, Error> {
    const ORDER: u8 = flags::ORDERED | flags::VALUE_ORDERED;
    match u8::try_from(order) {
        Ok(bits) if bits & !(ORDER | flags::PERSIST_INDEX) == 0 => Ok(bits),
        _ => {
            let text = format!("map order {order} is unknown; 0, 1 or 3, with 16 for persistIndex");
            Err(Error::new(ResultCode::OpNotApplicable, text))
        }
    }
}

/// `set_type(order)`: the pairs stay where they are, they are sorted by key in any case.
pub(super) fn set_type<'a>(args: &Args<'a>, _: &Seq<'a>) -> Result<Outcome, Error> {
    let flags = map_flags(args.int(0))?;
    Ok(Outcome::changed(Change { flags, splices: Vec::new() }, None))
}

/// `clear()`
pub(super) fn clear<'a>(_: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    Ok(Outcome::changed(Change::replace(seq, seq.flags(), Vec::new(), 0), None))
}

//! Operations on lists and maps, on their packed bytes.
//!
//! [`apply`] takes the value of a wire operation of type 3 (read) or 4 (modify) and the old value
//! of its bin, and says what changes and what is answered:
//!
//! ```text
//! [op, args..]                            an operation on the bin's own list or map
//! [0xff, [type, value, ..], [op, args..]] the same on a collection inside, see [`context`]
//! 00 op [args..]                          the form of old clients: two raw bytes, then arguments
//! [0xfe, ..]                              select and modify by path
//! ```
//!
//! Nothing here decodes a collection into a tree. An operation finds its elements through a
//! [`Seq`], which walks only as far as needed (or starts at a fence of a persisted index,
//! see [`persist`]), and returns a [`Change`]: splices by element number. The change becomes a few
//! edits against the old bytes: the count in the head, the elements that come and go, and the
//! entries of a persisted index that cover them. A nested change is local as well, because the
//! packed form has counts but no byte lengths that would have to change further out.
//!
//! # How to add an operation
//!
//! 1. Add a [`Row`] to the table of its family (`list::TABLE`, `map::TABLE`): code, name, kinds of
//!    its arguments and how many are required, [`Access`], function. The decoder, the dispatch,
//!    contexts and what happens to absent bins follow from the row.
//! 2. Write the function: `fn(&Args, &Seq) -> Result<Outcome, Error>`. It finds its arguments
//!    checked against the row and a sequence of the right kind, and returns the change and the
//!    answer. It never touches bytes outside the sequence and never builds the whole new value.
//! 3. Add a case to the naive twin in the tests, which works on trees; the property tests then
//!    compare both over generated values.

pub mod change;
pub mod context;
pub mod list;
pub mod map;
pub mod persist;
pub mod reply;
pub mod row;
pub mod select;
pub mod seq;
pub mod stored;
pub mod value_order;
pub mod work;

#[cfg(test)]
mod tests;

pub use change::{Change, Splice};
pub use row::{Access, Args, Kind, Outcome, Row};
pub use seq::{Place, Seq};

use std::borrow::Cow;

use cairn_value::packed::{Reader, Token, flags};
use cairn_value::{Error, Particle, ParticleType, ResultCode};

use crate::{Applied, Effect, Env, Mode, Reply};
use context::{Created, Step, Way};

/// First code of the map operations; lower ones are list operations.
pub const FIRST_MAP_CODE: i64 = 64;
/// Code that wraps an operation in a context.
const CODE_CONTEXT: i64 = 0xff;
/// Code of select and modify by path.
const CODE_PATH: i64 = 0xfe;

/// A collection operation, split into its parts.
struct Call<'a> {
    steps: Vec<Step<'a>>,
    code: i64,
    arguments: Reader<'a>,
    count: u32,
}

/// Runs a collection operation on a bin.
///
/// ```
/// use cairn_ops::{Effect, Env, Mode, cdt};
/// use cairn_value::{Particle, ParticleType, Value};
/// let append = [0x92, 0x01, 0x07]; // append(7)
/// let old = Value::list([Value::from(5)]).to_packed();
/// let bin = Particle::new(ParticleType::List, &old);
/// let applied = cdt::apply(&append, Some(bin), Mode::Modify, &Env { now_ns: 0 }).unwrap();
/// let Effect::Edit { edits, .. } = applied.effect else { panic!() };
/// assert_eq!(edits.apply(&old), Value::list([Value::from(5), Value::from(7)]).to_packed());
/// ```
pub fn apply(
    call: &[u8],
    bin: Option<Particle<'_>>,
    mode: Mode,
    env: &Env,
) -> Result<Applied, Error> {
    if is_path(call) {
        return crate::path::apply(call, bin, mode, env);
    }
    let call = decode(call)?;
    let way = Way::follow(&call.steps, bin)?;
    let is_map = is_map_code(call.code);
    if way.is_scalar() || way.collection().is_some_and(|seq| seq.is_map() != is_map) {
        return Err(wrong_type(is_map));
    }
    let row = row_of(call.code, mode)?;
    let args = Args::decode(row, &mut call.arguments.clone(), call.count)?;
    match way.collection() {
        Some(seq) => {
            let outcome = (row.run)(&args, seq)?;
            let kind = bin.map_or(ParticleType::List, |bin| bin.kind);
            let effect = match &outcome.change {
                Some(change) => Effect::Edit { kind, edits: way.change(change)? },
                None => Effect::None,
            };
            Ok(Applied { effect: without_empty_edit(effect), reply: outcome.reply })
        }
        None => on_nothing(row, &args, &way, is_map, bin),
    }
}

fn without_empty_edit(effect: Effect) -> Effect {
    match effect {
        Effect::Edit { edits, .. } if edits.is_empty() => Effect::None,
        effect => effect,
    }
}

/// Runs an operation where there is no collection yet.
fn on_nothing(
    row: &Row,
    args: &Args<'_>,
    way: &Way<'_>,
    is_map: bool,
    bin: Option<Particle<'_>>,
) -> Result<Applied, Error> {
    if row.access == Access::Read && way.is_bin_absent() {
        return Ok(Applied::default());
    }
    if row.access == Access::Read {
        return Err(context::no_such_element());
    }
    way.check_creatable()?;
    match row.access {
        Access::Existing => return Err(wrong_type(is_map)),
        Access::Create => {}
        _ => return Ok(Applied::default()),
    }
    let seq = Seq::empty(is_map, way.new_place());
    let outcome = (row.run)(args, &seq)?;
    let Some(change) = outcome.change else {
        return Ok(Applied { effect: Effect::None, reply: outcome.reply });
    };
    let new = change.edits(&seq)?.apply(seq.bytes());
    let effect = match way.create(new)? {
        Created::Edits(edits) => {
            let kind = bin.map_or(ParticleType::List, |bin| bin.kind);
            Effect::Edit { kind, edits }
        }
        Created::Bin(bytes) => Effect::Whole(collection_kind(&bytes), bytes),
    };
    Ok(Applied { effect, reply: outcome.reply })
}

/// List or map, as the first byte of a packed collection tells.
fn collection_kind(bytes: &[u8]) -> ParticleType {
    match Reader::new(bytes).token() {
        Ok(Token::Map(_)) => ParticleType::Map,
        _ => ParticleType::List,
    }
}

fn wrong_type(is_map: bool) -> Error {
    let wanted = if is_map { "map" } else { "list" };
    Error::new(ResultCode::BinType, format!("the operation needs a {wanted}"))
}

/// Codes count as unsigned numbers, so a negative one is looked for among the maps.
fn is_map_code(code: i64) -> bool {
    !(0..FIRST_MAP_CODE).contains(&code)
}

fn row_of(code: i64, mode: Mode) -> Result<&'static Row, Error> {
    let table = if is_map_code(code) { map::TABLE } else { list::TABLE };
    let row = table.iter().find(|row| i64::from(row.code) == code);
    let row = row.ok_or_else(|| {
        Error::new(ResultCode::Parameter, format!("{code} is no collection operation"))
    })?;
    if row.access.mode() != mode {
        let text = format!("{} is sent in the wrong kind of operation", row.name);
        return Err(Error::new(ResultCode::Parameter, text));
    }
    Ok(row)
}

/// A list or map in stored form, with the index that its flags ask for.
///
/// ```
/// use std::borrow::Cow;
/// use cairn_ops::cdt;
/// // [1, 2] with the flag of persistIndex, as a client writes it.
/// let written = [0x93, 0xc7, 0x00, 0x10, 0x01, 0x02];
/// let stored = cdt::with_index(Cow::Borrowed(&written));
/// assert!(stored.len() > written.len());
/// let plain = [0x92, 0x01, 0x02];
/// assert!(matches!(cdt::with_index(Cow::Borrowed(&plain)), Cow::Borrowed(_)));
/// ```
pub fn with_index(bytes: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    let indexed = match Seq::read(&bytes, 0, Place::Top) {
        Ok(Some(seq)) if seq.flags() & flags::PERSIST_INDEX != 0 && seq.index().is_none() => {
            let change = Change { flags: seq.flags(), splices: Vec::new() };
            change.edits(&seq).ok().map(|edits| edits.apply(&bytes))
        }
        // What is no collection, or has its index, stays as it is.
        _ => None,
    };
    indexed.map_or(bytes, Cow::Owned)
}

/// The packed value that a context leads to in a bin; `None` when nothing is there.
pub fn locate<'a>(context: &'a [u8], bin: Particle<'a>) -> Result<Option<&'a [u8]>, Error> {
    Way::follow(&context::steps(context)?, Some(bin))?.value(bin)
}

fn is_path(call: &[u8]) -> bool {
    let mut reader = Reader::new(call);
    matches!(reader.token(), Ok(Token::List(_))) && reader.token() == Ok(Token::Int(CODE_PATH))
}

fn decode(call: &[u8]) -> Result<Call<'_>, Error> {
    if let [0x00, code, rest @ ..] = call {
        let mut arguments = Reader::new(rest);
        let count = if rest.is_empty() { 0 } else { list_count(&mut arguments)? };
        return Ok(Call { steps: Vec::new(), code: i64::from(*code), arguments, count });
    }
    let mut reader = Reader::new(call);
    let count = list_count(&mut reader)?;
    let code = code_of(&mut reader, count)?;
    if code != CODE_CONTEXT {
        return Ok(Call { steps: Vec::new(), code, arguments: reader, count: count - 1 });
    }
    if count != 3 {
        return Err(malformed());
    }
    let steps = context::steps(reader.skip()?)?;
    let count = list_count(&mut reader)?;
    let code = code_of(&mut reader, count)?;
    Ok(Call { steps, code, arguments: reader, count: count - 1 })
}

fn list_count(reader: &mut Reader<'_>) -> Result<u32, Error> {
    match reader.token()? {
        Token::List(count) => Ok(count),
        _ => Err(malformed()),
    }
}

fn code_of(reader: &mut Reader<'_>, count: u32) -> Result<i64, Error> {
    match reader.token() {
        Ok(Token::Int(code)) if count > 0 => Ok(code),
        _ => Err(malformed()),
    }
}

fn malformed() -> Error {
    let text = "a collection operation is a packed list of its code and its arguments";
    Error::new(ResultCode::Parameter, text)
}

/// An answer that says the operation found nothing.
pub fn nothing() -> Option<Reply> {
    Some(Reply::nil())
}

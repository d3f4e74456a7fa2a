//! Select and modify by path: `[0xfe, context, flags]` and `[0xfe, context, flags, expression]`.
//!
//! A path is a list of levels. Each level picks children of every collection that the levels
//! before it led to: one child by index, rank, key or value, several by a list of keys, or all for
//! which an expression is true. What the last level picks is the selection. Expressions see the
//! child in hand through loop variables, and nothing of the record.
//!
//! A child that is no collection ends its path early without an error; a level that does not fit
//! the type of a collection (a map key in a list) refuses the command, unless the collection is
//! empty.

mod context;
mod modify;
mod pick;
mod select;

use std::cell::Cell;

use cairn_value::packed::{Reader, Token};
use cairn_value::{Error, Particle, ParticleType, ResultCode};

use crate::exp::{Kind, Program, Scope, WORK_MAX};
use crate::{Applied, Effect, Env, Mode};
use context::Level;

/// Operation code of select and modify by path.
pub const CODE: i64 = 0xfe;

/// What is wanted of the selection: the low four bits of the flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The collection with only what was selected in it.
    Tree,
    /// A list of the selected values.
    Values,
    /// A list of the selected map keys.
    Keys,
    /// A list of the selected keys and values in turn.
    KeysAndValues,
    /// The bin itself, with an expression applied to what was selected.
    Modify,
}

/// Flag: what an expression cannot tell is passed over.
const NO_FAIL: i64 = 0x10;

/// A parsed operation.
struct Path<'p> {
    levels: Vec<Level<'p>>,
    form: Form,
    no_fail: bool,
    /// What a modification computes.
    change: Option<Program<'p>>,
    /// What the expressions may still do.
    work_left: Cell<usize>,
}

impl Path<'_> {
    fn is_last(&self, level: usize) -> bool {
        level + 1 == self.levels.len()
    }
}

/// Runs a select or modify by path on a bin.
///
/// ```
/// use cairn_ops::{Env, Mode, path};
/// use cairn_value::{Particle, ParticleType};
/// let list = [0x93, 1, 5, 9];
/// // Elements above 4: [0xfe, [4, gt(loop_var(integer, value), 4)], 1 (values)]
/// let call = [0x93, 0xcc, 0xfe, 0x92, 4, 0x93, 3, 0x93, 122, 2, 1, 4, 1];
/// let bin = Particle::new(ParticleType::List, &list);
/// let applied = path::apply(&call, Some(bin), Mode::Read, &Env { now_ns: 0 }).unwrap();
/// assert_eq!(applied.reply.unwrap().bytes, [0x92, 5, 9]);
/// ```
pub fn apply(
    call: &[u8],
    bin: Option<Particle<'_>>,
    mode: Mode,
    env: &Env,
) -> Result<Applied, Error> {
    let bin = match (bin, mode) {
        (None, Mode::Read) => return Ok(Applied::default()),
        (Some(bin), _) if matches!(bin.kind, ParticleType::List | ParticleType::Map) => bin,
        _ => return Err(Error::new(ResultCode::BinType, "a path leads through a list or map")),
    };
    let path = parse(call, mode)?;
    let scope = Scope::detached(*env);
    if path.form == Form::Modify {
        let effect = modify::run(&path, bin, &scope)?;
        return Ok(Applied { effect, reply: None });
    }
    let reply = select::run(&path, bin, &scope)?;
    Ok(Applied { effect: Effect::None, reply: Some(reply) })
}

fn refusal(message: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ResultCode::Parameter, message)
}

fn parse(call: &[u8], mode: Mode) -> Result<Path<'_>, Error> {
    let malformed = || refusal("a path is [0xfe, context, flags] or, to modify, one more element");
    let mut reader = Reader::new(call);
    let (Token::List(count @ 3..=4), Token::Int(CODE)) = (reader.token()?, reader.token()?) else {
        return Err(malformed());
    };
    let levels = context::levels(&mut reader)?;
    let Token::Int(flags) = reader.token()? else { return Err(malformed()) };
    let form = match (flags & 0x0f, count, mode) {
        (0, 3, _) => Form::Tree,
        (1, 3, _) => Form::Values,
        (2, 3, _) => Form::Keys,
        (3, 3, _) => Form::KeysAndValues,
        (4, 4, Mode::Modify) => Form::Modify,
        _ => return Err(refusal(format!("path flags {flags} with {count} elements"))),
    };
    let change = match form {
        Form::Modify => Some(change(&mut reader)?),
        _ => None,
    };
    let no_fail = flags & NO_FAIL != 0;
    Ok(Path { levels, form, no_fail, change, work_left: Cell::new(WORK_MAX) })
}

fn change<'p>(reader: &mut Reader<'p>) -> Result<Program<'p>, Error> {
    let program = Program::compile(reader.skip()?)?;
    match program.kind() {
        kind @ (Kind::Wildcard | Kind::Infinity) => {
            Err(refusal(format!("a {} cannot be stored", kind.name())))
        }
        _ => Ok(program),
    }
}

//! Expressions as operations: `[expression, flags]` read into an answer or written to a bin.

use cairn_value::packed::{Reader, Token};
use cairn_value::{Error, Particle, ParticleType, ResultCode, collection};

use super::compile::refusal;
use super::program::Program;
use super::scope::Scope;
use super::val::Val;
use crate::{Applied, Effect, Env, Mode, Reply, operate};

/// Flags of an expression that is an operation.
pub mod flag {
    /// The bin must not exist.
    pub const CREATE_ONLY: i64 = 1;
    /// The bin must exist.
    pub const UPDATE_ONLY: i64 = 2;
    /// Nil removes the bin.
    pub const ALLOW_DELETE: i64 = 4;
    /// What the flags above forbid is left undone without an error.
    pub const POLICY_NO_FAIL: i64 = 8;
    /// So is what the expression cannot tell.
    pub const EVAL_NO_FAIL: i64 = 16;
    /// All of them.
    pub const ALL: i64 = 31;
}

/// Reads `[expression]` or `[expression, flags]`. Flags that are no integer count as none, and so
/// do flags that the list announces and then lacks.
fn parse(value: &[u8]) -> Result<(Program<'_>, i64), Error> {
    let Some((&head @ (0x91 | 0x92), body)) = value.split_first() else {
        return Err(refusal("an expression operation is a list of expression and flags"));
    };
    let (program, used) = Program::compile_prefix(body)?;
    if !program.kind().is_storable() {
        return Err(refusal(format!("the expression yields {}", program.kind().name())));
    }
    let flags = match Reader::at(body, used).token() {
        Ok(Token::Int(flags)) if head == 0x92 => flags,
        _ => 0,
    };
    if !(0..=flag::ALL).contains(&flags) {
        return Err(refusal(format!("expression flags {flags}; the highest is {}", flag::ALL)));
    }
    Ok((program, flags))
}

fn not_applicable() -> Error {
    Error::new(ResultCode::OpNotApplicable, "the expression cannot be told for this record")
}

/// Runs an expression operation inside a command.
pub fn apply(
    call: &[u8],
    bin: Option<Particle<'_>>,
    scope: &operate::Scope<'_, '_>,
    mode: Mode,
    env: &Env,
) -> Result<Applied, Error> {
    let scope = Scope { record: scope.record().copied(), bins: Some(scope), env: *env };
    match mode {
        Mode::Read => Ok(Applied { effect: Effect::None, reply: apply_read(call, &scope)? }),
        Mode::Modify => apply_modify(call, bin.is_some(), &scope),
    }
}

/// An expression read: the answer, or `None` when there is nothing to say.
pub fn apply_read(value: &[u8], scope: &Scope<'_>) -> Result<Option<Reply>, Error> {
    let (program, flags) = parse(value)?;
    let result = program.value(scope);
    match result.into_reply() {
        Some(reply) if reply.kind == ParticleType::Nil => Ok(None),
        Some(reply) => Ok(Some(reply)),
        None if flags & flag::EVAL_NO_FAIL != 0 => Ok(None),
        None => Err(not_applicable()),
    }
}

/// An expression write to a bin that exists or does not.
pub fn apply_modify(value: &[u8], bin_exists: bool, scope: &Scope<'_>) -> Result<Applied, Error> {
    let (program, flags) = parse(value)?;
    let forbidden = match bin_exists {
        true if flags & flag::CREATE_ONLY != 0 => Some(ResultCode::BinExists),
        false if flags & flag::UPDATE_ONLY != 0 => Some(ResultCode::BinNotFound),
        _ => None,
    };
    match forbidden {
        Some(_) if flags & flag::POLICY_NO_FAIL != 0 => return Ok(Applied::default()),
        Some(code) => return Err(code.into()),
        None => {}
    }
    let effect = match program.value(scope) {
        Val::Nil => of_nil(bin_exists, flags)?,
        result => match result.into_reply() {
            Some(reply) => Effect::Whole(reply.kind, storable(reply)?),
            None if flags & flag::EVAL_NO_FAIL != 0 => Effect::None,
            None => return Err(not_applicable()),
        },
    };
    Ok(Applied { effect, reply: None })
}

/// Nil removes the bin where that is allowed. Where it is not, the bin stays, and that is an error
/// unless the write may fail or asks for an existing bin.
fn of_nil(bin_exists: bool, flags: i64) -> Result<Effect, Error> {
    let lenient = flag::UPDATE_ONLY | flag::POLICY_NO_FAIL;
    match bin_exists {
        false => Ok(Effect::None),
        true if flags & flag::ALLOW_DELETE != 0 => Ok(Effect::Remove),
        true if flags & lenient != 0 => Ok(Effect::None),
        true => Err(Error::new(
            ResultCode::OpNotApplicable,
            "the expression yields nil, and the flags do not allow to remove the bin",
        )),
    }
}

/// The form in which a value is stored: lists and maps are checked and brought into their order. A
/// list may hold markers here, though a plain write may not.
fn storable(reply: Reply) -> Result<Vec<u8>, Error> {
    if !matches!(reply.kind, ParticleType::List | ParticleType::Map) {
        return Ok(reply.bytes);
    }
    match collection::stored_form(reply.kind, &reply.bytes) {
        Ok(stored) => Ok(stored.into_owned()),
        Err(collection::Refused::Marker) => Ok(reply.bytes),
        Err(refused) => Err(refused.into()),
    }
}

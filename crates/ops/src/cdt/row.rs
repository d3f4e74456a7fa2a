//! The table form of operations and the decoder of their arguments.
//!
//! An operation is a [`Row`]: code, name, what arguments it takes, what it does when its bin is
//! absent, and the function that runs it. [`Args::decode`] checks a call against its row, so a
//! function finds every argument present and of its kind.

use cairn_value::packed::{Reader, Token};
use cairn_value::{Error, ResultCode};

use super::change::Change;
use super::seq::Seq;
use crate::{Mode, Reply};

/// What an argument must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An integer: index, rank, count, flags, return type.
    Int,
    /// Any packed value.
    Value,
    /// A list of values.
    List,
    /// A map.
    Map,
}

impl Kind {
    fn admits(self, token: Token<'_>) -> bool {
        match self {
            Kind::Int => matches!(token, Token::Int(_)),
            Kind::Value => true,
            Kind::List => matches!(token, Token::List(_)),
            Kind::Map => matches!(token, Token::Map(_)),
        }
    }
}

/// Whether an operation reads or writes, and what an absent bin means to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads; answers nothing when there is no bin.
    Read,
    /// Writes; changes nothing when there is no bin.
    Remove,
    /// Writes; starts from an empty collection when there is no bin.
    Create,
    /// Writes; an absent bin has the wrong type.
    Existing,
}

impl Access {
    /// The mode of the wire operation that may carry this access.
    pub fn mode(self) -> Mode {
        if self == Access::Read { Mode::Read } else { Mode::Modify }
    }
}

/// What an operation did: the change to its collection and its answer.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The change; `None` when the collection stays as it is.
    pub change: Option<Change>,
    /// The answer; `None` when there is none.
    pub reply: Option<Reply>,
}

impl Outcome {
    /// An answer without a change.
    pub fn answer(reply: Reply) -> Self {
        Outcome { change: None, reply: Some(reply) }
    }

    /// A change with an answer.
    pub fn changed(change: Change, reply: Option<Reply>) -> Self {
        Outcome { change: Some(change), reply }
    }
}

/// The function behind an operation.
pub type Run = for<'a> fn(&Args<'a>, &Seq<'a>) -> Result<Outcome, Error>;

/// One operation.
pub struct Row {
    /// Code on the wire.
    pub code: u8,
    /// Name in documentation and messages.
    pub name: &'static str,
    /// Kinds of the arguments, in order.
    pub args: &'static [Kind],
    /// How many of them must be there; the rest is optional from the right.
    pub required: usize,
    /// Whether arguments beyond `args` are ignored instead of refused.
    pub lenient: bool,
    /// Reads or writes.
    pub access: Access,
    /// What runs.
    pub run: Run,
}

impl Row {
    /// A row that refuses surplus arguments.
    pub const fn new(
        code: u8,
        name: &'static str,
        args: &'static [Kind],
        required: usize,
        access: Access,
        run: Run,
    ) -> Row {
        Row { code, name, args, required, lenient: false, access, run }
    }

    /// The same row, ignoring surplus arguments.
    pub const fn lenient(mut self) -> Row {
        self.lenient = true;
        self
    }
}

/// Most arguments an operation takes.
const ARGS_MAX: usize = 6;

/// The arguments of one call, checked against a [`Row`].
#[derive(Clone, Copy, Debug)]
pub struct Args<'a> {
    raw: [&'a [u8]; ARGS_MAX],
    count: usize,
}

impl<'a> Args<'a> {
    /// Reads `count` packed arguments and checks them against `row`. Bytes behind them do not
    /// matter.
    pub fn decode(row: &Row, reader: &mut Reader<'a>, count: u32) -> Result<Args<'a>, Error> {
        let count = count as usize;
        if count < row.required || (count > row.args.len() && !row.lenient) {
            return Err(refused(row, format!("takes {}, got {count}", expected(row))));
        }
        let mut args = Args { raw: [&[]; ARGS_MAX], count: count.min(row.args.len()) };
        for at in 0..count {
            let token = reader.peek()?;
            let raw = reader.skip()?;
            let (Some(kind), Some(slot)) = (row.args.get(at), args.raw.get_mut(at)) else {
                continue;
            };
            if !kind.admits(token) {
                return Err(refused(row, format!("needs {kind:?} as argument {}", at + 1)));
            }
            *slot = raw;
        }
        Ok(args)
    }

    /// How many arguments of the row came.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Argument `at` as packed bytes; empty when it did not come.
    pub fn value(&self, at: usize) -> &'a [u8] {
        self.optional(at).unwrap_or_default()
    }

    /// Argument `at` as packed bytes, when it came.
    pub fn optional(&self, at: usize) -> Option<&'a [u8]> {
        if at < self.count { self.raw.get(at).copied() } else { None }
    }

    /// Argument `at` as an integer, when it came and is one.
    pub fn optional_int(&self, at: usize) -> Option<i64> {
        match Reader::new(self.optional(at)?).token() {
            Ok(Token::Int(value)) => Some(value),
            _ => None,
        }
    }

    /// Argument `at` as an integer; 0 when it did not come.
    pub fn int(&self, at: usize) -> i64 {
        self.optional_int(at).unwrap_or(0)
    }
}

fn expected(row: &Row) -> String {
    if row.required == row.args.len() {
        format!("{} arguments", row.required)
    } else {
        format!("{} to {} arguments", row.required, row.args.len())
    }
}

fn refused(row: &Row, what: String) -> Error {
    Error::new(ResultCode::Parameter, format!("operation {} ({}) {what}", row.name, row.code))
}

//! The bit and HyperLogLog operations have the same form: a packed list `[code, argument, ..]` and
//! a row in the table of their family.

use cairn_value::packed::{Reader, Token};
use cairn_value::{Error, Particle, ParticleType, ResultCode};

use crate::{Applied, Mode};

/// An operation: a row in the table of its family.
pub struct Operation {
    /// Its number on the wire.
    pub code: i64,
    /// Its name.
    pub name: &'static str,
    /// Its arguments; those in brackets may be left out.
    pub arguments: &'static str,
    /// Whether it changes the bin.
    pub mode: Mode,
    run: Run,
}

type Run = fn(Args<'_>, Option<Particle<'_>>) -> Result<Applied, Error>;

pub(crate) const fn row(
    code: i64,
    name: &'static str,
    arguments: &'static str,
    mode: Mode,
    run: Run,
) -> Operation {
    Operation { code, name, arguments, mode, run }
}

/// Runs the operation of a family's table that `call` names.
pub(crate) fn run(
    table: &[Operation],
    family: &'static str,
    call: &[u8],
    bin: Option<Particle<'_>>,
    mode: Mode,
) -> Result<Applied, Error> {
    let (code, args) = Args::open(call, family)?;
    let operation = table.iter().find(|op| op.code == code && op.mode == mode);
    let operation = operation.ok_or_else(|| {
        let text = format!("{family} operation {code} does not exist among those that {mode}");
        Error::new(ResultCode::Parameter, text)
    })?;
    (operation.run)(args, bin)
}

/// Walks the arguments of one operation, in order. Whatever does not fit is a parameter error that
/// names the operation's family and the argument.
pub(crate) struct Args<'a> {
    reader: Reader<'a>,
    left: u32,
    family: &'static str,
}

impl<'a> Args<'a> {
    /// Opens a call and reads its operation code.
    pub fn open(call: &'a [u8], family: &'static str) -> Result<(i64, Args<'a>), Error> {
        let mut reader = Reader::new(call);
        let Token::List(left) = reader.token()? else {
            return Err(refused(family, "the call", "is not a list"));
        };
        let mut args = Args { reader, left, family };
        let code = args.int("operation code")?;
        Ok((code, args))
    }

    fn next(&mut self, name: &str) -> Result<Token<'a>, Error> {
        self.left =
            self.left.checked_sub(1).ok_or_else(|| refused(self.family, name, "is missing"))?;
        Ok(self.reader.token()?)
    }

    /// An integer.
    pub fn int(&mut self, name: &str) -> Result<i64, Error> {
        match self.next(name)? {
            Token::Int(value) => Ok(value),
            _ => Err(self.bad(name, "is not an integer")),
        }
    }

    /// An integer that may be left out, and is 0 then.
    pub fn int_or_zero(&mut self, name: &str) -> Result<i64, Error> {
        if self.left == 0 { Ok(0) } else { self.int(name) }
    }

    /// A boolean.
    pub fn boolean(&mut self, name: &str) -> Result<bool, Error> {
        match self.next(name)? {
            Token::Bool(value) => Ok(value),
            _ => Err(self.bad(name, "is not a boolean")),
        }
    }

    /// The bytes of a blob.
    pub fn blob(&mut self, name: &str) -> Result<&'a [u8], Error> {
        if let Token::Bytes([kind, bytes @ ..]) = self.next(name)?
            && ParticleType::from_wire(*kind).is_some_and(ParticleType::is_blob)
        {
            return Ok(bytes);
        }
        Err(self.bad(name, "is not a blob"))
    }

    /// A list: how many elements, and a reader in front of the first. The list itself is walked
    /// over, so the next argument can be read.
    pub fn list(&mut self, name: &str) -> Result<(u32, Reader<'a>), Error> {
        self.left =
            self.left.checked_sub(1).ok_or_else(|| refused(self.family, name, "is missing"))?;
        let packed = self.reader.skip()?;
        match cairn_value::packed::Head::read(packed, 0)? {
            Some(head) if !head.is_map => Ok((head.count, Reader::at(packed, head.body))),
            _ => Err(self.bad(name, "is not a list")),
        }
    }

    /// Arguments not yet read.
    pub fn left(&self) -> u32 {
        self.left
    }

    /// Nothing may be left.
    pub fn finish(self) -> Result<(), Error> {
        if self.left == 0 && self.reader.is_done() {
            return Ok(());
        }
        Err(refused(self.family, "the call", "has more arguments than the operation takes"))
    }

    /// A parameter error about the argument `name`.
    pub fn bad(&self, name: &str, why: &str) -> Error {
        refused(self.family, name, why)
    }
}

fn refused(family: &str, name: &str, why: &str) -> Error {
    Error::new(ResultCode::Parameter, format!("{family} operation: {name} {why}"))
}

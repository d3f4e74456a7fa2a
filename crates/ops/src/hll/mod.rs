//! HyperLogLog and HyperMinHash: sketches that tell how many different elements they have seen.
//!
//! The byte layout is described in `sketch.rs`, the estimates in `estimate.rs`. An operation is a row
//! of [`TABLE`] and a function. Adding elements edits the registers that change and nothing else.

mod estimate;
mod modify;
pub mod murmur;
mod read;
mod sketch;

#[cfg(test)]
mod tests;

use cairn_value::packed::{Reader, Token};
use cairn_value::{Error, Particle, ParticleType, ResultCode};

pub use crate::args::Operation;
use crate::args::{self, Args, row};
use crate::{Applied, Env, Mode};
use sketch::Sketch;

/// Flags of a change.
pub mod flags {
    /// Only if the bin does not exist.
    pub const CREATE_ONLY: i64 = 1;
    /// Only if the bin exists.
    pub const UPDATE_ONLY: i64 = 2;
    /// A denied change is no error.
    pub const NO_FAIL: i64 = 4;
    /// A union may make the bin's sketch smaller.
    pub const ALLOW_FOLD: i64 = 8;
}

/// Every operation on sketches.
pub const TABLE: &[Operation] = &[
    row(0, "init", "[index_bits [minhash_bits [flags]]]", Mode::Modify, modify::init),
    row(1, "add", "elements [index_bits [minhash_bits [flags]]]", Mode::Modify, modify::add),
    row(2, "set_union", "sketches [flags]", Mode::Modify, modify::set_union),
    row(3, "refresh_count", "", Mode::Modify, modify::refresh_count),
    row(4, "fold", "index_bits", Mode::Modify, modify::fold),
    row(50, "count", "", Mode::Read, read::count),
    row(51, "union", "sketches", Mode::Read, read::union),
    row(52, "union_count", "sketches", Mode::Read, read::union_count),
    row(53, "intersect_count", "sketches", Mode::Read, read::intersect_count),
    row(54, "similarity", "sketches", Mode::Read, read::similarity),
    row(55, "describe", "", Mode::Read, read::describe),
    row(56, "may_contain", "elements", Mode::Read, read::may_contain),
];

/// Refuses bytes that are no sketch.
pub fn check(bytes: &[u8]) -> Result<(), Error> {
    Sketch::parse(bytes).map(drop)
}

/// Runs the operation that `call` names on a bin.
///
/// ```
/// use cairn_ops::{Effect, Env, Mode, Reply, hll};
/// use cairn_value::{Particle, Value};
/// // [add, ["a", "b", "a"], 10 index bits]
/// let elements = Value::list(["a", "b", "a"].map(Value::from));
/// let call = Value::list([1.into(), elements, 10.into()]).to_packed();
/// let env = Env { now_ns: 0 };
/// let done = hll::apply(&call, None, Mode::Modify, &env)?;
/// assert_eq!(done.reply, Some(Reply::int(2)));
/// let Effect::Whole(kind, bytes) = done.effect else { panic!("a new sketch") };
/// let count = hll::apply(&[0x91, 50], Some(Particle::new(kind, &bytes)), Mode::Read, &env)?;
/// assert_eq!(count.reply, Some(Reply::int(2)));
/// # Ok::<(), cairn_value::Error>(())
/// ```
pub fn apply(
    call: &[u8],
    bin: Option<Particle<'_>>,
    mode: Mode,
    _env: &Env,
) -> Result<Applied, Error> {
    // The bin is looked at before the call: a wrong type or nothing to read settles the matter.
    match bin {
        Some(particle) => {
            sketch_of(particle)?;
        }
        None if mode == Mode::Read => return Ok(Applied::default()),
        None => {}
    }
    args::run(TABLE, "HyperLogLog", call, bin, mode)
}

/// The sketch in a bin; other types are refused.
fn sketch_of(particle: Particle<'_>) -> Result<Sketch<'_>, Error> {
    if particle.kind == ParticleType::Hll
        && let Ok(sketch) = Sketch::parse(particle.bytes)
    {
        return Ok(sketch);
    }
    Err(Error::new(
        ResultCode::BinType,
        format!("HyperLogLog operations need a sketch, the bin holds {:?}", particle.kind),
    ))
}

/// A list argument that was walked over but not looked into.
struct ListArg<'a> {
    count: u32,
    reader: Reader<'a>,
}

impl<'a> ListArg<'a> {
    fn read(args: &mut Args<'a>, name: &str) -> Result<ListArg<'a>, Error> {
        let (count, reader) = args.list(name)?;
        Ok(ListArg { count, reader })
    }

    /// The packed elements; one at least, and none of them a collection.
    fn elements(mut self) -> Result<Vec<&'a [u8]>, Error> {
        self.some()?;
        let mut elements = Vec::with_capacity(self.count as usize);
        for _ in 0..self.count {
            if let Token::List(_) | Token::Map(_) = self.reader.peek()? {
                return Err(refused("a list or map cannot be an element"));
            }
            elements.push(self.reader.skip()?);
        }
        Ok(elements)
    }

    /// The sketches; one at least.
    fn sketches(mut self) -> Result<Vec<Sketch<'a>>, Error> {
        self.some()?;
        let mut sketches = Vec::with_capacity(self.count as usize);
        for _ in 0..self.count {
            match self.reader.token()? {
                Token::Bytes([kind, bytes @ ..]) if may_hold_sketch(*kind) => {
                    sketches.push(Sketch::parse(bytes)?);
                }
                _ => return Err(refused("the list holds something that is not a sketch")),
            }
        }
        Ok(sketches)
    }

    fn some(&self) -> Result<(), Error> {
        if self.count == 0 { Err(refused("the list is empty")) } else { Ok(()) }
    }
}

/// Some clients send sketches as plain bytes.
fn may_hold_sketch(kind: u8) -> bool {
    ParticleType::from_wire(kind).is_some_and(|kind| kind == ParticleType::Hll || kind.is_blob())
}

fn refused(why: &'static str) -> Error {
    Error::new(ResultCode::Parameter, format!("HyperLogLog operation: {why}"))
}

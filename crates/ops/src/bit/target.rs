//! Where an operation works: offsets resolved against a blob, and the rules about absent bins.

use cairn_value::limits::RECORD_SIZE_CEILING;
use cairn_value::{Edits, Error, Particle, ParticleType, ResultCode};

use super::flags;
use crate::args::Args;
use crate::{Applied, Effect};

/// A run of bits (or bytes) inside a blob: first and how many, one at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub at: usize,
    pub len: usize,
}

/// Why a change does not happen.
pub(super) enum Refusal {
    /// The arguments make no sense for this blob.
    Hard(Error),
    /// It is denied, which no-fail turns into "nothing happens".
    Denied(Error),
}

/// Offset and length as they were sent.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Negative offsets count from the end. The protocol takes offsets modulo 2^32.
    offset: i32,
    len: usize,
}

impl Place {
    pub fn new(offset: i64, len: usize) -> Place {
        Place { offset: offset as i32, len }
    }

    /// Reads offset and length; `len_max` bounds the length.
    pub fn read(args: &mut Args<'_>, len_max: usize) -> Result<Place, Error> {
        let offset = args.int("offset")?;
        let len = args.int("size")?;
        match usize::try_from(len) {
            Ok(len) if (1..=len_max).contains(&len) => Ok(Place::new(offset, len)),
            _ => Err(args.bad("size", &format!("is {len}, it must be 1 to {len_max}"))),
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The offset from the front of `total` bits or bytes; it may lie behind the end.
    pub fn offset_in(&self, total: usize) -> Result<usize, Error> {
        let found = match self.offset {
            0.. => Some(self.offset as usize),
            _ => total.checked_sub(self.offset.unsigned_abs() as usize),
        };
        found.ok_or_else(|| {
            Error::new(
                ResultCode::Parameter,
                format!("offset {} lies before the start of {total}", self.offset),
            )
        })
    }

    /// The run inside `total`; `partial` cuts it at the end, otherwise running past the end is
    /// denied with `code`.
    pub fn resolve(&self, total: usize, partial: bool, code: ResultCode) -> Result<Run, Refusal> {
        let at = self.offset_in(total).map_err(Refusal::Hard)?;
        let room = total.saturating_sub(at);
        if room == 0 || (self.len > room && !partial) {
            let message = format!("{} at offset {at} run past the end of {total}", self.len);
            return Err(Refusal::Denied(Error::new(code, message)));
        }
        Ok(Run { at, len: self.len.min(room) })
    }

    /// The run of bits inside a blob, or why there is none.
    pub fn bits_of(&self, blob: &[u8], partial: bool) -> Result<Run, Refusal> {
        self.resolve(blob.len() * 8, partial, ResultCode::OpNotApplicable)
    }
}

/// Longest run of bits that an operation can name.
pub(super) const BITS_MAX: usize = RECORD_SIZE_CEILING * 8;

/// The flags of a change.
#[derive(Clone, Copy)]
pub(super) struct Policy {
    bits: i64,
}

impl Policy {
    /// Reads the flags, of which `allowed` make sense for the operation.
    pub fn read(args: &mut Args<'_>, allowed: i64) -> Result<Policy, Error> {
        let bits = args.int_or_zero("flags")?;
        let both = flags::CREATE_ONLY | flags::UPDATE_ONLY;
        if bits & !allowed != 0 || bits & both == both {
            return Err(args.bad("flags", &format!("are {bits:#x}, allowed are {allowed:#x}")));
        }
        Ok(Policy { bits })
    }

    pub fn partial(self) -> bool {
        self.bits & flags::PARTIAL != 0
    }

    fn has(self, flag: i64) -> bool {
        self.bits & flag != 0
    }

    /// Runs a change on a bin: `creates` says whether it can start from nothing, `change` gives the
    /// edits.
    pub fn run(
        self,
        bin: Option<Particle<'_>>,
        creates: bool,
        change: impl FnOnce(&[u8]) -> Result<Edits, Refusal>,
    ) -> Result<Applied, Error> {
        let outcome = match bin {
            None if !creates || self.has(flags::UPDATE_ONLY) => {
                Err(Refusal::Denied(ResultCode::BinNotFound.into()))
            }
            None => change(&[]).map(|edits| Effect::Whole(ParticleType::Blob, edits.apply(&[]))),
            Some(particle) => {
                let blob = blob_of(particle)?;
                if self.has(flags::CREATE_ONLY) {
                    Err(Refusal::Denied(ResultCode::BinExists.into()))
                } else {
                    change(blob).map(|edits| Effect::Edit { kind: particle.kind, edits })
                }
            }
        };
        match outcome {
            Ok(effect) => Ok(Applied { effect, reply: None }),
            Err(Refusal::Denied(_)) if self.has(flags::NO_FAIL) => Ok(Applied::default()),
            Err(Refusal::Denied(error) | Refusal::Hard(error)) => Err(error),
        }
    }
}

/// The bytes of a blob; other types are refused.
pub(super) fn blob_of<'a>(particle: Particle<'a>) -> Result<&'a [u8], Error> {
    if particle.kind.is_blob() {
        return Ok(particle.bytes);
    }
    Err(Error::new(
        ResultCode::BinType,
        format!("bit operations need a blob, the bin holds {:?}", particle.kind),
    ))
}

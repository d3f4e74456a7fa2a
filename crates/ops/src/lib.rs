//! Operations that reach inside a record without moving it.
//!
//! Everything here works on packed bytes, does no I/O and keeps no state. [`operate::run`] executes
//! the operations of one command on one record, all or nothing; each family (scalar, list, map,
//! bit, HyperLogLog, expressions) is a module whose `apply` takes an operation's packed arguments
//! and the old value of its bin, and says what changes and what is answered.

mod args;
pub mod bit;
pub mod cdt;
pub mod exp;
mod field;
pub mod geo;
pub mod hll;
#[cfg(test)]
mod hostile;
pub mod operate;
mod overlay;
pub mod path;
mod read;
pub mod scalar;
pub mod table;

use cairn_value::{Edits, Particle, ParticleType};

/// One operation of a command, as it came over the wire.
#[derive(Clone, Copy, Debug)]
pub struct BinOp<'a> {
    /// Operation type of the wire, see [`op`].
    pub op: u8,
    /// Particle type byte of the value; not yet checked.
    pub kind: u8,
    /// Bin name; not yet checked.
    pub name: &'a [u8],
    /// Value or packed arguments.
    pub value: &'a [u8],
}

/// Operation types of the wire.
#[allow(missing_docs)]
pub mod op {
    pub const READ: u8 = 1;
    pub const WRITE: u8 = 2;
    pub const CDT_READ: u8 = 3;
    pub const CDT_MODIFY: u8 = 4;
    pub const INCREMENT: u8 = 5;
    pub const EXP_READ: u8 = 7;
    pub const EXP_MODIFY: u8 = 8;
    pub const APPEND: u8 = 9;
    pub const PREPEND: u8 = 10;
    pub const TOUCH: u8 = 11;
    pub const BIT_READ: u8 = 12;
    pub const BIT_MODIFY: u8 = 13;
    pub const DELETE: u8 = 14;
    pub const HLL_READ: u8 = 15;
    pub const HLL_MODIFY: u8 = 16;
}

/// Whether an operation may change its bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It only answers.
    Read,
    /// It may change the bin.
    Modify,
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Mode::Read => "read",
            Mode::Modify => "modify",
        })
    }
}

/// What surrounds an operation.
#[derive(Clone, Copy, Debug)]
pub struct Env {
    /// Now, in nanoseconds since the Unix epoch.
    pub now_ns: u64,
}

/// What one operation does to its bin, and what it answers.
#[derive(Clone, Debug, Default)]
pub struct Applied {
    /// The change.
    pub effect: Effect,
    /// The answer; `None` when the operation answers nothing.
    pub reply: Option<Reply>,
}

/// A change to one bin.
#[derive(Clone, Debug, Default)]
pub enum Effect {
    /// The bin stays as it is.
    #[default]
    None,
    /// The old value with edits.
    Edit {
        /// Type of the new value.
        kind: ParticleType,
        /// Edits against the old value's bytes.
        edits: Edits,
    },
    /// A new value.
    Whole(ParticleType, Vec<u8>),
    /// The bin goes.
    Remove,
}

/// A value in an answer: particle type and bytes as on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Particle type.
    pub kind: ParticleType,
    /// Bytes.
    pub bytes: Vec<u8>,
}

impl Reply {
    /// Nil.
    pub fn nil() -> Self {
        Reply { kind: ParticleType::Nil, bytes: Vec::new() }
    }

    /// An integer.
    pub fn int(value: i64) -> Self {
        Reply { kind: ParticleType::Integer, bytes: value.to_be_bytes().to_vec() }
    }

    /// A copy of a particle.
    pub fn copy(particle: Particle<'_>) -> Self {
        Reply { kind: particle.kind, bytes: particle.bytes.to_vec() }
    }
}

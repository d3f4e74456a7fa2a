//! Operations on the bits of a blob.
//!
//! Bit 0 is the most significant bit of the first byte; negative offsets count from the end. An
//! operation is a row of [`TABLE`] and a function. A change is told as edits of the bytes that hold
//! the bits, so that setting a bit of a large blob costs a byte, not the blob.
//!
//! Two kinds of refusal exist. Arguments that make no sense are errors whatever the flags say. A
//! change that is merely denied (wrong place, overflow, the bin exists or is absent) becomes
//! "nothing happens" under the flag no-fail.

mod modify;
mod read;
mod target;

#[cfg(test)]
mod tests;

use cairn_value::{Error, Particle};

pub use crate::args::Operation;
use crate::args::{self, row};
use crate::{Applied, Env, Mode};

/// Flags of a change.
pub mod flags {
    /// Only if the bin does not exist.
    pub const CREATE_ONLY: i64 = 1;
    /// Only if the bin exists.
    pub const UPDATE_ONLY: i64 = 2;
    /// A denied change is no error.
    pub const NO_FAIL: i64 = 4;
    /// What fits is done when the bits run past the end.
    pub const PARTIAL: i64 = 8;
}

/// Flags of a resize.
pub mod resize_flags {
    /// Bytes come and go at the front.
    pub const FROM_FRONT: i64 = 1;
    /// The blob may only grow.
    pub const GROW_ONLY: i64 = 2;
    /// The blob may only shrink.
    pub const SHRINK_ONLY: i64 = 4;
}

/// What happens when an integer does not fit; bit 0 of the argument says that it is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// The operation fails.
    Fail,
    /// The nearest integer that fits is stored.
    Saturate,
    /// The low bits are stored.
    Wrap,
}

/// Every operation on bits.
pub const TABLE: &[Operation] = &[
    row(0, "resize", "bytes [flags [resize_flags]]", Mode::Modify, modify::resize),
    row(1, "insert", "byte_offset blob [flags]", Mode::Modify, modify::insert),
    row(2, "remove", "byte_offset bytes [flags]", Mode::Modify, modify::remove),
    row(3, "set", "offset bits blob [flags]", Mode::Modify, modify::set),
    row(4, "or", "offset bits blob [flags]", Mode::Modify, modify::or),
    row(5, "xor", "offset bits blob [flags]", Mode::Modify, modify::xor),
    row(6, "and", "offset bits blob [flags]", Mode::Modify, modify::and),
    row(7, "not", "offset bits [flags]", Mode::Modify, modify::not),
    row(8, "shift_left", "offset bits shift [flags]", Mode::Modify, modify::shift_left),
    row(9, "shift_right", "offset bits shift [flags]", Mode::Modify, modify::shift_right),
    row(10, "add", "offset bits integer [flags [overflow]]", Mode::Modify, modify::add),
    row(11, "subtract", "offset bits integer [flags [overflow]]", Mode::Modify, modify::subtract),
    row(12, "set_int", "offset bits integer [flags]", Mode::Modify, modify::set_int),
    row(50, "get", "offset bits", Mode::Read, read::get),
    row(51, "count", "offset bits", Mode::Read, read::count),
    row(52, "scan_left", "offset bits bit", Mode::Read, read::scan_left),
    row(53, "scan_right", "offset bits bit", Mode::Read, read::scan_right),
    row(54, "get_int", "offset bits [signed]", Mode::Read, read::get_int),
];

/// Runs the operation that `call` names on a bin.
///
/// ```
/// use cairn_ops::{Env, Mode, Reply, bit};
/// use cairn_value::{Particle, ParticleType};
/// let blob = Particle::new(ParticleType::Blob, &[0b0000_1110]);
/// let count = [0x93, 51, 0, 8]; // [count, offset 0, 8 bits]
/// let done = bit::apply(&count, Some(blob), Mode::Read, &Env { now_ns: 0 })?;
/// assert_eq!(done.reply, Some(Reply::int(3)));
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
            target::blob_of(particle)?;
        }
        None if mode == Mode::Read => return Ok(Applied::default()),
        None => {}
    }
    args::run(TABLE, "bit", call, bin, mode)
}

//! Operations that change a blob.

use cairn_value::limits::RECORD_SIZE_CEILING;
use cairn_value::{Edits, Error, Particle, ResultCode};

use super::target::{BITS_MAX, Place, Policy, Refusal, Run};
use super::{Overflow, flags, resize_flags};
use crate::Applied;
use crate::args::Args;
use crate::field::{get, mask, octets, put, sign_extend};

const CREATING: i64 = flags::CREATE_ONLY | flags::UPDATE_ONLY | flags::NO_FAIL;
const BITWISE: i64 = flags::UPDATE_ONLY | flags::NO_FAIL | flags::PARTIAL;
const NUMERIC: i64 = flags::UPDATE_ONLY | flags::NO_FAIL;

fn too_big(bytes: usize) -> Error {
    Error::new(
        ResultCode::RecordTooBig,
        format!("a blob of {bytes} bytes is over the limit of {RECORD_SIZE_CEILING} for a record"),
    )
}

/// Makes the blob a number of bytes long.
pub(super) fn resize(mut args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    let bytes = args.int("size")?;
    let policy = Policy::read(&mut args, CREATING)?;
    let how = args.int_or_zero("resize flags")?;
    let limits = resize_flags::GROW_ONLY | resize_flags::SHRINK_ONLY;
    if how & !(limits | resize_flags::FROM_FRONT) != 0 || how & limits == limits {
        return Err(args.bad("resize flags", "ask for nothing or for both grow and shrink only"));
    }
    let Ok(bytes) = usize::try_from(bytes) else {
        return Err(args.bad("size", "is negative"));
    };
    args.finish()?;
    if bytes > RECORD_SIZE_CEILING {
        return Err(too_big(bytes));
    }
    policy.run(bin, true, |blob| {
        let denied = (bytes < blob.len() && how & resize_flags::GROW_ONLY != 0)
            || (bytes > blob.len() && how & resize_flags::SHRINK_ONLY != 0);
        if denied {
            let message = format!("resizing from {} to {bytes} bytes is denied", blob.len());
            return Err(Refusal::Denied(Error::new(ResultCode::Parameter, message)));
        }
        let at_front = how & resize_flags::FROM_FRONT != 0;
        let grown = vec![0; bytes.saturating_sub(blob.len())];
        let shrunk = blob.len().saturating_sub(bytes);
        let mut edits = Edits::none();
        edits.push(if at_front { 0 } else { blob.len() - shrunk }, shrunk, grown);
        Ok(edits)
    })
}

/// Inserts bytes; the gap to an offset behind the end is filled with zeros.
pub(super) fn insert(mut args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    let offset = args.int("offset")?;
    let value = args.blob("value")?;
    let policy = Policy::read(&mut args, CREATING)?;
    if value.is_empty() {
        return Err(args.bad("value", "is empty"));
    }
    args.finish()?;
    let place = Place::new(offset, value.len());
    policy.run(bin, true, |blob| {
        let at = place.offset_in(blob.len()).map_err(Refusal::Hard)?;
        if at > RECORD_SIZE_CEILING {
            return Err(Refusal::Hard(too_big(at)));
        }
        let mut insert = vec![0; at.saturating_sub(blob.len())];
        insert.extend_from_slice(value);
        let mut edits = Edits::none();
        edits.push(at.min(blob.len()), 0, insert);
        Ok(edits)
    })
}

/// Removes bytes.
pub(super) fn remove(mut args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    let place = Place::read(&mut args, RECORD_SIZE_CEILING)?;
    let policy = Policy::read(&mut args, BITWISE)?;
    args.finish()?;
    policy.run(bin, false, |blob| {
        let run = place.resolve(blob.len(), policy.partial(), ResultCode::Parameter)?;
        let mut edits = Edits::none();
        edits.push(run.at, run.len, Vec::new());
        Ok(edits)
    })
}

/// Overwrites bits with those of a blob.
pub(super) fn set(args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    combine(args, bin, |_, new| new)
}

/// Sets the bits that a blob sets.
pub(super) fn or(args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    combine(args, bin, |old, new| old | new)
}

/// Flips the bits that a blob sets.
pub(super) fn xor(args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    combine(args, bin, |old, new| old ^ new)
}

/// Keeps the bits that a blob sets.
pub(super) fn and(args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    combine(args, bin, |old, new| old & new)
}

fn combine(
    mut args: Args<'_>,
    bin: Option<Particle<'_>>,
    with: fn(u64, u64) -> u64,
) -> Result<Applied, Error> {
    let place = Place::read(&mut args, BITS_MAX)?;
    let value = args.blob("value")?;
    let policy = Policy::read(&mut args, BITWISE)?;
    if value.len() * 8 < place.len() {
        return Err(args.bad("value", "has fewer bits than the operation changes"));
    }
    args.finish()?;
    rewrite(policy, bin, place, |old, run, at, bits| {
        with(get(old, run.at + at, bits), get(value, at, bits))
    })
}

/// Flips bits.
pub(super) fn not(mut args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    let place = Place::read(&mut args, BITS_MAX)?;
    let policy = Policy::read(&mut args, BITWISE)?;
    args.finish()?;
    rewrite(policy, bin, place, |old, run, at, bits| !get(old, run.at + at, bits))
}

/// Moves bits towards the front; zeros follow.
pub(super) fn shift_left(args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    shift(args, bin, |old, run, shift, at, bits| {
        let from = at.saturating_add(shift);
        let take = run.len.saturating_sub(from).min(bits);
        if take == 0 { 0 } else { get(old, run.at + from, take) << (bits - take) }
    })
}

/// Moves bits towards the end; zeros lead.
pub(super) fn shift_right(args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    shift(args, bin, |old, run, shift, at, bits| match at.checked_sub(shift) {
        Some(from) => get(old, run.at + from, bits),
        None => get(old, run.at, (at + bits).saturating_sub(shift)),
    })
}

fn shift(
    mut args: Args<'_>,
    bin: Option<Particle<'_>>,
    moved: fn(&[u8], Run, usize, usize, usize) -> u64,
) -> Result<Applied, Error> {
    let place = Place::read(&mut args, BITS_MAX)?;
    // Like offsets, the protocol takes shifts modulo 2^32.
    let by = args.int("shift")? as i32;
    let policy = Policy::read(&mut args, BITWISE)?;
    let Ok(by) = usize::try_from(by) else {
        return Err(args.bad("shift", "is negative"));
    };
    args.finish()?;
    rewrite(policy, bin, place, |old, run, at, bits| moved(old, run, by, at, bits))
}

/// Rewrites a run of bits, eight at a time, as one edit of the bytes that hold it. `new_bits` gets
/// the old blob, the run, and offset and length of a field in the run.
fn rewrite(
    policy: Policy,
    bin: Option<Particle<'_>>,
    place: Place,
    new_bits: impl Fn(&[u8], Run, usize, usize) -> u64,
) -> Result<Applied, Error> {
    policy.run(bin, false, |blob| {
        let run = place.bits_of(blob, policy.partial())?;
        Ok(edit_run(blob, run, |bytes, start| {
            for (at, bits) in octets(run.len) {
                put(bytes, start + at, bits, new_bits(blob, run, at, bits));
            }
        }))
    })
}

/// One edit that replaces the bytes of a run with what `write` makes of them; `write` gets the bytes
/// and the bit at which the run starts in them.
fn edit_run(blob: &[u8], run: Run, write: impl FnOnce(&mut [u8], usize)) -> Edits {
    let first = run.at / 8;
    let end = (run.at + run.len).div_ceil(8).min(blob.len());
    let mut bytes = blob.get(first..end).unwrap_or_default().to_vec();
    write(&mut bytes, run.at % 8);
    let mut edits = Edits::none();
    edits.push(first, bytes.len(), bytes);
    edits
}

/// Overwrites bits with an integer.
pub(super) fn set_int(mut args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    let place = Place::read(&mut args, 64)?;
    let value = args.int("value")? as u64;
    let policy = Policy::read(&mut args, NUMERIC)?;
    args.finish()?;
    policy.run(bin, false, |blob| {
        let run = place.bits_of(blob, false)?;
        Ok(edit_run(blob, run, |bytes, start| put(bytes, start, run.len, value)))
    })
}

/// Adds to the integer that the bits hold.
pub(super) fn add(args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    arithmetic(args, bin, false)
}

/// Subtracts from the integer that the bits hold.
pub(super) fn subtract(args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    arithmetic(args, bin, true)
}

fn arithmetic(
    mut args: Args<'_>,
    bin: Option<Particle<'_>>,
    subtract: bool,
) -> Result<Applied, Error> {
    let place = Place::read(&mut args, 64)?;
    let value = args.int("value")? as u64 & mask(place.len());
    let policy = Policy::read(&mut args, NUMERIC)?;
    let action = args.int_or_zero("overflow action")?;
    let overflow = match action & !1 {
        0 => Overflow::Fail,
        2 => Overflow::Saturate,
        4 => Overflow::Wrap,
        _ => return Err(args.bad("overflow action", &format!("{action} does not exist"))),
    };
    let signed = action & 1 != 0;
    args.finish()?;
    policy.run(bin, false, |blob| {
        let run = place.bits_of(blob, false)?;
        let old = get(blob, run.at, run.len);
        let (wrapped, nearest) = if signed {
            // The subtrahend is negated inside its own width, so the lowest number stays negative.
            let value = if subtract { value.wrapping_neg() & mask(run.len) } else { value };
            add_signed(old, value, run.len)
        } else {
            add_unsigned(old, value, run.len, subtract)
        };
        let new = match (overflow, nearest) {
            (_, None) | (Overflow::Wrap, _) => wrapped,
            (Overflow::Saturate, Some(nearest)) => nearest,
            (Overflow::Fail, Some(_)) => {
                let message = format!("the sum does not fit {} bits", run.len);
                return Err(Refusal::Denied(Error::new(ResultCode::OpNotApplicable, message)));
            }
        };
        Ok(edit_run(blob, run, |bytes, start| put(bytes, start, run.len, new)))
    })
}

/// The wrapped sum, and the nearest integer that fits when the true sum does not.
fn add_signed(old: u64, value: u64, bits: usize) -> (u64, Option<u64>) {
    let sum = i128::from(sign_extend(old, bits)) + i128::from(sign_extend(value, bits));
    let highest = mask(bits - 1);
    let nearest = if sum > i128::from(highest) {
        Some(highest)
    } else if sum < -i128::from(highest) - 1 {
        Some(!highest & mask(bits))
    } else {
        None
    };
    (sum as u64 & mask(bits), nearest)
}

/// The wrapped sum or difference, and the nearest integer that fits when the true one does not.
fn add_unsigned(old: u64, value: u64, bits: usize, subtract: bool) -> (u64, Option<u64>) {
    if subtract {
        return (old.wrapping_sub(value) & mask(bits), (value > old).then_some(0));
    }
    let wrapped = old.wrapping_add(value) & mask(bits);
    (wrapped, (wrapped < old).then_some(mask(bits)))
}

//! Operations that only answer.

use cairn_value::{Error, Particle, ParticleType};

use super::target::{BITS_MAX, Place, Refusal, Run, blob_of};
use crate::args::Args;
use crate::field::{get as field, octets, sign_extend};
use crate::{Applied, Reply};

/// Finishes the arguments and answers about the run of bits; an absent bin answers nothing.
fn answer(
    args: Args<'_>,
    bin: Option<Particle<'_>>,
    place: Place,
    about: impl FnOnce(&[u8], Run) -> Reply,
) -> Result<Applied, Error> {
    args.finish()?;
    let Some(particle) = bin else {
        return Ok(Applied::default());
    };
    let blob = blob_of(particle)?;
    let run = match place.bits_of(blob, false) {
        Ok(run) => run,
        Err(Refusal::Hard(error) | Refusal::Denied(error)) => return Err(error),
    };
    Ok(Applied { reply: Some(about(blob, run)), ..Applied::default() })
}

/// The bits as a blob, left-aligned.
pub(super) fn get(mut args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    let place = Place::read(&mut args, BITS_MAX)?;
    answer(args, bin, place, |blob, run| {
        let bytes = octets(run.len)
            .map(|(at, bits)| (field(blob, run.at + at, bits) << (8 - bits)) as u8)
            .collect();
        Reply { kind: ParticleType::Blob, bytes }
    })
}

/// How many bits are set.
pub(super) fn count(mut args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    let place = Place::read(&mut args, BITS_MAX)?;
    answer(args, bin, place, |blob, run| {
        let ones = octets(run.len).map(|(at, bits)| field(blob, run.at + at, bits).count_ones());
        Reply::int(ones.map(i64::from).sum())
    })
}

/// Place of the first bit with the wanted value, counted from the start of the run; -1 if none.
pub(super) fn scan_left(args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    scan(args, bin, |blob, run, wanted| {
        octets(run.len).find_map(|(at, bits)| {
            let hits = hits(blob, run, at, bits, wanted);
            (hits != 0).then(|| at + hits.leading_zeros() as usize - (64 - bits))
        })
    })
}

/// Place of the last bit with the wanted value, counted from the start of the run; -1 if none.
pub(super) fn scan_right(args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    scan(args, bin, |blob, run, wanted| {
        (0..run.len.div_ceil(8)).rev().find_map(|octet| {
            let (at, bits) = (octet * 8, (run.len - octet * 8).min(8));
            let hits = hits(blob, run, at, bits, wanted);
            (hits != 0).then(|| at + bits - 1 - hits.trailing_zeros() as usize)
        })
    })
}

/// A field in which the bits with the wanted value are set.
fn hits(blob: &[u8], run: Run, at: usize, bits: usize, wanted: bool) -> u64 {
    let value = field(blob, run.at + at, bits);
    if wanted { value } else { !value & crate::field::mask(bits) }
}

fn scan(
    mut args: Args<'_>,
    bin: Option<Particle<'_>>,
    find: impl FnOnce(&[u8], Run, bool) -> Option<usize>,
) -> Result<Applied, Error> {
    let place = Place::read(&mut args, BITS_MAX)?;
    let wanted = args.boolean("bit")?;
    answer(args, bin, place, |blob, run| {
        Reply::int(find(blob, run, wanted).map_or(-1, |at| at as i64))
    })
}

/// The bits as an integer.
pub(super) fn get_int(mut args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    let place = Place::read(&mut args, 64)?;
    let signed = args.int_or_zero("sign flag")? & 1 != 0;
    answer(args, bin, place, |blob, run| {
        let value = field(blob, run.at, run.len);
        Reply::int(if signed { sign_extend(value, run.len) } else { value as i64 })
    })
}

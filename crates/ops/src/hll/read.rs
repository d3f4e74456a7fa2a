//! Operations that only answer. On an absent bin they answer nothing, and their lists are not looked
//! into.

use cairn_value::packed::write;
use cairn_value::{Error, Particle, ParticleType};

use super::estimate::{self, Overlap, PLAIN_SKETCHES_MAX};
use super::sketch::{Registers, Sketch};
use super::{ListArg, refused, sketch_of};
use crate::args::Args;
use crate::{Applied, Reply};

/// Finishes the arguments and answers about the bin's sketch.
fn answer(
    args: Args<'_>,
    bin: Option<Particle<'_>>,
    about: impl FnOnce(Sketch<'_>) -> Result<Reply, Error>,
) -> Result<Applied, Error> {
    args.finish()?;
    let reply = bin.map(|particle| about(sketch_of(particle)?)).transpose()?;
    Ok(Applied { reply, ..Applied::default() })
}

/// Answers about the bin's sketch together with those of a list.
fn answer_together(
    mut args: Args<'_>,
    bin: Option<Particle<'_>>,
    about: impl FnOnce(&[Sketch<'_>]) -> Result<Reply, Error>,
) -> Result<Applied, Error> {
    let list = ListArg::read(&mut args, "sketches")?;
    answer(args, bin, |own| {
        let mut all = vec![own];
        all.extend(list.sketches()?);
        about(&all)
    })
}

/// How many different elements went in.
pub(super) fn count(args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    answer(args, bin, |sketch| Ok(Reply::int(estimate::count_of(&sketch) as i64)))
}

/// The union as a sketch.
pub(super) fn union(args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    answer_together(args, bin, |all| {
        Ok(Reply { kind: ParticleType::Hll, bytes: united(all)?.to_bytes() })
    })
}

/// How many different elements went into any of the sketches.
pub(super) fn union_count(args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    answer_together(args, bin, |all| Ok(Reply::int(estimate::count(&united(all)?) as i64)))
}

fn united(all: &[Sketch<'_>]) -> Result<Registers, Error> {
    Registers::union(all.iter().copied()).ok_or_else(|| refused("the list is empty"))
}

/// How many different elements went into all of the sketches.
pub(super) fn intersect_count(args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    answer_together(args, bin, |all| Ok(Reply::int(overlap(all)?.count as i64)))
}

/// Intersection over union.
pub(super) fn similarity(args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    answer_together(args, bin, |all| {
        let bytes = overlap(all)?.similarity.to_be_bytes().to_vec();
        Ok(Reply { kind: ParticleType::Double, bytes })
    })
}

fn overlap(all: &[Sketch<'_>]) -> Result<Overlap, Error> {
    estimate::overlap(all).ok_or_else(|| {
        debug_assert!(all.len() > PLAIN_SKETCHES_MAX);
        refused("more than 3 sketches can only be intersected when all have the same minhash bits")
    })
}

/// Index bits and minhash bits.
pub(super) fn describe(args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    answer(args, bin, |sketch| {
        let mut bytes = Vec::new();
        write::list_head(&mut bytes, 2);
        write::int(&mut bytes, i64::from(sketch.shape.index_bits));
        write::int(&mut bytes, i64::from(sketch.shape.minhash_bits));
        Ok(Reply { kind: ParticleType::List, bytes })
    })
}

/// 1 if all elements may have been added, 0 if one of them certainly was not.
pub(super) fn may_contain(mut args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    let list = ListArg::read(&mut args, "elements")?;
    answer(args, bin, |sketch| {
        let may = list.elements()?.into_iter().all(|element| {
            let (index, content) = sketch.shape.place(element);
            sketch.register(index) >= content
        });
        Ok(Reply::int(i64::from(may)))
    })
}

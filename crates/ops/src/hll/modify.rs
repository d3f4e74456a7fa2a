//! Operations that change a sketch.

use std::collections::BTreeMap;

use cairn_value::{Edits, Error, Particle, ParticleType, ResultCode};

use super::sketch::{Registers, Shape, Sketch};
use super::{ListArg, estimate, flags, refused, sketch_of};
use crate::args::Args;
use crate::{Applied, Effect, Reply};

/// Reads the flags, of which `allowed` make sense for the operation.
fn read_flags(args: &mut Args<'_>, allowed: i64) -> Result<i64, Error> {
    let bits = args.int_or_zero("flags")?;
    let both = flags::CREATE_ONLY | flags::UPDATE_ONLY;
    if bits & !allowed != 0 || bits & both == both {
        return Err(args.bad("flags", &format!("are {bits:#x}, allowed are {allowed:#x}")));
    }
    Ok(bits)
}

/// The sketch to change, `None` to start a new one, or the reason why the change is denied.
fn target<'a>(
    bin: Option<Particle<'a>>,
    flags: i64,
) -> Result<Result<Option<Sketch<'a>>, Error>, Error> {
    let sketch = bin.map(sketch_of).transpose()?;
    Ok(match sketch {
        Some(_) if flags & flags::CREATE_ONLY != 0 => Err(ResultCode::BinExists.into()),
        None if flags & flags::UPDATE_ONLY != 0 => Err(ResultCode::BinNotFound.into()),
        sketch => Ok(sketch),
    })
}

/// A denial is an error, or nothing at all under no-fail.
fn denied(error: Error, flags: i64) -> Result<Applied, Error> {
    if flags & flags::NO_FAIL != 0 { Ok(Applied::default()) } else { Err(error) }
}

fn not_applicable(message: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ResultCode::OpNotApplicable, message)
}

fn whole(registers: &Registers) -> Effect {
    Effect::Whole(ParticleType::Hll, registers.to_bytes())
}

fn edit(edits: Edits) -> Effect {
    Effect::Edit { kind: ParticleType::Hll, edits }
}

/// Index and minhash bits as they were sent, each legal for itself and with the other; `None` means
/// "as it is".
struct Wanted {
    index_bits: Option<u8>,
    minhash_bits: Option<u8>,
}

impl Wanted {
    fn read(args: &mut Args<'_>) -> Result<Wanted, Error> {
        let index_bits = bits(args, "index bits")?;
        let minhash_bits = bits(args, "minhash bits")?;
        if Shape::new(index_bits.unwrap_or(4), minhash_bits.unwrap_or(0)).is_none() {
            return Err(args.bad(
                "size",
                "is illegal: 4 to 16 index bits, 0 or 4 to 51 minhash bits, 64 together",
            ));
        }
        Ok(Wanted { index_bits, minhash_bits })
    }

    /// The shape of a sketch that replaces `old`.
    fn shape(&self, old: Option<Shape>) -> Result<Shape, Error> {
        let index_bits = self.index_bits.or(old.map(|shape| shape.index_bits));
        let minhash_bits = self.minhash_bits.or(old.map(|shape| shape.minhash_bits));
        let Some(index_bits) = index_bits else {
            return Err(not_applicable("the bin does not exist and no index bits are given"));
        };
        Shape::new(index_bits, minhash_bits.unwrap_or(0)).ok_or_else(|| {
            not_applicable(format!("{index_bits} index bits do not go with the minhash bits"))
        })
    }
}

/// A number of bits that may be left out or be -1.
fn bits(args: &mut Args<'_>, name: &str) -> Result<Option<u8>, Error> {
    if args.left() == 0 {
        return Ok(None);
    }
    match args.int(name)? {
        -1 => Ok(None),
        bits => u8::try_from(bits)
            .ok()
            .filter(|&bits| bits <= 64)
            .map(Some)
            .ok_or_else(|| args.bad(name, "are out of range")),
    }
}

/// Makes an empty sketch, or empties the one that is there.
pub(super) fn init(mut args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    let wanted = Wanted::read(&mut args)?;
    let allowed = flags::CREATE_ONLY | flags::UPDATE_ONLY | flags::NO_FAIL;
    let flags = read_flags(&mut args, allowed)?;
    args.finish()?;
    let old = match target(bin, flags)? {
        Ok(old) => old,
        Err(error) => return denied(error, flags),
    };
    match wanted.shape(old.map(|sketch| sketch.shape)) {
        Ok(shape) => Ok(Applied { effect: whole(&Registers::empty(shape)), ..Applied::default() }),
        Err(error) => denied(error, flags),
    }
}

/// Adds elements; answers how many of them changed the sketch.
pub(super) fn add(mut args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    let list = ListArg::read(&mut args, "elements")?;
    let wanted = Wanted::read(&mut args)?;
    let flags = read_flags(&mut args, flags::CREATE_ONLY | flags::NO_FAIL)?;
    args.finish()?;
    let elements = list.elements()?;
    match target(bin, flags)? {
        Err(error) => denied(error, flags),
        Ok(Some(sketch)) => {
            let (changes, changed) = raise(sketch.shape, &elements, |index| sketch.register(index));
            let changes: Vec<_> = changes.into_iter().collect();
            let effect = edit(sketch.edit(&changes));
            Ok(Applied { effect, reply: Some(Reply::int(changed)) })
        }
        Ok(None) => match wanted.shape(None) {
            Err(error) => denied(error, flags),
            Ok(shape) => {
                let (changes, changed) = raise(shape, &elements, |_| 0);
                let mut registers = Registers::empty(shape);
                for (index, content) in changes {
                    registers.list[index] = content;
                }
                Ok(Applied { effect: whole(&registers), reply: Some(Reply::int(changed)) })
            }
        },
    }
}

/// The registers that elements raise, and how many elements raised one.
fn raise(
    shape: Shape,
    elements: &[&[u8]],
    old: impl Fn(usize) -> u64,
) -> (BTreeMap<usize, u64>, i64) {
    let mut changes = BTreeMap::new();
    let mut changed = 0;
    for element in elements {
        let (index, content) = shape.place(element);
        if content > changes.get(&index).copied().unwrap_or_else(|| old(index)) {
            changes.insert(index, content);
            changed += 1;
        }
    }
    (changes, changed)
}

/// Makes the bin the union of itself and other sketches.
pub(super) fn set_union(mut args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    let list = ListArg::read(&mut args, "sketches")?;
    let allowed = flags::CREATE_ONLY | flags::UPDATE_ONLY | flags::NO_FAIL | flags::ALLOW_FOLD;
    let flags = read_flags(&mut args, allowed)?;
    args.finish()?;
    let sketches = list.sketches()?;
    let own = match target(bin, flags)? {
        Ok(own) => own,
        Err(error) => return denied(error, flags),
    };
    let union = Registers::union(own.into_iter().chain(sketches.iter().copied()))
        .ok_or_else(|| refused("the list is empty"))?;
    let effect = match own {
        None => whole(&union),
        Some(own) if own.shape == union.shape => edit(own.edit(&raised(&own, &union))),
        Some(_) if flags & flags::ALLOW_FOLD != 0 => whole(&union),
        Some(own) => {
            let message = format!(
                "the union has {} index and {} minhash bits, the bin {} and {}; allow folding",
                union.shape.index_bits,
                union.shape.minhash_bits,
                own.shape.index_bits,
                own.shape.minhash_bits
            );
            return denied(not_applicable(message), flags);
        }
    };
    Ok(Applied { effect, ..Applied::default() })
}

/// The registers in which a union differs from a sketch of the same shape.
fn raised(own: &Sketch<'_>, union: &Registers) -> Vec<(usize, u64)> {
    let pairs = own.iter().zip(&union.list).enumerate();
    pairs.filter(|(_, (old, new))| old != *new).map(|(index, (_, new))| (index, *new)).collect()
}

/// Stores the count in the sketch and answers it.
pub(super) fn refresh_count(args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    args.finish()?;
    let sketch = sketch_of(bin.ok_or(ResultCode::BinNotFound)?)?;
    let count = estimate::count_of(&sketch);
    Ok(Applied { effect: edit(sketch.edit_count(count)), reply: Some(Reply::int(count as i64)) })
}

/// Brings the sketch to fewer index bits.
pub(super) fn fold(mut args: Args<'_>, bin: Option<Particle<'_>>) -> Result<Applied, Error> {
    let wanted = bits(&mut args, "index bits")?.and_then(|index_bits| Shape::new(index_bits, 0));
    let Some(shape) = wanted else {
        return Err(args.bad("index bits", "must be 4 to 16"));
    };
    args.finish()?;
    let sketch = sketch_of(bin.ok_or(ResultCode::BinNotFound)?)?;
    if sketch.shape.minhash_bits > 0 || shape.index_bits > sketch.shape.index_bits {
        return Err(not_applicable(format!(
            "a sketch of {} index and {} minhash bits cannot be folded to {} index bits",
            sketch.shape.index_bits, sketch.shape.minhash_bits, shape.index_bits
        )));
    }
    let folded = Registers::union_as(shape, std::iter::once(sketch));
    Ok(Applied { effect: whole(&folded), ..Applied::default() })
}

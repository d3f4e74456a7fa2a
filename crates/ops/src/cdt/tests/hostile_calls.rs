//! Calls from outside never panic, and one that fails leaves the bin alone.

use cairn_value::packed::check;
use cairn_value::{Particle, ParticleType, Value};

use super::{Bin, call, in_context, ints};
use crate::cdt::seq::{Place, Seq};
use crate::hostile;
use crate::{Effect, Mode, cdt};

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for row in cdt::list::TABLE.iter().chain(cdt::map::TABLE) {
        for count in row.required..=row.args.len() {
            let arguments: Vec<Value> = row.args[..count]
                .iter()
                .map(|kind| match kind {
                    cdt::Kind::List => ints([1, 5]),
                    cdt::Kind::Map => Value::map([(1.into(), 2.into())]),
                    _ => Value::Int(1),
                })
                .collect();
            let plain = call(row.code.into(), &arguments);
            seeds.push(in_context(&[(0x10, 1.into())], &plain));
            seeds.push(in_context(&[(0x62, "k".into()), (0x90, 3.into())], &plain));
            seeds.push(in_context(&[(0x22, "a".into()), (0x13, ints([1]))], &plain));
            seeds.push(plain);
        }
    }
    seeds
}

fn bins() -> Vec<Bin> {
    let nested = Value::list([1.into(), ints([5, 1]), Value::map([("a".into(), ints([1]))])]);
    let map =
        Value::map([("a".into(), Value::list([ints([1]), ints([2])])), ("k".into(), 1.into())]);
    let mut bins = vec![Bin::default(), Bin::of(&"text".into()), Bin::of(&nested), Bin::of(&map)];
    for flags in [0i64, 1, 16, 17] {
        let mut bin = Bin::of(&ints((0..80).map(|n| n * 7 % 31)));
        bin.modify(&call(0, &[flags.into()])).unwrap();
        bins.push(bin);
    }
    for flags in [0i64, 1, 3, 17, 19] {
        let mut bin = Bin::of(&Value::map((0..80).map(|n| (n.into(), (n * 7 % 31).into()))));
        bin.modify(&call(64, &[flags.into()])).unwrap();
        bins.push(bin);
    }
    bins
}

#[test]
fn mutated_calls_are_refused_or_leave_a_sound_bin() {
    let bins = bins();
    hostile::for_a_while(&seeds(), |call, noise| {
        let bin = &bins[noise.below(bins.len())];
        let mode = if noise.below(3) == 0 { Mode::Read } else { Mode::Modify };
        let Ok(applied) = cdt::apply(call, bin.particle(), mode, &super::ENV) else { return };
        let new = match applied.effect {
            Effect::Edit { edits, .. } => edits.apply(&bin.bytes),
            Effect::Whole(_, bytes) => bytes,
            Effect::None | Effect::Remove => return,
        };
        assert_eq!(mode, Mode::Modify);
        assert_eq!(check(&new), Ok(()));
        let seq = Seq::read(&new, 0, Place::Top).unwrap().unwrap();
        if seq.flags() & 0x10 != 0 {
            assert!(seq.index().is_some(), "the index does not fit after {call:02x?}");
        }
    });
}

#[test]
fn mutated_bins_make_operations_fail_and_nothing_else() {
    let calls = seeds();
    let stored: Vec<Vec<u8>> = bins().into_iter().map(|bin| bin.bytes).collect();
    hostile::for_a_while(&stored, |bytes, noise| {
        let kind = if noise.below(3) == 0 { ParticleType::Map } else { ParticleType::List };
        let call = &calls[noise.below(calls.len())];
        let mode = if noise.below(2) == 0 { Mode::Read } else { Mode::Modify };
        let _ = cdt::apply(call, Some(Particle::new(kind, bytes)), mode, &super::ENV);
    });
}

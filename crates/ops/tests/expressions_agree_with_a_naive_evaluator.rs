//! Compiled programs against a naive recursive evaluator, over generated trees and records.
#![allow(clippy::unwrap_used)]

mod exp_trees;

use cairn_ops::Env;
use cairn_ops::exp::{Kind, Program, Scope, Val, Verdict};
use cairn_value::{Bins, Digest, Meta, Particle, RecordView, Value};
use exp_trees::maker::{Maker, bins, stored};
use exp_trees::{Dice, World};
use proptest::prelude::*;

fn as_value(result: Val<'_>) -> Option<Value> {
    let reply = result.into_reply()?;
    Some(Value::from_particle(Particle::new(reply.kind, &reply.bytes)).unwrap())
}

fn same(a: &Option<Value>, b: &Option<Value>) -> bool {
    match (a, b) {
        (Some(Value::Double(x)), Some(Value::Double(y))) => x == y || x.is_nan() && y.is_nan(),
        _ => a == b,
    }
}

fn with_record<R>(bins: &[u8], count: usize, run: impl FnOnce(&RecordView<'_>) -> R) -> R {
    let meta = Meta { generation: 1, void_time: 0, last_update_ns: 0, stored_size: 100 };
    run(&RecordView {
        digest: Digest([7; 20]),
        meta,
        set: b"set",
        key: None,
        bins: Bins::new(count as u16, bins),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8000))]

    #[test]
    fn programs_yield_what_the_naive_evaluator_yields(seed in 1u64.., depth in 1usize..6) {
        let dice = &mut Dice(seed);
        let kinds = [Kind::Bool, Kind::Int, Kind::Float, Kind::Str, Kind::Blob, Kind::List, Kind::Map];
        let kind = dice.pick(&kinds);
        let record = bins(dice);
        let tree = Maker::new(dice, false).make(kind, depth);
        let packed = tree.packed();
        let program = Program::compile(&packed).unwrap();
        let kept = program.clone().into_owned();
        let world = World { bins: Some(&record), hand: None };
        let expected = tree.evaluate(&world, &mut Vec::new());
        with_record(&stored(&record), record.len(), |view| {
            let scope = Scope::of_record(view, Env { now_ns: 0 });
            let got = as_value(program.value(&scope));
            prop_assert!(same(&got, &expected), "{tree:?}\n{record:?}\n{got:?} != {expected:?}");
            prop_assert!(same(&as_value(kept.value(&scope)), &expected));
            let verdict = match expected {
                Some(Value::Bool(true)) => Verdict::True,
                Some(Value::Bool(false)) => Verdict::False,
                _ => Verdict::Unknown,
            };
            prop_assert_eq!(program.filter(&scope), verdict);
            Ok(())
        })?;
    }

    #[test]
    fn a_cut_program_is_refused(seed in 1u64.., cut in any::<prop::sample::Index>()) {
        let packed = Maker::new(&mut Dice(seed), false).make(Kind::Bool, 4).packed();
        let cut = &packed[..cut.index(packed.len())];
        prop_assert!(Program::compile(cut).is_err());
    }

    #[test]
    fn an_argument_of_another_type_is_refused(seed in 1u64..) {
        let dice = &mut Dice(seed);
        let wrong = Maker::new(dice, false).make(Kind::Str, 2).packed();
        let right = Maker::new(dice, false).make(Kind::Int, 2).packed();
        // An unknown literal fits every type, so only trees that yield text are wrong.
        prop_assume!(Program::compile(&wrong).unwrap().kind() == Kind::Str);
        for code in [20, 21, 22, 23, 26, 32, 33, 34, 36, 37, 38, 50, 51] {
            let packed = [&[0x93, code], &right[..], &wrong[..]].concat();
            prop_assert!(Program::compile(&packed).is_err(), "code {code}");
        }
    }
}

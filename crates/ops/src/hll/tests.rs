//! The twin is a plain map from register number to (rank, minhash).

use std::collections::BTreeMap;

use cairn_value::{Error, Particle, ParticleType, ResultCode, Value};
use proptest::prelude::*;

use super::sketch::{Shape, Sketch};
use super::{TABLE, apply, murmur};
use crate::{Applied, Effect, Env, Mode, Reply, hostile};

const ENV: Env = Env { now_ns: 0 };

fn call(code: i64, args: impl IntoIterator<Item = Value>) -> Vec<u8> {
    Value::list(std::iter::once(Value::Int(code)).chain(args)).to_packed()
}

fn elements(range: std::ops::Range<usize>) -> Value {
    Value::list(range.map(|i| Value::from(format!("k{i}").as_str())))
}

fn particle(bytes: &[u8]) -> Particle<'_> {
    Particle::new(ParticleType::Hll, bytes)
}

/// Runs a change and gives the new bytes (`None`: as before) and the answer.
fn change(call: &[u8], bin: Option<&[u8]>) -> Result<(Option<Vec<u8>>, Option<Reply>), ResultCode> {
    let done = apply(call, bin.map(particle), Mode::Modify, &ENV).map_err(|error| error.code)?;
    let bytes = match done.effect {
        Effect::None => None,
        Effect::Edit { edits, .. } => Some(edits.apply(bin.unwrap())),
        Effect::Whole(ParticleType::Hll, bytes) => Some(bytes),
        other => panic!("a sketch does not change by {other:?}"),
    };
    Ok((bytes, done.reply))
}

fn ask(code: i64, args: impl IntoIterator<Item = Value>, bin: &[u8]) -> Result<Reply, Error> {
    let done = apply(&call(code, args), Some(particle(bin)), Mode::Read, &ENV)?;
    Ok(done.reply.unwrap())
}

fn ask_int(code: i64, args: impl IntoIterator<Item = Value>, bin: &[u8]) -> i64 {
    i64::from_be_bytes(ask(code, args, bin).unwrap().bytes.try_into().unwrap())
}

fn sketch(range: std::ops::Range<usize>, index_bits: i64, minhash_bits: i64) -> Vec<u8> {
    let add = call(1, [elements(range), index_bits.into(), minhash_bits.into(), 0.into()]);
    change(&add, None).unwrap().0.unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_layout_is_the_one_of_the_wire() {
    let bytes = sketch(35..60, 4, -1);
    assert_eq!(hex(&bytes), "0004000000000000000000007083003007001081041042");
    let bytes = sketch(49..74, 6, -1);
    assert_eq!(
        hex(&bytes),
        "00060000000000000000000400800000000000000c014004708000000000000000004000204300004018100\
         10000000000c0000140000080001040"
    );
}

#[test]
fn counts_are_close_from_nothing_to_many() {
    for index_bits in [4, 8, 12, 16] {
        let mut bytes = change(&call(0, [index_bits.into()]), None).unwrap().0.unwrap();
        assert_eq!(ask_int(50, [], &bytes), 0);
        let mut from = 0;
        for to in [1, 10, 100, 1_000, 30_000] {
            let (new, _) = change(&call(1, [elements(from..to)]), Some(&bytes)).unwrap();
            bytes = new.unwrap();
            from = to;
            // Five standard deviations, or two elements that share a register with another.
            let allowed = (5.0 * 1.04 / f64::from(1 << index_bits).sqrt() * to as f64).max(2.0);
            let off = ask_int(50, [], &bytes) - to as i64;
            assert!(off.abs() as f64 <= allowed, "{index_bits} bits, {to} elements: off {off}");
        }
    }
}

#[test]
fn the_cached_count_goes_when_a_register_changes() {
    let bytes = sketch(0..100, 10, -1);
    let (refreshed, reply) = change(&call(3, []), Some(&bytes)).unwrap();
    let refreshed = refreshed.unwrap();
    assert_eq!(reply, Some(Reply::int(ask_int(50, [], &bytes))));
    assert_eq!(Sketch::parse(&refreshed).unwrap().cached as i64, ask_int(50, [], &bytes));
    let (same, reply) = change(&call(1, [elements(0..100)]), Some(&refreshed)).unwrap();
    assert_eq!((same.unwrap(), reply), (refreshed.clone(), Some(Reply::int(0))));
    let (more, _) = change(&call(1, [elements(0..101)]), Some(&refreshed)).unwrap();
    assert_eq!(Sketch::parse(&more.unwrap()).unwrap().cached, 0);
}

#[test]
fn adding_one_element_edits_a_few_bytes() {
    let bytes = sketch(0..1000, 16, 8);
    let add = call(1, [elements(5000..5001)]);
    match apply(&add, Some(particle(&bytes)), Mode::Modify, &ENV).unwrap().effect {
        Effect::Edit { edits, .. } => assert!(edits.inserted_len() <= 8 + 3, "{edits:?}"),
        other => panic!("expected an edit, got {other:?}"),
    }
}

#[test]
fn a_union_folds_to_the_smallest_and_needs_leave_for_the_bin() {
    let (small, large) = (sketch(0..50, 6, -1), sketch(25..75, 10, 4));
    let union = |flags: i64| call(2, [Value::list([Value::Hll(small.clone())]), flags.into()]);
    assert_eq!(change(&union(0), Some(&large)), Err(ResultCode::OpNotApplicable));
    assert_eq!(change(&union(4), Some(&large)), Ok((None, None)));
    let folded = change(&union(8), Some(&large)).unwrap().0.unwrap();
    assert_eq!(folded, sketch(0..75, 6, -1));
    // The other way round nothing is lost in the bin, so no leave is needed.
    let other = call(2, [Value::list([Value::Hll(large.clone())])]);
    assert_eq!(change(&other, Some(&small)).unwrap().0.unwrap(), folded);
    // A new bin takes the common shape.
    let both = call(2, [Value::list([Value::Hll(large.clone()), Value::Hll(small.clone())])]);
    assert_eq!(change(&both, None).unwrap().0.unwrap(), folded);
}

#[test]
fn folding_is_what_fewer_index_bits_would_have_given() {
    let large = sketch(0..500, 12, -1);
    for index_bits in 4..=12 {
        let fold = call(4, [index_bits.into()]);
        let folded = change(&fold, Some(&large)).unwrap().0.unwrap();
        assert_eq!(folded, sketch(0..500, index_bits, -1));
    }
    assert_eq!(change(&call(4, [13.into()]), Some(&large)), Err(ResultCode::OpNotApplicable));
    assert_eq!(change(&call(4, [3.into()]), Some(&large)), Err(ResultCode::Parameter));
    let with_minhash = sketch(0..5, 8, 8);
    assert_eq!(change(&call(4, [4.into()]), Some(&with_minhash)), Err(ResultCode::OpNotApplicable));
}

#[test]
fn flags_and_sizes_are_checked() {
    let bin = sketch(0..5, 8, -1);
    let init = |args: &[i64]| call(0, args.iter().map(|&arg| Value::Int(arg)));
    assert_eq!(change(&init(&[8, -1, 1]), Some(&bin)), Err(ResultCode::BinExists));
    assert_eq!(change(&init(&[8, -1, 5]), Some(&bin)), Ok((None, None)));
    assert_eq!(change(&init(&[8, -1, 2]), None), Err(ResultCode::BinNotFound));
    assert_eq!(change(&init(&[8, -1, 8]), None), Err(ResultCode::Parameter));
    assert_eq!(change(&init(&[-1]), None), Err(ResultCode::OpNotApplicable));
    for illegal in [[3, 0], [17, 0], [8, 3], [8, 52], [16, 49], [0, 0]] {
        assert_eq!(change(&init(&illegal), None), Err(ResultCode::Parameter), "{illegal:?}");
    }
    let wide = change(&init(&[16, 0]), None).unwrap().0.unwrap();
    assert_eq!(change(&init(&[-1, 51]), Some(&wide)), Err(ResultCode::OpNotApplicable));
    let add = |flags: i64| call(1, [elements(0..1), 8.into(), 0.into(), flags.into()]);
    assert_eq!(change(&add(2), Some(&bin)), Err(ResultCode::Parameter));
    assert_eq!(change(&add(1), Some(&bin)), Err(ResultCode::BinExists));
    let nested = call(1, [Value::list([Value::list([])]), 8.into()]);
    assert_eq!(change(&nested, None), Err(ResultCode::Parameter));
}

#[test]
fn intersections_count_what_is_common() {
    let (a, b) = (sketch(0..1000, 12, 20), sketch(500..1500, 12, 20));
    let with = |list: &[&Vec<u8>]| {
        Value::list(list.iter().map(|bytes| Value::Hll(bytes.to_vec())).collect::<Vec<_>>())
    };
    let near = |found: i64, expected: i64| (found - expected).abs() < 120;
    assert!(near(ask_int(53, [with(&[&b])], &a), 500));
    assert_eq!(ask_int(53, [with(&[&a])], &a), ask_int(50, [], &a));
    // With minhash any number can be intersected, without it three.
    assert!(near(ask_int(53, [with(&[&b, &a, &b, &a])], &a), 500));
    let (c, d) = (sketch(0..1000, 12, -1), sketch(500..1500, 12, -1));
    assert!(near(ask_int(53, [with(&[&d, &c])], &c), 500));
    assert_eq!(ask(53, [with(&[&d, &c, &d])], &c).unwrap_err().code, ResultCode::Parameter);
    let empty = change(&call(0, [8.into()]), None).unwrap().0.unwrap();
    assert_eq!(ask_int(53, [with(&[&empty])], &empty), 0);
    let similarity = ask(54, [with(&[&b])], &a).unwrap();
    let similarity = f64::from_be_bytes(similarity.bytes.try_into().unwrap());
    assert!((similarity - 1.0 / 3.0).abs() < 0.05, "{similarity}");
}

#[test]
fn forged_counts_do_not_overflow() {
    let mut forged = sketch(0..9, 8, -1);
    forged[3..11].fill(0xff);
    for code in [53, 54] {
        for copies in 1..3 {
            let list = Value::list(vec![Value::Hll(forged.clone()); copies]);
            ask(code, [list], &forged).unwrap();
        }
    }
}

/// What a sketch of elements holds, told without bytes.
fn twin(shape: Shape, elements: &[Value]) -> BTreeMap<usize, (u32, u64)> {
    let mut registers = BTreeMap::new();
    for element in elements {
        let (h1, h2) = murmur::hash(&element.to_packed());
        let size = 1u64 << shape.index_bits;
        let minhash = (h1 / size) % (1u64 << shape.minhash_bits);
        let rank = (0..64).take_while(|bit| h2 >> bit & 1 == 0).count() as u32 + 1;
        let register = registers.entry((h1 % size) as usize).or_default();
        *register = (rank, minhash).max(*register);
    }
    registers
}

fn registers_of(bytes: &[u8]) -> BTreeMap<usize, (u32, u64)> {
    let sketch = Sketch::parse(bytes).unwrap();
    let minhash_bits = sketch.shape.minhash_bits;
    let split = |content: u64| ((content >> minhash_bits) as u32, content % (1 << minhash_bits));
    let used = sketch.iter().enumerate().filter(|(_, content)| *content != 0);
    used.map(|(index, content)| (index, split(content))).collect()
}

fn some_elements() -> impl Strategy<Value = Vec<Value>> {
    let element = prop_oneof![
        any::<i64>().prop_map(Value::Int),
        "[a-z]{0,9}".prop_map(Value::String),
        prop::collection::vec(any::<u8>(), 0..40).prop_map(Value::Blob),
        any::<f64>().prop_map(Value::Double),
    ];
    prop::collection::vec(element, 1..60)
}

proptest! {
    #[test]
    fn sketches_agree_with_plain_registers(
        first in some_elements(),
        second in some_elements(),
        index_bits in 4u8..=9,
        minhash_bits in prop_oneof![Just(0u8), 4u8..=51],
    ) {
        let shape = Shape::new(index_bits, minhash_bits).unwrap();
        let sizes = [Value::Int(index_bits.into()), Value::Int(minhash_bits.into())];
        let add = |list: &[Value]| {
            call(1, std::iter::once(Value::list(list.to_vec())).chain(sizes.clone()))
        };
        let (one, _) = change(&add(&first), None).unwrap();
        let one = one.unwrap();
        prop_assert_eq!(registers_of(&one), twin(shape, &first));
        let both: Vec<_> = first.iter().chain(&second).cloned().collect();
        let (edited, _) = change(&add(&second), Some(&one)).unwrap();
        let edited = edited.unwrap();
        prop_assert_eq!(registers_of(&edited), twin(shape, &both));
        let (other, _) = change(&add(&second), None).unwrap();
        let union = ask(51, [Value::list([Value::Hll(other.unwrap())])], &one).unwrap();
        prop_assert_eq!(&union.bytes, &edited);
        prop_assert_eq!(ask_int(56, [Value::list(both)], &edited), 1);
    }
}

#[test]
fn hostile_calls_never_panic() {
    let sketches = [sketch(0..9, 4, -1), sketch(3..12, 5, 7), sketch(1..5, 8, 8)];
    let list = Value::list(sketches.iter().cloned().map(Value::Hll));
    let mut seeds = Vec::new();
    for row in TABLE {
        seeds.push(call(row.code, []));
        seeds.push(call(row.code, [elements(0..3), 6.into(), 5.into(), 0.into()]));
        seeds.push(call(row.code, [list.clone()]));
        seeds.push(call(row.code, [list.clone(), 8.into()]));
        seeds.push(call(row.code, [4.into(), 9.into()]));
    }
    hostile::for_a_while(&seeds, |call, noise| {
        let old = sketches[noise.below(sketches.len())].clone();
        for mode in [Mode::Read, Mode::Modify] {
            let bin = (noise.below(4) > 0).then(|| particle(&old));
            if let Ok(Applied { effect: Effect::Edit { edits, .. }, .. }) =
                apply(call, bin, mode, &ENV)
            {
                edits.apply(&old);
            }
        }
    });
}

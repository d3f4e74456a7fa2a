//! The twin works on a `Vec<bool>`; the real thing must agree with it bit by bit.

use cairn_value::{Error, Particle, ParticleType, ResultCode, Value};
use proptest::prelude::*;

use super::{TABLE, apply};
use crate::{Applied, Effect, Env, Mode, Reply, hostile};

const ENV: Env = Env { now_ns: 0 };

fn call(code: i64, args: Vec<Value>) -> Vec<u8> {
    Value::list(std::iter::once(Value::Int(code)).chain(args)).to_packed()
}

fn ints(code: i64, args: &[i64]) -> Vec<u8> {
    call(code, args.iter().map(|&arg| Value::Int(arg)).collect())
}

fn run(call: &[u8], blob: Option<&[u8]>) -> Result<Applied, Error> {
    let code = Value::from_packed(call).map(|value| match value {
        Value::List { items, .. } => items.first().cloned(),
        _ => None,
    });
    let mode = match code {
        Ok(Some(Value::Int(50..))) => Mode::Read,
        _ => Mode::Modify,
    };
    apply(call, blob.map(|bytes| Particle::new(ParticleType::Blob, bytes)), mode, &ENV)
}

/// The blob after a call, `None` when the bin stays as it was.
fn changed(call: &[u8], blob: &[u8]) -> Result<Option<Vec<u8>>, ResultCode> {
    match run(call, Some(blob)) {
        Err(error) => Err(error.code),
        Ok(Applied { effect: Effect::None, .. }) => Ok(None),
        Ok(Applied { effect: Effect::Edit { edits, .. }, .. }) => Ok(Some(edits.apply(blob))),
        Ok(other) => panic!("a blob changes by edits, not {other:?}"),
    }
}

#[test]
fn setting_one_bit_of_a_megabyte_is_an_edit_of_one_byte() {
    let blob = vec![0; 1 << 20];
    let call = call(3, vec![5_000_003.into(), 1.into(), Value::Blob(vec![0x80]), 0.into()]);
    match run(&call, Some(&blob)).map(|done| done.effect) {
        Ok(Effect::Edit { edits, .. }) => {
            assert_eq!(edits.inserted_len(), 1);
            assert_eq!(edits.apply(&blob)[625_000], 0b0001_0000);
        }
        other => panic!("expected an edit, got {other:?}"),
    }
}

#[test]
fn a_partial_right_shift_past_the_end_shifts_what_is_there() {
    let blob: Vec<u8> = (0..16).map(|byte| byte | 0x80).collect();
    // Offset 64, 128 bits, shift 100: only 64 bits exist, all of them are shifted out.
    let mut expected = blob.clone();
    expected[8..].fill(0);
    for flags in [8, 8 | 2, 8 | 4] {
        assert_eq!(changed(&ints(9, &[64, 128, 100, flags]), &blob), Ok(Some(expected.clone())));
    }
    expected[8..].copy_from_slice(&[0, 0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x8d, 0x8e]);
    assert_eq!(changed(&ints(9, &[64, 128, 8, 8]), &blob), Ok(Some(expected)));
    assert_eq!(changed(&ints(9, &[64, 128, 100, 0]), &blob), Err(ResultCode::OpNotApplicable));
    assert_eq!(changed(&ints(9, &[64, 128, 100, 4]), &blob), Ok(None));
}

#[test]
fn only_resize_and_insert_create_a_bin() {
    let created = |call: &[u8]| match run(call, None).map(|done| done.effect) {
        Ok(Effect::Whole(ParticleType::Blob, bytes)) => Some(bytes),
        _ => None,
    };
    assert_eq!(created(&ints(0, &[3, 0, 0])), Some(vec![0; 3]));
    let insert = |flags: i64| call(1, vec![1.into(), Value::Blob(vec![7]), flags.into()]);
    assert_eq!(created(&insert(1)), Some(vec![0, 7]));
    assert_eq!(run(&insert(2), None).unwrap_err().code, ResultCode::BinNotFound);
    assert!(matches!(run(&insert(6), None).map(|done| done.effect), Ok(Effect::None)));
    assert_eq!(changed(&insert(1), b"x"), Err(ResultCode::BinExists));
    assert_eq!(run(&ints(7, &[0, 1, 0]), None).unwrap_err().code, ResultCode::BinNotFound);
    assert_eq!(changed(&ints(7, &[0, 1, 1]), b"x"), Err(ResultCode::Parameter));
}

#[test]
fn other_types_are_refused() {
    let text = Particle::new(ParticleType::String, b"text");
    for (call, mode) in [(ints(7, &[0, 1, 0]), Mode::Modify), (ints(50, &[0, 1]), Mode::Read)] {
        let error = apply(&call, Some(text), mode, &ENV).unwrap_err();
        assert_eq!(error.code, ResultCode::BinType);
    }
}

#[test]
fn table_is_sorted_and_modes_are_kept_apart() {
    assert!(TABLE.is_sorted_by_key(|row| row.code));
    for row in TABLE {
        let other = if row.mode == Mode::Read { Mode::Modify } else { Mode::Read };
        let blob = Particle::new(ParticleType::Blob, b"x");
        let error = apply(&ints(row.code, &[0, 1]), Some(blob), other, &ENV).unwrap_err();
        assert_eq!(error.code, ResultCode::Parameter, "{}", row.name);
    }
}

#[test]
fn overflow_fails_saturates_or_wraps() {
    let add = |value: i64, action: i64| changed(&ints(10, &[0, 8, value, 0, action]), &[100]);
    assert_eq!(add(200, 0), Err(ResultCode::OpNotApplicable));
    assert_eq!(add(200, 2), Ok(Some(vec![255])));
    assert_eq!(add(200, 4), Ok(Some(vec![44])));
    assert_eq!(add(100, 1), Err(ResultCode::OpNotApplicable));
    assert_eq!(add(100, 3), Ok(Some(vec![127])));
    assert_eq!(add(100, 5), Ok(Some(vec![200])));
    assert_eq!(add(-1, 1), Ok(Some(vec![99])));
    assert_eq!(add(1, 6), Err(ResultCode::Parameter));
    assert_eq!(changed(&ints(10, &[0, 8, 200, 4, 0]), &[100]), Ok(None));
    assert_eq!(changed(&ints(11, &[0, 8, 101, 0, 2]), &[100]), Ok(Some(vec![0])));
}

fn to_bits(bytes: &[u8]) -> Vec<bool> {
    bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> (7 - bit) & 1 == 1)).collect()
}

fn to_bytes(bits: &[bool]) -> Vec<u8> {
    let byte =
        |chunk: &[bool]| chunk.iter().enumerate().map(|(at, &bit)| u8::from(bit) << (7 - at)).sum();
    bits.chunks(8).map(byte).collect()
}

fn to_number(bits: &[bool]) -> u128 {
    bits.iter().fold(0, |number, &bit| number << 1 | u128::from(bit))
}

fn put_number(bits: &mut [bool], number: i128) {
    let len = bits.len();
    for (at, bit) in bits.iter_mut().enumerate() {
        *bit = number >> (len - 1 - at) & 1 == 1;
    }
}

/// The run of bits that offset, size and the flags name, as the documentation tells it.
fn twin_run(total: usize, offset: i64, size: i64, flags: i64) -> Result<(usize, usize), i64> {
    let at = if offset < 0 { offset + total as i64 } else { offset };
    if at < 0 {
        return Err(4);
    }
    if at >= total as i64 || (at + size > total as i64 && flags & 8 == 0) {
        return Err(if flags & 4 != 0 { 0 } else { 26 });
    }
    Ok((at as usize, (at + size).min(total as i64) as usize))
}

/// The bitwise operations on plain booleans; `Err(0)` means "nothing happens".
fn twin_bitwise(
    blob: &[u8],
    code: i64,
    at: i64,
    size: i64,
    value: &[u8],
    shift: usize,
    flags: i64,
) -> Result<Vec<u8>, i64> {
    let mut bits = to_bits(blob);
    let (from, to) = twin_run(bits.len(), at, size, flags)?;
    let other = to_bits(value);
    let old = bits[from..to].to_vec();
    for (place, bit) in bits[from..to].iter_mut().enumerate() {
        *bit = match code {
            3 => other[place],
            4 => old[place] | other[place],
            5 => old[place] ^ other[place],
            6 => old[place] & other[place],
            7 => !old[place],
            8 => old.get(place + shift).copied().unwrap_or(false),
            _ => place.checked_sub(shift).is_some_and(|place| old[place]),
        };
    }
    Ok(to_bytes(&bits))
}

/// Addition and subtraction on wide integers.
fn twin_sum(
    blob: &[u8],
    code: i64,
    at: i64,
    size: i64,
    value: i64,
    flags: i64,
    action: i64,
) -> Result<Vec<u8>, i64> {
    let mut bits = to_bits(blob);
    let (from, to) = twin_run(bits.len(), at, size, flags & !8)?;
    let range = 1i128 << size;
    let signed = action & 1 == 1;
    let own = |number: i128| {
        let low = number.rem_euclid(range);
        if signed && low >= range / 2 { low - range } else { low }
    };
    let old = own(to_number(&bits[from..to]) as i128);
    let mut value = own(i128::from(value));
    if code == 11 {
        value = if signed { own(-value) } else { -value };
    }
    let sum = old + value;
    let (lowest, highest) = if signed { (-range / 2, range / 2 - 1) } else { (0, range - 1) };
    let sum = match action & !1 {
        0 if sum < lowest || sum > highest => return Err(if flags & 4 != 0 { 0 } else { 26 }),
        2 => sum.clamp(lowest, highest),
        _ => sum,
    };
    put_number(&mut bits[from..to], sum);
    Ok(to_bytes(&bits))
}

fn same(real: Result<Option<Vec<u8>>, ResultCode>, twin: Result<Vec<u8>, i64>) {
    match (real, twin) {
        (Ok(Some(real)), Ok(twin)) => assert_eq!(real, twin),
        (Ok(None), Err(0)) => {}
        (Err(code), Err(twin)) => assert_eq!(i64::from(code.wire()), twin),
        (real, twin) => panic!("real {real:?}, twin {twin:?}"),
    }
}

proptest! {
    #[test]
    fn bitwise_operations_agree_with_booleans(
        blob in prop::collection::vec(any::<u8>(), 0..24),
        value in prop::collection::vec(any::<u8>(), 26),
        code in 3i64..=9,
        at in -200i64..200,
        size in 1i64..200,
        shift in 0usize..220,
        flags in prop::sample::select(vec![0i64, 2, 4, 6, 8, 10, 12, 14]),
    ) {
        let mut args = vec![Value::Int(at), Value::Int(size)];
        match code {
            7 => {}
            8 | 9 => args.push(Value::Int(shift as i64)),
            _ => args.push(Value::Blob(value.clone())),
        }
        args.push(Value::Int(flags));
        let twin = twin_bitwise(&blob, code, at, size, &value, shift, flags);
        same(changed(&call(code, args), &blob), twin);
    }

    #[test]
    fn arithmetic_agrees_with_wide_integers(
        blob in prop::collection::vec(any::<u8>(), 0..12),
        code in 10i64..=11,
        at in -70i64..70,
        size in 1i64..=64,
        value in prop_oneof![any::<i64>(), -3i64..4],
        flags in prop::sample::select(vec![0i64, 2, 4, 6]),
        action in 0i64..=5,
    ) {
        let call = ints(code, &[at, size, value, flags, action]);
        same(changed(&call, &blob), twin_sum(&blob, code, at, size, value, flags, action));
    }

    #[test]
    fn reads_agree_with_booleans(
        blob in prop::collection::vec(any::<u8>(), 1..12),
        at in -100i64..100,
        size in 1i64..100,
        wanted: bool,
        signed: bool,
    ) {
        let bits = to_bits(&blob);
        let place = [Value::Int(at), Value::Int(size)];
        let with = |more: Value| place.iter().cloned().chain([more]).collect::<Vec<_>>();
        let calls = [
            call(50, place.to_vec()),
            call(51, place.to_vec()),
            call(52, with(wanted.into())),
            call(53, with(wanted.into())),
            call(54, with(i64::from(signed).into())),
        ];
        let run_of = twin_run(bits.len(), at, size, 0);
        for (code, call) in (50..).zip(&calls) {
            let real = run(call, Some(&blob)).map(|done| done.reply).map_err(|error| error.code);
            if code == 54 && size > 64 {
                prop_assert_eq!(real, Err(ResultCode::Parameter));
                continue;
            }
            let (from, to) = match run_of {
                Ok(run) => run,
                Err(twin) => {
                    prop_assert_eq!(real.map_err(|code| i64::from(code.wire())), Err(twin));
                    continue;
                }
            };
            let bits = &bits[from..to];
            let place = |found: Option<usize>| Reply::int(found.map_or(-1, |at| at as i64));
            let twin = match code {
                50 => Reply { kind: ParticleType::Blob, bytes: to_bytes(bits) },
                51 => Reply::int(bits.iter().filter(|&&bit| bit).count() as i64),
                52 => place(bits.iter().position(|&bit| bit == wanted)),
                53 => place(bits.iter().rposition(|&bit| bit == wanted)),
                _ => {
                    let number = to_number(bits);
                    let negative = signed && bits[0];
                    Reply::int(if negative { number as i128 - (1 << size) } else { number as i128 } as i64)
                }
            };
            prop_assert_eq!(real, Ok(Some(twin)));
        }
    }

    #[test]
    fn byte_operations_agree_with_vectors(
        blob in prop::collection::vec(any::<u8>(), 0..10),
        value in prop::collection::vec(any::<u8>(), 1..5),
        at in -12i64..12,
        size in 1i64..12,
        how in prop::sample::select(vec![0i64, 1, 2, 3, 4, 5]),
        partial: bool,
    ) {
        let from = if at < 0 { at + blob.len() as i64 } else { at };
        let insert = call(1, vec![at.into(), Value::Blob(value.clone()), 0.into()]);
        let remove = ints(2, &[at, size, i64::from(partial) * 8]);
        if from < 0 {
            prop_assert_eq!(changed(&insert, &blob), Err(ResultCode::Parameter));
            prop_assert_eq!(changed(&remove, &blob), Err(ResultCode::Parameter));
        } else {
            let from = from as usize;
            let mut twin = blob.clone();
            twin.resize(twin.len().max(from), 0);
            twin.splice(from..from, value);
            prop_assert_eq!(changed(&insert, &blob), Ok(Some(twin)));
            let to = from + size as usize;
            if from < blob.len() && (partial || to <= blob.len()) {
                let mut twin = blob.clone();
                twin.drain(from..to.min(blob.len()));
                prop_assert_eq!(changed(&remove, &blob), Ok(Some(twin)));
            } else {
                prop_assert_eq!(changed(&remove, &blob), Err(ResultCode::Parameter));
            }
        }
        let resized = changed(&ints(0, &[size, 0, how]), &blob);
        let (old, new) = (blob.len(), size as usize);
        if (how & 2 != 0 && new < old) || (how & 4 != 0 && new > old) {
            prop_assert_eq!(resized, Err(ResultCode::Parameter));
        } else {
            let mut twin = blob.clone();
            if how & 1 != 0 { twin.reverse() }
            twin.resize(new, 0);
            if how & 1 != 0 { twin.reverse() }
            prop_assert_eq!(resized, Ok(Some(twin)));
        }
    }
}

#[test]
fn hostile_calls_never_panic() {
    let blob = Value::Blob(vec![0xa5; 9]);
    let mut seeds = Vec::new();
    for row in TABLE {
        seeds.push(ints(row.code, &[1, 2, 3, 4, 1]));
        seeds.push(ints(row.code, &[-9, 70, 0]));
        seeds.push(ints(row.code, &[3, 5]));
        seeds.push(call(row.code, vec![3.into(), 70.into(), blob.clone(), 8.into()]));
        seeds.push(call(row.code, vec![3.into(), 9.into(), true.into()]));
    }
    hostile::for_a_while(&seeds, |call, noise| {
        let old = vec![0x5a; noise.below(20)];
        for mode in [Mode::Read, Mode::Modify] {
            let bin = (noise.below(4) > 0).then(|| Particle::new(ParticleType::Blob, &old));
            if let Ok(Applied { effect: Effect::Edit { edits, .. }, .. }) =
                apply(call, bin, mode, &ENV)
            {
                edits.apply(&old);
            }
        }
    });
}

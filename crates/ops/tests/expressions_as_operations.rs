//! Expressions as filters and operations: which result codes, flags and forms the protocol knows.
#![allow(clippy::unwrap_used)]

use cairn_ops::exp::{Kind, Program, Scope, Val, Verdict, apply_modify, apply_read};
use cairn_ops::{Effect, Env, Mode, cdt, path};
use cairn_value::packed::write;
use cairn_value::{Bins, Digest, Error, Meta, Particle, ParticleType, RecordView, Value};

const ENV: Env = Env { now_ns: 1_800_000_000_500_000_000 };
/// 2010-01-01 plus this is ENV's second.
const NOW_S: u32 = 1_800_000_000 - 1_262_304_000;

fn scope() -> Scope<'static> {
    Scope::detached(ENV)
}

fn list(parts: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    write::list_head(&mut out, parts.len() as u32);
    parts.iter().for_each(|part| out.extend_from_slice(part));
    out
}

fn int(value: i64) -> Vec<u8> {
    Value::Int(value).to_packed()
}

fn code(result: Result<impl Sized, Error>) -> u8 {
    result.map_or_else(|error| error.code.wire(), |_| 0)
}

fn value_of(program: &[u8]) -> Val<'static> {
    let program = Program::compile(program).unwrap();
    match program.value(&scope()) {
        Val::Int(value) => Val::Int(value),
        Val::Bool(value) => Val::Bool(value),
        Val::Unknown => Val::Unknown,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_smallest_integer_divided_by_minus_one_wraps_around() {
    let of = |code: u8| value_of(&list(&[&[code], &int(i64::MIN), &int(-1)]));
    assert_eq!(of(23), Val::Int(i64::MIN));
    assert_eq!(of(26), Val::Int(0));
    assert_eq!(value_of(&list(&[&[23], &int(1), &int(0)])), Val::Unknown);
    assert_eq!(value_of(&list(&[&[26], &int(1), &int(0)])), Val::Unknown);
    assert_eq!(value_of(&list(&[&[27], &int(i64::MIN)])), Val::Int(i64::MIN));
}

#[test]
fn a_filter_yields_a_boolean() {
    for packed in [&[0xc3][..], &[0x91, 0], &[0x93, 1, 1, 1]] {
        assert!(Program::compile_filter(packed).is_ok());
    }
    for packed in [&[0x05][..], &[0xc0], &[0x80], &[0x92, 126, 0x90], &[0xd4, 0xff, 0], &[0x93]] {
        assert_eq!(code(Program::compile_filter(packed)), 4, "{packed:02x?}");
    }
}

#[test]
fn what_later_levels_of_the_protocol_add_is_refused() {
    let string_call = [0x95, 127, 2, 3, 0x91, 0, 0xa2, 3, b'x'];
    for packed in [&[0x92, 99, 5][..], &[0x92, 0xcc, 128, 0xa1, b'a'], &string_call] {
        assert_eq!(code(Program::compile(packed)), 4, "{packed:02x?}");
    }
}

#[test]
fn metadata_needs_no_bins() {
    let meta = Meta {
        generation: 1,
        void_time: NOW_S + 100,
        last_update_ns: ENV.now_ns - 5_000_000,
        stored_size: 77,
    };
    let mut digest = [0; 20];
    digest[16..].copy_from_slice(&1_000_003u32.to_le_bytes());
    let key = b"\x03user";
    let record = RecordView {
        digest: Digest(digest),
        meta,
        set: b"s",
        key: Some(key),
        bins: Bins::default(),
    };
    let scope = Scope::of_record(&record, ENV);
    let ttl = [0x91, 69];
    let cases: [(&[u8], Val<'_>); 8] = [
        (&ttl, Val::Int(100)),
        (&[0x91, 68], Val::Int((1_800_000_000 + 100) * 1_000_000_000)),
        (&[0x91, 67], Val::Int(5)),
        (&[0x91, 65], Val::Int(77)),
        (&[0x91, 71], Val::Bool(true)),
        (&[0x92, 64, 10], Val::Int(3)),
        (&[0x92, 80, 3], Val::Str(b"user"[..].into())),
        (&[0x92, 80, 2], Val::Unknown),
    ];
    for (packed, expected) in cases {
        let program = Program::compile(packed).unwrap();
        assert!(!program.needs_bins());
        assert_eq!(program.value(&scope), expected, "{packed:02x?}");
    }
    assert!(Program::compile(&[0x93, 81, 2, 0xa1, b'n']).unwrap().needs_bins());
    assert_eq!(Program::compile(&[0x93, 81, 2, 0xa1, b'n']).unwrap().kind(), Kind::Int);
    let filter = list(&[&[3], &ttl, &int(99)]);
    assert_eq!(Program::compile_filter(&filter).unwrap().filter(&scope), Verdict::True);
}

#[test]
fn forms_of_an_operation() {
    assert_eq!(apply_read(&[0x91, 5], &scope()).unwrap().unwrap().bytes, 5i64.to_be_bytes());
    for lenient in [&[0x92, 5, 0][..], &[0x92, 5], &[0x92, 5, 0xa1, b'x'], &[0x92, 5, 16]] {
        assert_eq!(code(apply_read(lenient, &scope())), 0, "{lenient:02x?}");
    }
    for refused in [&[][..], &[5], &[0x92], &[0x93, 5, 0, 0], &[0x92, 0xc1, 0], &[0x92, 5, 32]] {
        assert_eq!(code(apply_read(refused, &scope())), 4, "{refused:02x?}");
        assert_eq!(code(apply_modify(refused, true, &scope())), 4, "{refused:02x?}");
    }
}

/// Writes an expression with flags to a bin that exists or not: the code, or what happens to it.
fn written(expression: &[u8], flags: u8, exists: bool) -> Result<&'static str, u8> {
    let value = list(&[expression, &[flags]]);
    match apply_modify(&value, exists, &scope()) {
        Ok(applied) => Ok(match applied.effect {
            Effect::None => "kept",
            Effect::Remove => "removed",
            Effect::Whole(..) => "set",
            Effect::Edit { .. } => "edited",
        }),
        Err(error) => Err(error.code.wire()),
    }
}

#[test]
fn write_flags() {
    const SEVEN: &[u8] = &[7];
    const NIL: &[u8] = &[0xc0];
    const UNKNOWN: &[u8] = &[0x91, 0];
    type Case<'a> = (&'a [u8], u8, bool, Result<&'a str, u8>);
    let cases: [Case<'_>; 22] = [
        (SEVEN, 0, false, Ok("set")),
        (SEVEN, 0, true, Ok("set")),
        (SEVEN, 1, true, Err(6)),
        (SEVEN, 9, true, Ok("kept")),
        (SEVEN, 1, false, Ok("set")),
        (SEVEN, 2, false, Err(17)),
        (SEVEN, 10, false, Ok("kept")),
        (SEVEN, 2, true, Ok("set")),
        (NIL, 0, false, Ok("kept")),
        (NIL, 0, true, Err(26)),
        (NIL, 2, true, Ok("kept")),
        (NIL, 8, true, Ok("kept")),
        (NIL, 16, true, Err(26)),
        (NIL, 24, true, Ok("kept")),
        (NIL, 4, true, Ok("removed")),
        (NIL, 4, false, Ok("kept")),
        (UNKNOWN, 0, true, Err(26)),
        (UNKNOWN, 8, true, Err(26)),
        (UNKNOWN, 16, true, Ok("kept")),
        (UNKNOWN, 1, true, Err(6)),
        (UNKNOWN, 18, false, Err(17)),
        (SEVEN, 3, false, Err(17)),
    ];
    for (expression, flags, exists, expected) in cases {
        assert_eq!(
            written(expression, flags, exists),
            expected,
            "{expression:02x?} {flags} {exists}"
        );
    }
}

#[test]
fn values_are_written_in_stored_form() {
    // A map literal out of order, and a list that holds a marker.
    let map = [0x82, 2, 0, 1, 0];
    let applied = apply_modify(&list(&[&map, &[0]]), false, &scope()).unwrap();
    let Effect::Whole(kind, bytes) = applied.effect else { panic!() };
    assert_eq!((kind, &bytes[..]), (ParticleType::Map, &[0x82, 1, 0, 2, 0][..]));
    let wild = [0x92, 126, 0x91, 0xd4, 0xff, 0];
    assert_eq!(written(&wild, 0, false), Ok("set"));
}

#[test]
fn filters_of_a_context_may_be_wrapped_in_a_blob() {
    let bytes = [0x93, 1, 5, 9];
    let bin = Particle::new(ParticleType::List, &bytes);
    let above_four = [0x93, 3, 0x93, 122, 2, 1, 4];
    let wrapped = [&[0xc4, above_four.len() as u8], &above_four[..]].concat();
    for filter in [&above_four[..], &wrapped] {
        let call = list(&[&int(0xfe), &list(&[&[4], filter]), &[1]]);
        let applied = path::apply(&call, Some(bin), Mode::Read, &ENV).unwrap();
        assert_eq!(applied.reply.unwrap().bytes, [0x92, 5, 9]);
    }
    let all = list(&[&int(0xfe), &list(&[&[4], &[0xc4, 1, 0xc3]]), &[1]]);
    let applied = path::apply(&all, Some(bin), Mode::Read, &ENV).unwrap();
    assert_eq!(applied.reply.unwrap().bytes, bytes);
}

#[test]
fn a_path_leads_through_lists_and_maps_only() {
    let select = list(&[&int(0xfe), &[0x92, 4, 0xc3], &[1]]);
    let modify = list(&[&int(0xfe), &[0x92, 4, 0xc3], &[4], &[5]]);
    let text = Some(Particle::new(ParticleType::String, b"x"));
    assert_eq!(code(path::apply(&select, text, Mode::Read, &ENV)), 12);
    assert!(path::apply(&select, None, Mode::Read, &ENV).unwrap().reply.is_none());
    assert_eq!(code(path::apply(&modify, None, Mode::Modify, &ENV)), 12);
    let bin = Some(Particle::new(ParticleType::List, &[0x91, 1]));
    assert_eq!(code(path::apply(&modify, bin, Mode::Read, &ENV)), 4);
    assert_eq!(code(path::apply(&modify, bin, Mode::Modify, &ENV)), 0);
}

#[test]
fn a_modified_list_keeps_a_right_persisted_index() {
    let old: Vec<i64> = (0..500).collect();
    let plain = Value::list(old.iter().map(|&i| Value::Int(i))).to_packed();
    let bin = Particle::new(ParticleType::List, &plain);
    // set_type(persist index)
    let made = cdt::apply(&[0x92, 0, 0x10], Some(bin), Mode::Modify, &ENV).unwrap();
    let Effect::Edit { edits, .. } = made.effect else { panic!("{made:?}") };
    let indexed = edits.apply(&plain);
    let bin = Particle::new(ParticleType::List, &indexed);
    // Elements above 250 become texts, which are longer.
    let above = list(&[&[3], &[0x93, 122, 2, 1], &int(250)]);
    let call = list(&[&int(0xfe), &list(&[&[4], &above]), &[4], &[0xa4, 3, b'x', b'y', b'z']]);
    let made = path::apply(&call, Some(bin), Mode::Modify, &ENV).unwrap();
    let Effect::Edit { edits, .. } = made.effect else { panic!("{made:?}") };
    let changed = edits.apply(&indexed);
    let bin = Particle::new(ParticleType::List, &changed);
    for at in [0i64, 249, 250, 251, 400, 499] {
        // get(at)
        let got = cdt::apply(&list(&[&[17], &int(at)]), Some(bin), Mode::Read, &ENV).unwrap();
        let reply = got.reply.unwrap();
        let expected = if at > 250 { Value::from("xyz") } else { Value::Int(at) };
        assert_eq!(reply.bytes, expected.to_particle_bytes(), "element {at}");
    }
    // An expression that hands the list on leaves the index behind.
    let whole = Val::of_particle(bin).into_reply().unwrap();
    let expected = (0..500).map(|i| if i > 250 { Value::from("xyz") } else { Value::Int(i) });
    assert_eq!(whole.bytes, Value::list(expected).to_packed());
}

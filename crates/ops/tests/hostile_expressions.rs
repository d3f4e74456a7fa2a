//! Random and damaged programs and paths: no panic, bounded memory, and nothing allocated where
//! nothing is needed. `CAIRN_FUZZ_SECONDS` makes it run longer; a failure prints its input.
#![allow(clippy::unwrap_used)]

mod exp_trees;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::{Duration, Instant};

use cairn_ops::exp::{self, Kind, Program, Scope, Verdict};
use cairn_ops::{Env, Mode, path};
use cairn_value::{Bins, Digest, Meta, Particle, ParticleType, RecordView, Value};
use exp_trees::Dice;
use exp_trees::maker::{Maker, bins, stored};

/// Counts what each thread allocates.
struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn note(bytes: isize) {
    let live = LIVE.get() + bytes;
    LIVE.set(live);
    PEAK.set(PEAK.get().max(live));
    if bytes > 0 {
        COUNT.set(COUNT.get() + 1);
    }
}

// SAFETY: every call goes to the system allocator with the arguments it came with.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size() as isize);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        note(-(layout.size() as isize));
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Most bytes live at once while `run` runs.
fn peak_of(run: impl FnOnce()) -> isize {
    let before = LIVE.get();
    PEAK.set(before);
    run();
    PEAK.get() - before
}

const ENV: Env = Env { now_ns: 1_800_000_000_000_000_000 };

fn view(bins: &[u8], count: u16) -> RecordView<'_> {
    let meta = Meta { generation: 3, void_time: 0, last_update_ns: 0, stored_size: 100 };
    let bins = Bins::new(count, bins);
    RecordView { digest: Digest([9; 20]), meta, set: b"set", key: Some(b"\x03key"), bins }
}

fn damage(dice: &mut Dice, bytes: &mut Vec<u8>) {
    for _ in 0..=dice.roll(4) {
        let at = dice.roll(bytes.len() + 1);
        match dice.roll(5) {
            0 | 1 if at < bytes.len() => bytes[at] = dice.roll(256) as u8,
            2 => bytes.insert(at, dice.roll(256) as u8),
            3 => bytes.truncate(at),
            _ => {
                let again = bytes[at..].to_vec();
                bytes.extend_from_slice(&again[..again.len().min(48)]);
            }
        }
    }
}

/// Programs that the maker of trees does not make: calls, patterns, metadata, shapes.
fn seeds() -> Vec<Vec<u8>> {
    let bin = |kind: u8, name: u8| vec![0x93, 81, kind, 0xa1, name];
    let call = |kind: u8, system: u8, op: &[u8], base: &[u8]| {
        [&[0x95, 127, kind, system], op, base].concat()
    };
    vec![
        call(2, 0, &[0x91, 16], &bin(4, b'l')),
        call(4, 0x40, &[0x92, 1, 0x92, 35, 7], &bin(4, b'l')),
        call(4, 0x40, &[0x92, 2, 0x92, 126, 0x92, 1, 2], &bin(4, b'l')),
        call(5, 0x40, &[0x94, 67, 5, 6, 0], &bin(5, b'm')),
        call(4, 0, &[0x93, 0xcc, 0xff, 0x92, 0x10, 0, 0x91, 16], &bin(4, b'l')),
        call(4, 0, &[0x93, 0xcc, 0xfe, 0x92, 4, 0xc3, 1], &bin(4, b'l')),
        call(6, 0x41, &[0x94, 7, 0, 8, 0], &bin(6, b'b')),
        call(2, 1, &[0x93, 51, 0, 8], &bin(6, b'b')),
        [&[0x94, 7, 1, 0xa8], &b"^a*(b|c)"[..], &bin(3, b's')].concat(),
        [&[0x94, 7, 0, 0xa9], &br"[[:a:]]\{"[..], &bin(3, b's')].concat(),
        vec![0x92, 64, 3],
        vec![0x91, 69],
        vec![0x92, 80, 3],
        [&[0x93, 8, 0xaa, 23], &br#"{"type":1"#[..], &bin(8, b'g')].concat(),
    ]
}

fn program(dice: &mut Dice, seeds: &[Vec<u8>]) -> Vec<u8> {
    let kinds = [Kind::Bool, Kind::Int, Kind::List, Kind::Map, Kind::Str];
    let mut bytes = match dice.roll(4) {
        0 => (0..dice.roll(60)).map(|_| dice.roll(256) as u8).collect(),
        1 => dice.pick(seeds),
        _ => {
            let kind = dice.pick(&kinds);
            let loops = dice.roll(2) == 0;
            Maker::new(dice, loops).make(kind, 4).packed()
        }
    };
    if dice.roll(4) > 0 {
        damage(dice, &mut bytes);
    }
    bytes
}

/// Everything that takes a program or path from outside.
fn run_all(bytes: &[u8], scope: &Scope<'_>, list: &[u8], map: &[u8]) {
    if let Ok(program) = Program::compile(bytes) {
        let value = program.value(scope);
        let _ = value.into_reply();
    }
    let op = [&[0x92], bytes, &[0]].concat();
    let _ = exp::apply_read(&op, scope);
    let _ = exp::apply_modify(&op, true, scope);
    let select = [&[0x93, 0xcc, 0xfe, 0x94, 4, 0xc3, 4], bytes, &[0x11]].concat();
    let modify = [&[0x94, 0xcc, 0xfe, 0x92, 4, 0xc3, 0x14], bytes].concat();
    for (kind, bin) in [(ParticleType::List, list), (ParticleType::Map, map)] {
        let bin = Some(Particle::new(kind, bin));
        for call in [bytes, &select, &modify] {
            let _ = path::apply(call, bin, Mode::Read, &ENV);
            let _ = path::apply(call, bin, Mode::Modify, &ENV);
        }
    }
}

#[test]
fn damaged_programs_harm_nobody() {
    let seconds = std::env::var("CAIRN_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let until = Instant::now() + Duration::from_secs(seconds.unwrap_or(2));
    let mut dice = Dice(0x5eed);
    let seeds = seeds();
    let record = bins(&mut dice);
    let packed = stored(&record);
    let view = view(&packed, record.len() as u16);
    let scope = Scope::of_record(&view, ENV);
    let list = Value::list([Value::from(1), Value::list([Value::from("a")])]).to_packed();
    let map = Value::map([(Value::from("k"), Value::list([Value::from(2)]))]).to_packed();
    let mut runs = 0u32;
    while Instant::now() < until || runs < 1000 {
        let bytes = program(&mut dice, &seeds);
        let peak = peak_of(|| run_all(&bytes, &scope, &list, &map));
        assert!(peak < 32 << 20, "{peak} bytes for {bytes:02x?}");
        runs += 1;
    }
}

#[test]
fn deep_wide_and_long_programs_are_refused_cheaply() {
    let deep = [&[0x92, 18].repeat(200_000)[..], &[0xc3]].concat();
    let mut wide = vec![0xdd];
    wide.extend(2_000_001u32.to_be_bytes());
    wide.push(16);
    wide.extend(vec![0xc3; 2_000_000]);
    let deep_list = [&[0x92, 126][..], &[0x91].repeat(100_000), &[0]].concat();
    let lets = {
        let mut bytes = vec![0xdd];
        bytes.extend(60_002u32.to_be_bytes());
        bytes.push(125);
        for i in 0..30_000u32 {
            bytes.extend_from_slice(&[0xa4, b'v', b'0' + (i % 10) as u8]);
            bytes.extend_from_slice(&[b'a' + (i / 10 % 26) as u8, b'a' + (i / 260 % 26) as u8, 1]);
        }
        bytes.push(1);
        bytes
    };
    for (name, bytes) in [("deep", deep), ("wide", wide), ("list", deep_list), ("lets", lets)] {
        let peak = peak_of(|| assert!(Program::compile(&bytes).is_err(), "{name}"));
        assert!(peak < 16 << 20, "{name}: {peak} bytes");
    }
}

#[test]
fn values_do_not_grow_without_bound() {
    // let v = [a long text], then 40 times: the list appended to itself.
    let mut program = vec![0xdc, 0, 84, 125];
    program.extend_from_slice(&[0xa3, b'v', b'0', b'0', 0x92, 126, 0x91, 0xda, 0x20, 0x00, 3]);
    program.extend_from_slice(&[b'x'; 0x1fff]);
    let name = |i: u8| [0xa3, b'v', b'0' + i / 10, b'0' + i % 10];
    for i in 1..=40u8 {
        program.extend_from_slice(&name(i));
        program.extend_from_slice(&[0x95, 127, 4, 0x40, 0x92, 2, 0x92, 124]);
        program.extend_from_slice(&name(i - 1));
        program.extend_from_slice(&[0x92, 124]);
        program.extend_from_slice(&name(i - 1));
    }
    program.extend_from_slice(&[0x92, 124]);
    program.extend_from_slice(&name(40));
    let program = Program::compile(&program).unwrap();
    let scope = Scope::detached(ENV);
    let peak = peak_of(|| assert_eq!(program.value(&scope), exp::Val::Unknown));
    assert!(peak < 256 << 20, "{peak} bytes");
}

#[test]
fn paths_in_calls_in_paths_are_nested_to_a_limit() {
    // Each level: eq(select by [4, inner] from the value in hand, []).
    let mut inner = vec![0xc3];
    for _ in 0..5_000 {
        let context = [&[0x92, 4], &inner[..]].concat();
        let call = [&[0x95, 127, 4, 0, 0x93, 0xcc, 0xfe], &context[..], &[1, 0x93, 122, 4, 1]];
        inner = [&[0x93, 1][..], &call.concat(), &[0x92, 126, 0x90]].concat();
    }
    assert!(Program::compile(&inner).is_err());
    let list = [0x91, 0x91, 0x91, 0x90];
    let select = [&[0x93, 0xcc, 0xfe, 0x92, 4], &inner[..], &[1]].concat();
    let bin = Some(Particle::new(ParticleType::List, &list));
    assert!(path::apply(&select, bin, Mode::Read, &ENV).is_err());
}

#[test]
fn the_deepest_program_runs() {
    let levels = exp::DEPTH_MAX - 1;
    let nots = [&[0x92, 18].repeat(levels)[..], &[0xc3]].concat();
    let program = Program::compile_filter(&nots).unwrap();
    let verdict = if levels.is_multiple_of(2) { Verdict::True } else { Verdict::False };
    assert_eq!(program.filter(&Scope::detached(ENV)), verdict);
    let mut calls = vec![0x92, 126, 0x91, 1];
    for _ in 0..levels {
        calls = [&[0x95, 127, 4, 0x40, 0x92, 1, 2], &calls[..]].concat();
    }
    let program = Program::compile(&calls).unwrap();
    let scope = Scope::detached(ENV);
    let exp::Val::List(list) = program.value(&scope) else { panic!() };
    assert_eq!(list.len(), 3 + 1 + levels);
}

#[test]
fn copies_of_a_large_value_end_with_the_allowance() {
    // let v = a list of 64 KiB made by a call, then its size 20,000 times: 1.3 GB of copies.
    let mut program = vec![0x94, 125, 0xa1, b'v'];
    program.extend_from_slice(&[0x95, 127, 4, 0x40, 0x92, 1, 2, 0x92, 126, 0x91, 0xdb]);
    program.extend_from_slice(&[0, 1, 0, 0, 3]);
    program.extend_from_slice(&[b'x'; 0xffff]);
    program.push(0xdd);
    program.extend_from_slice(&20_001u32.to_be_bytes());
    program.push(20);
    for _ in 0..20_000 {
        program.extend_from_slice(&[0x95, 127, 2, 0, 0x91, 16, 0x92, 124, 0xa1, b'v']);
    }
    let program = Program::compile(&program).unwrap();
    assert_eq!(program.value(&Scope::detached(ENV)), exp::Val::Unknown);
}

#[test]
fn a_filter_over_many_records_allocates_nothing() {
    // and(gt(bin(i), 5), eq(bin(s), "ab"), lt(ttl(), 7), or(bin(t), not(bin(t))))
    let mut filter = vec![0x95, 16];
    filter.extend_from_slice(&[0x93, 3, 0x93, 81, 2, 0xa1, b'i', 5]);
    filter.extend_from_slice(&[0x93, 1, 0x93, 81, 3, 0xa1, b's', 0xa3, 3, b'a', b'b']);
    filter.extend_from_slice(&[0x93, 5, 0x91, 69, 7]);
    let t = [0x93, 81, 1, 0xa1, b't'];
    filter.extend_from_slice(&[&[0x93, 17], &t[..], &[0x92, 18], &t[..]].concat());
    let program = Program::compile_filter(&filter).unwrap();
    let records: Vec<Vec<u8>> = (0..10_000)
        .map(|i| {
            let text = if i % 2 == 0 { "ab" } else { "x" };
            stored(&[("i", Value::Int(i % 10)), ("s", text.into()), ("t", true.into())].into())
        })
        .collect();
    let before = COUNT.get();
    let passed = records
        .iter()
        .filter(|packed| {
            let view = view(packed, 3);
            program.filter(&Scope::of_record(&view, ENV)) == Verdict::True
        })
        .count();
    assert_eq!(COUNT.get() - before, 0);
    assert_eq!(passed, 2000);
}

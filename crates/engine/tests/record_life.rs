//! What writes, reads and deletes do to one record.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use cairn_engine::*;
use cairn_value::*;
use common::*;

on_both_storages! {
fn generation_counts_writes_and_wraps_from_65535_to_1() {
    let (engine, _) = small(|_| {});
    let ns = &engine.namespaces()[0];
    for n in 1..=65_535u32 {
        assert_eq!(put(ns, 1, 7).unwrap().generation, n as u16);
    }
    assert_eq!(put(ns, 1, 7).unwrap().generation, 1);
}

fn exists_policies_are_checked_before_anything_changes() {
    let (engine, _) = small(|_| {});
    let ns = &engine.namespaces()[0];
    let with = |exists| WritePolicy { exists, ..WritePolicy::default() };
    for exists in [Exists::UpdateOnly, Exists::ReplaceOnly] {
        assert_eq!(code(put_with(ns, 1, 1, &with(exists))), ResultCode::NotFound);
    }
    assert_eq!(get(ns, 1), None);
    put_with(ns, 1, 1, &with(Exists::CreateOnly)).unwrap();
    let failure = put_with(ns, 1, 2, &with(Exists::CreateOnly)).unwrap_err();
    assert_eq!((failure.error.code, failure.generation), (ResultCode::RecordExists, 1));
    for (exists, value) in [(Exists::UpdateOnly, 3), (Exists::Replace, 4), (Exists::ReplaceOnly, 5)]
    {
        put_with(ns, 1, value, &with(exists)).unwrap();
        assert_eq!(get(ns, 1).unwrap().0, value);
    }
}

fn generation_checks_take_an_absent_record_as_generation_0() {
    let (engine, _) = small(|_| {});
    let ns = &engine.namespaces()[0];
    let with = |generation| WritePolicy { generation, ..WritePolicy::default() };
    let refused = |key, check| code(put_with(ns, key, 1, &with(check))) == ResultCode::Generation;
    assert!(refused(1, GenerationCheck::Equal(3)));
    assert!(refused(1, GenerationCheck::Greater(0)));
    put_with(ns, 1, 1, &with(GenerationCheck::Greater(1))).unwrap();
    put_with(ns, 1, 2, &with(GenerationCheck::Equal(1))).unwrap();
    assert!(refused(1, GenerationCheck::Equal(1)));
    assert!(refused(1, GenerationCheck::Greater(2)));
    let stale = ns.delete(&target(1), GenerationCheck::Equal(9));
    assert_eq!(code(stale), ResultCode::Generation);
    ns.delete(&target(1), GenerationCheck::Equal(2)).unwrap();
    assert_eq!(code(ns.delete(&target(1), GenerationCheck::None)), ResultCode::NotFound);
}

fn a_record_without_bins_is_deleted_and_starts_again_at_generation_1() {
    let (engine, _) = small(|_| {});
    let ns = &engine.namespaces()[0];
    put(ns, 1, 1).unwrap();
    put(ns, 1, 1).unwrap();
    let gone = ns.update(&target(1), &WritePolicy::default(), |_| Ok((Change::Write(vec![]), ())));
    assert_eq!(gone.unwrap().1, Written::Gone);
    assert_eq!(get(ns, 1), None);
    assert_eq!(ns.stats().objects, 0);
    assert_eq!(put(ns, 1, 1).unwrap().generation, 1);
}

fn a_failing_closure_changes_nothing() {
    let (engine, _) = small(|_| {});
    let ns = &engine.namespaces()[0];
    put(ns, 1, 5).unwrap();
    let before = get(ns, 1);
    let failed: Result<((), _), _> = ns.update(&target(1), &WritePolicy::default(), |_| {
        Err(Error::new(ResultCode::BinType, "no"))
    });
    let failure = failed.unwrap_err();
    assert_eq!((failure.error.code, failure.generation), (ResultCode::BinType, 1));
    assert_eq!(get(ns, 1), before);
}

fn a_stored_key_is_verified_and_kept() {
    let (engine, _) = small(|_| {});
    let ns = &engine.namespaces()[0];
    let with_key = |key: &'static [u8]| Target { key: Some(key), ..target(1) };
    let store = WritePolicy { store_key: true, ..WritePolicy::default() };
    let write = |target: &Target<'static>, policy: &WritePolicy| {
        ns.update(target, policy, |_| Ok((Change::Write(vec![int_bin(b"n", 1)]), ())))
    };
    write(&with_key(b"\x03right"), &store).unwrap();
    assert_eq!(code(write(&with_key(b"\x03wrong"), &store)), ResultCode::KeyMismatch);
    let read = |target: &Target<'static>| {
        ns.read(target, &ReadPolicy::default(), |r| Ok(r.key.map(<[u8]>::to_vec)))
    };
    assert_eq!(code(read(&with_key(b"\x03wrong"))), ResultCode::KeyMismatch);
    // A write without the key leaves it in place.
    write(&target(1), &WritePolicy::default()).unwrap();
    assert_eq!(read(&target(1)).unwrap().0.as_deref(), Some(&b"\x03right"[..]));
}

fn limits_are_named_in_the_refusal() {
    let (engine, _) = small(|_| {});
    let ns = &engine.namespaces()[0];
    let write = |bin: NewBin<'static>| {
        ns.update(&target(1), &WritePolicy::default(), |_| Ok((Change::Write(vec![bin]), ())))
    };
    let too_big = write(blob_bin(b"b", 9000, 1)).unwrap_err().error;
    assert_eq!(too_big.code, ResultCode::RecordTooBig);
    assert!(too_big.message.contains("8192"), "{too_big}");
    let long_name = write(int_bin(b"sixteen_bytes_ab", 1)).unwrap_err().error;
    assert_eq!(long_name.code, ResultCode::BinName);
    assert!(long_name.message.contains("15"), "{long_name}");
    assert_eq!(get(ns, 1), None);
    let long_set = Target { set: &[b's'; 64], ..target(2) };
    let refused = ns.update(&long_set, &WritePolicy::default(), |_| {
        Ok((Change::Write(vec![int_bin(b"n", 1)]), ()))
    });
    assert_eq!(code(refused), ResultCode::Parameter);
}

fn ttl_is_default_never_kept_or_given() {
    let (engine, clock) = small(|config| config.default_ttl_s = 100);
    let ns = &engine.namespaces()[0];
    let now = || seconds_since_2010(clock.now_ns());
    let put_ttl = |ttl| put_with(ns, 1, 1, &WritePolicy { ttl, ..WritePolicy::default() });
    assert_eq!(put_ttl(Ttl::Default).unwrap().void_time, now() + 100);
    assert_eq!(put_ttl(Ttl::Seconds(5)).unwrap().void_time, now() + 5);
    clock.advance_s(1);
    assert_eq!(put_ttl(Ttl::Keep).unwrap().void_time, now() + 4);
    assert_eq!(put_ttl(Ttl::Never).unwrap().void_time, 0);
    assert_eq!(put_ttl(Ttl::Keep).unwrap().void_time, 0);
    assert_eq!(code(put_ttl(Ttl::Seconds(u32::MAX - 9))), ResultCode::Parameter);
    ns.settings().set_nsup_period_s(0);
    ns.settings().set_allow_ttl_without_nsup(false);
    assert_eq!(code(put_ttl(Ttl::Seconds(5))), ResultCode::Forbidden);
}

fn a_read_near_the_end_of_life_extends_it() {
    let (engine, clock) = small(|_| {});
    let ns = &engine.namespaces()[0];
    let policy = WritePolicy { ttl: Ttl::Seconds(100), ..WritePolicy::default() };
    let written = put_with(ns, 1, 1, &policy).unwrap();
    let read = |touch| {
        ns.read(&target(1), &ReadPolicy { touch }, |_| Ok(())).unwrap();
        get(ns, 1).unwrap().1
    };
    clock.advance_s(10);
    // 90 of 100 seconds are left: below 95%, not below 80%.
    assert_eq!(read(ReadTouch::Below(80)).void_time, written.void_time);
    assert_eq!(read(ReadTouch::Never).void_time, written.void_time);
    assert_eq!(read(ReadTouch::Default).void_time, written.void_time);
    let extended = read(ReadTouch::Below(95));
    assert_eq!(extended.void_time, written.void_time + 10);
    assert_eq!(extended.generation, written.generation);
    ns.settings().set_read_touch_ttl_percent(95);
    clock.advance_s(50);
    assert_eq!(read(ReadTouch::Default).void_time, written.void_time + 60);
}

fn an_expired_record_is_gone_before_it_is_swept() {
    let (engine, clock) = small(|_| {});
    let ns = &engine.namespaces()[0];
    let policy = WritePolicy { ttl: Ttl::Seconds(10), ..WritePolicy::default() };
    put_with(ns, 1, 1, &policy).unwrap();
    put_with(ns, 2, 2, &policy).unwrap();
    put(ns, 3, 3).unwrap();
    clock.advance_s(10);
    assert_eq!(get(ns, 1), None);
    assert_eq!(ns.stats().objects, 3, "not swept yet");
    assert_eq!(put(ns, 2, 5).unwrap().generation, 1, "a new life");
    clock.advance_s(200);
    settle(ns);
    let stats = ns.stats();
    assert_eq!((stats.objects, stats.expired), (2, 1));
    assert_eq!(get(ns, 3).unwrap().0, 3);
}

fn a_batch_answers_every_key_in_its_place() {
    let (engine, _) = small(|_| {});
    let ns = &engine.namespaces()[0];
    for key in [1, 3] {
        put(ns, key, 10 * key).unwrap();
    }
    let targets: Vec<_> = [3, 2, 1, 3].map(target).into();
    let mut answers = Vec::new();
    ns.read_batch(&targets, &ReadPolicy::default(), |position, answer| {
        let value = answer.map(|record| record.bins.get(b"n").unwrap().integer().unwrap());
        answers.push((position, value.map_err(|failure| failure.error.code)));
    });
    let missing = Err(ResultCode::NotFound);
    assert_eq!(answers, [(0, Ok(30)), (1, missing), (2, Ok(10)), (3, Ok(30))]);
}
}

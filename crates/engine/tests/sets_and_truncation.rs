//! Counts per set, and truncation with a cut-off time.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use cairn_engine::*;
use common::*;

fn set_of<'a>(stats: &'a [SetStats], name: &str) -> &'a SetStats {
    stats.iter().find(|set| set.name == name.as_bytes()).expect("the set exists")
}

fn put_in(ns: &Namespace, set: &'static [u8], key: i64, len: usize) -> Meta {
    let target = Target { set, ..target(key) };
    let bins = vec![blob_bin(b"b", len, 1)];
    let written = ns.update(&target, &WritePolicy::default(), |_| Ok((Change::Write(bins), ())));
    written.unwrap().1.meta().unwrap()
}

use cairn_value::Meta;

on_both_storages! {
fn objects_and_bytes_are_counted_per_set() {
    let (engine, _) = small(|_| {});
    let ns = &engine.namespaces()[0];
    let mut bytes = 0;
    for key in 0..10 {
        bytes += u64::from(put_in(ns, b"a", key, 100 * key as usize).stored_size);
    }
    put_in(ns, b"b", 100, 10);
    let stats = ns.set_stats();
    assert_eq!((set_of(&stats, "a").objects, set_of(&stats, "a").bytes), (10, bytes));
    assert_eq!(set_of(&stats, "b").objects, 1);

    // Growing, shrinking and deleting keep the sums exact.
    let before = u64::from(put_in(ns, b"a", 0, 0).stored_size);
    let after = u64::from(put_in(ns, b"a", 0, 5000).stored_size);
    assert_eq!(set_of(&ns.set_stats(), "a").bytes, bytes - before + after);
    for key in 0..10 {
        ns.delete(&target(key), GenerationCheck::None).unwrap();
    }
    let stats = ns.set_stats();
    assert_eq!((set_of(&stats, "a").objects, set_of(&stats, "a").bytes), (0, 0));
    assert_eq!(ns.stats().log.live_bytes, set_of(&stats, "b").bytes);
}

fn truncating_a_set_hides_its_records_at_once_and_spares_later_writes() {
    let (engine, _) = small(|_| {});
    let ns = &engine.namespaces()[0];
    for key in 0..100 {
        put(ns, key, key).unwrap();
    }
    put_in(ns, b"other", 1000, 10);
    ns.truncate(Some(b"set"), None).unwrap();
    assert_eq!(get(ns, 5), None);
    assert_eq!(put(ns, 5, 55).unwrap().generation, 1);
    settle(ns);
    assert_eq!(get(ns, 5).unwrap().0, 55);
    let stats = ns.stats();
    assert_eq!((stats.objects, stats.truncated), (2, 99));
    assert_eq!(set_of(&ns.set_stats(), "set").objects, 1);
    assert_eq!(set_of(&ns.set_stats(), "other").objects, 1);
}

fn truncation_with_a_time_spares_what_was_written_since() {
    let (engine, clock) = small(|_| {});
    let ns = &engine.namespaces()[0];
    put(ns, 1, 1).unwrap();
    clock.advance_s(5);
    let cut = clock.now_ns();
    clock.advance_s(5);
    put(ns, 2, 2).unwrap();
    ns.truncate(None, Some(cut)).unwrap();
    settle(ns);
    assert_eq!((get(ns, 1), get(ns, 2).map(|r| r.0)), (None, Some(2)));
    assert_eq!(ns.stats().objects, 1);
    let future = clock.now_ns() + 1_000_000_000;
    assert!(ns.truncate(None, Some(future)).is_err(), "the future cannot be truncated");
}
}

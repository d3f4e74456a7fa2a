//! Scans of partitions: order, resumption, and writes that go on meanwhile.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use cairn_engine::*;
use cairn_value::*;
use common::*;

/// Keys whose records share a partition, so that one partition has something to scan.
fn keys_of_one_partition(count: usize) -> (PartitionId, Vec<i64>) {
    let partition = digest(0).partition();
    (partition, (0..).filter(|&key| digest(key).partition() == partition).take(count).collect())
}

fn scan_all(ns: &Namespace, partition: PartitionId, page: usize) -> Vec<Digest> {
    let (mut seen, mut below) = (Vec::new(), None);
    loop {
        let mut left = page;
        let end = ns.scan(partition, below, |record| {
            seen.push(record.digest);
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match end.unwrap() {
            ScanEnd::Finished => return seen,
            ScanEnd::Stopped(at) => below = Some(at),
        }
    }
}

on_both_storages! {
fn pages_of_any_size_give_every_record_once_in_order() {
    let (engine, _) = small(|_| {});
    let ns = &engine.namespaces()[0];
    let (partition, keys) = keys_of_one_partition(200);
    keys.iter().for_each(|&key| {
        put(ns, key, key).unwrap();
    });
    let expected: BTreeSet<Digest> = keys.iter().map(|&key| digest(key)).collect();
    for page in [1, 3, 64, 65, 1000] {
        let seen = scan_all(ns, partition, page);
        assert!(seen.is_sorted_by(|a, b| a > b));
        assert_eq!(seen, expected.iter().rev().copied().collect::<Vec<_>>(), "page {page}");
    }
}

fn a_scan_resumes_below_a_digest_that_is_gone() {
    let (engine, _) = small(|_| {});
    let ns = &engine.namespaces()[0];
    let (partition, keys) = keys_of_one_partition(20);
    keys.iter().for_each(|&key| {
        put(ns, key, key).unwrap();
    });
    let order = scan_all(ns, partition, 100);
    let gone = keys.iter().find(|&&key| digest(key) == order[7]).unwrap();
    ns.delete(&target(*gone), GenerationCheck::None).unwrap();
    let mut rest = Vec::new();
    ns.scan(partition, Some(order[7]), |record| {
        rest.push(record.digest);
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(rest, order[8..]);
}

fn records_that_stay_are_seen_once_while_others_come_and_go() {
    let (engine, _) = small(|_| {});
    let ns = &engine.namespaces()[0];
    let (partition, keys) = keys_of_one_partition(120);
    let (stable, moving) = keys.split_at(60);
    stable.iter().for_each(|&key| {
        put(ns, key, key).unwrap();
    });
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                for &key in moving {
                    put(ns, key, key).unwrap();
                }
                for &key in stable {
                    put(ns, key, key).unwrap();
                }
                for &key in moving {
                    ns.delete(&target(key), GenerationCheck::None).unwrap();
                }
            }
        });
        for round in 0..6 {
            let seen = scan_all(ns, partition, 5 + 23 * round);
            assert!(seen.is_sorted_by(|a, b| a > b), "in order, none twice");
            let seen: BTreeSet<_> = seen.into_iter().collect();
            assert!(stable.iter().all(|&key| seen.contains(&digest(key))));
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}
}

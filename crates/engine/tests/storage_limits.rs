//! Defragmentation, stop-writes and what happens when storage runs full.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use cairn_engine::*;
use cairn_value::ResultCode;
use common::*;

on_both_storages! {
fn overwriting_for_ever_stays_within_the_storage() {
    // 64 blocks of 16 KiB; live data is about a third of it.
    let (engine, _) = small(|config| config.storage_size = 1 << 20);
    let ns = &engine.namespaces()[0];
    for round in 0..200u64 {
        for key in 0..300 {
            let bins = vec![int_bin(b"n", key), blob_bin(b"b", 1000, round as u8)];
            ns.update(&target(key), &WritePolicy::default(), |_| Ok((Change::Write(bins), ())))
                .unwrap_or_else(|failure| panic!("round {round}, key {key}: {failure}"));
        }
        ns.step(Budget::default());
    }
    let stats = ns.stats();
    // Two blocks beside the storage are for defragmentation.
    assert!((stats.log.blocks - 2) * stats.log.block_size <= 1 << 20);
    assert_eq!(stats.objects, 300);
    (0..300).for_each(|key| assert_eq!(get(ns, key).unwrap().0, key));
}

fn blocks_with_a_few_survivors_are_emptied() {
    let (engine, _) = small(|_| {});
    let ns = &engine.namespaces()[0];
    for key in 0..2000 {
        put(ns, key, key).unwrap();
    }
    let full = ns.stats().log.blocks;
    // One record in sixteen stays, scattered over all blocks.
    for key in (0..2000).filter(|key| key % 16 != 0) {
        ns.delete(&target(key), GenerationCheck::None).unwrap();
    }
    settle(ns);
    let stats = ns.stats();
    assert!(stats.log.blocks <= full / 8 + 2, "{} of {full} blocks are left", stats.log.blocks);
    assert!(stats.defrag_moved_bytes > 0);
    (0..2000).for_each(|key| assert_eq!(get(ns, key).is_some(), key % 16 == 0));
}

fn full_storage_refuses_writes_by_name_and_keeps_reads_and_deletes() {
    let (engine, _) = small(|config| {
        config.storage_size = 256 << 10;
        config.stop_writes_used_percent = 50;
    });
    let ns = &engine.namespaces()[0];
    let refused = (0..10_000).find_map(|key| put(ns, key, key).err().map(|f| (key, f.error)));
    let (key, error) = refused.expect("storage fills up");
    assert_eq!(error.code, ResultCode::NoSpace);
    assert!(error.message.contains("stop-writes-used-pct"), "{error}");
    assert!(ns.stats().stop_writes);
    assert_eq!(get(ns, key - 1).unwrap().0, key - 1);
    for key in 0..key / 2 {
        ns.delete(&target(key), GenerationCheck::None).unwrap();
    }
    assert!(!ns.stats().stop_writes);
    put(ns, 0, 1).unwrap();
}

fn records_up_to_8_mib_fit_when_the_namespace_allows_them() {
    let (engine, _) = small(|config| {
        config.block_size = BLOCK_SIZE_DEFAULT;
        config.max_record_size = 8 << 20;
        config.storage_size = 16 * BLOCK_SIZE_DEFAULT as u64;
    });
    let ns = &engine.namespaces()[0];
    for key in 0..3 {
        let bins = vec![int_bin(b"n", key), blob_bin(b"b", (8 << 20) - 200, 7)];
        ns.update(&target(key), &WritePolicy::default(), |_| Ok((Change::Write(bins), ())))
            .unwrap();
    }
    (0..3).for_each(|key| assert_eq!(get(ns, key).unwrap().0, key));
}
}

#[test]
fn large_records_fill_the_storage_and_then_the_namespace_is_full() {
    let config = NamespaceConfig {
        storage_size: 64 << 20,
        max_record_size: 8 << 20,
        ..NamespaceConfig::new("test")
    };
    let engine = Engine::in_memory([config]).unwrap();
    let ns = &engine.namespaces()[0];
    let write = |key| {
        let bins = vec![blob_bin(b"b", 1_000_000, 1)];
        ns.update(&target(key), &WritePolicy::default(), |_| Ok((Change::Write(bins), ())))
    };
    let stored = (0..100).take_while(|&key| write(key).is_ok()).count();
    assert!(stored >= 55, "{stored} MB of 64 MiB");
    assert_eq!(code(write(1000)), ResultCode::NoSpace);
}

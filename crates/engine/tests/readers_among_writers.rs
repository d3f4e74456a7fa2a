//! Readers while records are overwritten, deleted and moved by defragmentation: a reader sees a
//! whole version of a record or none, never a mixture, and counters never lose an increment.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::sync::atomic::{AtomicBool, Ordering};

use cairn_engine::*;
use cairn_value::*;
use common::*;

const KEYS: i64 = 40;
/// Miri runs the same test with fewer rounds.
const ROUNDS: i64 = if cfg!(miri) { 3 } else { 400 };

fn overwrite(ns: &Namespace, key: i64, round: i64) {
    // The blob's length and every byte follow from the round, so that a torn read shows.
    let bins = vec![int_bin(b"n", round), blob_bin(b"b", 100 + (round % 50) as usize, round as u8)];
    ns.update(&target(key), &WritePolicy::default(), |_| Ok((Change::Write(bins), ()))).unwrap();
}

fn check_whole(record: &RecordView<'_>) {
    let round = record.bins.get(b"n").unwrap().integer().unwrap();
    let blob = record.bins.get(b"b").unwrap().bytes;
    assert_eq!(blob.len(), 100 + (round % 50) as usize);
    assert!(blob.iter().all(|&byte| byte == round as u8));
}

on_both_storages! {
fn a_reader_sees_whole_versions_while_everything_moves() {
    let (engine, _) = small(|config| {
        config.storage_size = 256 << 10;
        config.block_size = 4 << 10;
        config.max_record_size = 2 << 10;
    });
    let ns = &engine.namespaces()[0];
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..2)
            .map(|writer| {
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        for key in (0..KEYS).filter(|key| key % 2 == writer) {
                            overwrite(ns, key, round);
                            if (key + round) % 7 == 0 {
                                ns.delete(&target(key), GenerationCheck::None).unwrap();
                            }
                        }
                        add(ns, 1000, 1).unwrap();
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                ns.step(Budget { entries: 64, bytes: 2048 });
            }
        });
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                for key in 0..KEYS {
                    let read = ns.read(&target(key), &ReadPolicy::default(), |record| {
                        check_whole(record);
                        Ok(())
                    });
                    assert!(read.is_ok() || code(read) == ResultCode::NotFound);
                }
            }
        });
        for writer in writers {
            writer.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(get(ns, 1000).unwrap().0, 2 * ROUNDS);
    assert!(cfg!(miri) || ns.stats().defrag_moved_bytes > 0, "defragmentation took part");
}
}

//! Readers and writers of one partition's index under its lock: readers see every record that
//! nobody removes, in digest order, whatever the writers do to the leaves around them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};

use cairn_engine::index::{Entry, PartitionIndex, Place, Progress, Size, Walk};
use cairn_value::Digest;
use parking_lot::RwLock;

/// Miri runs the same test with fewer records and rounds.
const RECORDS: u64 = if cfg!(miri) { 60 } else { 4000 };
const ROUNDS: u64 = if cfg!(miri) { 1 } else { 30 };
const WRITERS: u64 = 2;
/// Marks records that a sweep may remove.
const EXPIRED: u32 = 1;

/// Every fourth record stays for good; the others come and go.
fn stays(n: u64) -> bool {
    n.is_multiple_of(4)
}

/// Spread over the partition; five records share each prefix.
fn digest_of(n: u64) -> Digest {
    let mut bytes = [0; 20];
    let prefix = (n / 5).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bytes[2..8].copy_from_slice(&prefix.to_be_bytes()[..6]);
    bytes[8..16].copy_from_slice(&n.to_be_bytes());
    Digest(bytes)
}

fn entry_of(n: u64, void_time: u32) -> Entry {
    let place = Place::from_u64(n).unwrap();
    Entry { place, void_time, set_id: 0, size: Size::of(64), flags: 0 }
}

fn header(place: Place) -> Result<Digest, Infallible> {
    Ok(digest_of(place.to_u64()))
}

fn write(index: &RwLock<PartitionIndex>, writer: u64) {
    for round in 0..ROUNDS {
        let mine = || (0..RECORDS).filter(|n| !stays(*n) && n % WRITERS == writer);
        for n in mine() {
            let void_time = if n % 3 == round % 3 { EXPIRED } else { 0 };
            let Ok(_) = index.write().upsert(&digest_of(n), &entry_of(n, void_time), header);
        }
        let mut walk = Walk::new();
        let keep = |entry: &Entry| !entry.is_expired(EXPIRED);
        while index.write().retain_step(&mut walk, 100, keep) == Progress::More {}
        for n in mine() {
            let Ok(_) = index.write().remove(&digest_of(n), header);
        }
    }
}

fn check_lookups(index: &RwLock<PartitionIndex>) {
    for n in (0..RECORDS).filter(|n| stays(*n)) {
        let Ok(found) = index.read().find(&digest_of(n), header);
        assert_eq!(found.map(|found| found.entry), Some(entry_of(n, 0)), "record {n}");
    }
}

/// Scans in batches and lets go of the lock between them.
fn check_scan(index: &RwLock<PartitionIndex>, staying: &[Digest]) {
    let mut seen: Vec<Digest> = Vec::new();
    loop {
        let index = index.read();
        let Ok(entries) = index.iter_after(seen.last(), header);
        let before = seen.len();
        seen.extend(entries.take(50).map(|entry| digest_of(entry.place.to_u64())));
        if seen.len() == before {
            break;
        }
    }
    assert!(seen.is_sorted_by(|a, b| a < b));
    seen.retain(|digest| staying.binary_search(digest).is_ok());
    assert_eq!(seen, staying);
}

#[test]
fn readers_see_all_that_stays_while_writers_insert_sweep_and_remove() {
    let index = RwLock::new(PartitionIndex::new());
    for n in (0..RECORDS).filter(|n| stays(*n)) {
        let Ok(_) = index.write().upsert(&digest_of(n), &entry_of(n, 0), header);
    }
    let mut staying: Vec<Digest> = (0..RECORDS).filter(|n| stays(*n)).map(digest_of).collect();
    staying.sort();

    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let index = &index;
                scope.spawn(move || write(index, writer))
            })
            .collect();
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                check_lookups(&index);
            }
        });
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                check_scan(&index, &staying);
            }
        });
        let ended: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        done.store(true, Ordering::Relaxed);
        assert!(ended.iter().all(Result::is_ok));
    });
    check_lookups(&index);
    check_scan(&index, &staying);
    assert_eq!(index.read().len(), staying.len());
}

//! Many writers of one record.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use cairn_engine::*;
use cairn_value::ResultCode;
use common::*;

on_both_storages! {
fn increments_of_one_record_are_exact_and_nobody_starves() {
    const WRITERS: i64 = 8;
    const EACH: i64 = 2_000;
    let (engine, _) = small(|_| {});
    let ns = &engine.namespaces()[0];
    std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                (0..EACH).for_each(|_| {
                    add(ns, 1, 1).unwrap();
                })
            });
        }
    });
    assert_eq!(get(ns, 1).unwrap().0, WRITERS * EACH);
}

fn beyond_the_pending_limit_a_command_is_refused_as_key_busy() {
    let (engine, _) = small(|config| config.transaction_pending_limit = 1);
    let engine = Arc::new(engine);
    put(&engine.namespaces()[0], 1, 0).unwrap();
    let (inside, is_inside) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();

    // One command works, holding the record.
    let holder = std::thread::spawn({
        let engine = engine.clone();
        move || {
            engine.namespaces()[0]
                .update(&target(1), &WritePolicy::default(), |_| {
                    inside.send(()).unwrap();
                    released.recv().unwrap();
                    Ok((Change::Touch, ()))
                })
                .unwrap();
        }
    });
    is_inside.recv().unwrap();

    // One may wait. Which of the others it is does not matter; the rest are refused.
    let refused = Arc::new(AtomicUsize::new(0));
    let waiting: Vec<_> = (0..3)
        .map(|_| {
            let (engine, refused) = (engine.clone(), refused.clone());
            std::thread::spawn(move || match add(&engine.namespaces()[0], 1, 1) {
                Ok(_) => {}
                Err(failure) => {
                    assert_eq!(failure.error.code, ResultCode::KeyBusy);
                    assert_eq!(failure.error.code.wire(), 14);
                    assert!(failure.error.message.contains("transaction-pending-limit"));
                    refused.fetch_add(1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    let patience = Instant::now() + Duration::from_secs(20);
    while refused.load(Ordering::SeqCst) < 2 && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(refused.load(Ordering::SeqCst), 2, "one waits, two are refused");
    // Other records are not concerned.
    let other = (2..).find(|&key| digest(key).partition() != digest(1).partition()).unwrap();
    put(&engine.namespaces()[0], other, 1).unwrap();
    release.send(()).unwrap();
    holder.join().unwrap();
    waiting.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(get(&engine.namespaces()[0], 1).unwrap().0, 1);
    // Nobody is left in the queue.
    add(&engine.namespaces()[0], 1, 1).unwrap();
}
}

//! A real process that is killed again and again while it writes to a real directory loses nothing
//! that its durability promised.
//!
//! The process is this test binary itself, started again with a directory in its environment. Each
//! write has a number; every seventh is a delete. The process tells each acknowledged write on its
//! standard output.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cairn_engine::*;
use common::*;

const DIRECTORY: &str = "CAIRN_KILL_DIRECTORY";
const DURABILITY: &str = "CAIRN_KILL_DURABILITY";
const INTERVAL_MS: u32 = 50;
/// How late a flush may be on a busy machine.
const SLACK: Duration = Duration::from_millis(1500);
const WRITERS: i64 = 4;
const KEYS_EACH: i64 = 8;

fn is_delete(number: i64) -> bool {
    number % 7 == 0
}

fn config(directory: &Path, durability: Durability) -> NamespaceConfig {
    NamespaceConfig {
        durability,
        block_size: 64 << 10,
        max_record_size: 8 << 10,
        storage_size: 8 << 20,
        ..NamespaceConfig::in_directory("test", directory)
    }
}

fn durability_named(name: &str) -> Durability {
    match name {
        "commit" => Durability::Commit,
        "interval" => Durability::Interval(INTERVAL_MS),
        _ => Durability::None,
    }
}

/// Not a test but the process that is killed; does nothing unless it is told where.
#[test]
fn process_that_is_killed() {
    let Ok(directory) = std::env::var(DIRECTORY) else { return };
    let durability = durability_named(&std::env::var(DURABILITY).unwrap());
    let config = config(Path::new(&directory), durability);
    let engine = Arc::new(Engine::open([config], Seams::default()).unwrap());
    let _background = Background::start(engine.clone()).unwrap();
    let ns = &engine.namespaces()[0];
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || write_for_ever(ns, writer));
        }
    });
}

fn write_for_ever(ns: &Namespace, writer: i64) {
    let keys = writer * KEYS_EACH..(writer + 1) * KEYS_EACH;
    // Go on from what the last process left; a deleted record's number is not known, so it starts
    // far behind.
    let mut next: BTreeMap<i64, i64> =
        keys.map(|key| (key, get(ns, key).map_or(0, |read| read.0) + 1)).collect();
    loop {
        for (key, number) in &mut next {
            if is_delete(*number) {
                let _ = ns.delete(&target(*key), GenerationCheck::None);
            } else {
                let bins = vec![int_bin(b"n", *number), blob_bin(b"b", 300, *number as u8)];
                let policy = WritePolicy::default();
                ns.update(&target(*key), &policy, |_| Ok((Change::Write(bins), ()))).unwrap();
            }
            // One call, so that lines of several threads do not mix.
            let line = format!("ack {key} {number}\n");
            std::io::stdout().write_all(line.as_bytes()).unwrap();
            *number += 1;
        }
    }
}

/// Acknowledged writes: when they were read, and their numbers, by key.
type Acks = BTreeMap<i64, Vec<(Instant, i64)>>;

/// Lets a process write for a while and kills it.
fn run_and_kill(directory: &Path, durability: &str, life: Duration) -> (Acks, Instant) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["process_that_is_killed", "--exact", "--nocapture"])
        .env(DIRECTORY, directory)
        .env(DURABILITY, durability)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let reader = std::thread::spawn(move || {
        let mut acks = Acks::new();
        for line in output.split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).into_owned();
            // The harness prints the test's name in front of the first line.
            let Some(at) = line.find("ack ") else { continue };
            let mut words = line[at + 4..].split(' ').map(str::parse::<i64>);
            if let (Some(Ok(key)), Some(Ok(number))) = (words.next(), words.next()) {
                acks.entry(key).or_default().push((Instant::now(), number));
            }
        }
        acks
    });
    std::thread::sleep(life);
    let killed = Instant::now();
    child.kill().unwrap();
    child.wait().unwrap();
    (reader.join().unwrap(), killed)
}

/// Each record is at a write that was promised, or at a later one.
fn check(directory: &Path, durability: &str, acks: &Acks, killed: Instant) {
    let config = config(directory, durability_named(durability));
    let engine = Engine::open([config], Seams::default()).unwrap();
    let ns = &engine.namespaces()[0];
    for (key, acks) in acks {
        let last = acks.last().unwrap().1;
        let promised = acks.iter().rev().find(|(read, _)| match durability {
            "commit" => true,
            "interval" => *read + SLACK < killed,
            _ => false,
        });
        let Some((_, first)) = promised else {
            assert!(get(ns, *key).is_none_or(|read| read.0 <= last + 1));
            continue;
        };
        match get(ns, *key).map(|read| read.0) {
            Some(found) => {
                assert!(
                    (*first..=last + 1).contains(&found),
                    "{key}: {found}, acked {first}..{last}"
                );
            }
            None => {
                let deleted = (*first..=last + 1).any(is_delete);
                assert!(deleted, "{key} is missing, acked {first}..{last}");
            }
        }
    }
    // The last process ended in the middle of something: it can be written to again.
    put(ns, 0, 1).unwrap();
    ns.delete(&target(0), GenerationCheck::None).unwrap();
}

fn kill_again_and_again(durability: &str, lives_ms: &[u64]) {
    let directory = Directory::new();
    let mut acknowledged = 0;
    for life in lives_ms {
        let life = Duration::from_millis(*life);
        let (acks, killed) = run_and_kill(&directory.0, durability, life);
        acknowledged += acks.values().map(Vec::len).sum::<usize>();
        check(&directory.0, durability, &acks, killed);
    }
    assert!(acknowledged > 100, "only {acknowledged} writes were acknowledged");
}

#[test]
fn commit_loses_nothing_that_was_acknowledged() {
    kill_again_and_again("commit", &[400, 700, 500, 900]);
}

#[test]
fn interval_loses_the_last_moments_at_most() {
    kill_again_and_again("interval", &[2500, 2000]);
}

#[test]
fn none_is_consistent_after_a_kill() {
    kill_again_and_again("none", &[300, 600, 400]);
}

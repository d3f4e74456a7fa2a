//! The engine against a map, over random histories: writes, deletes, touches, expiry, truncation,
//! background steps and scans in any order.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use cairn_engine::*;
use cairn_value::limits::PARTITIONS;
use cairn_value::*;
use common::*;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Write { key: i64, bytes: usize, ttl: Ttl, exists: Exists, generation: Option<u32> },
    Touch { key: i64, ttl: Ttl },
    Delete { key: i64 },
    Advance { seconds: u64 },
    Truncate { ago_s: u64 },
    Background,
}

/// What the twin remembers of a record.
#[derive(Clone, Debug, PartialEq)]
struct Naive {
    bytes: usize,
    generation: u16,
    void_s: u32,
    written_ns: u64,
}

fn step() -> impl Strategy<Value = Step> {
    let ttl = prop_oneof![
        Just(Ttl::Default),
        Just(Ttl::Never),
        Just(Ttl::Keep),
        (1u32..40).prop_map(Ttl::Seconds)
    ];
    let exists = prop_oneof![
        4 => Just(Exists::Any),
        1 => Just(Exists::CreateOnly),
        1 => Just(Exists::UpdateOnly),
        1 => Just(Exists::Replace),
        1 => Just(Exists::ReplaceOnly),
    ];
    let generation = proptest::option::weighted(0.1, 0u32..6);
    prop_oneof![
        10 => (0i64..12, 0usize..3000, ttl.clone(), exists, generation).prop_map(
            |(key, bytes, ttl, exists, generation)| Step::Write { key, bytes, ttl, exists, generation }
        ),
        2 => (0i64..12, ttl).prop_map(|(key, ttl)| Step::Touch { key, ttl }),
        3 => (0i64..12).prop_map(|key| Step::Delete { key }),
        2 => (1u64..20).prop_map(|seconds| Step::Advance { seconds }),
        1 => (0u64..30).prop_map(|ago_s| Step::Truncate { ago_s }),
        2 => Just(Step::Background),
    ]
}

struct Twin {
    records: BTreeMap<i64, Naive>,
}

impl Twin {
    fn alive(&self, key: i64, now_s: u32) -> Option<&Naive> {
        self.records.get(&key).filter(|r| r.void_s == 0 || r.void_s > now_s)
    }

    /// The outcome a write must have, applied to the twin.
    fn write(
        &mut self,
        key: i64,
        bytes: Option<usize>,
        policy: &WritePolicy,
        now_s: u32,
        written_ns: u64,
    ) -> Result<(), ResultCode> {
        let old = self.alive(key, now_s).cloned();
        match (policy.exists, &old) {
            (Exists::CreateOnly, Some(_)) => return Err(ResultCode::RecordExists),
            (Exists::UpdateOnly | Exists::ReplaceOnly, None) => return Err(ResultCode::NotFound),
            _ => {}
        }
        let generation = old.as_ref().map_or(0, |r| r.generation);
        if let GenerationCheck::Equal(asked) = policy.generation
            && asked != u32::from(generation)
        {
            return Err(ResultCode::Generation);
        }
        let bytes = match (bytes, &old) {
            (Some(bytes), _) => bytes,
            (None, Some(old)) => old.bytes,
            (None, None) => return Err(ResultCode::NotFound),
        };
        let void_s = match (policy.ttl, &old) {
            (Ttl::Seconds(seconds), _) => now_s + seconds,
            (Ttl::Keep, Some(old)) => old.void_s,
            _ => 0,
        };
        self.records.insert(key, Naive { bytes, generation: generation + 1, void_s, written_ns });
        Ok(())
    }
}

fn check_all(ns: &Namespace, twin: &Twin, now_s: u32) {
    let mut expected = BTreeMap::new();
    for key in 0..12 {
        let read = ns.read(&target(key), &ReadPolicy::default(), |record| {
            Ok(record.bins.get(b"b").map(|p| p.bytes.len()))
        });
        match twin.alive(key, now_s) {
            Some(naive) => {
                let (bytes, meta) = read.expect("the record is there");
                assert_eq!(bytes, Some(naive.bytes));
                assert_eq!((meta.generation, meta.void_time), (naive.generation, naive.void_s));
                expected.insert(digest(key), naive.bytes);
            }
            None => assert_eq!(code(read), ResultCode::NotFound),
        }
    }
    let mut seen = BTreeMap::new();
    for partition in 0..PARTITIONS {
        ns.scan(PartitionId(partition as u16), None, |record| {
            seen.insert(record.digest, record.bins.get(b"b").unwrap().bytes.len());
            ControlFlow::Continue(())
        })
        .unwrap();
    }
    assert_eq!(seen, expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_history_ends_as_in_a_map(
        in_files: bool,
        steps in proptest::collection::vec(step(), 1..200),
    ) {
        run_on(if in_files { Kind::Files } else { Kind::Memory }, || run(steps));
    }
}

fn run(steps: Vec<Step>) {
    {
        let (engine, clock) = small(|config| config.storage_size = 256 << 10);
        let ns = &engine.namespaces()[0];
        let mut twin = Twin { records: BTreeMap::new() };
        let now_s = || seconds_since_2010(clock.now_ns());
        for step in steps {
            match step {
                Step::Write { key, bytes, ttl, exists, generation } => {
                    let generation =
                        generation.map_or(GenerationCheck::None, GenerationCheck::Equal);
                    let policy = WritePolicy { exists, generation, ttl, store_key: false };
                    let bins = vec![blob_bin(b"b", bytes, key as u8)];
                    let result =
                        ns.update(&target(key), &policy, |_| Ok((Change::Write(bins), ())));
                    let now = clock.now_ns();
                    let expected = twin.write(key, Some(bytes), &policy, now_s(), now);
                    assert_eq!(result.map(|_| ()).map_err(|f| f.error.code), expected);
                }
                Step::Touch { key, ttl } => {
                    let policy = WritePolicy { ttl, ..WritePolicy::default() };
                    let result = ns.update(&target(key), &policy, |_| Ok((Change::Touch, ())));
                    let now = clock.now_ns();
                    let expected = twin.write(key, None, &policy, now_s(), now);
                    assert_eq!(result.map(|_| ()).map_err(|f| f.error.code), expected);
                }
                Step::Delete { key } => {
                    let result = ns.delete(&target(key), GenerationCheck::None);
                    let alive = twin.alive(key, now_s()).is_some();
                    assert_eq!(result.is_ok(), alive);
                    if alive {
                        twin.records.remove(&key);
                    }
                }
                Step::Advance { seconds } => clock.advance_s(seconds),
                Step::Truncate { ago_s } => {
                    let before = clock.now_ns() - ago_s * 1_000_000_000;
                    ns.truncate(Some(b"set"), Some(before)).unwrap();
                    twin.records.retain(|_, record| record.written_ns >= before);
                }
                Step::Background => {
                    ns.step(Budget { entries: 100, bytes: 4096 });
                }
            }
        }
        check_all(ns, &twin, now_s());
        settle(ns);
        check_all(ns, &twin, now_s());
        let live: u64 = ns.set_stats().iter().map(|set| set.bytes).sum();
        assert_eq!(ns.stats().log.live_bytes, live);
    }
}

//! Namespaces in files that are opened again: after a clean stop, after a crash, after damage.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::sync::Arc;

use cairn_engine::*;
use cairn_value::*;
use common::*;

struct Machine {
    disks: FakeDisks,
    clock: Arc<ManualClock>,
    config: NamespaceConfig,
}

impl Machine {
    fn new(configure: impl FnOnce(&mut NamespaceConfig)) -> Machine {
        let mut config = small_config(Kind::Files);
        config.durability = Durability::Commit;
        configure(&mut config);
        let clock = Arc::new(ManualClock::at(START_NS));
        Machine { disks: FakeDisks::default(), clock, config }
    }

    fn start(&self) -> Engine {
        open(self.config.clone(), &self.clock, &self.disks)
    }

    /// Opens what is expected to be refused.
    fn refusal(&self) -> Error {
        let disks = Arc::new(self.disks.clone());
        let seams = Seams { disks, clock: self.clock.clone(), ..Seams::default() };
        Engine::open([self.config.clone()], seams).expect_err("refused")
    }
}

fn store(ns: &Namespace, key: i64, value: i64) {
    put(ns, key, value).unwrap();
}

fn only(engine: &Engine) -> &Namespace {
    &engine.namespaces()[0]
}

#[test]
fn acknowledged_writes_and_deletes_are_there_after_a_crash() {
    let machine = Machine::new(|_| {});
    let mut expected: Vec<Option<i64>> = vec![None; 300];
    for run in 0..6 {
        let engine = machine.start();
        let ns = only(&engine);
        for (key, value) in expected.iter().enumerate() {
            assert_eq!(get(ns, key as i64).map(|r| r.0), *value, "run {run}, key {key}");
        }
        for step in 0..400 {
            let key = (step * 7 + run * 13) % 300;
            if step % 3 == 0 && expected[key].is_some() {
                ns.delete(&target(key as i64), GenerationCheck::None).unwrap();
                expected[key] = None;
            } else {
                put(ns, key as i64, step as i64).unwrap();
                expected[key] = Some(step as i64);
            }
            if step % 50 == 0 {
                settle(ns);
            }
        }
        let live = expected.iter().flatten().count() as u64;
        assert_eq!(ns.stats().objects, live);
        // No close: the process is gone.
    }
}

#[test]
fn deleted_and_truncated_records_stay_away_whatever_restarts_in_between() {
    let machine = Machine::new(|config| config.storage_size = 1 << 20);
    {
        let engine = machine.start();
        let ns = only(&engine);
        for round in 0..5 {
            (0..200).for_each(|key| store(ns, key, round));
        }
        (0..100).for_each(|key| ns.delete(&target(key), GenerationCheck::None).unwrap());
        ns.truncate(Some(b"set"), None).unwrap();
        (150..160).for_each(|key| store(ns, key, 99));
    }
    for _ in 0..5 {
        let engine = machine.start();
        let ns = only(&engine);
        settle(ns);
        for key in 0..200 {
            let expected = (150..160).contains(&key).then_some(99);
            assert_eq!(get(ns, key).map(|r| r.0), expected, "key {key}");
        }
        // Overwriting something else moves the log along.
        (1000..1200).for_each(|key| store(ns, key, 1));
        settle(ns);
    }
}

#[test]
fn an_expired_version_goes_on_hiding_older_ones() {
    let machine = Machine::new(|config| config.nsup_period_s = 1);
    let short = WritePolicy { ttl: Ttl::Seconds(5), ..WritePolicy::default() };
    {
        let engine = machine.start();
        let ns = only(&engine);
        // The older version lasts for ever and lies in a block that stays.
        put(ns, 1, 1).unwrap();
        (100..300).for_each(|key| store(ns, key, key));
        // The newer one expires, in a block whose other records are overwritten.
        put_with(ns, 1, 2, &short).unwrap();
        (300..500).for_each(|key| store(ns, key, key));
        machine.clock.advance_s(10);
        (300..500).for_each(|key| store(ns, key, key));
        settle(ns);
        assert_eq!(get(ns, 1), None);
        (300..500).for_each(|key| store(ns, key, key));
        settle(ns);
    }
    for _ in 0..3 {
        let engine = machine.start();
        assert_eq!(get(only(&engine), 1), None);
        settle(only(&engine));
        assert_eq!(get(only(&engine), 1), None);
    }
}

#[test]
fn interval_is_flushed_by_the_clock_and_none_when_blocks_fill() {
    let machine = Machine::new(|config| config.durability = Durability::Interval(1000));
    let engine = machine.start();
    put(only(&engine), 1, 1).unwrap();
    only(&engine).step(Budget::default());
    machine.clock.advance_s(1);
    put(only(&engine), 2, 2).unwrap();
    only(&engine).step(Budget::default());
    put(only(&engine), 3, 3).unwrap();
    drop(engine);
    let engine = machine.start();
    let there: Vec<bool> = (1..4).map(|key| get(only(&engine), key).is_some()).collect();
    assert_eq!(there, [true, true, false]);
}

#[test]
fn a_flipped_bit_is_an_error_or_is_put_right_but_never_another_answer() {
    let machine = Machine::new(|_| {});
    {
        let engine = machine.start();
        for round in 0..2 {
            (0..20).for_each(|key| store(only(&engine), key, 100 * round + key));
        }
        // A later flush shows that those before it were durable.
        put(only(&engine), 1000, 1).unwrap();
    }
    let mut bytes = Vec::new();
    machine.disks.edit("test/data", |data| bytes = data.clone());
    let (mut errors, mut mended) = (0, 0);
    for byte in (4096 + 64..4096 + 64 + 40 * 112).step_by(5) {
        machine.disks.edit("test/data", |data| {
            *data = bytes.clone();
            data[byte] ^= 1 << (byte % 8);
        });
        let engine = machine.start();
        for key in 0..20 {
            let read = only(&engine).read(&target(key), &ReadPolicy::default(), |record| {
                Ok(record.bins.get(b"n").unwrap().integer().unwrap())
            });
            match read {
                Ok((value, _)) => assert_eq!(value, 100 + key, "byte {byte}"),
                Err(failure) => {
                    assert_eq!(failure.error.code, ResultCode::ServerError, "byte {byte}");
                    let text = failure.error.message;
                    assert!(text.contains("corrupt"), "{text}");
                    errors += 1;
                    // A write that replaces the record is the way out.
                    let replace = WritePolicy { exists: Exists::Replace, ..WritePolicy::default() };
                    assert!(put(only(&engine), key, 5).is_err());
                    put_with(only(&engine), key, 5, &replace).unwrap();
                    assert_eq!(get(only(&engine), key).unwrap().0, 5);
                }
            }
        }
        mended += 1;
    }
    assert!(errors > 10 && mended > errors, "{errors} errors");
}

#[test]
fn a_torn_tail_gives_the_version_before() {
    let machine = Machine::new(|_| {});
    let mut lengths = Vec::new();
    {
        let engine = machine.start();
        put(only(&engine), 1, 1).unwrap();
        machine.disks.edit("test/data", |data| lengths.push(data.clone()));
        put(only(&engine), 1, 2).unwrap();
        machine.disks.edit("test/data", |data| lengths.push(data.clone()));
    }
    let (before, after) = (&lengths[0], &lengths[1]);
    let changed: Vec<usize> = (0..before.len()).filter(|&i| before[i] != after[i]).collect();
    for cut in changed.iter().step_by(3) {
        let mut torn = after.clone();
        torn[*cut..].copy_from_slice(&before[*cut..]);
        machine.disks.edit("test/data", |data| *data = torn);
        for _ in 0..2 {
            let engine = machine.start();
            assert_eq!(get(only(&engine), 1).unwrap().0, 1, "cut at {cut}");
            // Later flushes must not turn the tail into damage.
            put(only(&engine), 2, 2).unwrap();
        }
    }
}

#[test]
fn a_newer_format_and_foreign_files_are_refused_by_name() {
    let machine = Machine::new(|_| {});
    drop(machine.start());
    let mut good = Vec::new();
    machine.disks.edit("test/data", |data| good = data.clone());
    let edit = |at: usize, value: u8| {
        machine.disks.edit("test/data", |data| {
            *data = good.clone();
            data[at] = value;
            let crc = crc32c::crc32c(&data[..60]).to_le_bytes();
            data[60..64].copy_from_slice(&crc);
        });
        machine.refusal().message.into_owned()
    };
    assert!(edit(8, 2).contains("format version 2"));
    assert!(edit(24, b'b').contains("`best`"));
    assert!(edit(13, 1).contains("blocks of"));
    assert!(edit(16, good[16] ^ 1).contains("not from the same namespace"));
    assert!(edit(0, b'X').contains("not a data file"));
}

#[test]
fn a_directory_is_locked_against_a_second_use() {
    let directory = Directory::new();
    let config = NamespaceConfig {
        block_size: 1 << 20,
        storage_size: 64 << 20,
        max_record_size: 64 << 10,
        ..NamespaceConfig::in_directory("test", &directory.0)
    };
    let engine = Engine::open([config.clone()], Seams::default()).unwrap();
    put(only(&engine), 1, 1).unwrap();
    let refused = Engine::open([config.clone()], Seams::default()).unwrap_err();
    assert!(refused.message.contains("in use by another process"), "{refused}");
    drop(engine);
    let engine = Engine::open([config], Seams::default()).unwrap();
    assert_eq!(get(only(&engine), 1).unwrap().0, 1);
}

#[test]
fn sixty_four_writers_share_flushes() {
    let directory = Directory::new();
    let config = NamespaceConfig::in_directory("test", &directory.0);
    let engine = Engine::open([config.clone()], Seams::default()).unwrap();
    let ns = only(&engine);
    std::thread::scope(|scope| {
        for writer in 0..64 {
            scope.spawn(move || {
                (0..10).for_each(|step| store(ns, writer * 10 + step, step));
            });
        }
    });
    let stats = ns.stats().log;
    assert!(stats.flushes < 640 / 2, "{} flushes for 640 writes", stats.flushes);
    drop(engine);
    let engine = Engine::open([config], Seams::default()).unwrap();
    assert_eq!(only(&engine).stats().objects, 640);
}

#[test]
fn a_write_that_does_not_wait_gets_a_ticket_and_a_call() {
    let machine = Machine::new(|_| {});
    let engine = machine.start();
    let ns = only(&engine);
    let calls = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counted = calls.clone();
    ns.set_flush_hook(Some(Arc::new(move || {
        counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    })));
    let bins = || Ok((Change::Write(vec![int_bin(b"n", 1)]), ()));
    let (_, _, ticket) = ns.update_nowait(&target(1), &WritePolicy::default(), |_| bins()).unwrap();
    let ticket = ticket.expect("commit promises durability");
    assert!(!ns.is_durable(ticket));
    assert_eq!(get(ns, 1).unwrap().0, 1, "visible at once");
    ns.step(Budget::default());
    assert!(ns.is_durable(ticket));
    assert_eq!(calls.load(std::sync::atomic::Ordering::SeqCst), 1);
    // Without flushes the writer is refused before memory runs out.
    let blob = || Ok((Change::Write(vec![blob_bin(b"b", 4000, 1)]), ()));
    let refused = (0..1000)
        .find_map(|key| ns.update_nowait(&target(key), &WritePolicy::default(), |_| blob()).err());
    assert_eq!(refused.unwrap().error.code, ResultCode::DeviceOverload);
    ns.flush().unwrap();
    ns.update_nowait(&target(1), &WritePolicy::default(), |_| bins()).unwrap();
}

#[test]
fn a_clean_stop_is_followed_by_a_start_from_the_snapshot() {
    let machine = Machine::new(|_| {});
    {
        let engine = machine.start();
        let ns = only(&engine);
        (0..2000).for_each(|key| store(ns, key, key));
        (0..500).for_each(|key| ns.delete(&target(key), GenerationCheck::None).unwrap());
        engine.close().unwrap();
        assert_eq!(code(put(ns, 1, 1)), ResultCode::Forbidden);
        assert_eq!(get(ns, 700).unwrap().0, 700, "reads go on");
    }
    let scanned = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counted = scanned.clone();
    let start = || {
        let counted = counted.clone();
        let seams = Seams {
            disks: Arc::new(machine.disks.clone()),
            clock: machine.clock.clone(),
            on_recovery: Some(Arc::new(move |progress: Recovery| {
                counted.store(progress.blocks_done, std::sync::atomic::Ordering::SeqCst);
            })),
            ..Seams::default()
        };
        Engine::open([machine.config.clone()], seams).unwrap()
    };
    let check = |engine: &Engine| {
        let ns = only(engine);
        (0..2000).for_each(|key| {
            assert_eq!(get(ns, key).map(|r| r.0), (key >= 500).then_some(key));
        });
        let stats = ns.stats();
        let set_bytes: u64 = ns.set_stats().iter().map(|set| set.bytes).sum();
        assert_eq!((stats.objects, stats.log.live_bytes), (1500, set_bytes));
    };
    let engine = start();
    assert_eq!(scanned.load(std::sync::atomic::Ordering::SeqCst), 0, "the log was not read");
    check(&engine);
    drop(engine);
    // That was no clean stop.
    check(&start());
    assert!(scanned.load(std::sync::atomic::Ordering::SeqCst) > 0, "the log was read");
    // A damaged snapshot is not believed.
    let engine = start();
    engine.close().unwrap();
    drop(engine);
    machine.disks.edit("test/index", |bytes| bytes[1000] ^= 1);
    check(&start());
}

#[test]
fn secondary_indexes_are_there_again_after_a_restart() {
    let machine = Machine::new(|_| {});
    let names = |engine: &Engine| -> Vec<String> {
        only(engine).indexes().iter().map(|index| index.name().to_string()).collect()
    };
    let definition = |bin: &[u8]| IndexDefinition {
        set: b"set".to_vec(),
        kind: IndexKind::Integer,
        part: IndexPart::Value,
        source: IndexSource::Bin { name: bin.to_vec(), context: Vec::new() },
    };
    {
        let engine = machine.start();
        (0..100).for_each(|key| store(only(&engine), key, key % 10));
        only(&engine).create_index("by_n", definition(b"n")).unwrap();
        only(&engine).create_index("by_m", definition(b"m")).unwrap();
        assert!(only(&engine).drop_index("by_m"));
    }
    let engine = machine.start();
    assert_eq!(names(&engine), ["by_n"]);
    settle(only(&engine));
    assert!(only(&engine).indexes()[0].is_ready());
}

#[test]
fn scrubbing_finds_damage_that_nobody_has_asked_for() {
    let machine = Machine::new(|_| {});
    drop({
        let engine = machine.start();
        (0..400).for_each(|key| store(only(&engine), key, key));
        engine
    });
    let engine = machine.start();
    // In the body of an entry of the first block.
    machine.disks.edit("test/data", |data| data[4096 + 64 + 70] ^= 1);
    for _ in 0..1000 {
        machine.clock.advance_s(1);
        only(&engine).step(Budget::default());
    }
    let stats = only(&engine).stats().log;
    assert!(stats.scrubbed_bytes > 0);
    assert_eq!(stats.corrupt_entries, 1);
}

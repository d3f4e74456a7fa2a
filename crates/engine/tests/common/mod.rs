//! Small helpers that let tests speak in keys and integers.
#![allow(dead_code, reason = "each test file uses some of them")]

use std::sync::Arc;

use cairn_engine::*;
use cairn_value::*;

/// 2026-01-01, in nanoseconds since the Unix epoch.
pub const START_NS: u64 = 1_767_225_600_000_000_000;

/// A namespace `test` with small blocks on a clock of its own.
pub fn small(configure: impl FnOnce(&mut NamespaceConfig)) -> (Engine, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::at(START_NS));
    let mut config = NamespaceConfig {
        block_size: 16 << 10,
        max_record_size: 8 << 10,
        storage_size: 4 << 20,
        ..NamespaceConfig::new("test")
    };
    configure(&mut config);
    (Engine::new([config], clock.clone()).unwrap(), clock)
}

pub fn digest(key: i64) -> Digest {
    Digest::of(b"set", ParticleType::Integer, &key.to_be_bytes())
}

pub fn target(key: i64) -> Target<'static> {
    Target { digest: digest(key), set: b"set", key: None }
}

pub fn int_bin(name: &'static [u8], value: i64) -> NewBin<'static> {
    let bytes = value.to_be_bytes().to_vec();
    NewBin { name, content: BinContent::Whole(ParticleType::Integer, bytes.into()) }
}

pub fn blob_bin(name: &'static [u8], len: usize, fill: u8) -> NewBin<'static> {
    NewBin { name, content: BinContent::Whole(ParticleType::Blob, vec![fill; len].into()) }
}

pub fn put(namespace: &Namespace, key: i64, value: i64) -> Result<Meta, Failure> {
    put_with(namespace, key, value, &WritePolicy::default())
}

pub fn put_with(
    namespace: &Namespace,
    key: i64,
    value: i64,
    policy: &WritePolicy,
) -> Result<Meta, Failure> {
    let bins = vec![int_bin(b"n", value)];
    let written = namespace.update(&target(key), policy, |_| Ok((Change::Write(bins), ())))?;
    Ok(written.1.meta().expect("a write with bins leaves a record"))
}

/// Adds to bin `n`, which starts at 0.
pub fn add(namespace: &Namespace, key: i64, delta: i64) -> Result<i64, Failure> {
    let (sum, _) = namespace.update(&target(key), &WritePolicy::default(), |slot| {
        let old = slot.record.and_then(|r| r.bins.get(b"n")?.integer()).unwrap_or(0);
        Ok((Change::Write(vec![int_bin(b"n", old + delta)]), old + delta))
    })?;
    Ok(sum)
}

pub fn get(namespace: &Namespace, key: i64) -> Option<(i64, Meta)> {
    let read = namespace.read(&target(key), &ReadPolicy::default(), |record| {
        Ok(record.bins.get(b"n").and_then(|p| p.integer()).expect("bin n is an integer"))
    });
    match read {
        Ok(read) => Some(read),
        Err(failure) => {
            assert_eq!(failure.error.code, ResultCode::NotFound, "{failure}");
            None
        }
    }
}

pub fn code<T: std::fmt::Debug>(result: Result<T, Failure>) -> ResultCode {
    result.expect_err("refused").error.code
}

/// Runs background work until there is none.
pub fn settle(namespace: &Namespace) {
    for _ in 0..100_000 {
        if namespace.step(Budget::default()) == Progress::Idle {
            return;
        }
    }
    panic!("background work does not end");
}

//! Small helpers that let tests speak in keys and integers, on either storage.
#![allow(dead_code, reason = "each test file uses some of them")]

mod fake_disk;

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cairn_engine::*;
use cairn_value::*;
pub use fake_disk::FakeDisks;

/// 2026-01-01, in nanoseconds since the Unix epoch.
pub const START_NS: u64 = 1_767_225_600_000_000_000;

/// Runs each test with namespaces in memory and again with namespaces in files.
#[macro_export]
macro_rules! on_both_storages {
    ($($(#[doc = $doc:literal])* fn $name:ident() $body:block)*) => {$(
        mod $name {
            use super::*;

            fn body() $body

            #[test]
            fn in_memory() {
                common::run_on(common::Kind::Memory, body);
            }

            #[test]
            fn in_files() {
                common::run_on(common::Kind::Files, body);
            }
        }
    )*};
}

/// Where [`small`] keeps records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Memory,
    Files,
}

thread_local! {
    static KIND: Cell<Kind> = const { Cell::new(Kind::Memory) };
}

/// Runs a test with all namespaces on one storage.
pub fn run_on(kind: Kind, body: impl FnOnce()) {
    KIND.set(kind);
    body();
    KIND.set(Kind::Memory);
}

/// A directory that goes when it is dropped.
#[derive(Debug)]
pub struct Directory(pub PathBuf);

impl Directory {
    pub fn new() -> Directory {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("cairn-test-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Directory(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A small namespace `test`, in memory or in files.
pub fn small_config(kind: Kind) -> NamespaceConfig {
    let storage = match kind {
        Kind::Memory => Storage::Memory,
        // A cache of a few pages, so that reads come from disk as a rule.
        Kind::Files => Storage::File(FileStorage { directory: "/".into(), cache_bytes: 64 << 10 }),
    };
    NamespaceConfig {
        block_size: 16 << 10,
        max_record_size: 8 << 10,
        storage_size: 4 << 20,
        storage,
        ..NamespaceConfig::new("test")
    }
}

/// A namespace `test` with small blocks on a clock of its own, on the storage of the test.
pub fn small(configure: impl FnOnce(&mut NamespaceConfig)) -> (Engine, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::at(START_NS));
    let mut config = small_config(KIND.get());
    configure(&mut config);
    (open(config, &clock, &FakeDisks::default()), clock)
}

/// Opens a namespace on these disks.
pub fn open(config: NamespaceConfig, clock: &Arc<ManualClock>, disks: &FakeDisks) -> Engine {
    let (clock, disks) = (clock.clone(), Arc::new(disks.clone()));
    Engine::open([config], Seams { clock, disks, ..Seams::default() }).unwrap()
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

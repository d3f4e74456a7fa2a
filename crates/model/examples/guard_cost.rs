//! What a contract costs on the write path: updates of a record with ten bins, with and without the
//! guard, in turns.
//!
//! ```text
//! cargo run --release -p cairn-model --example guard_cost
//! ```
#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on has failed")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use cairn_engine::{Change, Engine, Namespace, NamespaceConfig, Target, WritePolicy};
use cairn_model::Contract;
use cairn_model::guard::Guard;
use cairn_value::{BinContent, Digest, NewBin, ParticleType, Value};

const CONTRACT: &str = "cairn: 1
namespaces: {test: {replication-factor: 1}}
entities:
  user:
    namespace: test
    set: users
    bins:
      name: {type: string, size: {p50: 8, max: 40}, mutability: immutable}
      email: {type: string, size: {p50: 20, max: 80}}
      city: {type: string, size: {p50: 8, max: 40}}
      visits: {type: int, counter: true}
      level: \"int:0..1000000000\"
      created_at_ms: {type: int, time: instant, mutability: immutable}
      updated_at_ms: {type: int, time: instant}
      score: double
      active: bool
      tags: {type: list, element: string:6, count: {p50: 5, max: 10}}
";

/// Few enough to stay in the processor's cache: what is measured is work, not memory.
const RECORDS: u64 = 2_000;
/// Writes of each record in a round.
const PASSES: u64 = 20;
const ROUNDS: usize = 60;

fn bins(visits: i64) -> Vec<(&'static str, Value)> {
    vec![
        ("name", "alice".into()),
        ("email", "alice@example.org".into()),
        ("city", "Berlin".into()),
        ("visits", visits.into()),
        ("level", 7.into()),
        ("created_at_ms", 1_742_468_400_000.into()),
        ("updated_at_ms", (1_742_468_400_000 + visits).into()),
        ("score", 0.5.into()),
        ("active", true.into()),
        ("tags", Value::list(["abcdef"; 5].map(Value::from))),
    ]
}

/// Writes every record some times.
fn round(namespace: &Namespace, visits: i64) -> Duration {
    let packed: Vec<_> = bins(visits)
        .into_iter()
        .map(|(name, value)| (name, value.kind(), value.to_particle_bytes()))
        .collect();
    let started = Instant::now();
    for write in 0..RECORDS * PASSES {
        let record = write % RECORDS;
        let digest = Digest::of(b"users", ParticleType::Integer, &record.to_be_bytes());
        let target = Target { digest, set: b"users", key: None };
        let new = packed.iter().map(|(name, kind, bytes)| NewBin {
            name: name.as_bytes(),
            content: BinContent::Whole(*kind, bytes.as_slice().into()),
        });
        let change = Change::Write(new.collect());
        namespace.update(&target, &WritePolicy::default(), |_| Ok((change, ()))).unwrap();
    }
    started.elapsed()
}

fn main() {
    let contract = Contract::parse([("m.yaml", CONTRACT)]).unwrap();
    let guard = Arc::new(Guard::new(&contract, "test"));
    let engine = Engine::in_memory([NamespaceConfig::new("test")]).unwrap();
    let namespace = engine.namespace(b"test").unwrap();
    round(namespace, 0);
    let empty = Arc::new(Guard::new(&contract, "elsewhere"));
    let guards = [None, Some(empty as _), Some(guard as _)];
    let mut best = [Duration::MAX; 3];
    for turn in 0..ROUNDS {
        let which = turn % guards.len();
        namespace.set_guard(guards[which].clone());
        best[which] = best[which].min(round(namespace, turn as i64));
        while engine.step(Default::default()) != cairn_engine::Progress::Idle {}
    }
    let [none, empty, full] = best.map(|took| took.as_nanos() as f64 / (RECORDS * PASSES) as f64);
    println!("without a guard     {none:.0} ns per write");
    println!("an empty guard      {empty:.0} ns per write, {:+.1}%", (empty / none - 1.0) * 100.0);
    println!("guard of ten bins   {full:.0} ns per write, {:+.1}%", (full / none - 1.0) * 100.0);
}

//! Changes of a contract and whom they break.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use cairn_model::Contract;
use cairn_model::diff::{Breaks, diff};
use cairn_model::examples::EXAMPLES;

const BASE: &str = "cairn: 1
namespaces: {app: {replication-factor: 2, max-record-size: 1MiB}}
entities:
  user:
    namespace: app
    set: users
    key: {template: \"user:{id}\", components: {id: word}}
    ttl: 30d
    bins:
      name: {type: string, size: {p50: 10, max: 40}, mutability: immutable}
      age: {type: \"int:0..150\", unit: years}
      tags: {type: list, element: string:8, order: ordered, count: {p50: 3, max: 10}}
identifiers:
  cid: {kind: hash, algorithm: xxh64, seed: 0, input: \"{a}\", output: hex16, on-collision: reject}
relationships:
  - {name: r, kind: \"1:1\", from: user, to: user, pattern: same-record}
tables: {t: {sharding-key: a, buckets: 64}}
";

fn changed(from: &str, to: &str) -> (u8, Vec<Breaks>) {
    assert!(BASE.contains(from), "{from}");
    let parse = |text: String| Contract::parse([("m.yaml", text)]).unwrap();
    let diff = diff(&parse(BASE.to_owned()), &parse(BASE.replacen(from, to, 1)));
    (diff.exit_code(), diff.changes.first().map(|change| change.breaks.clone()).unwrap_or_default())
}

#[test]
fn nothing_changed() {
    assert_eq!(changed("ttl: 30d", "ttl: 30d").0, 0);
    assert_eq!(changed("ttl: 30d", "ttl:    30d # a comment").0, 0);
}

#[test]
fn compatible_changes() {
    for (from, to) in [
        ("ttl: 30d", "ttl: 60d"),
        ("ttl: 30d", "ttl: never"),
        ("max-record-size: 1MiB", "max-record-size: 2MiB"),
        ("max: 40", "max: 80"),
        ("0..150", "0..200"),
        ("max: 10", "max: 20"),
        ("      age:", "      email: string\n      age:"),
        ("identifiers:", "identifiers:\n  other: {kind: uuid}"),
        ("replication-factor: 2", "replication-factor: 3"),
        ("mutability: immutable", "mutability: slowly-changing"),
        ("cairn: 1", "cairn: 1\ndescription: something else"),
    ] {
        assert_eq!(changed(from, to), (3, Vec::new()), "{from} -> {to}");
    }
}

#[test]
fn breaking_changes() {
    let writers_and_data = [Breaks::Writers, Breaks::StoredData];
    for (from, to, breaks) in [
        ("set: users", "set: people", Breaks::ALL),
        ("user:{id}", "u:{id}", Breaks::ALL),
        ("id: word", "id: int", Breaks::ALL),
        ("      age: {type: \"int:0..150\", unit: years}\n", "", Breaks::ALL),
        ("int:0..150\"", "string:3\"", Breaks::ALL),
        ("unit: years", "unit: days", Breaks::ALL),
        ("algorithm: xxh64", "algorithm: xxh3-64", Breaks::ALL),
        ("seed: 0", "seed: 1", Breaks::ALL),
        ("pattern: same-record", "pattern: separate-records", Breaks::ALL),
        ("buckets: 64", "buckets: 32", Breaks::ALL),
        ("element: string:8", "element: int", Breaks::ALL),
        ("ttl: 30d", "ttl: 1d", &[Breaks::Readers, Breaks::StoredData]),
        ("0..150", "0..100", &writers_and_data),
        ("max: 40", "max: 20", &writers_and_data),
        ("max: 10", "max: 5", &writers_and_data),
        ("max-record-size: 1MiB", "max-record-size: 512KiB", &writers_and_data),
        (
            "      age:",
            "      email: {type: string, required: true}\n      age:",
            &writers_and_data,
        ),
        ("unit: years", "unit: years, mutability: immutable", &[Breaks::Writers]),
        ("order: ordered", "order: unordered", &[Breaks::Readers, Breaks::StoredData]),
        ("on-collision: reject", "on-collision: overwrite", &[Breaks::Writers]),
    ] {
        assert_eq!(changed(from, to), (4, breaks.to_vec()), "{from} -> {to}");
    }
}

#[test]
fn an_immutable_value_that_is_copied_must_stay_so() {
    let copy = "      label: {type: string:40, copy-of: user.name}\n      age:";
    let parse = |text: String| Contract::parse([("m.yaml", text)]).unwrap();
    let old = BASE.replacen("      age:", copy, 1);
    let new = old.replacen("mutability: immutable", "mutability: slowly-changing", 1);
    assert_eq!(diff(&parse(old), &parse(new)).exit_code(), 4);
}

#[test]
fn examples_are_the_same_as_themselves_and_differ_from_each_other() {
    let contracts: Vec<Contract> =
        EXAMPLES.iter().map(|e| Contract::parse([(e.name, e.text)]).unwrap()).collect();
    for (at, contract) in contracts.iter().enumerate() {
        for (other_at, other) in contracts.iter().enumerate() {
            assert_eq!(diff(contract, other).exit_code() == 0, at == other_at);
        }
    }
}

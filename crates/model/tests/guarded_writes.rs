//! A namespace whose writes a contract guards: what passes, what is refused, and by which rule.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use cairn_engine::{Change, Engine, NamespaceConfig, Target, Ttl, WritePolicy};
use cairn_model::Contract;
use cairn_model::guard::Guard;
use cairn_value::{BinContent, Digest, NewBin, ParticleType, ResultCode, UserKey, Value};

const CONTRACT: &str = "cairn: 1
namespaces: {test: {replication-factor: 1}}
entities:
  sensor:
    namespace: test
    set: sensors
    key: {template: \"sensor:{id}\", components: {id: int}}
    shards: {kind: hash, count: 4, on-demand: true}
    bins:
      label: {type: string, size: {p50: 8, max: 12}}
      level: \"int:0..100\"
      created_at_ms: {type: int, time: instant, mutability: immutable}
      wait_ms: {type: int, time: duration}
      odd_at_ms: {type: int, time: instant, range: 0..10}
      readings: {type: list, element: [\"int:0..1439\", double], count: {p50: 2, max: 3}}
      scores: {type: map, key: {template: \"{score}-{name}\", components: {score: \"int:04\", name: word}}, value: int, count: 10}
      point: {x: int, y: int}
  session:
    namespace: test
    set: sessions
    ttl: 1h
    require-key: true
    key: {template: \"s:{id}\", components: {id: word}}
    bins: {user: {type: string:5, required: true}, note: string}
  cat: {namespace: test, set: pets, discriminator: {bin: kind, value: cat}, bins: {kind: string, lives: int}}
  dog: {namespace: test, set: pets, discriminator: {bin: kind, value: dog}, bins: {kind: string, tricks: int}}
  loose: {namespace: test, set: loose, mode: warn, bins: {n: int}}
  free: {namespace: test, set: free, mode: off, bins: {n: int}}
";

struct Store {
    engine: Engine,
    guard: Arc<Guard>,
}

impl Store {
    fn new() -> Store {
        // `point` is a struct, which a bin declares in full.
        let text = CONTRACT.replace("point: {x: int, y: int}", "point: {type: {x: int, y: int}}");
        let contract = Contract::parse([("m.yaml", text)])
            .unwrap_or_else(|bad| panic!("{:?}", bad.diagnostics));
        let engine = Engine::in_memory([NamespaceConfig::new("test")]).unwrap();
        let guard = Arc::new(Guard::new(&contract, "test"));
        engine.namespace(b"test").unwrap().set_guard(Some(guard.clone()));
        Store { engine, guard }
    }

    /// Writes bins as the whole record; `key` is sent where it is given.
    fn write(
        &self,
        set: &str,
        key: Option<&str>,
        ttl: Ttl,
        bins: &[(&str, Value)],
    ) -> Result<(), (ResultCode, String)> {
        let wire = key.map(|key| UserKey::from(key).to_wire());
        let target = Target {
            digest: Digest::of(set.as_bytes(), ParticleType::String, key.unwrap_or("k").as_bytes()),
            set: set.as_bytes(),
            key: wire.as_deref(),
        };
        let policy = WritePolicy { ttl, ..WritePolicy::default() };
        let bins = bins.iter().map(|(name, value)| NewBin {
            name: name.as_bytes(),
            content: BinContent::Whole(value.kind(), value.to_particle_bytes().into()),
        });
        let change = Change::Write(bins.collect());
        let namespace = self.engine.namespace(b"test").unwrap();
        let done = namespace.update(&target, &policy, |_| Ok((change, ())));
        done.map(|_| ()).map_err(|failure| (failure.error.code, failure.error.message.into_owned()))
    }

    fn sensor(&self, bins: &[(&str, Value)]) -> Result<(), (ResultCode, String)> {
        self.write("sensors", None, Ttl::Never, bins)
    }
}

#[track_caller]
fn refused(result: Result<(), (ResultCode, String)>, rule: &str, part: &str) {
    let (code, text) = result.expect_err("refused");
    assert_eq!(code, ResultCode::Forbidden);
    assert!(text.ends_with(&format!("[{rule}]")) && text.contains(part), "{text}");
}

fn reading(minute: i64, value: Value) -> Value {
    Value::list([Value::Int(minute), value])
}

#[test]
fn a_record_that_fits_passes() {
    let store = Store::new();
    let scores = Value::map([("0042-alice".into(), Value::Int(1))]);
    let bins = [
        ("label", "kitchen".into()),
        ("level", 7.into()),
        ("created_at_ms", 1_742_468_400_000.into()),
        ("wait_ms", 5.into()),
        ("odd_at_ms", 3.into()),
        ("readings", Value::list([reading(0, 1.5.into()), reading(1439, 2.5.into())])),
        ("scores", scores),
        ("point", Value::map([("x".into(), 1.into()), ("y".into(), 2.into())])),
    ];
    store.sensor(&bins).unwrap();
    store.write("sensors", Some("sensor:7"), Ttl::Never, &bins).unwrap();
}

#[test]
fn types_and_limits_of_values() {
    let store = Store::new();
    let one = |name: &'static str, value: Value| store.sensor(&[(name, value)]);
    refused(one("label", 5.into()), "bin-type", "string");
    refused(one("label", "far too long a label".into()), "size-cap", "12 B");
    refused(one("level", 101.into()), "range", "0..100");
    refused(one("lable", "x".into()), "unknown-bin", "`lable`");
    refused(one("created_at_ms", 1_742_468_400.into()), "time-unit", "1742468400");
    refused(one("odd_at_ms", 1_742_468_400_000.into()), "range", "0..10");
    one("wait_ms", 1_742_468_400.into()).unwrap();
}

#[test]
fn values_inside_collections() {
    let store = Store::new();
    let readings = |items: Vec<Value>| store.sensor(&[("readings", Value::list(items))]);
    refused(readings(vec![reading(0, 1.into())]), "bin-type", "double");
    refused(readings(vec![reading(1440, 1.5.into())]), "range", "1440");
    refused(readings(vec![Value::Int(1)]), "bin-type", "something else");
    refused(readings(vec![Value::list([Value::Int(1)])]), "bin-type", "a list of 1");
    refused(readings(vec![reading(1, 1.5.into()); 4]), "count-cap", "3");
    refused(
        store.sensor(&[("scores", Value::map([("42-alice".into(), 1.into())]))]),
        "key-format",
        "{score}",
    );
    refused(store.sensor(&[("point", Value::map([("z".into(), 1.into())]))]), "bin-type", "`z`");
}

#[test]
fn immutable_means_within_one_life() {
    let store = Store::new();
    let at = |ms: i64| store.sensor(&[("created_at_ms", ms.into())]);
    at(1_742_468_400_000).unwrap();
    at(1_742_468_400_000).unwrap();
    refused(at(1_742_468_400_001), "immutable-bin", "created_at_ms");
    refused(store.sensor(&[("level", 1.into())]), "immutable-bin", "removed");
    store.sensor(&[]).unwrap();
    at(1_742_468_400_001).unwrap();
}

#[test]
fn a_refused_write_changes_nothing() {
    let store = Store::new();
    store.sensor(&[("level", 1.into())]).unwrap();
    store.sensor(&[("level", 500.into())]).unwrap_err();
    let namespace = store.engine.namespace(b"test").unwrap();
    let target = Target {
        digest: Digest::of(b"sensors", ParticleType::String, b"k"),
        set: b"sensors",
        key: None,
    };
    let (level, meta) = namespace
        .read(&target, &Default::default(), |record| {
            Ok(record.bins.get(b"level").and_then(|p| p.integer()))
        })
        .unwrap();
    assert_eq!((level, meta.generation), (Some(1), 1));
}

#[test]
fn keys_shards_and_their_bin() {
    let store = Store::new();
    let level = [("level", 1.into())];
    refused(
        store.write("sensors", Some("sensor:x"), Ttl::Never, &level),
        "key-format",
        "sensor:{id}",
    );
    store.write("sensors", Some("sensor:7:3"), Ttl::Never, &level).unwrap();
    let subkeys = Value::list(["hash-shards".into(), Value::Int(4)]);
    store.sensor(&[("subkeys", subkeys.clone())]).unwrap();
    let session = [("user", "alice".into()), ("subkeys", subkeys)];
    refused(
        store.write("sessions", Some("s:1"), Ttl::Seconds(60), &session),
        "unknown-bin",
        "subkeys",
    );
}

#[test]
fn required_keys_bins_and_lives() {
    let store = Store::new();
    let user = [("user", "alice".into())];
    store.write("sessions", Some("s:1"), Ttl::Seconds(3600), &user).unwrap();
    refused(
        store.write("sessions", None, Ttl::Seconds(60), &user),
        "key-required",
        "must send the key",
    );
    refused(store.write("sessions", Some("s:1"), Ttl::Never, &user), "ttl", "with a TTL");
    refused(store.write("sessions", Some("s:1"), Ttl::Seconds(7200), &user), "ttl", "1 h at most");
    let note = [("note", "x".into())];
    refused(
        store.write("sessions", Some("s:2"), Ttl::Seconds(60), &note),
        "required-bin",
        "`user`",
    );
}

#[test]
fn discriminators_and_modes() {
    let store = Store::new();
    let pet = |bins: &[(&str, Value)]| store.write("pets", None, Ttl::Never, bins);
    pet(&[("kind", "cat".into()), ("lives", 9.into())]).unwrap();
    refused(pet(&[("kind", "dog".into()), ("lives", 9.into())]), "unknown-bin", "lives");
    refused(pet(&[("kind", "cow".into())]), "discriminator", "kind");
    store.write("loose", None, Ttl::Never, &[("other", 1.into())]).unwrap();
    assert_eq!(store.guard.warnings(), 1);
    store.write("free", None, Ttl::Never, &[("other", 1.into())]).unwrap();
    store.write("unknown", None, Ttl::Never, &[("other", 1.into())]).unwrap();
    assert_eq!(store.guard.warnings(), 1);
}

//! Secondary indexes against a full scan: under writes, deletes, expiry, truncation, while they are
//! built, and with writers at the same time.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use cairn_engine::*;
use cairn_value::limits::PARTITIONS;
use cairn_value::*;
use common::*;
use proptest::prelude::*;

/// What a test record holds.
#[derive(Clone, Debug, PartialEq)]
struct Content {
    number: i64,
    list: Vec<i64>,
    text: String,
}

fn content() -> impl Strategy<Value = Content> {
    let lists = prop::collection::vec(-3i64..8, 0..6);
    (-3i64..8, lists, "[ab]{0,2}").prop_map(|(number, list, text)| Content { number, list, text })
}

/// Few digests, some of them alike in all bits that the indexes know, some in the same partition.
fn digest_of(key: u8) -> Digest {
    let mut bytes = [0x11; 20];
    match key % 4 {
        0 => bytes[19] = key,
        1 => bytes[9] = 0x10 | key >> 4,
        2 => bytes[5] = key,
        _ => bytes[0] = key,
    }
    Digest(bytes)
}

fn target_of(key: u8) -> Target<'static> {
    Target {
        digest: digest_of(key),
        set: if key.is_multiple_of(5) { b"other" } else { b"set" },
        key: None,
    }
}

fn bin(name: &'static [u8], kind: ParticleType, bytes: Vec<u8>) -> NewBin<'static> {
    NewBin { name, content: BinContent::Whole(kind, bytes.into()) }
}

fn write(ns: &Namespace, target: &Target<'static>, content: &Content, ttl: Ttl) {
    let list = Value::list(content.list.iter().map(|n| Value::from(*n))).to_packed();
    let bins = vec![
        int_bin(b"n", content.number),
        bin(b"l", ParticleType::List, list),
        bin(b"s", ParticleType::String, content.text.clone().into_bytes()),
    ];
    let policy = WritePolicy { ttl, ..WritePolicy::default() };
    ns.update(target, &policy, |_| Ok((Change::Write(bins), ()))).unwrap();
}

fn definition(which: u8) -> IndexDefinition {
    let bin = |name: &[u8]| IndexSource::Bin { name: name.to_vec(), context: Vec::new() };
    // add(bin(integer, "n"), 1)
    let expression = vec![0x93, 20, 0x93, 81, 2, 0xa1, b'n', 1];
    let (source, kind, part) = match which {
        0 => (bin(b"n"), IndexKind::Integer, IndexPart::Value),
        1 => (bin(b"l"), IndexKind::Integer, IndexPart::ListElements),
        2 => (bin(b"s"), IndexKind::String, IndexPart::Value),
        3 => (IndexSource::Expression(expression), IndexKind::Integer, IndexPart::Value),
        4 => (
            // The first element of the list.
            IndexSource::Bin { name: b"l".to_vec(), context: vec![0x92, 0x10, 0] },
            IndexKind::Integer,
            IndexPart::Value,
        ),
        _ => (IndexSource::Membership, IndexKind::Integer, IndexPart::Value),
    };
    IndexDefinition { set: b"set".to_vec(), source, kind, part }
}

/// The values of a record that match, naively.
fn matches(which: u8, content: &Content, first: i64, last: i64, text: &str) -> Option<i64> {
    let asked = |n: &i64| (first..=last).contains(n);
    match which {
        0 => Some(content.number).filter(asked),
        1 => content.list.iter().copied().filter(asked).min(),
        2 => (content.text == text).then_some(0),
        3 => Some(content.number + 1).filter(asked),
        _ => content.list.first().copied().filter(asked),
    }
}

fn partitions() -> impl Iterator<Item = PartitionId> {
    (0..PARTITIONS as u16).map(PartitionId)
}

/// What a query tells of all partitions, in pages.
fn ask(ns: &Namespace, query: &mut Query, page: usize) -> Vec<(PartitionId, u64, Digest)> {
    let mut told = Vec::new();
    for partition in partitions() {
        let mut after = None;
        loop {
            let mut left = page;
            let end = ns.query(query, partition, after, |record, place| {
                assert_eq!(record.digest, place.digest);
                told.push((partition, place.value, place.digest));
                left -= 1;
                if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            match end.unwrap() {
                QueryEnd::Finished => break,
                QueryEnd::Stopped(place) => after = Some(place),
            }
        }
    }
    told
}

/// The records that a scan finds.
fn scan(ns: &Namespace, partition: PartitionId) -> Vec<(Digest, Vec<u8>)> {
    let mut seen = Vec::new();
    ns.scan(partition, None, |record| {
        seen.push((record.digest, record.set.to_vec()));
        ControlFlow::Continue(())
    })
    .unwrap();
    seen
}

#[derive(Clone, Debug)]
enum Step {
    Put(u8, Content, Option<u32>),
    Delete(u8),
    Advance(u64),
    Truncate(bool),
    Sweep(usize),
    Create(u8),
    Drop(u8),
    Ask { which: u8, first: i64, len: i64, text: String, page: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let ttl = prop::option::weighted(0.3, 1u32..50);
    let ask = (0u8..5, -4i64..8, 0i64..6, "[ab]{0,2}", 1usize..5);
    prop_oneof![
        10 => (any::<u8>(), content(), ttl).prop_map(|(key, c, ttl)| Step::Put(key, c, ttl)),
        3 => any::<u8>().prop_map(Step::Delete),
        1 => (1u64..20).prop_map(Step::Advance),
        1 => any::<bool>().prop_map(Step::Truncate),
        2 => (1usize..400).prop_map(Step::Sweep),
        2 => (0u8..6).prop_map(Step::Create),
        1 => (0u8..6).prop_map(Step::Drop),
        3 => ask.prop_map(|(which, first, len, text, page)| {
            Step::Ask { which, first, len, text, page }
        }),
    ]
}

struct Twin {
    engine: Engine,
    clock: std::sync::Arc<ManualClock>,
    /// What was written last under each digest, also when it has gone since.
    written: BTreeMap<Digest, Content>,
}

impl Twin {
    fn ns(&self) -> &Namespace {
        &self.engine.namespaces()[0]
    }

    fn run(&mut self, step: Step) {
        match step {
            Step::Put(key, content, ttl) => {
                write(self.ns(), &target_of(key), &content, ttl.map_or(Ttl::Never, Ttl::Seconds));
                self.written.insert(digest_of(key), content);
            }
            Step::Delete(key) => {
                let _ = self.ns().delete(&target_of(key), GenerationCheck::None);
            }
            Step::Advance(seconds) => self.clock.advance_s(seconds),
            Step::Truncate(whole) => {
                self.ns().truncate((!whole).then_some(b"set"), None).unwrap();
            }
            Step::Sweep(entries) => {
                self.engine.step(Budget { entries, bytes: 1 << 16 });
            }
            Step::Create(which) => {
                self.ns().create_index(&which.to_string(), definition(which)).unwrap();
            }
            Step::Drop(which) => {
                self.ns().drop_index(&which.to_string());
            }
            Step::Ask { which, first, len, text, page } => {
                self.compare(which, first, first + len, &text, page);
            }
        }
    }

    fn compare(&self, which: u8, first: i64, last: i64, text: &str, page: usize) {
        let ns = self.ns();
        let Some(index) = ns.find_index(|index| index.name() == which.to_string()) else { return };
        let filter = match which {
            2 => IndexFilter::String(text.into()),
            _ => IndexFilter::Integers(first, last),
        };
        let Ok(mut query) = Query::new(index, filter) else { return };
        let mut expected = Vec::new();
        for partition in partitions() {
            let mut of_partition: Vec<_> = scan(ns, partition)
                .into_iter()
                .filter(|(_, set)| set == b"set")
                .filter_map(|(digest, _)| {
                    let value = matches(which, &self.written[&digest], first, last, text)?;
                    Some((value, digest))
                })
                .collect();
            of_partition.sort_unstable();
            expected.extend(
                of_partition.into_iter().map(|(value, digest)| (partition, value as u64, digest)),
            );
        }
        let mut told = ask(ns, &mut query, page);
        if which == 2 {
            told.iter_mut().for_each(|(_, hash, _)| *hash = 0);
        }
        assert_eq!(told, expected);
    }

    /// Scans through the index on membership see what other scans see.
    fn compare_members(&self) {
        let Some(index) = self.ns().find_index(|index| index.name() == "5") else { return };
        if !index.is_ready() {
            return;
        }
        for partition in partitions() {
            let mut seen = Vec::new();
            let mut below = None;
            loop {
                let end = self.ns().scan_set(&index, partition, below, |record| {
                    seen.push(record.digest);
                    if seen.len() % 2 == 0 {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                });
                match end.unwrap() {
                    ScanEnd::Finished => break,
                    ScanEnd::Stopped(digest) => below = Some(digest),
                }
            }
            let all = scan(self.ns(), partition).into_iter().filter(|(_, set)| set == b"set");
            assert!(all.map(|(digest, _)| digest).eq(seen));
        }
    }

    fn check_at_end(&mut self) {
        while self.engine.step(Budget::default()) == Progress::More {}
        for which in 0..5 {
            self.compare(which, -10, 10, "a", 2);
        }
        self.compare_members();
        for index in self.ns().indexes() {
            assert!(index.is_ready());
            // Nothing is left over: the index is as if it had been built anew.
            let stats = index.stats();
            let (name, definition) = (index.name(), index.definition().clone());
            assert!(self.ns().drop_index(&name));
            let anew = self.ns().create_index(&name, definition).unwrap();
            while self.ns().step_index_build(1000) {}
            assert_eq!(anew.stats().entries, stats.entries, "index {name}");
            assert_eq!(anew.stats().entries_per_record, stats.entries_per_record);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn queries_tell_what_a_full_scan_finds(steps in prop::collection::vec(step(), 0..150)) {
        let (engine, clock) = small(|config| config.nsup_period_s = 5);
        let mut twin = Twin { engine, clock, written: BTreeMap::new() };
        for step in steps {
            twin.run(step);
        }
        twin.check_at_end();
    }
}

fn number_index(ns: &Namespace) -> std::sync::Arc<SecondaryIndex> {
    let index = ns.create_index("0", definition(0)).unwrap();
    while ns.step_index_build(100) {}
    index
}

#[test]
fn records_that_stay_are_told_once_while_others_come_and_go() {
    let (engine, _) = small(|config| config.storage_size = 16 << 20);
    let ns = &engine.namespaces()[0];
    for key in 0..500 {
        put(ns, key, key).unwrap();
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let done = &done;
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    for key in (1000 + writer..1500).step_by(2) {
                        put(ns, key, key % 50).unwrap();
                        put(ns, key, 100 + key % 50).unwrap();
                        ns.delete(&target(key), GenerationCheck::None).unwrap();
                    }
                }
            });
        }
        // Built while the writers are at it, several times.
        for _ in 0..3 {
            let index = number_index(ns);
            let mut query = Query::new(index, IndexFilter::Integers(0, 499)).unwrap();
            let told = ask(ns, &mut query, 7);
            assert!(told.is_sorted_by(|a, b| a < b), "in order, none twice");
            for key in 0..500 {
                let place = (digest(key).partition(), key as u64, digest(key));
                assert!(told.contains(&place), "{key}");
            }
            ns.drop_index("0");
        }
        done.store(true, Ordering::Relaxed);
    });
    let index = number_index(ns);
    assert_eq!(index.stats().entries, 500);
    assert_eq!(index.stats().load_percent, 100);
}

#[test]
fn an_index_that_is_not_built_is_refused_and_one_definition_has_one_index() {
    let (engine, _) = small(|_| {});
    let ns = &engine.namespaces()[0];
    for key in 0..100 {
        put(ns, key, key).unwrap();
    }
    let index = ns.create_index("a", definition(0)).unwrap();
    assert_eq!(index.stats().load_percent, 0);
    let refused = Query::new(index.clone(), IndexFilter::Integers(0, 1)).unwrap_err();
    assert_eq!(refused.code, ResultCode::IndexNotReadable);
    while ns.step_index_build(10) {}
    assert!(index.is_ready());

    ns.create_index("b", definition(0)).unwrap();
    assert_eq!(index.name(), "b", "the same definition under another name is renamed");
    assert_eq!(ns.indexes().len(), 1);
    let taken = ns.create_index("b", definition(1)).unwrap_err();
    assert_eq!(taken.code, ResultCode::IndexExists);
    assert!(ns.drop_index("b") && !ns.drop_index("b") && ns.indexes().is_empty());
}

#[test]
fn points_in_regions_and_regions_around_points_are_found() {
    let (engine, _) = small(|_| {});
    let ns = &engine.namespaces()[0];
    let geo = |text: String| {
        bin(b"g", ParticleType::GeoJson, cairn_ops::geo::particle_bytes(text.as_bytes()).unwrap())
    };
    for key in 0..40 {
        let at = key / 2;
        let text = match key % 2 {
            0 => format!(r#"{{"type":"Point","coordinates":[{at}.5,{at}.5]}}"#),
            _ => format!(
                r#"{{"type":"Polygon","coordinates":[[[{at},{at}],[{0},{at}],[{0},{0}],[{at},{0}],[{at},{at}]]]}}"#,
                at + 1
            ),
        };
        let bins = vec![geo(text)];
        ns.update(&target(key), &WritePolicy::default(), |_| Ok((Change::Write(bins), ())))
            .unwrap();
    }
    let source = IndexSource::Bin { name: b"g".to_vec(), context: Vec::new() };
    let definition = IndexDefinition { source, kind: IndexKind::Geo, ..definition(0) };
    let index = ns.create_index("g", definition).unwrap();
    while ns.step_index_build(100) {}
    let keys = |text: &str| {
        let filter = IndexFilter::geo(text.as_bytes()).unwrap();
        let mut query = Query::new(index.clone(), filter).unwrap();
        let told = ask(ns, &mut query, 3);
        let mut keys: Vec<i64> =
            (0..40).filter(|key| told.iter().any(|(.., told)| *told == digest(*key))).collect();
        assert_eq!(keys.len(), told.len(), "each once");
        keys.sort_unstable();
        keys
    };
    let square = r#"{"type":"Polygon","coordinates":[[[2,2],[6,2],[6,6],[2,6],[2,2]]]}"#;
    assert_eq!(keys(square), [4, 6, 8, 10]);
    assert_eq!(keys(r#"{"type":"Point","coordinates":[7.25,7.75]}"#), [15]);
    assert_eq!(keys(r#"{"type":"AeroCircle","coordinates":[[12.5,12.5],100]}"#), [24]);
    assert!(keys(r#"{"type":"Point","coordinates":[-50,50]}"#).is_empty());
}

#[test]
fn a_catalogue_brings_the_indexes_back() {
    let (engine, _) = small(|_| {});
    for which in 0..6 {
        engine.namespaces()[0].create_index(&which.to_string(), definition(which)).unwrap();
    }
    let catalogue = engine.namespaces()[0].index_catalogue();
    let (again, _) = small(|_| {});
    let ns = &again.namespaces()[0];
    ns.restore_indexes(&catalogue).unwrap();
    for which in 0..6 {
        let index = ns.find_index(|index| index.name() == which.to_string()).unwrap();
        assert_eq!(*index.definition(), definition(which));
    }
    assert!(ns.restore_indexes(&catalogue[1..]).is_err());
}

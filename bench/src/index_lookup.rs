//! Time of a lookup in the primary index, against the maps of the standard library.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use cairn_engine::index::{Entry, PartitionIndex, Place, Size};
use cairn_value::Digest;
use serde::Serialize;

use crate::machine;

/// The structures take turns, and the best round of each counts: what else the machine does
/// disturbs some rounds, not all.
const ROUNDS: u64 = 7;

/// Time of a lookup in the primary index, against BTreeMap and HashMap with whole digests as keys.
///
/// Ratios above 1 mean that the index is faster. The index confirms a digest in the record's header;
/// here that costs next to nothing, as the header is computed, while the maps compare keys that
/// they hold, in 36 bytes per record and more.
#[derive(clap::Args)]
pub struct Options {
    /// How many records a partition holds; 10 million in a namespace are 2,441 in each.
    #[arg(long, default_value_t = 2441, value_parser = clap::value_parser!(u64).range(1..))]
    records: u64,
    /// How many partitions there are. Lookups hit all of them in no order, so that caches do not
    /// hide what memory costs.
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u64).range(1..=4096))]
    partitions: u64,
    /// How many lookups to time, for each structure in each of seven rounds.
    #[arg(long, default_value_t = 500_000, value_parser = clap::value_parser!(u64).range(1..))]
    lookups: u64,
    /// Print one line of JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    index_ns: f64,
    btree_ns: f64,
    hash_ns: f64,
    faster_than_btree: f64,
    faster_than_hash: f64,
    records: u64,
    partitions: u64,
    load_average: Option<f64>,
}

pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let index: Vec<PartitionIndex> = fill(options, |index: &mut PartitionIndex, n| {
        let Ok(_) = index.upsert(&digest_of(n), &entry_of(n), header);
    });
    let btree: Vec<BTreeMap<Digest, Entry>> = fill(options, |map: &mut BTreeMap<_, _>, n| {
        map.insert(digest_of(n), entry_of(n));
    });
    let hash: Vec<HashMap<Digest, Entry>> = fill(options, |map: &mut HashMap<_, _>, n| {
        map.insert(digest_of(n), entry_of(n));
    });
    let mut best = [f64::INFINITY; 3];
    for round in 0..ROUNDS {
        let times = [
            time(options, round, &index, |index, digest| {
                let Ok(found) = index.find(digest, header);
                found.map(|found| found.entry)
            }),
            time(options, round, &btree, |map, digest| map.get(digest).copied()),
            time(options, round, &hash, |map, digest| map.get(digest).copied()),
        ];
        best = std::array::from_fn(|structure| best[structure].min(times[structure]));
    }
    let [index_ns, btree_ns, hash_ns] = best;
    let report = Report {
        index_ns,
        btree_ns,
        hash_ns,
        faster_than_btree: btree_ns / index_ns,
        faster_than_hash: hash_ns / index_ns,
        records: options.records,
        partitions: options.partitions,
        load_average: machine::load_average(),
    };
    if options.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        print(&report);
    }
    Ok(())
}

fn print(report: &Report) {
    println!("lookups in {} partitions of {} records", report.partitions, report.records);
    println!("index     {:>8.1} ns", report.index_ns);
    println!(
        "BTreeMap  {:>8.1} ns, {:.2} times the index",
        report.btree_ns, report.faster_than_btree
    );
    println!(
        "HashMap   {:>8.1} ns, {:.2} times the index",
        report.hash_ns, report.faster_than_hash
    );
    machine::print_load(report.load_average);
}

/// Partitions of one structure, filled in no order.
fn fill<Map: Default>(options: &Options, insert: impl Fn(&mut Map, u64)) -> Vec<Map> {
    let mut maps: Vec<Map> =
        std::iter::repeat_with(Map::default).take(options.partitions as usize).collect();
    for n in 0..options.records * options.partitions {
        insert(&mut maps[(n % options.partitions) as usize], n);
    }
    maps
}

/// Nanoseconds per lookup of a record that is there.
fn time<Map>(
    options: &Options,
    round: u64,
    maps: &[Map],
    find: impl Fn(&Map, &Digest) -> Option<Entry>,
) -> f64 {
    let total = options.records * options.partitions;
    let start = Instant::now();
    for lookup in 0..options.lookups {
        let n = mix(round << 32 | lookup) % total;
        let found = find(&maps[(n % options.partitions) as usize], &digest_of(n));
        assert!(black_box(found).is_some(), "record {n} was inserted");
    }
    start.elapsed().as_nanos() as f64 / options.lookups as f64
}

/// The digest of the n-th record: a hash of its number, so that it need not be kept anywhere.
fn digest_of(n: u64) -> Digest {
    let mut bytes = [0; 20];
    bytes[..8].copy_from_slice(&mix(n).to_le_bytes());
    bytes[8..16].copy_from_slice(&mix(!n).to_le_bytes());
    Digest(bytes)
}

fn entry_of(n: u64) -> Entry {
    let place = Place::from_u64(n).expect("fewer than 2^44 records fit into memory");
    Entry { place, void_time: 0, set_id: 1, size: Size::of(64), flags: 0 }
}

/// The digest in the header of the record at a place.
fn header(place: Place) -> Result<Digest, Infallible> {
    Ok(digest_of(place.to_u64()))
}

/// The steps of SplitMix64: no two numbers get the same result.
fn mix(n: u64) -> u64 {
    let n = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

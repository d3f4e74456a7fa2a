//! Memory per entry of a secondary index on distinct integers.

use std::error::Error;
use std::time::Instant;

use cairn_engine::{
    Engine, IndexDefinition, IndexKind, IndexPart, IndexSource, Namespace, NamespaceConfig,
};
use serde::Serialize;

use crate::index_memory::{RECORD_BYTES_MAX, SET, write_record};
use crate::machine;

/// Memory per entry of a secondary index.
///
/// Fills a namespace with records of one distinct integer each, then builds an index on it and takes
/// the growth of the resident memory; then gives every tenth record another integer and takes it
/// again. Everything is counted: slack, the allocator's overhead and holes.
#[derive(clap::Args)]
pub struct Options {
    /// How many records to index.
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    records: u64,
    /// Print one line of JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    /// Growth of the resident memory while the index was built, divided by its entries.
    bytes_per_entry: f64,
    entries: u64,
    rss_before: u64,
    rss_after: u64,
    /// What the index says about its own size after the build, per entry.
    own_bytes_per_entry: f64,
    /// The same after every tenth value was changed.
    own_bytes_per_entry_after_updates: f64,
    build_seconds: f64,
    load_average: Option<f64>,
}

pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let mut config = NamespaceConfig::new("bench");
    let room = options.records.saturating_mul(2 * RECORD_BYTES_MAX);
    config.storage_size = config.storage_size.max(room);
    let engine = Engine::in_memory([config])?;
    let namespace = &engine.namespaces()[0];
    for n in 0..options.records {
        write_record(namespace, n as i64, scattered(n))?;
    }
    let rss_before = machine::resident_bytes()?;
    let start = Instant::now();
    let index = namespace.create_index("by_value", definition())?;
    while namespace.step_index_build(1 << 20) {}
    let build_seconds = start.elapsed().as_secs_f64();
    let rss_after = machine::resident_bytes()?;
    let entries = index.stats().entries;
    if entries != options.records {
        return Err(format!("{entries} entries for {} records", options.records).into());
    }
    let own_bytes = index.memory_bytes() as f64;
    update_some(namespace, options.records)?;
    let report = Report {
        bytes_per_entry: rss_after.saturating_sub(rss_before) as f64 / entries as f64,
        entries,
        rss_before,
        rss_after,
        own_bytes_per_entry: own_bytes / entries as f64,
        own_bytes_per_entry_after_updates: index.memory_bytes() as f64 / entries as f64,
        build_seconds,
        load_average: machine::load_average(),
    };
    if options.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        print(&report);
    }
    Ok(())
}

/// Distinct integers without any order.
fn scattered(n: u64) -> i64 {
    n.wrapping_mul(0x9e37_79b9_7f4a_7c15) as i64
}

fn update_some(namespace: &Namespace, records: u64) -> Result<(), Box<dyn Error>> {
    for n in (0..records).step_by(10) {
        write_record(namespace, n as i64, scattered(n + records))?;
    }
    Ok(())
}

fn definition() -> IndexDefinition {
    IndexDefinition {
        set: SET.to_vec(),
        source: IndexSource::Bin { name: b"n".to_vec(), context: Vec::new() },
        kind: IndexKind::Integer,
        part: IndexPart::Value,
    }
}

fn print(report: &Report) {
    let Report { bytes_per_entry, entries, build_seconds, .. } = report;
    println!("{bytes_per_entry:.1} bytes of resident memory for each of {entries} entries");
    println!(
        "{:.1} bytes by the index's own count, {:.1} after updates",
        report.own_bytes_per_entry, report.own_bytes_per_entry_after_updates
    );
    println!("built in {build_seconds:.1} s");
    machine::print_load(report.load_average);
}

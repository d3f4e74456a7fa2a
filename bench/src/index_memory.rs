//! Memory per record of the primary index, measured in a namespace full of records.

use std::error::Error;
use std::time::Instant;

use cairn_engine::{Change, Engine, Namespace, NamespaceConfig, Target, WritePolicy};
use cairn_value::{BinContent, Digest, NewBin, ParticleType};
use serde::Serialize;

use crate::machine;

pub(crate) const SET: &[u8] = b"measured";
/// More than any record of this measurement takes in the log.
pub(crate) const RECORD_BYTES_MAX: u64 = 256;

/// Memory per record of the primary index.
///
/// Fills a namespace with records of one integer bin, in one set, without a stored key. Takes the
/// growth of the resident memory, subtracts the bytes that the records themselves occupy in the
/// log (they stand for a file as long as the log is in memory) and divides by the records.
/// Everything else is counted: slack, the allocator's overhead and holes, locks, bookkeeping of
/// blocks and sets.
#[derive(clap::Args)]
pub struct Options {
    /// How many records to write.
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    records: u64,
    /// Print one line of JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    /// `rss_after` minus `rss_before` minus `log_bytes`, divided by `records`.
    bytes_per_record: f64,
    records: u64,
    rss_before: u64,
    rss_after: u64,
    /// Bytes that the records occupy in the log.
    log_bytes: u64,
    /// What the index says about its own size: allocated bytes, without the allocator's overhead.
    index_bytes: u64,
    write_seconds: f64,
    load_average: Option<f64>,
}

pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let rss_before = machine::resident_bytes()?;
    let mut config = NamespaceConfig::new("bench");
    config.storage_size = config.storage_size.max(options.records.saturating_mul(RECORD_BYTES_MAX));
    let engine = Engine::in_memory([config])?;
    let namespace = &engine.namespaces()[0];
    let start = Instant::now();
    for n in 0..options.records {
        write_record(namespace, n as i64, n as i64)?;
    }
    let write_seconds = start.elapsed().as_secs_f64();
    let rss_after = machine::resident_bytes()?;

    let stats = namespace.stats();
    if (stats.objects, stats.log.live_bytes) != (options.records, stats.log.appended_bytes) {
        return Err("the log holds something else than one version of each record".into());
    }
    let log_bytes = stats.log.appended_bytes;
    let grown = rss_after.saturating_sub(rss_before).saturating_sub(log_bytes);
    let report = Report {
        bytes_per_record: grown as f64 / options.records as f64,
        records: options.records,
        rss_before,
        rss_after,
        log_bytes,
        index_bytes: stats.index_bytes,
        write_seconds,
        load_average: machine::load_average(),
    };
    if options.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        print(&report);
    }
    Ok(())
}

/// Writes the record of a key with one integer.
pub(crate) fn write_record(
    namespace: &Namespace,
    key: i64,
    value: i64,
) -> Result<(), Box<dyn Error>> {
    let digest = Digest::of(SET, ParticleType::Integer, &key.to_be_bytes());
    let target = Target { digest, set: SET, key: None };
    namespace.update(&target, &WritePolicy::default(), |_| {
        let content = BinContent::Whole(ParticleType::Integer, value.to_be_bytes().to_vec().into());
        Ok((Change::Write(vec![NewBin { name: b"n", content }]), ()))
    })?;
    Ok(())
}

fn print(report: &Report) {
    let per_record = |bytes: u64| bytes as f64 / report.records as f64;
    println!(
        "{} records of one integer bin, written in {:.1} s",
        report.records, report.write_seconds
    );
    println!("resident memory before     {:>14} bytes", report.rss_before);
    println!("resident memory after      {:>14} bytes", report.rss_after);
    println!("of it records in the log   {:>14} bytes", report.log_bytes);
    println!("log, per record            {:>14.2} bytes", per_record(report.log_bytes));
    println!("all else, per record       {:>14.2} bytes", report.bytes_per_record);
    println!("index by its own account   {:>14.2} bytes", per_record(report.index_bytes));
    machine::print_load(report.load_average);
}

//! Memory per record of a namespace in files, and how long it takes to start again.

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use cairn_engine::{
    Change, Durability, Engine, Namespace, NamespaceConfig, Seams, Target, WritePolicy,
};
use cairn_value::{BinContent, Digest, NewBin, ParticleType};
use serde::Serialize;

use crate::machine;

pub(crate) const SET: &[u8] = b"measured";
/// More than any record of this measurement takes in the log.
pub(crate) const RECORD_BYTES_MAX: u64 = 256;

/// Memory per record of a namespace in files.
///
/// Fills a namespace in files with records of one integer bin, in one set, without a stored key.
/// Takes the growth of the resident memory and divides by the records. Everything is counted:
/// slack, the allocator's overhead and holes, locks, bookkeeping of blocks and sets, the block that
/// is being filled. Then stops cleanly and starts again, and stops without ceremony and starts
/// again.
#[derive(clap::Args)]
pub struct Options {
    /// How many records to write.
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    records: u64,
    /// Where to write; a directory in there is made and removed.
    #[arg(long, default_value_os_t = std::env::temp_dir())]
    directory: PathBuf,
    /// Print one line of JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    /// `rss_after` minus `rss_before`, divided by `records`.
    bytes_per_record: f64,
    records: u64,
    rss_before: u64,
    rss_after: u64,
    /// Bytes that the records occupy in the log.
    log_bytes: u64,
    /// What the index says about its own size: allocated bytes, without the allocator's overhead.
    index_bytes: u64,
    write_seconds: f64,
    /// From the snapshot of a clean stop.
    clean_restart_seconds: f64,
    /// By reading the log.
    crash_restart_seconds: f64,
    write_amplification: f64,
    load_average: Option<f64>,
}

/// A directory that goes when the measurement ends.
struct Directory(PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let directory =
        Directory(options.directory.join(format!("cairn-bench-{}", std::process::id())));
    let mut config = NamespaceConfig::in_directory("bench", &directory.0);
    config.durability = Durability::None;
    config.storage_size = config.storage_size.max(options.records.saturating_mul(RECORD_BYTES_MAX));
    std::fs::create_dir_all(&directory.0)?;
    let open = || Engine::open([config.clone()], Seams::default());

    let rss_before = machine::resident_bytes()?;
    let engine = open()?;
    let namespace = &engine.namespaces()[0];
    let start = Instant::now();
    for n in 0..options.records {
        write_record(namespace, n as i64, n as i64)?;
    }
    namespace.flush()?;
    let write_seconds = start.elapsed().as_secs_f64();
    let rss_after = machine::resident_bytes()?;
    let stats = namespace.stats();
    if stats.objects != options.records {
        return Err("the namespace holds something else than one version of each record".into());
    }
    engine.close()?;
    drop(engine);
    let clean_restart_seconds = restart_seconds(open, options.records)?;
    // That engine was not closed, so this start reads the log.
    let crash_restart_seconds = restart_seconds(open, options.records)?;

    let grown = rss_after.saturating_sub(rss_before);
    let report = Report {
        bytes_per_record: grown as f64 / options.records as f64,
        records: options.records,
        rss_before,
        rss_after,
        log_bytes: stats.log.live_bytes,
        index_bytes: stats.index_bytes,
        write_seconds,
        clean_restart_seconds,
        crash_restart_seconds,
        write_amplification: stats.log.write_amplification(),
        load_average: machine::load_average(),
    };
    if options.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        print(&report);
    }
    Ok(())
}

fn restart_seconds(
    open: impl Fn() -> Result<Engine, cairn_value::Error>,
    records: u64,
) -> Result<f64, Box<dyn Error>> {
    let start = Instant::now();
    let engine = open()?;
    let seconds = start.elapsed().as_secs_f64();
    if engine.namespaces()[0].stats().objects != records {
        return Err("records are missing after a restart".into());
    }
    Ok(seconds)
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
    println!("growth, per record         {:>14.2} bytes", report.bytes_per_record);
    println!("index by its own account   {:>14.2} bytes", per_record(report.index_bytes));
    println!("log on disk, per record    {:>14.2} bytes", per_record(report.log_bytes));
    println!("write amplification        {:>14.2}", report.write_amplification);
    println!("start after a clean stop   {:>14.2} s", report.clean_restart_seconds);
    println!("start after a crash        {:>14.2} s", report.crash_restart_seconds);
    machine::print_load(report.load_average);
}

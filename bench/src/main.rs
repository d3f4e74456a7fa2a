//! Measures Cairn: each subcommand is one measurement that prints text, or JSON with `--json`.

mod index_lookup;
mod index_memory;
mod machine;
mod ops;
mod secondary_index;

use clap::{Parser, Subcommand};

/// Measures Cairn.
///
/// Always build with --release. Every measurement prints the load average beside its numbers,
/// because they mean little on a busy machine; ratios are taken within one run.
#[derive(Parser)]
#[command(name = "cairn-bench")]
struct Arguments {
    #[command(subcommand)]
    measurement: Measurement,
}

#[derive(Subcommand)]
enum Measurement {
    Index(index_memory::Options),
    IndexLookup(index_lookup::Options),
    Ops(ops::Options),
    #[command(hide = true)]
    OpsRepeat(ops::repeat::Options),
    SecondaryIndex(secondary_index::Options),
}

fn main() {
    let result = match Arguments::parse().measurement {
        Measurement::Index(options) => index_memory::run(&options),
        Measurement::IndexLookup(options) => index_lookup::run(&options),
        Measurement::Ops(options) => ops::run(&options),
        Measurement::OpsRepeat(options) => ops::repeat::run(&options),
        Measurement::SecondaryIndex(options) => secondary_index::run(&options),
    };
    if let Err(error) = result {
        eprintln!("cairn-bench: {error}");
        std::process::exit(1);
    }
}

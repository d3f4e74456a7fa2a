//! Operations on packed lists and maps and filters over records, against naive twins that decode
//! whole values into trees.

mod collection;
mod contest;
mod filter;
mod measure;
mod naive;
pub mod repeat;
mod spec;
mod table;

use std::error::Error;

use serde::Serialize;

use crate::machine;
use contest::Contest;
use measure::{Times, Work};
use spec::Spec;

/// Operations on lists and maps, and filters over records, against naive twins.
///
/// A naive twin decodes the whole value into a tree, does the operation there and encodes the tree
/// again. Both have to give the same bytes, or nothing is reported. Built with
/// `--features work-counters`, the measurement reports what operations decoded, compared and
/// moved instead of times, because counting would disturb the clock.
#[derive(clap::Args)]
pub struct Options {
    /// How many elements the lists and maps have.
    #[arg(long, value_delimiter = ',', default_value = "10,1000,10000,100000",
          value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    sizes: Vec<u32>,
    /// Print one line of JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    rows: Vec<Row>,
    load_average: Option<f64>,
}

/// One contest. Either `times` or `work` is there.
#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    spec: Spec,
    times: Option<Times>,
    work: Option<Work>,
}

pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let mut rows = Vec::new();
    for spec in Spec::all(&options.sizes) {
        let contest = spec.build();
        check(&spec, &*contest)?;
        let (times, work) = measure::measure(&*contest);
        rows.push(Row { spec, times, work });
    }
    let report = Report { rows, load_average: machine::load_average() };
    if options.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        table::print(&report);
    }
    Ok(())
}

/// Refuses a contest whose two sides disagree.
fn check(spec: &Spec, contest: &dyn Contest) -> Result<(), Box<dyn Error>> {
    contest
        .check()
        .map_err(|difference| format!("{}: {difference}; nothing is reported", spec.id()).into())
}

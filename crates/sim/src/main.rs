//! `cairn-sim`: runs seeds and reports what went wrong.

use std::collections::BTreeMap;
use std::process::ExitCode;

const USAGE: &str = "\
cairn-sim runs the engine on a simulated disk against a naive model.

  --seeds N     run N seeds (default 100)
  --start S     first seed (default 0)
  --seed S      run one seed and print what happened
  --ops K       operations of a run (default 1000)
  --json        print the result as JSON

Exits with 1 when a run shows a violation.";

struct Arguments {
    seeds: u64,
    start: u64,
    seed: Option<u64>,
    ops: u64,
    json: bool,
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut asked = Arguments { seeds: 100, start: 0, seed: None, ops: 1000, json: false };
    while let Some(word) = words.next() {
        let mut number = || -> Result<u64, String> {
            let text = words.next().ok_or(format!("{word} needs a number"))?;
            text.parse().map_err(|_| format!("{word} needs a number, not `{text}`"))
        };
        match word.as_str() {
            "--seeds" => asked.seeds = number()?,
            "--start" => asked.start = number()?,
            "--seed" => asked.seed = Some(number()?),
            "--ops" => asked.ops = number()?,
            "--json" => asked.json = true,
            _ => return Err(format!("`{word}` is not known\n\n{USAGE}")),
        }
    }
    Ok(asked)
}

fn main() -> ExitCode {
    let asked = match parse(std::env::args().skip(1)) {
        Ok(asked) => asked,
        Err(text) => {
            eprintln!("{text}");
            return ExitCode::from(2);
        }
    };
    let (start, seeds) = asked.seed.map_or((asked.start, asked.seeds), |seed| (seed, 1));
    let (mut operations, mut failed) = (0, Vec::new());
    let mut faults: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in start..start.saturating_add(seeds) {
        let outcome = cairn_sim::run(seed, asked.ops);
        operations += outcome.operations;
        outcome.faults.iter().for_each(|(kind, n)| *faults.entry(kind).or_default() += n);
        if asked.seed.is_some() && !asked.json {
            outcome.history.iter().for_each(|line| println!("{line}"));
        }
        if let Some(violation) = &outcome.violation {
            eprintln!("seed {seed}: {violation}");
            failed.push(seed);
        }
    }
    if asked.json {
        let faults: Vec<_> = faults.iter().map(|(kind, n)| format!("\"{kind}\": {n}")).collect();
        println!(
            "{{\"runs\": {seeds}, \"operations\": {operations}, \"faults\": {{{}}}, \
             \"violations\": {}, \"failed_seeds\": {failed:?}}}",
            faults.join(", "),
            failed.len()
        );
    } else {
        println!("{seeds} runs, {operations} operations, {} violations", failed.len());
        faults.iter().for_each(|(kind, n)| println!("  {kind}: {n}"));
    }
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

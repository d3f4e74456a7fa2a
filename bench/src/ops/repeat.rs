//! One side of one contest, repeated: what `bench/instructions` runs under valgrind.

use std::error::Error;

use super::contest::Side;
use super::spec::Spec;

/// One side of one contest, repeated.
#[derive(clap::Args)]
pub struct Options {
    /// Sizes of the contests to list, or to look in.
    #[arg(long, value_delimiter = ',', default_value = "10,1000,10000,100000")]
    sizes: Vec<u32>,
    /// Print all contests, one per line: name, subject, action, size and operations per run,
    /// divided by tabs.
    #[arg(long)]
    list: bool,
    /// The contest's name.
    #[arg(long, required_unless_present = "list")]
    contest: Option<String>,
    #[arg(long, value_enum, default_value = "cairn")]
    side: Side,
    #[arg(long, default_value_t = 1)]
    runs: u32,
}

pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let all = Spec::all(&options.sizes);
    if options.list {
        for spec in all {
            let operations = if spec.subject == "filter" { spec.size } else { 1 };
            let Spec { subject, action, size, .. } = &spec;
            println!("{}\t{subject}\t{action}\t{size}\t{operations}", spec.id());
        }
        return Ok(());
    }
    let wanted = options.contest.as_deref().unwrap_or_default();
    let spec = all.iter().find(|spec| spec.id() == wanted);
    let spec = spec.ok_or_else(|| format!("there is no contest {wanted}; see --list"))?;
    let contest = spec.build();
    super::check(spec, &*contest)?;
    (0..options.runs).for_each(|_| contest.run(options.side));
    Ok(())
}

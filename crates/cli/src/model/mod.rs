//! `cairn model`: the commands around a contract.

mod commands;
mod files;
mod output;

use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};

/// Nothing to say.
const CLEAN: u8 = 0;
/// There are findings.
const FINDINGS: u8 = 1;
/// The input cannot be used.
const UNUSABLE: u8 = 2;

/// The subcommands, with their flags and help.
pub fn command() -> Command {
    Command::new("model")
        .about("Checks, sizes, plans, compares and documents a data model")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            with_json(Command::new("init").about("Writes an example contract to start from"))
                .arg(
                    Arg::new("list")
                        .long("list")
                        .action(ArgAction::SetTrue)
                        .help("List the examples instead"),
                )
                .arg(option("example", "NAME", "Which example [default: sensor-readings]"))
                .arg(
                    option("output", "FILE", "Write it here instead of to standard output")
                        .short('o'),
                )
                .after_help(commands::examples_help()),
        )
        .subcommand(
            with_files(Command::new("check").about("Checks a contract against every rule")).arg(
                option("fail-on", "SEVERITY", "Least severity that makes the exit code 1")
                    .value_parser(["error", "warn", "advice", "question"])
                    .default_value("advice"),
            ),
        )
        .subcommand(
            with_json(
                Command::new("rules").about("Lists the rules with severity, document and reason"),
            )
            .arg(Arg::new("rule").value_name("RULE").help("Only this rule")),
        )
        .subcommand(
            with_files(
                Command::new("size")
                    .about("Computes record sizes, storage, index memory and growth"),
            )
            .mut_arg("file", |arg| arg.required(false).required_unless_present("compare"))
            .arg(
                Arg::new("compare")
                    .long("compare")
                    .value_names(["A", "B"])
                    .num_args(2)
                    .help("Two contracts, or two entities of FILE, side by side"),
            )
            .arg(option("html", "PAGE", "Write an HTML page with plots")),
        )
        .subcommand(
            with_files(
                Command::new("plan").about("Derives a physical design from relationships and load"),
            )
            .arg(option("write", "FILE", "Write the contract with the design in it")),
        )
        .subcommand(
            with_json(
                Command::new("diff")
                    .about("Says what changed between two contracts, and what it breaks"),
            )
            .arg(side("old", "OLD"))
            .arg(side("new", "NEW"))
            .after_help("Exit codes: 0 same, 3 compatible, 4 breaking."),
        )
        .subcommand(
            with_files(Command::new("doc").about("Writes the contract as a document for people"))
                .arg(option("html", "PAGE", "Write one self-contained HTML page"))
                .arg(
                    option("output", "FILE", "Write Markdown here instead of to standard output")
                        .short('o'),
                ),
        )
        .subcommand(with_json(
            Command::new("schema").about("Prints the JSON Schema of contracts, for editors"),
        ))
        .subcommand(
            with_json(
                Command::new("key").about("Builds the key of a record, its digest and partition"),
            )
            .args(named("ENTITY")),
        )
        .subcommand(
            with_json(Command::new("id").about("Builds an identifier by its recipe"))
                .args(named("NAME")),
        )
}

fn with_json(command: Command) -> Command {
    command.arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print JSON"))
}

fn with_files(command: Command) -> Command {
    with_json(command).arg(
        Arg::new("file")
            .value_name("FILE")
            .num_args(1..)
            .required(true)
            .help("Files of the contract; a directory stands for its .yaml and .yml files"),
    )
}

fn option(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

fn side(name: &'static str, value: &'static str) -> Arg {
    Arg::new(name)
        .value_name(value)
        .required(true)
        .help("A file, a directory, a git revision of the other file, or REVISION:PATH")
}

/// FILE, a name in it, and values.
fn named(what: &'static str) -> [Arg; 3] {
    [
        Arg::new("file")
            .value_name("FILE")
            .required(true)
            .help("The contract, a file or a directory"),
        Arg::new("name").value_name(what).required(true).help("Which one"),
        Arg::new("value").value_name("FIELD=VALUE").num_args(0..).help("Values of its components"),
    ]
}

/// Runs a subcommand.
pub fn run(matches: &ArgMatches) -> ExitCode {
    let result = match matches.subcommand() {
        Some(("init", matches)) => commands::init(matches),
        Some(("check", matches)) => commands::check(matches),
        Some(("rules", matches)) => commands::rules(matches),
        Some(("size", matches)) => commands::size(matches),
        Some(("plan", matches)) => commands::plan(matches),
        Some(("diff", matches)) => commands::diff(matches),
        Some(("doc", matches)) => commands::doc(matches),
        Some(("schema", _)) => commands::schema(),
        Some(("key", matches)) => commands::name(matches, cairn_model::name::key),
        Some(("id", matches)) => commands::name(matches, cairn_model::name::id),
        _ => Ok(CLEAN),
    };
    ExitCode::from(result.unwrap_or_else(|error| {
        output::refuse(&error, matches);
        UNUSABLE
    }))
}

//! The `cairn` command.

mod arguments;
mod banner;
mod model;
mod ready;
mod serve;

use std::process::ExitCode;

fn main() -> ExitCode {
    let matches = arguments::command().get_matches();
    let result = match matches.subcommand() {
        Some(("model", matches)) => return model::run(matches),
        Some(("serve", matches)) => arguments::serve(matches).and_then(serve::run),
        _ => Ok(()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("cairn: {text}");
            ExitCode::from(2)
        }
    }
}

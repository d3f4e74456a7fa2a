//! What goes to the terminal.

use std::io::{IsTerminal, Write};

use cairn_model::Severity;
use cairn_model::diagnostic::{Diagnostic, to_json};
use cairn_model::source::Sources;
use clap::ArgMatches;

use super::files::Error;

/// Prints to standard output; a reader that went away is no error.
pub fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Prints findings as text, with colours on a terminal.
pub fn findings(diagnostics: &[Diagnostic], sources: &Sources) {
    let colours = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let (questions, rest): (Vec<&Diagnostic>, Vec<&Diagnostic>) =
        diagnostics.iter().partition(|diagnostic| diagnostic.severity == Severity::Question);
    for diagnostic in rest {
        print(&diagnostic.render(sources, colours));
        print("\n");
    }
    if !questions.is_empty() {
        print("to decide:\n");
        questions.iter().for_each(|question| print(&question.render_line(sources, colours)));
        print("\n");
    }
}

/// Says why a command could not run: as JSON where JSON was asked for and the files are at fault.
pub fn refuse(error: &Error, matches: &ArgMatches) {
    let json = matches.subcommand().is_some_and(|(_, matches)| {
        matches.try_contains_id("json").is_ok() && matches.get_flag("json")
    });
    match error {
        Error::Asked(text) => eprintln!("cairn: {text}"),
        Error::Unusable(unusable) if json => {
            print(&to_json(&unusable.diagnostics, &unusable.sources).pretty());
        }
        Error::Unusable(unusable) => {
            findings(&unusable.diagnostics, &unusable.sources);
            eprintln!("cairn: this is no contract yet: {} to correct", unusable.diagnostics.len());
        }
    }
}

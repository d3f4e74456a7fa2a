//! Counts checks, section by section.

use std::fmt::Debug;
use std::process::ExitCode;

use aerospike::{Error, ResultCode};

/// What held and what did not.
#[derive(Debug, Default)]
pub struct Checks {
    section: &'static str,
    passed: u32,
    failed: u32,
}

impl Checks {
    /// Starts a section, whose name stands in front of its failures.
    pub fn section(&mut self, name: &'static str) {
        self.section = name;
    }

    /// Counts one check: both sides must be equal.
    pub fn equal<T: PartialEq + Debug>(&mut self, what: &str, seen: T, expected: T) {
        if seen == expected {
            self.passed += 1;
            return;
        }
        self.failed += 1;
        let shown: String = format!("{seen:?} is not {expected:?}").chars().take(300).collect();
        println!("FAILED {}: {what}: {shown}", self.section);
    }

    /// Counts one check: the command must be refused by the server with this code.
    pub fn refused<T>(&mut self, what: &str, result: Result<T, Error>, code: ResultCode) {
        let seen = result.err().and_then(|error| error.server_result_code());
        self.equal(what, seen, Some(code));
    }

    /// Prints the counts.
    pub fn finish(self) -> ExitCode {
        println!("{} passed, {} failed, 0 skipped", self.passed, self.failed);
        if self.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

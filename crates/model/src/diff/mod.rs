//! What changed between two contracts, and what the changes break.

mod compare;

use std::fmt::Write;

use crate::contract::Contract;
use crate::json::Json;

/// Who or what a change breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breaks {
    /// Programs that read.
    Readers,
    /// Programs that write.
    Writers,
    /// Records that are stored already.
    StoredData,
}

impl Breaks {
    /// Everything.
    pub const ALL: &'static [Breaks] = &[Breaks::Readers, Breaks::Writers, Breaks::StoredData];

    /// Its name in output.
    pub fn name(self) -> &'static str {
        ["readers", "writers", "stored data"][self as usize]
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What changed, as in `user.email`.
    pub path: String,
    /// How.
    pub what: String,
    /// Whom it breaks; nobody when it is compatible.
    pub breaks: Vec<Breaks>,
}

/// All changes, breaking ones first.
#[derive(Clone, Debug, Default)]
pub struct Diff {
    /// The changes.
    pub changes: Vec<Change>,
}

/// Compares two contracts.
///
/// ```
/// use cairn_model::{Contract, diff};
/// let parse = |bins: &str| {
///     let text = format!("cairn: 1\nentities: {{user: {{namespace: app, bins: {{{bins}}}}}}}");
///     Contract::parse([("m.yaml", text)]).unwrap()
/// };
/// let old = parse("name: string");
/// assert_eq!(diff::diff(&old, &old).exit_code(), 0);
/// assert_eq!(diff::diff(&old, &parse("name: string, email: string")).exit_code(), 3);
/// assert_eq!(diff::diff(&old, &parse("name: int")).exit_code(), 4);
/// ```
pub fn diff(old: &Contract, new: &Contract) -> Diff {
    let mut changes = compare::contracts(old, new);
    if changes.is_empty() && compare::canonical(old) != compare::canonical(new) {
        let what = "descriptions, access patterns or numbers changed".to_owned();
        changes.push(Change { path: "contract".into(), what, breaks: Vec::new() });
    }
    changes.sort_by_key(|change| change.breaks.is_empty());
    Diff { changes }
}

impl Diff {
    /// 0 for the same, 3 for compatible changes, 4 for breaking ones.
    pub fn exit_code(&self) -> u8 {
        match self.changes.first() {
            None => 0,
            Some(change) if change.breaks.is_empty() => 3,
            Some(_) => 4,
        }
    }

    /// The word for the exit code.
    pub fn verdict(&self) -> &'static str {
        match self.exit_code() {
            0 => "same",
            3 => "compatible",
            _ => "breaking",
        }
    }

    /// As text for a terminal.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for change in &self.changes {
            let sign = if change.breaks.is_empty() { "  " } else { "! " };
            let _ = writeln!(out, "{sign}{}: {}", change.path, change.what);
            if !change.breaks.is_empty() {
                let names: Vec<&str> = change.breaks.iter().map(|breaks| breaks.name()).collect();
                let _ = writeln!(out, "    breaks {}", names.join(", "));
            }
        }
        let breaking = self.changes.iter().filter(|change| !change.breaks.is_empty()).count();
        let _ = writeln!(
            out,
            "{}: {} changes, {breaking} breaking",
            self.verdict(),
            self.changes.len()
        );
        out
    }

    /// As JSON.
    pub fn to_json(&self) -> Json {
        let changes = self.changes.iter().map(|change| {
            Json::object([
                ("path", change.path.as_str().into()),
                ("what", change.what.as_str().into()),
                ("breaks", Json::array(change.breaks.iter().map(|breaks| breaks.name()))),
            ])
        });
        Json::object([
            ("verdict", self.verdict().into()),
            ("changes", Json::Array(changes.collect())),
        ])
    }
}

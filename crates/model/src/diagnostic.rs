//! What is reported about a contract: as text with the lines it points at, and as JSON.

use std::fmt::Write;

use crate::json::Json;
use crate::source::{Sources, Span};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The model does not work as declared.
    Error,
    /// It works until it does not.
    Warn,
    /// Worth a look.
    Advice,
    /// Something that a person must decide and has not.
    Question,
    /// Not reported.
    Off,
}

impl Severity {
    /// All of them, most severe first.
    pub const ALL: [Severity; 5] =
        [Severity::Error, Severity::Warn, Severity::Advice, Severity::Question, Severity::Off];
    /// Their names, in the same order.
    pub const NAMES: [&'static str; 5] = ["error", "warn", "advice", "question", "off"];

    /// Its name in contracts and output.
    pub fn name(self) -> &'static str {
        Severity::NAMES[self as usize]
    }

    /// The severity of a name.
    pub fn from_name(name: &str) -> Option<Severity> {
        Severity::ALL.into_iter().find(|severity| severity.name() == name)
    }

    fn colour(self) -> &'static str {
        match self {
            Severity::Error => "\x1b[1;31m",
            Severity::Warn => "\x1b[1;33m",
            Severity::Advice => "\x1b[1;36m",
            Severity::Question | Severity::Off => "\x1b[1;35m",
        }
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// Id of the rule.
    pub rule: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// Where it points.
    pub span: Span,
    /// The entity it is about.
    pub entity: Option<String>,
    /// The bin it is about.
    pub bin: Option<String>,
    /// What was found.
    pub message: String,
    /// Why it matters.
    pub reason: &'static str,
    /// What to do about it, where that is certain.
    pub fix: Option<String>,
    /// What to do about it in general.
    pub help: &'static str,
}

impl Diagnostic {
    /// As JSON.
    pub fn to_json(&self, sources: &Sources) -> Json {
        Json::object([
            ("rule", self.rule.into()),
            ("severity", self.severity.name().into()),
            ("file", sources.name(self.span).into()),
            ("line", self.span.line.into()),
            ("column", self.span.column.into()),
            ("entity", self.entity.clone().into()),
            ("bin", self.bin.clone().into()),
            ("message", self.message.clone().into()),
            ("fix", self.fix.clone().into()),
            ("reason", self.reason.into()),
            ("help", self.help.into()),
        ])
    }

    /// On one line, for questions: they are many, and all point at what is not there.
    pub fn render_line(&self, sources: &Sources, colours: bool) -> String {
        let paint = |code: &'static str| if colours { code } else { "" };
        let Span { line, column, .. } = self.span;
        format!(
            "{}?{} {}:{line}:{column}  {} [{}]\n",
            paint(self.severity.colour()),
            paint("\x1b[0m"),
            sources.name(self.span),
            self.message,
            self.rule
        )
    }

    /// As text for a terminal, with the line that it points at.
    pub fn render(&self, sources: &Sources, colours: bool) -> String {
        let paint = |code: &'static str| if colours { code } else { "" };
        let (bold, blue, off) = (paint("\x1b[1m"), paint("\x1b[1;34m"), paint("\x1b[0m"));
        let mark = paint(self.severity.colour());
        let mut out = String::new();
        let width = self.span.line.to_string().len();
        let pad = " ".repeat(width);
        let _ = writeln!(
            out,
            "{mark}{}[{}]{off}{bold}: {}{off}",
            self.severity.name(),
            self.rule,
            self.message
        );
        let Span { line, column, .. } = self.span;
        let _ = writeln!(out, "{pad}{blue}-->{off} {}:{line}:{column}", sources.name(self.span));
        if let Some(text) = sources.line(self.span) {
            let (text, lead, carets) = excerpt(text, self.span);
            let _ = writeln!(out, "{pad} {blue}|{off}");
            let _ = writeln!(out, "{blue}{line} |{off} {text}");
            let _ = writeln!(out, "{pad} {blue}|{off} {lead}{mark}{carets}{off}");
        }
        if !self.reason.is_empty() {
            let _ = writeln!(out, "{pad} {blue}={off} why: {}", self.reason);
        }
        match &self.fix {
            Some(fix) => {
                let _ = writeln!(out, "{pad} {blue}={off} {bold}fix{off}: {fix}");
            }
            None if !self.help.is_empty() => {
                let _ = writeln!(out, "{pad} {blue}={off} help: {}", self.help);
            }
            None => {}
        }
        out
    }
}

/// Widest piece of a source line that is shown.
const EXCERPT_CHARS: usize = 110;

/// The line as it is shown, the blanks in front of the carets, and the carets.
fn excerpt(line: &str, span: Span) -> (String, String, String) {
    let column = (span.column as usize).saturating_sub(1);
    let skip = if column > EXCERPT_CHARS - 30 { column - 20 } else { 0 };
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let mut shown: String = line.chars().skip(skip).take(EXCERPT_CHARS).map(clean).collect();
    let room = shown.chars().count().saturating_sub(column - skip).max(1);
    let carets = "^".repeat((span.len as usize).clamp(1, room));
    if line.chars().nth(skip + EXCERPT_CHARS).is_some() {
        shown.push('…');
    }
    let before = if skip > 0 { "…" } else { "" };
    let lead = column - skip + before.chars().count();
    (format!("{before}{shown}"), " ".repeat(lead), carets)
}

/// All findings as one JSON array.
pub fn to_json(diagnostics: &[Diagnostic], sources: &Sources) -> Json {
    Json::Array(diagnostics.iter().map(|diagnostic| diagnostic.to_json(sources)).collect())
}

/// "2 errors, 1 warning": the last line of a report.
pub fn summary(diagnostics: &[Diagnostic]) -> String {
    let words = [
        (Severity::Error, "error", "errors"),
        (Severity::Warn, "warning", "warnings"),
        (Severity::Advice, "piece of advice", "pieces of advice"),
        (Severity::Question, "open question", "open questions"),
    ];
    let parts: Vec<String> = words
        .into_iter()
        .filter_map(|(severity, one, many)| {
            let count = diagnostics.iter().filter(|d| d.severity == severity).count();
            (count > 0).then(|| format!("{count} {}", if count == 1 { one } else { many }))
        })
        .collect();
    if parts.is_empty() { "no findings".into() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnostic(span: Span) -> Diagnostic {
        Diagnostic {
            rule: "some-rule",
            severity: Severity::Warn,
            span,
            entity: Some("e".into()),
            bin: None,
            message: "something".into(),
            reason: "because",
            fix: Some("do that".into()),
            help: "",
        }
    }

    #[test]
    fn the_carets_stand_under_the_words() {
        let mut sources = Sources::default();
        let file = sources.add("m.yaml", "a: 1\nbins: {ts: int}\n");
        let text = diagnostic(Span { file, line: 2, column: 8, len: 2 }).render(&sources, false);
        assert_eq!(
            text,
            "warn[some-rule]: something\n --> m.yaml:2:8\n  |\n2 | bins: {ts: int}\n  |        ^^\n  \
             = why: because\n  = fix: do that\n"
        );
    }

    #[test]
    fn spans_outside_the_file_do_not_panic() {
        let mut sources = Sources::default();
        let file = sources.add("m.yaml", "x".repeat(1000));
        for (line, column, len) in [(0, 0, 0), (9, 9, 9), (1, 5000, 1), (1, 990, 5000)] {
            diagnostic(Span { file, line, column, len }).render(&sources, true);
        }
    }
}

//! A plan as text.

use std::fmt::Write;

use super::{Decision, Measure, Plan};
use crate::quantity::grouped;

/// Width of a paragraph.
const WIDTH: usize = 96;

/// The whole plan.
pub fn render(plan: &Plan) -> String {
    let mut out = String::new();
    for decision in &plan.decisions {
        out += &render_decision(decision);
        out.push('\n');
    }
    for measure in &plan.measures {
        out += &render_measure(measure);
        out.push('\n');
    }
    for question in &plan.questions {
        let _ = writeln!(out, "? {question}");
    }
    if out.is_empty() {
        out.push_str("nothing to decide: no relationship is declared, and no record takes more writes than one can\n");
    }
    out
}

fn render_decision(decision: &Decision) -> String {
    let mut out = format!("{}  ({})\n", decision.relationship, decision.about);
    let _ = writeln!(out, "  => {}: {}", decision.pattern.name(), decision.pattern.about());
    entry(&mut out, "because", &decision.reason);
    if let Some(shards) = &decision.shards {
        let text =
            format!("{}; {}; keys {}", shards.describe(), shards.why, shards.kind.key_pattern());
        entry(&mut out, "shards", &text);
    }
    for (name, text) in &decision.numbers {
        entry(&mut out, "number", &format!("{name}: {text}"));
    }
    if let Some(entries) = decision.index_entries {
        entry(&mut out, "number", &format!("primary index entries: {}", grouped(entries)));
    }
    for need in &decision.needs {
        entry(&mut out, "needs", need);
    }
    for (pattern, why) in &decision.rejected {
        entry(&mut out, "not", &format!("{}: {why}", pattern.name()));
    }
    out
}

fn render_measure(measure: &Measure) -> String {
    let mut out = format!("{}\n  => {}\n", measure.entity, measure.measure);
    entry(&mut out, "because", &measure.reason);
    if let Some(shards) = &measure.shards {
        entry(
            &mut out,
            "shards",
            &format!("{}; keys {}", shards.describe(), shards.kind.key_pattern()),
        );
    }
    out
}

/// A labelled paragraph, wrapped.
fn entry(out: &mut String, label: &str, text: &str) {
    let mut line = format!("     {label:<8} ");
    let indent = line.len();
    for word in text.split_whitespace() {
        if line.chars().count() + word.chars().count() > WIDTH && line.trim_end().len() > indent {
            let _ = writeln!(out, "{}", line.trim_end());
            line = " ".repeat(indent);
        }
        line += word;
        line.push(' ');
    }
    let _ = writeln!(out, "{}", line.trim_end());
}

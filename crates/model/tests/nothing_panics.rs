//! Whatever stands in a file, every command ends with an answer.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use cairn_model::examples::EXAMPLES;
use cairn_model::{Contract, diagnostic, diff, doc, plan, rules, size};
use proptest::prelude::*;

/// Runs everything that reads a contract.
fn exercise(text: &str) -> bool {
    match Contract::parse([("m.yaml", text)]) {
        Err(unusable) => {
            assert!(!unusable.diagnostics.is_empty());
            for diagnostic in &unusable.diagnostics {
                diagnostic.render(&unusable.sources, true);
            }
            false
        }
        Ok(contract) => {
            let findings = rules::check(&contract, Some(20_000));
            findings.iter().for_each(|finding| drop(finding.render(&contract.sources, true)));
            diagnostic::to_json(&findings, &contract.sources).pretty();
            let sizes = size::sizes(&contract);
            sizes.to_text();
            sizes.to_json().pretty();
            sizes.to_html("x");
            let plan = plan::plan(&contract);
            plan.to_text();
            plan.to_json().pretty();
            plan::apply(&contract, &plan);
            doc::markdown(&contract);
            doc::html(&contract);
            assert_eq!(diff::diff(&contract, &contract).exit_code(), 0);
            true
        }
    }
}

/// Values that break careless arithmetic.
const NASTY: &[&str] = &[
    "0",
    "1",
    "99999999999999",
    "1e400",
    "-1",
    "never",
    "0B",
    "999TiB",
    "{}",
    "[]",
    "''",
    "{p99: 0}",
    "{p50: 5, p99: 1}",
    "\"{a}{b}\"",
    "\"{\"",
    "int:-9223372036854775808..9223372036854775807",
    "0/s",
    "1/ms",
    "a.b.c",
    "é",
    "null",
    "~",
    "999999999999999/s",
    "{type: list, element: {type: list, element: int, count: 999999999}}",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_text(text in "[ -~\n{}\\[\\]:,]{0,200}") {
        exercise(&text);
    }

    #[test]
    fn examples_with_a_value_replaced(which in 0..EXAMPLES.len(), at in 0usize..400, with in 0..NASTY.len()) {
        let text = EXAMPLES[which].text;
        // Values stand behind a colon.
        let colons: Vec<usize> = text.match_indices(": ").map(|(at, _)| at + 2).collect();
        let start = colons[at % colons.len()];
        let end = text[start..].find([',', '}', '\n']).map_or(text.len(), |len| start + len);
        let mutated = format!("{}{}{}", &text[..start], NASTY[with], &text[end..]);
        exercise(&mutated);
    }

    #[test]
    fn examples_with_a_line_missing(which in 0..EXAMPLES.len(), line in 0usize..80) {
        let lines: Vec<&str> = EXAMPLES[which].text.lines().collect();
        let gone = line % lines.len();
        let kept: Vec<&str> = lines.iter().enumerate().filter(|(at, _)| *at != gone).map(|(_, l)| *l).collect();
        exercise(&kept.join("\n"));
    }
}

#[test]
fn the_exercise_reaches_the_commands() {
    assert!(EXAMPLES.iter().all(|example| exercise(example.text)));
}

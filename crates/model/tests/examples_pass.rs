//! Every example is a contract without findings.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use cairn_model::examples::EXAMPLES;
use cairn_model::{Contract, diagnostic, rules};

fn parse(name: &str, text: &str) -> Contract {
    Contract::parse([(name, text)]).unwrap_or_else(|unusable| {
        let report: String =
            unusable.diagnostics.iter().map(|d| d.render(&unusable.sources, false)).collect();
        panic!("{report}")
    })
}

#[test]
fn every_example_passes_every_rule() {
    let mut report = String::new();
    for example in EXAMPLES {
        let contract = parse(example.name, example.text);
        let findings = rules::check(&contract, None);
        report.extend(findings.iter().map(|finding| finding.render(&contract.sources, false)));
        if !findings.is_empty() {
            report += &format!("{}: {}\n", example.name, diagnostic::summary(&findings));
        }
    }
    assert!(report.is_empty(), "{report}");
}

#[test]
fn every_ignored_finding_would_be_reported() {
    for example in EXAMPLES {
        let mut contract = parse(example.name, example.text);
        let ignores = std::mem::take(&mut contract.ignores);
        let findings = rules::check(&contract, None);
        for ignore in ignores {
            let found = findings.iter().any(|finding| finding.rule == ignore.rule);
            assert!(found, "{}: {} is ignored and not found", example.name, ignore.rule);
        }
    }
}

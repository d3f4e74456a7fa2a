//! Every rule has a fixture that fails it, one that passes it, and a page made from both.
//!
//! `CAIRN_WRITE_DOCS=1 cargo test -p cairn-model --test rule_fixtures` writes the pages anew.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::{Path, PathBuf};

use cairn_model::rules::{self, RULES, Rule};
use cairn_model::{Contract, Diagnostic};

fn fixture(rule: &Rule, name: &str) -> String {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/rules").join(rule.id).join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn findings(rule: &Rule, name: &str) -> Vec<Diagnostic> {
    let text = fixture(rule, name);
    let contract = Contract::parse([(name, text)])
        .unwrap_or_else(|unusable| panic!("{} {name}: {:?}", rule.id, unusable.diagnostics));
    let found = rules::check(&contract, None);
    found.into_iter().filter(|finding| finding.rule == rule.id).collect()
}

#[test]
fn every_failing_fixture_fails_its_rule() {
    for rule in RULES {
        let found = findings(rule, "fail.yaml");
        assert!(!found.is_empty(), "{} finds nothing", rule.id);
        assert!(found.iter().all(|finding| finding.span.line > 0 && !finding.help.is_empty()));
    }
}

#[test]
fn every_passing_fixture_passes_its_rule() {
    for rule in RULES {
        let found = findings(rule, "pass.yaml");
        assert!(found.is_empty(), "{}: {}", rule.id, found[0].message);
    }
}

#[test]
fn ids_are_kebab_case_and_unique() {
    for (at, rule) in RULES.iter().enumerate() {
        let kebab = rule.id.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        assert!(kebab, "{}", rule.id);
        assert!(RULES[..at].iter().all(|other| other.id != rule.id), "{}", rule.id);
    }
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules")
}

/// The list of all rules, by document.
fn list() -> String {
    let mut out =
        String::from("# Rules\n\n`cairn model rules` prints this list, with `--json` for tools.\n");
    let mut document = "";
    for rule in RULES {
        if rule.document.title() != document {
            document = rule.document.title();
            out +=
                &format!("\n## {document}\n\n| rule | severity | finds |\n| --- | --- | --- |\n");
        }
        out +=
            &format!("| [{0}]({0}.md) | {1} | {2} |\n", rule.id, rule.severity.name(), rule.finds);
    }
    out
}

#[test]
fn the_reference_page_is_up_to_date() {
    let path = docs().join("../contract.md");
    let text = cairn_model::reference::page();
    if std::env::var_os("CAIRN_WRITE_DOCS").is_some() {
        fs::create_dir_all(docs()).unwrap();
        fs::write(&path, &text).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == text, "docs/contract.md is out of date; see the head of this file");
}

#[test]
fn every_rule_has_its_page() {
    let mut pages = vec![("README.md".to_owned(), list())];
    pages.extend(RULES.iter().map(|rule| {
        let text = rules::page(rule, &fixture(rule, "fail.yaml"), &fixture(rule, "pass.yaml"));
        (format!("{}.md", rule.id), text)
    }));
    if std::env::var_os("CAIRN_WRITE_DOCS").is_some() {
        fs::create_dir_all(docs()).unwrap();
        pages.iter().for_each(|(name, text)| fs::write(docs().join(name), text).unwrap());
    }
    for (name, text) in &pages {
        let stored = fs::read_to_string(docs().join(name)).unwrap_or_default();
        assert!(stored == *text, "docs/rules/{name} is out of date; see the head of this file");
    }
    assert_eq!(fs::read_dir(docs()).unwrap().count(), pages.len(), "a page without a rule");
}

//! The documentation page of a rule, from the table and its two fixtures.

use super::{Rule, check};
use crate::contract::Contract;
use crate::diagnostic::{Diagnostic, Severity};

/// The page of a rule: what, why, a contract that fails with what is reported, one that passes.
pub fn page(rule: &Rule, failing: &str, passing: &str) -> String {
    let severity = match rule.severity {
        Severity::Error => "error",
        Severity::Warn => "warning",
        Severity::Advice => "advice",
        Severity::Question | Severity::Off => "question",
    };
    format!(
        "# {id}\n\n{finds}\n\n| | |\n| --- | --- |\n| severity | {severity} |\n| from | {document} |\n\n\
         **Why:** {reason}.\n\n**What to do:** {remedy}.\n\n## Fails\n\n```yaml\n{failing}```\n\n\
         ```text\n{report}```\n\n## Passes\n\n```yaml\n{passing}```\n\n## Change or ignore it\n\n\
         ```yaml\nrules: {{{id}: off}}   # or error, warn, advice, question\n\
         ignore: [{{rule: {id}, reason: \"why it is right here\"}}]\n```\n",
        id = rule.id,
        finds = rule.finds,
        document = rule.document.title(),
        reason = rule.reason,
        remedy = rule.remedy,
        report = report(rule, failing),
    )
}

fn report(rule: &Rule, failing: &str) -> String {
    let Ok(contract) = Contract::parse([("model.yaml", failing)]) else { return String::new() };
    let findings: Vec<Diagnostic> = check(&contract, None);
    let own = findings.iter().filter(|finding| finding.rule == rule.id);
    own.map(|finding| finding.render(&contract.sources, false)).collect::<Vec<_>>().join("\n")
}

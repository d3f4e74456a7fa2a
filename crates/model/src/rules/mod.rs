//! The rules of data modelling, each with an id, a severity, the document it comes from and the
//! reason. [`RULES`] is the one table: `cairn model rules`, `docs/rules/` and the tests read it.

mod abbreviate;
mod collections;
mod copies;
mod identifiers;
mod keys;
mod load;
mod naming;
mod page;
mod questions;
mod reads;
mod records;
mod structure;
mod table;
mod tables;
mod times;

pub use abbreviate::abbreviate;
pub use page::page;
pub use table::RULES;

use crate::contract::{Contract, Entity};
use crate::diagnostic::{Diagnostic, Severity};
use crate::json::Json;
use crate::size::{self, EntitySize};
use crate::source::Span;

/// The documents that the rules come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document {
    /// Key patterns, identifiers, copies, growth, projection.
    KeyDesign,
    /// Names, timestamps, identifiers, the contract.
    Naming,
    /// Sharding and sorting keys.
    PrimaryKeys,
    /// The 64-byte cost, the band, consolidation.
    RecordSizing,
    /// 1:1, 1:N, N:M, contention, shards.
    Relationships,
    /// What a contract needs to be one.
    Contract,
}

impl Document {
    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            Document::KeyDesign => "Key design",
            Document::Naming => "Naming conventions",
            Document::PrimaryKeys => "Best practices for defining primary keys",
            Document::RecordSizing => "Record sizing",
            Document::Relationships => "Modeling relationships",
            Document::Contract => "The contract",
        }
    }
}

/// A rule.
pub struct Rule {
    /// Its id, in kebab-case.
    pub id: &'static str,
    /// How much a finding matters unless the contract says otherwise.
    pub severity: Severity,
    /// Where it comes from.
    pub document: Document,
    /// What it finds.
    pub finds: &'static str,
    /// Why that matters.
    pub reason: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
    check: fn(&mut Findings<'_>),
}

impl Rule {
    /// As JSON.
    pub fn to_json(&self) -> Json {
        Json::object([
            ("id", self.id.into()),
            ("severity", self.severity.name().into()),
            ("document", self.document.title().into()),
            ("finds", self.finds.into()),
            ("reason", self.reason.into()),
            ("remedy", self.remedy.into()),
        ])
    }
}

/// The rule of an id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}

/// What a rule sees and where it reports.
struct Findings<'a> {
    contract: &'a Contract,
    sizes: &'a [EntitySize],
    /// Days since 1970, when the caller knows.
    today: Option<i64>,
    rule: &'static Rule,
    found: Vec<Diagnostic>,
}

impl<'a> Findings<'a> {
    /// Entities with their sizes.
    fn entities(&self) -> impl Iterator<Item = (&'a Entity, &'a EntitySize)> + use<'a> {
        self.contract.entities.iter().zip(self.sizes)
    }

    fn report(&mut self, span: Span, entity: &str, message: String, fix: Option<String>) {
        self.push(span, Some(entity), None, message, fix);
    }

    fn report_bin(
        &mut self,
        span: Span,
        [entity, bin]: [&str; 2],
        message: String,
        fix: Option<String>,
    ) {
        self.push(span, Some(entity), Some(bin), message, fix);
    }

    fn push(
        &mut self,
        span: Span,
        entity: Option<&str>,
        bin: Option<&str>,
        message: String,
        fix: Option<String>,
    ) {
        self.found.push(Diagnostic {
            rule: self.rule.id,
            severity: self.rule.severity,
            span,
            entity: entity.map(str::to_owned),
            bin: bin.map(str::to_owned),
            message,
            reason: self.rule.reason,
            fix,
            help: self.rule.remedy,
        });
    }
}

/// Everything that the rules find in a contract, most severe first, then in file order.
///
/// ```
/// use cairn_model::{Contract, rules};
/// let text = "cairn: 1\nnamespaces: {app: {replication-factor: 2}}\n\
///             entities: {user: {namespace: app, bins: {notification_type: string}}}";
/// let contract = Contract::parse([("model.yaml", text)]).unwrap();
/// let findings = rules::check(&contract, None);
/// let long = findings.iter().find(|finding| finding.rule == "bin-name-too-long").unwrap();
/// assert!(long.fix.as_ref().unwrap().contains("`notif_type`"));
/// ```
pub fn check(contract: &Contract, today: Option<i64>) -> Vec<Diagnostic> {
    let sizes: Vec<EntitySize> =
        contract.entities.iter().map(|entity| size::entity_size(contract, entity)).collect();
    let mut all = Vec::new();
    for rule in RULES {
        let mut findings = Findings { contract, sizes: &sizes, today, rule, found: Vec::new() };
        (rule.check)(&mut findings);
        let severity = contract.severities.iter().find(|(id, ..)| id == rule.id);
        let severity = severity.map_or(rule.severity, |(_, severity, _)| *severity);
        all.extend(findings.found.into_iter().map(|found| Diagnostic { severity, ..found }));
    }
    all.retain(|finding| finding.severity != Severity::Off && !is_ignored(contract, finding));
    all.sort_by_key(|finding| (finding.severity, finding.span));
    all
}

/// Whether the contract says, with a reason, that this finding is right as it is.
fn is_ignored(contract: &Contract, finding: &Diagnostic) -> bool {
    let covers =
        |wanted: &Option<String>, found: &Option<String>| wanted.is_none() || wanted == found;
    contract.ignores.iter().any(|ignore| {
        ignore.reason.is_some()
            && ignore.rule == finding.rule
            && covers(&ignore.entity, &finding.entity)
            && covers(&ignore.bin, &finding.bin)
    })
}

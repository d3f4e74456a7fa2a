//! From relationships and access patterns to a physical design.

mod apply;
mod decide;
mod one_to_many;
mod pattern;
mod shards;
mod text;

pub use apply::apply;
pub use pattern::{Contention, FACTS, Facts, IndexCost, Inverse, Pattern};
pub use shards::{ShardKind, ShardPlan, hash_shards, time_shards};

use crate::contract::Contract;
use crate::json::Json;

/// The design of a whole contract.
#[derive(Clone, Debug)]
pub struct Plan {
    /// One decision per relationship.
    pub decisions: Vec<Decision>,
    /// What single entities need.
    pub measures: Vec<Measure>,
    /// What must be known before the rest can be decided.
    pub questions: Vec<String>,
}

/// How a relationship is laid out.
#[derive(Clone, Debug)]
pub struct Decision {
    /// Its name.
    pub relationship: String,
    /// Cardinality, parent and child, as in `1:N post -> comment`.
    pub about: String,
    /// The layout.
    pub pattern: Pattern,
    /// Why.
    pub reason: String,
    /// The numbers behind it.
    pub numbers: Vec<(&'static str, String)>,
    /// Shards, when one record does not do.
    pub shards: Option<ShardPlan>,
    /// What comes on top of the pattern, by name, as in `companion-overflow`.
    pub measures: Vec<&'static str>,
    /// What it needs, in sentences.
    pub needs: Vec<String>,
    /// Entries in the primary index, one copy; nothing when the parents are not counted.
    pub index_entries: Option<f64>,
    /// Why not the others.
    pub rejected: Vec<(Pattern, String)>,
}

/// What an entity needs apart from its relationships.
#[derive(Clone, Debug)]
pub struct Measure {
    /// The entity.
    pub entity: String,
    /// What to do, as in `hot-key-shards`.
    pub measure: &'static str,
    /// Why, with the numbers.
    pub reason: String,
    /// Shards, when it is about those.
    pub shards: Option<ShardPlan>,
}

/// Plans a contract.
pub fn plan(contract: &Contract) -> Plan {
    let mut plan = Plan { decisions: Vec::new(), measures: Vec::new(), questions: Vec::new() };
    for rel in &contract.relationships {
        match decide::relationship(contract, rel) {
            Ok(decision) => plan.decisions.push(decision),
            Err(question) => plan.questions.push(question),
        }
    }
    plan.measures = decide::measures(contract);
    plan
}

impl Plan {
    /// As text for a terminal.
    pub fn to_text(&self) -> String {
        text::render(self)
    }

    /// As JSON.
    pub fn to_json(&self) -> Json {
        let shards = |shards: &Option<ShardPlan>| match shards {
            None => Json::Null,
            Some(shards) => Json::object([
                ("kind", shards.kind.name().into()),
                ("count", shards.count.into()),
                ("even_count", shards.even.into()),
                ("bytes_each", (shards.bytes_each.round() as u64).into()),
                ("key_pattern", shards.kind.key_pattern().into()),
                ("why", shards.why.into()),
            ]),
        };
        let decisions = self.decisions.iter().map(|decision| {
            let numbers = decision.numbers.iter();
            let numbers = numbers.map(|(name, text)| ((*name).to_owned(), text.as_str().into()));
            let rejected = decision.rejected.iter().map(|(pattern, why)| {
                Json::object([("pattern", pattern.name().into()), ("why_not", why.as_str().into())])
            });
            Json::object([
                ("relationship", decision.relationship.as_str().into()),
                ("about", decision.about.as_str().into()),
                ("pattern", decision.pattern.name().into()),
                ("reason", decision.reason.as_str().into()),
                ("numbers", Json::Object(numbers.collect())),
                ("shards", shards(&decision.shards)),
                ("measures", Json::array(decision.measures.iter().copied())),
                ("needs", Json::array(decision.needs.iter().map(String::as_str))),
                ("index_entries", decision.index_entries.map(|n| n.round() as u64).into()),
                ("rejected", Json::Array(rejected.collect())),
            ])
        });
        let measures = self.measures.iter().map(|measure| {
            Json::object([
                ("entity", measure.entity.as_str().into()),
                ("measure", measure.measure.into()),
                ("reason", measure.reason.as_str().into()),
                ("shards", shards(&measure.shards)),
            ])
        });
        Json::object([
            ("decisions", Json::Array(decisions.collect())),
            ("measures", Json::Array(measures.collect())),
            ("questions", Json::array(self.questions.iter().map(String::as_str))),
        ])
    }
}

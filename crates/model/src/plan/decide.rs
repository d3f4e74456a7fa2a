//! The decision tables.

use super::one_to_many::OneToMany;
use super::pattern::{IndexCost, Pattern};
use super::shards::{hash_shards, time_shards, write_shards};
use super::{Decision, Measure};
use crate::contract::{Cardinality, Contract, Entity, Growth, Namespace, Relationship};
use crate::cost::{BAND_HIGH, HOT_WRITES};
use crate::quantity::{Bytes, grouped, rate_text, span_text};
use crate::size::entity_size;

/// Read rates that differ by this factor want records of their own.
const VERY_DIFFERENT: f64 = 10.0;

/// Decides one relationship, or says what must be known first.
pub fn relationship(contract: &Contract, rel: &Relationship) -> Result<Decision, String> {
    let mut decision = match rel.kind {
        Cardinality::OneToOne => one_to_one(contract, rel),
        Cardinality::OneToMany => OneToMany::of(contract, rel)?.decide(),
        Cardinality::ManyToMany => many_to_many(contract, rel)?,
    };
    decision.index_entries = index_entries(contract, rel, &decision);
    Ok(decision)
}

pub(super) fn new(rel: &Relationship, pattern: Pattern, reason: String) -> Decision {
    Decision {
        relationship: rel.name.clone(),
        about: format!("{} {} -> {}", rel.kind.name(), rel.from, rel.to),
        pattern,
        reason,
        numbers: Vec::new(),
        shards: None,
        measures: Vec::new(),
        needs: Vec::new(),
        index_entries: None,
        rejected: Vec::new(),
    }
}

/// Entries in the primary index that the layout takes, by its column of the table.
fn index_entries(contract: &Contract, rel: &Relationship, decision: &Decision) -> Option<f64> {
    let parents = rel.parents.or_else(|| contract.entity(&rel.from)?.records)?;
    let children = rel.degree.map(|degree| parents * degree.avg);
    match decision.pattern.facts().map(|facts| facts.index_cost) {
        None if decision.pattern == Pattern::SameRecord => Some(parents),
        None if rel.kind == Cardinality::OneToOne => {
            Some(parents + contract.entity(&rel.to).and_then(|e| e.records).unwrap_or(parents))
        }
        None => None,
        Some(IndexCost::PerParent) => Some(parents),
        Some(IndexCost::PerChild | IndexCost::PerChildAndSecondary) => Some(parents + children?),
        Some(IndexCost::PerEntity) if rel.from == rel.to => Some(parents),
        Some(IndexCost::PerEntity) => Some(parents + contract.entity(&rel.to)?.records?),
    }
}

pub(super) fn very_different(contract: &Contract, rel: &Relationship) -> Option<(f64, f64)> {
    let (parent, child) = contract.read_rates(rel)?;
    let (low, high) = (parent.min(child), parent.max(child));
    (high > 0.0 && high >= VERY_DIFFERENT * low).then_some((parent, child))
}

pub(super) fn ttl_text(ttl: Option<f64>) -> String {
    match ttl {
        Some(ttl) if ttl.is_finite() => span_text(ttl),
        _ => "no end".into(),
    }
}

fn one_to_one(contract: &Contract, rel: &Relationship) -> Decision {
    let [from, to] = [&rel.from, &rel.to].map(|name| contract.entity(name));
    let ttl = |entity: Option<&Entity>| {
        entity.and_then(|entity| entity.ttl_s).filter(|ttl| ttl.is_finite())
    };
    let [parent_ttl, child_ttl] =
        [ttl(from), rel.child_ttl_s.filter(|ttl| ttl.is_finite()).or(ttl(to))];
    let tiers = [from, to].map(|entity| entity.and_then(|e| contract.namespace(&e.namespace)));
    if let [Some(a), Some(b)] = tiers
        && a.name != b.name
        && tier(a) != tier(b)
    {
        let reason = format!("`{}` and `{}` are different storage", a.name, b.name);
        let mut decision = new(rel, Pattern::SplitNamespaces, reason);
        decision
            .needs
            .push("the same set and key in both namespaces: one digest, no lookup table".into());
        decision.rejected.push((Pattern::SameRecord, "one record has one storage".into()));
        return decision;
    }
    let reason = if parent_ttl != child_ttl {
        let [parent, child] = [parent_ttl, child_ttl].map(ttl_text);
        Some(format!(
            "they live differently long: {parent} and {child}; a TTL covers the whole record"
        ))
    } else {
        very_different(contract, rel).map(|(parent, child)| {
            format!(
                "they are read at very different rates: {} and {}",
                rate_text(parent),
                rate_text(child)
            )
        })
    };
    match reason {
        Some(reason) => {
            let mut decision = new(rel, Pattern::SeparateRecords, reason.clone());
            decision
                .needs
                .push("keys that are derived from each other, as the same key in two sets".into());
            decision.rejected.push((Pattern::SameRecord, reason));
            decision
        }
        None => {
            let reason = "one key, one index entry, one read, one life".to_owned();
            let mut decision = new(rel, Pattern::SameRecord, reason);
            let why =
                "same TTL, similar read rates and the same storage: nothing is gained".to_owned();
            decision.rejected.push((Pattern::SeparateRecords, why));
            decision
        }
    }
}

fn tier(namespace: &Namespace) -> (Option<&str>, Option<&str>, Option<f64>, Option<f64>) {
    (
        namespace.storage.as_deref(),
        namespace.tier.as_deref(),
        namespace.retention_s,
        namespace.replication,
    )
}

fn many_to_many(contract: &Contract, rel: &Relationship) -> Result<Decision, String> {
    let ask = |what: &str| format!("`{}`: {what}", rel.name);
    let degree = rel.degree.ok_or_else(|| ask("how many has one entity? declare `degree`"))?;
    let bytes = rel.id_bytes.ok_or_else(|| ask("how long is a reference? declare `id-bytes`"))?;
    let largest = degree.p99.max(rel.inverse_degree.map_or(0.0, |degree| degree.p99));
    let total = largest * bytes;
    let reason =
        "both sides read: one record and a batch, in either direction, without an index".to_owned();
    let mut decision = new(rel, Pattern::BidirectionalLists, reason);
    decision.numbers = vec![
        ("references at p99", grouped(largest)),
        ("bytes of the largest side", format!("{} (128 KiB or less stays whole)", Bytes(total))),
    ];
    decision.needs.push("ordered lists with add-unique and no-fail on both sides".into());
    if largest >= 1000.0 {
        decision
            .needs
            .push("persist-index on the lists: pages and unique inserts do not walk them".into());
    }
    let writes = rel.writes.unwrap_or(0.0);
    if total > BAND_HIGH {
        let per_day = match rel.growth {
            Some(Growth::Elements(many)) => Some(many),
            _ => None,
        };
        decision.shards = match per_day.filter(|_| rel.recent) {
            Some(per_day) => time_shards(per_day, bytes),
            None => hash_shards(largest, bytes),
        };
        decision.measures.push("companion-overflow");
        decision
            .needs
            .push("companion records on demand: a `subkeys` bin once a record is split".into());
    } else if contract.target.costs().contends && writes > HOT_WRITES {
        decision.measures.push("hot-key-shards");
        decision.shards = Some(write_shards(writes, HOT_WRITES, total));
    }
    decision.rejected = vec![
        (Pattern::Consolidation, "the other side exists on its own and is shared".into()),
        (
            Pattern::ChildReference,
            "a query asks every node, on the hot path of both directions".into(),
        ),
    ];
    Ok(decision)
}

/// What single entities need: shards for hot records, slices for growing ones.
pub fn measures(contract: &Contract) -> Vec<Measure> {
    let mut measures = Vec::new();
    for entity in &contract.entities {
        let size = entity_size(contract, entity);
        let hottest = contract
            .access
            .iter()
            .filter(|access| !access.is_read && access.entity == entity.name)
            .filter_map(|access| {
                access.per_record.or_else(|| Some(access.rate? / entity.records?.max(1.0)))
            })
            .fold(0.0, f64::max);
        if contract.target.costs().contends && hottest / entity.shard_count() > HOT_WRITES {
            measures.push(Measure {
                entity: entity.name.clone(),
                measure: "hot-key-shards",
                reason: format!(
                    "one record is written {}, more than {HOT_WRITES}/s",
                    rate_text(hottest)
                ),
                shards: Some(write_shards(hottest, HOT_WRITES, size.record.p50)),
            });
        }
        if let Some(day) = size.limit_day {
            let dated = entity.key.as_ref().is_some_and(|key| {
                key.components()
                    .any(|(_, kind)| matches!(kind, Some(crate::contract::ComponentType::Date(_))))
            });
            measures.push(Measure {
                entity: entity.name.clone(),
                measure: if dated { "companion-overflow" } else { "time-slices" },
                reason: format!(
                    "a record gains {} a day and reaches {} on day {}",
                    Bytes(size.growth_per_day),
                    Bytes(size.limit),
                    grouped(day as f64)
                ),
                shards: time_shards(1.0, size.growth_per_day),
            });
        }
    }
    measures
}

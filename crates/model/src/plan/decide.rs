//! The decision tables.

use super::pattern::{IndexCost, Pattern};
use super::shards::{ShardPlan, hash_shards, time_shards, write_shards};
use super::{Decision, Measure};
use crate::contract::{
    Cardinality, Contract, Entity, Growth, Namespace, Reads, Relationship, Spread,
};
use crate::cost::{BAND_HIGH, HOT_WRITES, RECORD_CEILING};
use crate::quantity::{Bytes, grouped, rate_text, span_text};
use crate::size::{child_size, entity_size};

/// Children up to which a list of keys and a batch read do: "tens to low hundreds".
const KEY_LIST_MAX: f64 = 300.0;
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

fn new(rel: &Relationship, pattern: Pattern, reason: String) -> Decision {
    Decision {
        relationship: rel.name.clone(),
        about: format!("{} {} -> {}", rel.kind.name(), rel.from, rel.to),
        pattern,
        reason,
        numbers: Vec::new(),
        shards: None,
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

fn very_different(contract: &Contract, rel: &Relationship) -> Option<(f64, f64)> {
    let (parent, child) = contract.read_rates(rel)?;
    let (low, high) = (parent.min(child), parent.max(child));
    (high > 0.0 && high >= VERY_DIFFERENT * low).then_some((parent, child))
}

fn ttl_text(ttl: Option<f64>) -> String {
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

/// A 1:N relationship with the numbers that decide it.
struct OneToMany<'a> {
    contract: &'a Contract,
    rel: &'a Relationship,
    degree: Spread,
    child: Spread,
    reads: Reads,
    /// p99 count x average size.
    typical: f64,
    /// p99 count x p99 size.
    worst: f64,
    limit: f64,
}

impl<'a> OneToMany<'a> {
    fn of(contract: &'a Contract, rel: &'a Relationship) -> Result<Self, String> {
        let ask = |what: &str| format!("`{}`: {what}", rel.name);
        let reads = rel.reads.ok_or_else(|| ask("who drives the reads? declare `reads`"))?;
        let degree =
            rel.degree.ok_or_else(|| ask("how many children has a parent? declare `degree`"))?;
        let child = child_size(contract, rel)
            .ok_or_else(|| ask("how large is a child? declare `child-size`"))?;
        let namespace = contract.entity(&rel.from).and_then(|e| contract.namespace(&e.namespace));
        Ok(OneToMany {
            contract,
            rel,
            degree,
            child,
            reads,
            typical: degree.p99 * child.avg,
            worst: degree.p99 * child.p99,
            limit: namespace.map_or(crate::quantity::MIB, |namespace| namespace.limit()),
        })
    }

    fn decide(&self) -> Decision {
        let (pattern, reason) = self.choose();
        let mut decision = new(self.rel, pattern, reason);
        decision.numbers = self.numbers();
        self.shard(&mut decision);
        self.inverse(&mut decision);
        decision.rejected = self.rejected(pattern);
        decision
    }

    fn choose(&self) -> (Pattern, String) {
        match self.reads {
            Reads::Child | Reads::Inverse => {
                let who =
                    if self.reads == Reads::Child { "children" } else { "the inverse question" };
                return (
                    Pattern::ChildReference,
                    format!("{who} drive the reads, so children hold the reference"),
                );
            }
            Reads::Parent | Reads::Both => {}
        }
        if let Some(why) = self.apart() {
            return if self.degree.p99 <= KEY_LIST_MAX {
                let reason =
                    format!("{why}, and {} keys at p99 fit a list", grouped(self.degree.p99));
                (Pattern::KeyList, reason)
            } else {
                let reason = format!(
                    "{why}, and {} children at p99 are too many for a list of keys",
                    grouped(self.degree.p99)
                );
                (Pattern::ChildReference, reason)
            };
        }
        if self.typical <= BAND_HIGH {
            let reason = format!(
                "p99 x average is {}, 128 KiB or less, and the parent drives the reads",
                Bytes(self.typical)
            );
            return (Pattern::Consolidation, reason);
        }
        if self.rel.recent {
            return (
                Pattern::TimeSlices,
                "the whole is too large for a record, and the common read wants the recent part"
                    .into(),
            );
        }
        if self.typical <= RECORD_CEILING {
            let reason = format!(
                "p99 x average is {}, over 128 KiB: most parents stay whole, the large ones overflow into companion records",
                Bytes(self.typical)
            );
            return (Pattern::Consolidation, reason);
        }
        let reason =
            format!("p99 x average is {}, too large to keep together", Bytes(self.typical));
        (Pattern::ChildReference, reason)
    }

    /// Why children need records of their own, when they do.
    fn apart(&self) -> Option<String> {
        let parent_ttl = self.contract.entity(&self.rel.from).and_then(|entity| entity.ttl_s);
        if let Some(ttl) = self.contract.child_ttl(self.rel).filter(|ttl| Some(*ttl) != parent_ttl)
        {
            return Some(format!("children live {} and expire on their own", ttl_text(Some(ttl))));
        }
        if self.rel.independent == Some(true) {
            return Some("children have a life of their own".into());
        }
        very_different(self.contract, self.rel).map(|(parent, child)| {
            format!("parents are read {}, children {}", rate_text(parent), rate_text(child))
        })
    }

    fn numbers(&self) -> Vec<(&'static str, String)> {
        let mut numbers = vec![
            ("children at p99", grouped(self.degree.p99)),
            (
                "p99 count x average size",
                format!("{} (128 KiB or less keeps together)", Bytes(self.typical)),
            ),
            (
                "p99 count x p99 size",
                format!("{} (the namespace allows {})", Bytes(self.worst), Bytes(self.limit)),
            ),
        ];
        if let Some(writes) = self.rel.writes {
            numbers.push(("writes to one parent", rate_text(writes)));
        }
        numbers
    }

    fn shard(&self, decision: &mut Decision) {
        let per_day = match self.rel.growth {
            Some(Growth::Elements(many)) => many,
            Some(Growth::Bytes(bytes)) => bytes / self.child.avg.max(1.0),
            None => self.degree.p99 / 30.0,
        };
        let writes = self.rel.writes.unwrap_or(0.0);
        let contends = self.contract.target.costs().contends && writes > HOT_WRITES;
        match decision.pattern {
            Pattern::TimeSlices => {
                decision.shards = time_shards(per_day, self.child.avg);
                decision.needs.push(
                    "keys with the period, as in {key}:{YYYY-MM-DD}, which the reader derives"
                        .into(),
                );
            }
            Pattern::Consolidation if self.typical > BAND_HIGH || self.worst > self.limit => {
                decision.shards = hash_shards(self.degree.p99, self.child.avg);
                decision.needs.push(
                    "companion overflow on demand: a `subkeys` bin once a record is split".into(),
                );
            }
            Pattern::Consolidation if contends => {
                decision.shards = Some(write_shards(writes, HOT_WRITES, self.typical));
                decision.needs.push(
                    "hot-key shards: writers choose by hash, readers batch-read and combine".into(),
                );
            }
            _ => {}
        }
        // Shards for size spread the writes as well; more of them where that is not enough.
        if let (Some(shards), true) = (&mut decision.shards, contends) {
            let spread = write_shards(writes, HOT_WRITES, self.typical);
            if shards.count < spread.count {
                *shards = ShardPlan { even: shards.even.max(spread.even), ..spread };
            }
        }
    }

    fn inverse(&self, decision: &mut Decision) {
        let index = match decision.pattern {
            Pattern::ChildReference => {
                format!(
                    "a secondary index on the bin of `{}` that names its `{}`",
                    self.rel.to, self.rel.from
                )
            }
            _ if self.rel.inverse || self.reads == Reads::Both => format!(
                "for the inverse question: a bin of `{}` with the ids of its children and a secondary index on it, or a set of references",
                self.rel.from
            ),
            _ => return,
        };
        decision.needs.push(index);
    }

    fn rejected(&self, chosen: Pattern) -> Vec<(Pattern, String)> {
        let all = [
            Pattern::KeyList,
            Pattern::Consolidation,
            Pattern::ChildReference,
            Pattern::TimeSlices,
        ];
        let why = |pattern: Pattern| {
            Some(match pattern {
                Pattern::KeyList if self.degree.p99 > KEY_LIST_MAX => {
                    format!("{} children are beyond tens to low hundreds", grouped(self.degree.p99))
                }
                Pattern::KeyList if chosen == Pattern::ChildReference => {
                    "the parent does not drive the reads".into()
                }
                Pattern::KeyList => {
                    "an index entry for every child, and children have no life of their own".into()
                }
                Pattern::Consolidation => match self.apart() {
                    Some(why) => why,
                    None if self.typical > BAND_HIGH => {
                        format!("p99 x average is {}", Bytes(self.typical))
                    }
                    None => "the parent does not drive the reads".into(),
                },
                Pattern::ChildReference => {
                    "a query asks every node; an index entry for every child, in both indexes"
                        .into()
                }
                Pattern::TimeSlices if self.typical > BAND_HIGH && !self.rel.recent => {
                    "the common read wants all children, not a recent window".into()
                }
                _ => return None,
            })
        };
        let others = all.into_iter().filter(|pattern| *pattern != chosen);
        others.filter_map(|pattern| Some((pattern, why(pattern)?))).collect()
    }
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
        decision
            .needs
            .push("companion records on demand: a `subkeys` bin once a record is split".into());
    } else if contract.target.costs().contends && writes > HOT_WRITES {
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

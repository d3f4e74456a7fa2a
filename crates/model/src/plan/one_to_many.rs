//! 1:N relationships: who reads, how many, how large, how alive.

use super::Decision;
use super::decide::{new, ttl_text, very_different};
use super::pattern::Pattern;
use super::shards::{ShardPlan, hash_shards, limit_shards, time_shards, write_shards};
use crate::contract::{Contract, Growth, Reads, Relationship, Spread};
use crate::cost::{BAND_HIGH, HOT_WRITES, RECORD_CEILING};
use crate::quantity::{Bytes, grouped, rate_text};
use crate::size::child_size;

/// Children up to which a list of keys and a batch read do: "tens to low hundreds".
const KEY_LIST_MAX: f64 = 300.0;
/// A 1:N relationship with the numbers that decide it.
pub(super) struct OneToMany<'a> {
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
    pub(super) fn of(contract: &'a Contract, rel: &'a Relationship) -> Result<Self, String> {
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

    pub(super) fn decide(&self) -> Decision {
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
        let writes = self.rel.writes.unwrap_or(0.0);
        let contends = self.contract.target.costs().contends && writes > HOT_WRITES;
        match decision.pattern {
            Pattern::TimeSlices => self.slice(decision),
            Pattern::Consolidation if self.typical > BAND_HIGH || self.worst > self.limit => {
                decision.shards = match self.typical > BAND_HIGH {
                    true => hash_shards(self.degree.p99, self.child.avg),
                    false => Some(limit_shards(self.worst, self.limit)),
                };
                decision.measures.push("companion-overflow");
                decision.needs.push(
                    "companion overflow on demand: a `subkeys` bin once a record is split".into(),
                );
            }
            Pattern::Consolidation if contends => {
                decision.shards = Some(write_shards(writes, HOT_WRITES, self.typical));
                decision.measures.push("hot-key-shards");
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

    fn slice(&self, decision: &mut Decision) {
        let per_day = match self.rel.growth {
            Some(Growth::Elements(many)) => Some(many),
            Some(Growth::Bytes(bytes)) => Some(bytes / self.child.avg.max(1.0)),
            None => None,
        };
        decision.shards = per_day.and_then(|per_day| time_shards(per_day, self.child.avg));
        decision.needs.push(
            "keys with the period, as in {key}:{YYYY-MM-DD}, which the reader derives".into(),
        );
        if per_day.is_none() {
            decision.needs.push("`growth` of the relationship, to choose hours or days".into());
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
        decision.measures.push("secondary-index");
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

//! Write rates.

use super::Findings;
use crate::contract::Access;
use crate::cost::HOT_WRITES;
use crate::quantity::{Bytes, MIB, rate_text};

/// Bytes per second of rewritten records that deserve a look.
const REWRITTEN_PER_S: f64 = 10.0 * MIB;
/// Records below this size are cheap to rewrite.
const LARGE_RECORD: f64 = 16.0 * 1024.0;

pub(super) fn amplification(findings: &mut Findings<'_>) {
    if !findings.contract.target.costs().rewrites_record {
        return;
    }
    for (entity, size) in findings.entities() {
        let writes = findings.contract.access.iter();
        for access in writes.filter(|access| !access.is_read && access.entity == entity.name) {
            let rewritten = access.rate.unwrap_or(0.0) * size.record.p50;
            if size.record.p50 >= LARGE_RECORD && rewritten >= REWRITTEN_PER_S {
                let message = format!(
                    "`{}` rewrites records of {} at {}: {} per second",
                    access.name,
                    Bytes(size.record.p50),
                    rate_text(access.rate.unwrap_or(0.0)),
                    Bytes(rewritten)
                );
                findings.report(access.place.of("rate"), &entity.name, message, None);
            }
        }
    }
}

/// Writes per second to the busiest record: declared, or spread evenly over the records.
fn per_record(access: &Access, records: Option<f64>, shards: f64) -> Option<f64> {
    let spread = || Some(access.rate? / records?.max(1.0));
    Some(access.per_record.or_else(spread)? / shards)
}

pub(super) fn hot(findings: &mut Findings<'_>) {
    if !findings.contract.target.costs().contends {
        return;
    }
    for (entity, _) in findings.entities() {
        let writes = findings.contract.access.iter();
        for access in writes.filter(|access| !access.is_read && access.entity == entity.name) {
            let Some(rate) = per_record(access, entity.records, entity.shard_count()) else {
                continue;
            };
            if rate > HOT_WRITES {
                let field = if access.per_record.is_some() { "per-record" } else { "rate" };
                let message = format!("`{}` writes one record {}", access.name, rate_text(rate));
                findings.report(access.place.of(field), &entity.name, message, fix(rate));
            }
        }
    }
    for rel in &findings.contract.relationships {
        let Some(parent) = findings.contract.entity(&rel.from) else { continue };
        let rate = rel.writes.unwrap_or(0.0) / parent.shard_count();
        // Children in records of their own do not meet in the parent.
        let apart = matches!(
            rel.pattern.as_deref(),
            Some("child-reference" | "separate-records" | "split-namespaces")
        );
        if rate > HOT_WRITES && !apart {
            let message =
                format!("`{}` writes one `{}` record {}", rel.name, rel.from, rate_text(rate));
            findings.report(rel.place.of("writes"), &rel.from, message, fix(rate));
        }
    }
}

fn fix(rate: f64) -> Option<String> {
    let shards = (rate / HOT_WRITES).ceil() + 1.0;
    Some(format!(
        "measure contention; {shards:.0} shards bring it below {HOT_WRITES:.0}/s: `shards: {{kind: hash, \
         count: {shards:.0}}}`"
    ))
}

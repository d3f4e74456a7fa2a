//! Ordered tables.

use super::Findings;
use crate::quantity::grouped;

/// Slices of a store that does not say.
const SLICES: f64 = 64.0;
/// Values per slice that spread evenly enough.
const PER_SLICE: f64 = 10.0;
/// Share of the load that one value may have.
const SHARE_MAX: f64 = 0.05;

pub(super) fn not_string(findings: &mut Findings<'_>) {
    if findings.contract.target.costs().typed_order {
        return;
    }
    for table in findings.contract.tables.iter().filter(|table| table.range_scans) {
        let Some(key) = table.sorting_key.as_ref().filter(|key| key.kind != "string") else {
            continue;
        };
        let message = format!(
            "table `{}` sorts by {} `{}` as if it were text",
            table.name, key.kind, key.name
        );
        findings.report(key.span, &table.name, message, None);
    }
}

pub(super) fn few(findings: &mut Findings<'_>) {
    for table in &findings.contract.tables {
        let Some(distinct) = table.distinct else { continue };
        let slices = table.slices.unwrap_or(SLICES);
        let values = distinct * table.buckets.unwrap_or(1.0).max(1.0);
        if values < PER_SLICE * slices {
            let message = format!(
                "table `{}` has {} values of `{}` for {} slices",
                table.name,
                grouped(values),
                table.sharding_key,
                grouped(slices)
            );
            let fix = table.sorting_key.as_ref().map(|_| {
                let buckets = (PER_SLICE * slices / distinct.max(1.0)).ceil();
                format!("spread each value over buckets: `buckets: {}`", buckets.max(2.0))
            });
            findings.report(table.place.of("distinct"), &table.name, message, fix);
        }
    }
}

pub(super) fn skewed(findings: &mut Findings<'_>) {
    for table in &findings.contract.tables {
        let Some(share) = table.top_share else { continue };
        let buckets = table.buckets.unwrap_or(1.0).max(1.0);
        if share / buckets > SHARE_MAX {
            let message = format!(
                "one value of `{}` has {:.0}% of table `{}`",
                table.sharding_key,
                share * 100.0,
                table.name
            );
            let fix = table.sorting_key.as_ref().map(|_| {
                format!("spread it: `buckets: {:.0}`", (share / SHARE_MAX).ceil().max(2.0))
            });
            findings.report(table.place.of("top-share"), &table.name, message, fix);
        }
    }
}

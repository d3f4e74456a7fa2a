//! Lists and maps.

use super::Findings;
use crate::contract::{Growth, ValueType};
use crate::quantity::grouped;

/// Elements from which an ordered list wants its index kept.
const LARGE_LIST: f64 = 1000.0;

pub(super) fn unbounded(findings: &mut Findings<'_>) {
    for (entity, _) in findings.entities() {
        for bin in &entity.bins {
            let Some(value) = bin.value.as_ref().filter(|value| value.is_collection()) else {
                continue;
            };
            let capped = value.count().or(bin.size).is_some_and(|spread| spread.max.is_some());
            // Shards take what does not fit: the whole may grow.
            if capped || entity.shards.is_some() {
                continue;
            }
            let grows = match bin.growth {
                Some(Growth::Elements(many)) => {
                    format!(" and gains {} elements a day", grouped(many))
                }
                Some(Growth::Bytes(bytes)) => format!(" and gains {} bytes a day", grouped(bytes)),
                None => String::new(),
            };
            let message = format!("{} `{}` has no largest count{grows}", value.name(), bin.name);
            let span =
                if value.count().is_some() { bin.place.of("count") } else { bin.place.of("type") };
            findings.report_bin(span, [&entity.name, &bin.name], message, None);
        }
    }
}

pub(super) fn unique_on_unordered(findings: &mut Findings<'_>) {
    for (entity, _) in findings.entities() {
        for bin in &entity.bins {
            let Some(ValueType::List(list)) = &bin.value else { continue };
            if !list.ordered && bin.flags.iter().any(|flag| flag == "add-unique") {
                let message = format!("list `{}` is unordered and has add-unique", bin.name);
                let fix = Some("`order: ordered`".to_owned());
                findings.report_bin(bin.place.of("flags"), [&entity.name, &bin.name], message, fix);
            }
        }
    }
}

pub(super) fn persist_index(findings: &mut Findings<'_>) {
    for (entity, _) in findings.entities() {
        for bin in &entity.bins {
            let Some(ValueType::List(list)) = &bin.value else { continue };
            let many = list.count.map_or(0.0, |count| count.p99);
            if list.ordered && !bin.persist_index && many >= LARGE_LIST {
                let message = format!(
                    "ordered list `{}` has {} elements at p99 and no persisted index",
                    bin.name,
                    grouped(many)
                );
                let fix = Some("`persist-index: true`".to_owned());
                findings.report_bin(bin.place.name, [&entity.name, &bin.name], message, fix);
            }
        }
    }
}

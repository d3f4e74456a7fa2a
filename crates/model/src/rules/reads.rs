//! How records and relationships are read.

use super::Findings;
use crate::contract::{Access, By, Cardinality, Entity, Reads, Relationship};
use crate::quantity::{Bytes, rate_text, span_text};
use crate::size::EntitySize;
use crate::size::encode::Encoder;

/// A read that moves so many times what it needs.
const FAR_MORE: f64 = 4.0;
/// Bytes too many that are not worth a finding.
const LITTLE: f64 = 4096.0;
/// Reads through secondary indexes that are still few.
const FEW: usize = 3;
/// Rates that differ by this factor are very different.
const VERY_DIFFERENT: f64 = 10.0;

pub(super) fn amplification(findings: &mut Findings<'_>) {
    for (entity, size) in findings.entities() {
        let reads = findings.contract.access.iter();
        for access in reads.filter(|access| access.is_read && access.entity == entity.name) {
            let Some(needed) = needed(findings, access, entity, size) else { continue };
            let moved = moved(access, size, needed);
            if moved >= FAR_MORE * needed && moved - needed > LITTLE {
                let message = format!(
                    "`{}` needs about {} and moves {}",
                    access.name,
                    Bytes(needed),
                    Bytes(moved)
                );
                let fix = Some(projection(access, size).to_owned());
                findings.report(access.place.name, &entity.name, message, fix);
            }
        }
    }
}

/// Bytes that a read uses, when the contract says.
fn needed(
    findings: &Findings<'_>,
    access: &Access,
    entity: &Entity,
    size: &EntitySize,
) -> Option<f64> {
    if access.size.is_some() {
        return access.size;
    }
    let encoder = Encoder::new(findings.contract);
    let wanted =
        |name: &str| access.needs.is_empty() || access.needs.iter().any(|need| need == name);
    if access.needs.is_empty() && access.part.is_none() && access.elements.is_none() {
        return None;
    }
    let bytes = size.bins.iter().filter(|(name, _)| wanted(name)).map(|(name, spread)| {
        let value = entity.bin(name).and_then(|bin| bin.value.as_ref());
        let elements = match access.part.as_deref() {
            Some("one") => Some(1.0),
            Some("some" | "page") => Some(access.elements.unwrap_or(20.0)),
            _ => access.elements,
        };
        match (value, elements) {
            (Some(value), Some(many)) if value.is_collection() => {
                (many * encoder.element(value)).min(spread.p50)
            }
            _ => spread.p50,
        }
    });
    Some(bytes.sum::<f64>().max(1.0))
}

/// Bytes that a read transfers.
fn moved(access: &Access, size: &EntitySize, needed: f64) -> f64 {
    match access.projection.as_deref() {
        Some("operation" | "page") => needed,
        Some("bins") if !access.needs.is_empty() => size
            .bins
            .iter()
            .filter(|(name, _)| access.needs.contains(name))
            .map(|(_, spread)| spread.p50)
            .sum(),
        _ => size.record.p50,
    }
}

/// What makes the read smaller; a split only where nothing else does.
fn projection(access: &Access, size: &EntitySize) -> &'static str {
    let some_bins = !access.needs.is_empty() && access.needs.len() < size.bins.len();
    match (access.part.as_deref(), access.projection.as_deref()) {
        (Some("page"), _) => {
            "read a page: an index range or rank range of the collection (`projection: page`)"
        }
        (Some("one" | "some"), _) => {
            "read the elements with a list or map operation (`projection: operation`)"
        }
        (_, Some("none")) => {
            "no projection fits, so split the data that it needs into a record of its own"
        }
        _ if access.elements.is_some() => {
            "read the elements with a list or map operation (`projection: operation`)"
        }
        _ if some_bins => "name the bins in the read (`projection: bins`)",
        _ => {
            "name the bins (`needs`) or the elements (`part`) that it uses; split the record only if it cannot"
        }
    }
}

/// Whether parent and child share a record, as far as anybody decided.
fn together(rel: &Relationship) -> bool {
    rel.kind != Cardinality::ManyToMany
        && matches!(rel.pattern.as_deref(), None | Some("same-record" | "consolidation"))
}

pub(super) fn rates(findings: &mut Findings<'_>) {
    for rel in &findings.contract.relationships {
        let Some((parent, child)) = findings.contract.read_rates(rel) else { continue };
        let (low, high) = (parent.min(child), parent.max(child));
        if together(rel) && high >= VERY_DIFFERENT * low.max(f64::MIN_POSITIVE) {
            let message = format!(
                "`{}`: parents are read {}, children {}",
                rel.name,
                rate_text(parent),
                rate_text(child)
            );
            findings.report(rel.place.name, &rel.from, message, None);
        }
    }
}

fn indexed(entity: Option<&Entity>) -> bool {
    entity.is_some_and(|entity| entity.bins.iter().any(|bin| bin.index.is_some()))
}

pub(super) fn scan(findings: &mut Findings<'_>) {
    for access in findings.contract.access.iter().filter(|access| access.is_read) {
        let entity = findings.contract.entity(&access.entity);
        let message = match &access.by {
            By::Scan => format!("`{}` scans `{}`", access.name, access.entity),
            By::Index if !indexed(entity) => {
                format!("`{}` wants an index, `{}` has none", access.name, access.entity)
            }
            By::Bin(bin)
                if entity.is_some_and(|e| e.bin(bin).is_some_and(|bin| bin.index.is_none())) =>
            {
                format!("`{}` looks for `{bin}`, which has no index", access.name)
            }
            _ => continue,
        };
        findings.report(access.place.of("by"), &access.entity, message, None);
    }
}

pub(super) fn index(findings: &mut Findings<'_>) {
    let contract = findings.contract;
    let by_index = |access: &&Access| {
        let entity = contract.entity(&access.entity);
        access.is_read
            && match &access.by {
                By::Index => indexed(entity),
                By::Bin(bin) => {
                    entity.is_some_and(|e| e.bin(bin).is_some_and(|bin| bin.index.is_some()))
                }
                _ => false,
            }
    };
    let reads: Vec<&Access> = contract.access.iter().filter(by_index).collect();
    if let Some(access) = reads.get(FEW) {
        let message = format!("{} reads go through a secondary index", reads.len());
        findings.report(access.place.name, &access.entity, message, None);
    }
}

pub(super) fn child_ttl(findings: &mut Findings<'_>) {
    for (entity, _) in findings.entities() {
        for bin in &entity.bins {
            let Some(ttl) = bin.element_ttl_s else { continue };
            if entity.ttl_s != Some(ttl) {
                let message = format!("elements of `{}` should live {}", bin.name, ttl_text(ttl));
                findings.report_bin(
                    bin.place.of("element-ttl"),
                    [&entity.name, &bin.name],
                    message,
                    None,
                );
            }
        }
    }
    for rel in &findings.contract.relationships {
        let Some(ttl) = findings.contract.child_ttl(rel).filter(|_| together(rel)) else {
            continue;
        };
        let parent = findings.contract.entity(&rel.from).and_then(|entity| entity.ttl_s);
        let decided = rel.pattern.is_some() || rel.kind == Cardinality::OneToMany;
        if decided && parent != Some(ttl) {
            let message = format!("children of `{}` should live {}", rel.name, ttl_text(ttl));
            findings.report(rel.place.of("child-ttl"), &rel.from, message, None);
        }
    }
}

fn ttl_text(seconds: f64) -> String {
    if seconds.is_finite() { span_text(seconds) } else { "for ever".into() }
}

pub(super) fn inverse(findings: &mut Findings<'_>) {
    for rel in &findings.contract.relationships {
        let wanted = rel.inverse || rel.reads == Some(Reads::Inverse);
        let sides = [&rel.from, &rel.to].map(|name| findings.contract.entity(name));
        // N:M lists answer from both sides.
        if wanted && rel.kind == Cardinality::OneToMany && !sides.into_iter().any(indexed) {
            let message =
                format!("`{}` is read inversely, and neither side has an index", rel.name);
            let field = if rel.inverse { "inverse" } else { "reads" };
            findings.report(rel.place.of(field), &rel.from, message, None);
        }
    }
}

//! What a person must decide and has not. Nothing here is guessed.

use super::Findings;
use crate::contract::{Cardinality, ValueType};

pub(super) fn mutability(findings: &mut Findings<'_>) {
    for (entity, _) in findings.entities() {
        for bin in entity.bins.iter().filter(|bin| bin.mutability.is_none()) {
            let message = format!("how often does `{}` change?", bin.name);
            findings.report_bin(bin.place.name, [&entity.name, &bin.name], message, None);
        }
    }
}

pub(super) fn unit(findings: &mut Findings<'_>) {
    for (entity, _) in findings.entities() {
        for bin in &entity.bins {
            let bare = matches!(bin.value, Some(ValueType::Int(None) | ValueType::Double));
            let said = bin.unit.is_some() || bin.counter || bin.is_time();
            let (_, in_name) = crate::time::name_and_unit(&bin.name);
            if bare && !said && in_name.is_none() {
                let message = format!("what does `{}` count or measure?", bin.name);
                findings.report_bin(bin.place.name, [&entity.name, &bin.name], message, None);
            }
        }
    }
}

pub(super) fn components(findings: &mut Findings<'_>) {
    for (entity, _) in findings.entities() {
        match &entity.key {
            None => {
                let message = format!("how are keys of `{}` built?", entity.name);
                let fix = Some("declare `key: {template, components}`".to_owned());
                findings.report(entity.place.name, &entity.name, message, fix);
            }
            Some(key) => {
                for (name, _) in key.components().filter(|(_, kind)| kind.is_none()) {
                    let message = format!("which type has component `{name}` of the key?");
                    findings.report(entity.key_place, &entity.name, message, None);
                }
            }
        }
    }
}

pub(super) fn records(findings: &mut Findings<'_>) {
    for (entity, _) in findings.entities().filter(|(entity, _)| entity.records.is_none()) {
        let message = format!("how many `{}` records will there be?", entity.name);
        findings.report(entity.place.name, &entity.name, message, None);
    }
}

pub(super) fn size(findings: &mut Findings<'_>) {
    for (entity, _) in findings.entities() {
        for bin in &entity.bins {
            let open = bin.value.as_ref().is_some_and(ValueType::lacks_size);
            // An instant as text has the size of its format.
            if open && bin.size.is_none() && bin.format.is_none() {
                let message = format!("how large is `{}`?", bin.name);
                findings.report_bin(bin.place.of("type"), [&entity.name, &bin.name], message, None);
            }
        }
    }
}

pub(super) fn replication(findings: &mut Findings<'_>) {
    for namespace in findings.contract.namespaces.iter().filter(|n| n.replication.is_none()) {
        let message = format!("how many copies does namespace `{}` keep?", namespace.name);
        findings.push(namespace.place.name, None, None, message, None);
    }
}

pub(super) fn repetition(findings: &mut Findings<'_>) {
    for id in findings.contract.identifiers.iter().filter(|id| id.repeated.is_none()) {
        let message = format!("in how many records is `{}` nested?", id.name);
        findings.report(id.place.name, &id.name, message, None);
    }
}

pub(super) fn staleness(findings: &mut Findings<'_>) {
    for (entity, _) in findings.entities() {
        for bin in
            entity.bins.iter().filter(|bin| bin.copy_of.is_some() && bin.staleness_s.is_none())
        {
            let message = format!("how old may the copy `{}` be?", bin.name);
            findings.report_bin(bin.place.of("copy-of"), [&entity.name, &bin.name], message, None);
        }
    }
}

pub(super) fn degree(findings: &mut Findings<'_>) {
    for rel in &findings.contract.relationships {
        let many = rel.kind != Cardinality::OneToOne;
        let child_known = findings.contract.entity(&rel.to).is_some_and(|e| !e.bins.is_empty());
        let unsized_child = match rel.kind {
            Cardinality::OneToOne => false,
            Cardinality::OneToMany => {
                rel.child_size.is_none() && (rel.from == rel.to || !child_known)
            }
            Cardinality::ManyToMany => rel.id_bytes.is_none(),
        };
        let parts = [
            ("degree", many && rel.degree.is_none()),
            (
                if rel.kind == Cardinality::ManyToMany { "id-bytes" } else { "child-size" },
                unsized_child,
            ),
            ("reads", many && rel.reads.is_none()),
        ];
        let missing: Vec<&str> =
            parts.iter().filter(|(_, lacks)| *lacks).map(|(name, _)| *name).collect();
        if !missing.is_empty() {
            let message = format!("`{}` does not say {}", rel.name, missing.join(", "));
            findings.report(rel.place.name, &rel.name, message, None);
        }
    }
}

pub(super) fn distinct(findings: &mut Findings<'_>) {
    for table in &findings.contract.tables {
        if table.distinct.is_none() && table.buckets.is_none() {
            let message = format!("how many values of `{}` are there?", table.sharding_key);
            findings.report(table.place.of("sharding-key"), &table.name, message, None);
        }
    }
}

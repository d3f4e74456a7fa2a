//! Key templates.

use super::Findings;
use crate::contract::{By, ComponentType, Entity, Part, Template, ValueType};
use crate::source::Span;

/// Every template of the contract: whose it is, where it stands, what it is.
fn templates<'a>(findings: &Findings<'a>) -> Vec<(&'a str, Option<&'a str>, Span, &'a Template)> {
    let mut all = Vec::new();
    for (entity, _) in findings.entities() {
        all.extend(
            entity.key.iter().map(|key| (entity.name.as_str(), None, entity.key_place, key)),
        );
        for bin in &entity.bins {
            if let Some(ValueType::Map(map)) = &bin.value {
                let name = Some(bin.name.as_str());
                all.extend(
                    map.template
                        .iter()
                        .map(|key| (entity.name.as_str(), name, bin.place.of("key"), key)),
                );
            }
        }
    }
    for id in &findings.contract.identifiers {
        for (template, field) in [(&id.template, "template"), (&id.recipe.input, "input")] {
            all.extend(
                template.iter().map(|text| (id.name.as_str(), None, id.place.of(field), text)),
            );
        }
    }
    all
}

pub(super) fn collision(findings: &mut Findings<'_>) {
    for (owner, bin, span, template) in templates(findings) {
        if let Some(why) = template.collision() {
            findings.push(span, Some(owner), bin, why, None);
        }
    }
    let entities = &findings.contract.entities;
    for (at, entity) in entities.iter().enumerate() {
        for other in &entities[..at] {
            if same_place(entity, other) && same_keys(entity, other) {
                let message = format!(
                    "`{}` and `{}` are in one set and their keys have one form",
                    other.name, entity.name
                );
                let fix = Some(format!(
                    "start one of them with a word of its own, as in `{}:`",
                    entity.name
                ));
                findings.report(entity.key_place, &entity.name, message, fix);
            }
        }
    }
}

fn same_place(a: &Entity, b: &Entity) -> bool {
    a.namespace == b.namespace && a.set == b.set
}

/// Whether two templates have the same literals around components that can hold the same values.
fn same_keys(a: &Entity, b: &Entity) -> bool {
    let (Some(a), Some(b)) = (&a.key, &b.key) else { return false };
    let fits = |pair: (&Part, &Part)| match pair {
        (Part::Literal(a), Part::Literal(b)) => a == b,
        (Part::Component { kind: a, .. }, Part::Component { kind: b, .. }) => {
            let fixed =
                |kind: &Option<ComponentType>| kind.as_ref().and_then(ComponentType::fixed_len);
            fixed(a) == fixed(b)
        }
        _ => false,
    };
    a.parts().len() == b.parts().len() && a.parts().iter().zip(b.parts()).all(fits)
}

pub(super) fn not_derivable(findings: &mut Findings<'_>) {
    for access in findings.contract.access.iter().filter(|access| access.by == By::Key) {
        let entity = findings.contract.entity(&access.entity);
        let (Some(given), Some(key)) =
            (&access.given, entity.and_then(|entity| entity.key.as_ref()))
        else {
            continue;
        };
        let missing: Vec<&str> = key
            .components()
            .map(|(name, _)| name)
            .filter(|name| !given.iter().any(|given| given == name))
            .collect();
        if !missing.is_empty() {
            let message = format!(
                "`{}` reads `{}` by key but has no {}",
                access.name,
                key.text(),
                missing.join(", ")
            );
            findings.report(access.place.of("given"), &access.entity, message, None);
        }
    }
}

pub(super) fn padding(findings: &mut Findings<'_>) {
    for (entity, _) in findings.entities() {
        if let Some(key) = &entity.key {
            for (name, why) in unsorted(key, false) {
                let message = format!("`{}` sorts by {{{name}}}, {why}", key.text());
                findings.report(entity.key_place, &entity.name, message, None);
            }
        }
        for bin in &entity.bins {
            let Some(ValueType::Map(map)) = &bin.value else { continue };
            let Some(key) = map.template.as_ref().filter(|_| map.ordered) else { continue };
            for (name, why) in unsorted(key, true) {
                let message = format!("map keys `{}` sort by {{{name}}}, {why}", key.text());
                findings.report_bin(bin.place.of("key"), [&entity.name, &bin.name], message, None);
            }
        }
    }
}

/// Components that keys sort by and that do not sort. In a sorted map every number does; the last
/// component only breaks ties.
fn unsorted(template: &Template, all_sort: bool) -> Vec<(&str, &'static str)> {
    let mut parts: Vec<(&str, Option<&ComponentType>, bool)> = template
        .parts()
        .iter()
        .filter_map(|part| match part {
            Part::Component { name, kind, sort } => Some((name.as_str(), kind.as_ref(), *sort)),
            Part::Literal(_) => None,
        })
        .collect();
    if all_sort && parts.len() > 1 {
        parts.pop();
    }
    let wrong = |(name, kind, sort): (_, Option<&ComponentType>, bool)| match kind {
        _ if !(sort || all_sort) => None,
        Some(ComponentType::Int { width: None }) => {
            Some((name, "which is not padded to one width"))
        }
        Some(ComponentType::Date(format)) if !format.is_sortable() => {
            Some((name, "whose format does not start at the year"))
        }
        _ => None,
    };
    parts.into_iter().filter_map(wrong).collect()
}

//! Whether the contract holds together.

use cairn_value::key::{check_namespace_name, check_set_name};
use cairn_value::limits::TTL_MAX_S;

use super::{Findings, RULES, rule};
use crate::contract::shape::METADATA;
use crate::contract::{By, Entity, ValueType};
use crate::cost::RECORD_CEILING;
use crate::quantity::Bytes;
use crate::source::Span;
use cairn_value::suggest::closest;

pub(super) fn shared_set(findings: &mut Findings<'_>) {
    let entities = &findings.contract.entities;
    for (at, entity) in entities.iter().enumerate() {
        let twin = entities[..at].iter().find(|other| {
            other.namespace == entity.namespace
                && other.set == entity.set
                && !told_apart(entity, other)
        });
        if let Some(other) = twin {
            let message = format!(
                "`{}` and `{}` share set `{}` of namespace `{}`, and no bin tells them apart",
                other.name, entity.name, entity.set, entity.namespace
            );
            let fix = format!(
                "`discriminator: {{bin: kind, value: {}}}` in both, with values of their own",
                entity.name
            );
            findings.report(entity.place.of("set"), &entity.name, message, Some(fix));
        }
    }
}

fn told_apart(a: &Entity, b: &Entity) -> bool {
    match (&a.discriminator, &b.discriminator) {
        (Some(a), Some(b)) => a.bin == b.bin && a.value != b.value,
        _ => false,
    }
}

pub(super) fn unknown_names(findings: &mut Findings<'_>) {
    let contract = findings.contract;
    let namespaces: Vec<&str> = contract.namespaces.iter().map(|n| n.name.as_str()).collect();
    let entities: Vec<&str> = contract.entities.iter().map(|e| e.name.as_str()).collect();
    let ids: Vec<&str> = contract.identifiers.iter().map(|i| i.name.as_str()).collect();
    for (entity, _) in findings.entities() {
        let owner = entity.name.as_str();
        unknown(
            findings,
            entity.place.of("namespace"),
            owner,
            "namespace",
            &entity.namespace,
            &namespaces,
        );
        let bins: Vec<&str> = entity.bins.iter().map(|bin| bin.name.as_str()).collect();
        if let Some(discriminator) = &entity.discriminator {
            let span = entity.place.of("discriminator");
            unknown(findings, span, owner, "bin", &discriminator.bin, &bins);
        }
        for bin in &entity.bins {
            if let Some(path) = bin.copy_of.as_ref().filter(|path| contract.bin_at(path).is_none())
            {
                let message = format!("`{}` copies `{path}`, which is not declared", bin.name);
                let fix = "name it as entity.bin".to_owned();
                findings.report_bin(
                    bin.place.of("copy-of"),
                    [owner, &bin.name],
                    message,
                    Some(fix),
                );
            }
            let mut named = Vec::new();
            bin.value.iter().for_each(|value| identifiers_in(value, &mut named));
            for name in named {
                unknown(findings, bin.place.of("type"), owner, "identifier", name, &ids);
            }
        }
    }
    for rel in &contract.relationships {
        for (field, name) in [("from", &rel.from), ("to", &rel.to)] {
            unknown(findings, rel.place.of(field), &rel.name, "entity", name, &entities);
        }
    }
    for access in &contract.access {
        unknown(
            findings,
            access.place.of("entity"),
            &access.name,
            "entity",
            &access.entity,
            &entities,
        );
        let Some(entity) = contract.entity(&access.entity) else { continue };
        let mut known: Vec<&str> = entity.bins.iter().map(|bin| bin.name.as_str()).collect();
        if let By::Bin(bin) = &access.by {
            unknown(findings, access.place.of("by"), &access.name, "bin", bin, &known);
        }
        known.extend(METADATA);
        for need in &access.needs {
            unknown(findings, access.place.of("needs"), &access.name, "bin", need, &known);
        }
    }
}

fn identifiers_in<'a>(value: &'a ValueType, found: &mut Vec<&'a str>) {
    match value {
        ValueType::Id(name) => found.push(name),
        ValueType::Tuple(types) => types.iter().for_each(|inner| identifiers_in(inner, found)),
        ValueType::Struct(fields) => {
            fields.iter().for_each(|(_, inner)| identifiers_in(inner, found))
        }
        ValueType::List(list) => list.element.iter().for_each(|inner| identifiers_in(inner, found)),
        ValueType::Map(map) => {
            [&map.key, &map.value]
                .into_iter()
                .flatten()
                .for_each(|inner| identifiers_in(inner, found));
        }
        _ => {}
    }
}

fn unknown(
    findings: &mut Findings<'_>,
    span: Span,
    owner: &str,
    what: &str,
    name: &str,
    known: &[&str],
) {
    if known.contains(&name) {
        return;
    }
    let fix = match closest(name, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None if known.is_empty() => format!("no {what} is declared"),
        None => format!("declared: {}", known.join(", ")),
    };
    findings.report(span, owner, format!("{what} `{name}` is not declared"), Some(fix));
}

pub(super) fn limits(findings: &mut Findings<'_>) {
    for namespace in &findings.contract.namespaces {
        if let Err(error) = check_namespace_name(namespace.name.as_bytes()) {
            findings.report(
                namespace.place.name,
                &namespace.name,
                error.message.into_owned(),
                None,
            );
        }
        if namespace.limit() > RECORD_CEILING {
            let message = format!(
                "namespace `{}` allows records of {}, the ceiling is 8 MiB",
                namespace.name,
                Bytes(namespace.limit())
            );
            findings.report(namespace.place.of("max-record-size"), &namespace.name, message, None);
        }
    }
    for (entity, _) in findings.entities() {
        if let Err(error) = check_set_name(entity.set.as_bytes()) {
            findings.report(entity.place.of("set"), &entity.name, error.message.into_owned(), None);
        }
        if entity.ttl_s.is_some_and(|ttl| ttl.is_finite() && ttl > f64::from(TTL_MAX_S)) {
            let message = "a TTL is ten years at most".to_owned();
            findings.report(
                entity.place.of("ttl"),
                &entity.name,
                message,
                Some("`ttl: never`".into()),
            );
        }
    }
}

pub(super) fn unreasoned(findings: &mut Findings<'_>) {
    let ids: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
    let mut named: Vec<(&str, Span)> =
        findings.contract.severities.iter().map(|(id, _, span)| (id.as_str(), *span)).collect();
    for ignore in &findings.contract.ignores {
        named.push((&ignore.rule, ignore.span));
        if ignore.reason.is_none() {
            let message = format!("`{}` is ignored without a reason, so it is not", ignore.rule);
            findings.push(
                ignore.span,
                ignore.entity.as_deref(),
                ignore.bin.as_deref(),
                message,
                None,
            );
        }
    }
    for (id, span) in named {
        if rule(id).is_none() {
            let fix = closest(id, ids.iter().copied()).map(|id| format!("did you mean `{id}`?"));
            let fix = fix.unwrap_or("`cairn model rules` lists all".into());
            findings.push(span, None, None, format!("there is no rule `{id}`"), Some(fix));
        }
    }
}

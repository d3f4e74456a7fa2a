//! Time-valued bins.

use super::Findings;
use super::abbreviate;
use super::naming::is_ambiguous;
use crate::contract::shape::METADATA;
use crate::contract::{Bin, Entity, ValueType};
use crate::time::{DateFormat, name_and_unit, sounds_like_time};

pub(super) fn unit_missing(findings: &mut Findings<'_>) {
    for (entity, _) in findings.entities() {
        for bin in &entity.bins {
            let number = bin.value.as_ref().is_some_and(ValueType::is_number);
            let (_, unit) = name_and_unit(&bin.name);
            if bin.is_time() && number && unit.is_none() {
                let message =
                    format!("bin `{}` holds a time, its name does not say the unit", bin.name);
                let fix = unit_fix(entity, bin);
                findings.report_bin(bin.place.name, [&entity.name, &bin.name], message, fix);
            }
            let mut fields = Vec::new();
            bin.value.iter().for_each(|value| fields_without_unit(value, &mut fields));
            for field in fields {
                let message = format!(
                    "field `{field}` of bin `{}` holds a time, its name does not say the unit",
                    bin.name
                );
                findings.report_bin(bin.place.name, [&entity.name, &bin.name], message, None);
            }
        }
    }
}

/// Fields inside a value that are times by their name and do not say the unit.
fn fields_without_unit<'a>(value: &'a ValueType, found: &mut Vec<&'a str>) {
    match value {
        ValueType::Struct(fields) => {
            for (name, inner) in fields {
                let time = matches!(inner, ValueType::Instant)
                    || (inner.is_number() && sounds_like_time(name));
                if time && name_and_unit(name).1.is_none() {
                    found.push(name);
                }
                fields_without_unit(inner, found);
            }
        }
        ValueType::Tuple(types) => types.iter().for_each(|inner| fields_without_unit(inner, found)),
        ValueType::List(list) => {
            list.element.iter().for_each(|inner| fields_without_unit(inner, found));
        }
        ValueType::Map(map) => map.value.iter().for_each(|inner| fields_without_unit(inner, found)),
        _ => {}
    }
}

/// A new name, where the unit is known and the name is free.
fn unit_fix(entity: &Entity, bin: &Bin) -> Option<String> {
    let unit = bin.unit.as_deref().filter(|unit| ["ms", "us", "ns", "s"].contains(unit));
    let name = abbreviate(&format!("{}_{}", bin.name, unit.unwrap_or("ms")));
    let free = entity.bin(&name).is_none() && !is_ambiguous(&bin.name);
    match unit {
        Some(_) => free.then(|| format!("call it `{name}`")),
        None => free.then(|| format!("call it `{name}` if it counts milliseconds")),
    }
}

/// What a time bin's values look like.
fn format_of(bin: &Bin) -> String {
    let (_, unit) = name_and_unit(&bin.name);
    match &bin.value {
        Some(ValueType::String(_)) => {
            bin.format.as_ref().map_or("text".into(), |format| format!("text {format}"))
        }
        Some(value) => {
            let unit = unit.map(str::to_owned).or(bin.unit.clone()).unwrap_or("no unit".into());
            format!("{} in {unit}", value.name())
        }
        None => "unknown".into(),
    }
}

pub(super) fn mixed(findings: &mut Findings<'_>) {
    let mut seen: Vec<(&str, String, String)> = Vec::new();
    for (entity, _) in findings.entities() {
        for bin in entity.bins.iter().filter(|bin| bin.is_time()) {
            let (concept, unit) = name_and_unit(&bin.name);
            let format = format_of(bin);
            let path = format!("{}.{}", entity.name, bin.name);
            match (unit, &bin.unit) {
                (Some(unit), Some(declared)) if unit != declared => {
                    let message =
                        format!("the name of `{path}` says {unit}, its `unit` says {declared}");
                    findings.report_bin(
                        bin.place.of("unit"),
                        [&entity.name, &bin.name],
                        message,
                        None,
                    );
                }
                _ => {}
            }
            match seen.iter().find(|(other, ..)| *other == concept) {
                Some((_, known, first)) if *known != format => {
                    let message = format!("`{path}` is {format}, `{first}` is {known}");
                    findings.report_bin(bin.place.name, [&entity.name, &bin.name], message, None);
                }
                Some(_) => {}
                None => seen.push((concept, format, path)),
            }
        }
    }
}

pub(super) fn unpaired(findings: &mut Findings<'_>) {
    for (entity, _) in findings.entities() {
        for bin in &entity.bins {
            let (stem, unit) = name_and_unit(&bin.name);
            let words: Vec<&str> = stem.split('_').collect();
            let is_range = words.contains(&"from") && words.len() > 1;
            if !is_range || (unit.is_none() && !bin.is_time()) {
                continue;
            }
            let other = |end: &str| {
                let swap =
                    |word: &&str| if *word == "from" { end.to_owned() } else { (*word).to_owned() };
                let stem = words.iter().map(swap).collect::<Vec<_>>().join("_");
                unit.map_or(stem.clone(), |_| {
                    let suffix = bin.name.rsplit('_').next().unwrap_or_default();
                    format!("{stem}_{suffix}")
                })
            };
            if entity.bin(&other("to")).is_none() && entity.bin(&other("until")).is_none() {
                let message = format!("bin `{}` starts a range that no bin ends", bin.name);
                let fix = Some(format!("add `{}`", other("to")));
                findings.report_bin(bin.place.name, [&entity.name, &bin.name], message, fix);
            }
        }
    }
}

pub(super) fn as_text(findings: &mut Findings<'_>) {
    for (entity, _) in findings.entities() {
        for bin in &entity.bins {
            let text = matches!(bin.value, Some(ValueType::String(_)));
            if !text || !bin.is_instant() {
                continue;
            }
            let sorts = |format: &str| {
                format.eq_ignore_ascii_case("iso-8601")
                    || DateFormat::parse(format).is_some_and(|format| format.is_sortable())
            };
            let message = match &bin.format {
                Some(format) if sorts(format) => continue,
                Some(format) => {
                    format!("bin `{}` keeps a time as text that does not sort: {format}", bin.name)
                }
                None => format!("bin `{}` keeps a time as free-form text", bin.name),
            };
            findings.report_bin(bin.place.of("type"), [&entity.name, &bin.name], message, None);
        }
    }
}

pub(super) fn metadata(findings: &mut Findings<'_>) {
    for (entity, _) in findings.entities() {
        for bin in &entity.bins {
            if let Some(source) = &bin.source {
                let message = format!("bin `{}` is taken from the record's {source}", bin.name);
                findings.report_bin(
                    bin.place.of("source"),
                    [&entity.name, &bin.name],
                    message,
                    None,
                );
            }
        }
    }
    for access in &findings.contract.access {
        for need in access.needs.iter().filter(|need| METADATA.contains(&need.as_str())) {
            let message = format!("`{}` relies on the record's {need}", access.name);
            findings.report(access.place.of("needs"), &access.entity, message, None);
        }
    }
}

//! Example values: what a record of an entity looks like.

use crate::contract::{
    Bin, ComponentType, Contract, Entity, ListType, MapType, Template, ValueType,
};
use crate::json::Json;
use crate::name;

/// An instant that the examples share: 2025-03-20 11:00 UTC.
const INSTANT_MS: i64 = 1_742_468_400_000;

/// A value of a component.
fn component(name: &str, kind: Option<&ComponentType>) -> String {
    match kind {
        Some(ComponentType::Int { .. }) if name.ends_with("_ms") => INSTANT_MS.to_string(),
        Some(ComponentType::Int { .. }) => "42".into(),
        Some(ComponentType::Date(format)) => {
            format.normalise("2026-03-30T12:00:00Z").unwrap_or_default()
        }
        Some(ComponentType::Uuid) => "0195b2f0-7c1e-7d5a-9b3e-2f4c6a8d0e1f".into(),
        Some(ComponentType::Hex(digits)) => {
            "e6afd686cc1d9323".chars().cycle().take(*digits).collect()
        }
        Some(ComponentType::String { length: Some(length), .. }) => {
            "example".chars().cycle().take(*length).collect()
        }
        None if name.ends_with("_ms") => INSTANT_MS.to_string(),
        _ if name.contains("user") || name.contains("author") || name.contains("player") => {
            "alice".into()
        }
        _ => name.split('_').next().unwrap_or("example").to_owned() + "1",
    }
}

/// Values of all components of a template.
pub fn values(template: &Template) -> Vec<(String, String)> {
    template.components().map(|(name, kind)| (name.to_owned(), component(name, kind))).collect()
}

/// An example key of an entity, with digest and partition.
pub fn key(contract: &Contract, entity: &Entity) -> Option<Json> {
    name::key(contract, &entity.name, &values(entity.key.as_ref()?)).ok()
}

/// An example record.
pub fn record(contract: &Contract, entity: &Entity) -> Json {
    let bins = entity.bins.iter().filter_map(|bin| {
        let value = bin.value.as_ref()?;
        Some((bin.name.clone(), in_bin(contract, bin, value)))
    });
    Json::Object(bins.collect())
}

fn in_bin(contract: &Contract, bin: &Bin, value: &ValueType) -> Json {
    match value {
        ValueType::Int(_) | ValueType::Instant if bin.is_instant() => Json::Int(INSTANT_MS),
        ValueType::String(_) if bin.is_instant() => "2026-03-30".into(),
        _ => of(contract, value, 0),
    }
}

/// Elements of a collection that are shown.
const SHOWN: usize = 2;

fn of(contract: &Contract, value: &ValueType, nth: usize) -> Json {
    match value {
        ValueType::Int(Some((low, high))) => Json::Int(low.saturating_add(nth as i64).min(*high)),
        ValueType::Int(None) => Json::Int(nth as i64 + 1),
        ValueType::Instant => Json::Int(INSTANT_MS),
        ValueType::Double => Json::Number(22.5 + nth as f64),
        ValueType::Bool => Json::Bool(true),
        ValueType::String(size) => text(size.map_or(8.0, |size| size.p50), nth).into(),
        ValueType::Blob(_) | ValueType::Hll(_) => "(bytes)".into(),
        ValueType::Geo(_) => "{\"type\":\"Point\",\"coordinates\":[13.4,52.5]}".into(),
        ValueType::Id(name) => identifier(contract, name),
        ValueType::Tuple(types) => {
            Json::Array(types.iter().map(|inner| of(contract, inner, nth)).collect())
        }
        ValueType::Struct(fields) => Json::Object(
            fields.iter().map(|(name, inner)| (name.clone(), of(contract, inner, nth))).collect(),
        ),
        ValueType::List(list) => list_of(contract, list),
        ValueType::Map(map) => map_of(contract, map),
    }
}

/// Words of about a length, cut for people.
fn text(bytes: f64, nth: usize) -> String {
    let words = ["alpha", "bravo", "carol", "delta"];
    let word = words[nth % words.len()];
    match bytes {
        ..6.0 => word.chars().take(bytes.max(1.0) as usize).collect(),
        ..40.0 => word.to_owned(),
        _ => format!("{word} …"),
    }
}

fn identifier(contract: &Contract, wanted: &str) -> Json {
    let made = contract.identifier(wanted).and_then(|id| {
        let template = id.recipe.input.as_ref().or(id.template.as_ref())?;
        name::id(contract, wanted, &values(template)).ok()
    });
    made.and_then(|made| made.get("id").cloned()).unwrap_or("(identifier)".into())
}

fn list_of(contract: &Contract, list: &ListType) -> Json {
    let Some(element) = &list.element else { return Json::Array(Vec::new()) };
    let mut items: Vec<Json> = (0..SHOWN).map(|nth| of(contract, element, nth)).collect();
    items.push("…".into());
    Json::Array(items)
}

fn map_of(contract: &Contract, map: &MapType) -> Json {
    let key = |nth: usize| match (&map.template, &map.key) {
        (Some(template), _) => {
            let values = values(template);
            let value = |name: &str| {
                values.iter().find(|(field, _)| field == name).map(|(_, v)| v.as_str())
            };
            template.render(value).unwrap_or_default()
        }
        (None, Some(ValueType::String(_))) | (None, None) => text(8.0, nth),
        (None, Some(kind)) => match of(contract, kind, nth) {
            Json::Text(text) => text,
            other => other.to_string(),
        },
    };
    let value = |nth| map.value.as_ref().map_or(Json::Null, |value| of(contract, value, nth));
    let one = Json::Object(vec![(key(0), value(0))]);
    match (one, map.template.is_some() || matches!(map.key, Some(ValueType::Id(_)))) {
        (one, true) => one,
        (_, false) => Json::Object((0..SHOWN).map(|nth| (key(nth), value(nth))).collect()),
    }
}

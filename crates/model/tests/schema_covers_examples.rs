//! The JSON Schema accepts every example and refuses what the reader refuses.
//!
//! The validator below knows the keywords that the schema uses, except `pattern`: the texts are
//! checked by the reader itself.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use cairn_model::examples::EXAMPLES;
use cairn_model::json::Json;
use cairn_model::schema::schema;
use cairn_model::yaml::{Kind, Node, parse};

/// YAML as an editor sees it: plain scalars are numbers and booleans where they look so.
fn plain(node: &Node) -> Json {
    match &node.kind {
        Kind::Scalar { text, quoted: true } => text.as_str().into(),
        Kind::Scalar { text, .. } => match text.as_str() {
            "true" => true.into(),
            "false" => false.into(),
            text => match (text.parse::<i64>(), text.parse::<f64>()) {
                (Ok(number), _) => Json::Int(number),
                (_, Ok(number)) => Json::Number(number),
                _ => text.into(),
            },
        },
        Kind::List(items) => Json::Array(items.iter().map(plain).collect()),
        Kind::Map(pairs) => Json::Object(
            pairs
                .iter()
                .map(|(key, value)| (key.text().unwrap_or("").to_owned(), plain(value)))
                .collect(),
        ),
    }
}

fn is_type(value: &Json, name: &str) -> bool {
    match value {
        Json::Null => name == "null",
        Json::Bool(_) => name == "boolean",
        Json::Int(_) => matches!(name, "number" | "integer"),
        Json::Number(_) => name == "number",
        Json::Text(_) => name == "string",
        Json::Array(_) => name == "array",
        Json::Object(_) => name == "object",
    }
}

fn one_of_types(value: &Json, types: &Json) -> bool {
    match types {
        Json::Text(name) => is_type(value, name),
        Json::Array(names) => names.iter().any(|name| one_of_types(value, name)),
        _ => false,
    }
}

fn valid(value: &Json, schema: &Json, root: &Json) -> bool {
    let Json::Object(keywords) = schema else { return false };
    let known = ["$schema", "$defs", "title", "description", "pattern", "minimum"];
    keywords.iter().all(|(keyword, wanted)| match (keyword.as_str(), wanted, value) {
        ("$ref", Json::Text(path), _) => {
            let name = path.strip_prefix("#/$defs/").unwrap();
            valid(value, root.get("$defs").and_then(|defs| defs.get(name)).unwrap(), root)
        }
        ("anyOf", Json::Array(choices), _) => {
            choices.iter().any(|choice| valid(value, choice, root))
        }
        ("not", refused, _) => !valid(value, refused, root),
        ("type", types, _) => one_of_types(value, types),
        ("enum", Json::Array(words), _) => words.contains(value),
        ("const", wanted, _) => wanted == value,
        ("required", Json::Array(names), Json::Object(_)) => {
            names.iter().all(|name| matches!(name, Json::Text(name) if value.get(name).is_some()))
        }
        ("properties", properties, Json::Object(fields)) => fields.iter().all(|(name, value)| {
            properties.get(name).is_none_or(|schema| valid(value, schema, root))
        }),
        ("additionalProperties", rest, Json::Object(fields)) => {
            let declared = schema.get("properties");
            let more =
                fields.iter().filter(|(name, _)| declared.and_then(|d| d.get(name)).is_none());
            more.into_iter().all(|(_, value)| match rest {
                Json::Bool(allowed) => *allowed,
                schema => valid(value, schema, root),
            })
        }
        ("items", schema, Json::Array(items)) => items.iter().all(|item| valid(item, schema, root)),
        ("required" | "properties" | "additionalProperties" | "items", ..) => true,
        (keyword, ..) => {
            assert!(known.contains(&keyword), "{keyword} is not known here");
            true
        }
    })
}

fn accepts(text: &str) -> bool {
    let schema = schema();
    valid(&plain(&parse(0, text).unwrap()), &schema, &schema)
}

#[test]
fn every_example_fits() {
    for example in EXAMPLES {
        assert!(accepts(example.text), "{}", example.name);
    }
}

#[test]
fn what_the_reader_refuses_does_not_fit() {
    for text in [
        "entities: {}",
        "cairn: 2",
        "cairn: 1\nentitys: {}",
        "cairn: 1\nentities: {user: {bins: {}}}",
        "cairn: 1\nentities: {user: {namespace: app, bins: {a: {type: int, mutability: often}}}}",
        "cairn: 1\nentities: {user: {namespace: app, bins: {a: {}}}}",
        "cairn: 1\nrelationships: {}",
        "cairn: 1\nrules: {hot-record: loud}",
    ] {
        assert!(!accepts(text), "{text}");
        assert!(cairn_model::Contract::parse([("m.yaml", text)]).is_err(), "{text}");
    }
}

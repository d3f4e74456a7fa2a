//! The JSON Schema of a contract, so that editors complete and check it.

use crate::contract::shape::{Object, ROOT, Shape, Unit};
use crate::json::Json;
use crate::quantity::SPREAD_FIELDS;

/// The schema, in draft 2020-12.
pub fn schema() -> Json {
    let mut definitions = Vec::new();
    let root = object(&ROOT, &mut definitions);
    let Json::Object(mut fields) = root else { return root };
    definitions.push(("type".into(), type_schema()));
    definitions.push(("type-in-full".into(), type_in_full()));
    let mut all = vec![
        ("$schema".to_owned(), Json::from("https://json-schema.org/draft/2020-12/schema")),
        ("title".to_owned(), Json::from("Cairn contract")),
    ];
    all.append(&mut fields);
    all.push(("$defs".into(), Json::Object(definitions)));
    Json::Object(all)
}

fn reference(name: &str) -> Json {
    Json::object([("$ref", format!("#/$defs/{name}").into())])
}

fn described(json: Json, doc: &str) -> Json {
    match json {
        Json::Object(mut fields) => {
            fields.insert(0, ("description".into(), doc.into()));
            Json::Object(fields)
        }
        other => other,
    }
}

fn object(shape: &Object, definitions: &mut Vec<(String, Json)>) -> Json {
    let properties = shape
        .fields
        .iter()
        .map(|field| (field.name.to_owned(), described(of(field.shape, definitions), field.doc)));
    let properties = Json::Object(properties.collect());
    let required = shape.fields.iter().filter(|field| field.required).map(|field| field.name);
    Json::object([
        ("description", shape.doc.into()),
        ("type", "object".into()),
        ("additionalProperties", false.into()),
        ("required", Json::array(required)),
        ("properties", properties),
    ])
}

/// Text that looks so, or a number.
fn quantity(pattern: &str) -> Json {
    Json::object([
        ("type", Json::array(["string", "number"])),
        ("pattern", pattern.into()),
        ("minimum", 0u64.into()),
    ])
}

const NUMBER: &str = "[0-9][0-9_]*(\\.[0-9]+)?";
const COUNT_UNIT: &str = " ?[kKMG]?";
const BYTE_UNIT: &str = " ?([kKMGT]?B|[KMGT]iB)?";
const TIME: &str = "(ms|s|sec|second|m|min|minute|h|hour|d|day|w|week|month|y|year)";

fn any_of(choices: impl IntoIterator<Item = Json>) -> Json {
    Json::object([("anyOf", Json::array(choices))])
}

fn of(shape: Shape, definitions: &mut Vec<(String, Json)>) -> Json {
    let scalar = |name: &str| Json::object([("type", name.into())]);
    match shape {
        Shape::Text => Json::object([("type", Json::array(["string", "number", "boolean"]))]),
        Shape::Version => Json::object([("const", 1u64.into())]),
        // YAML 1.1 editors read the word off as false.
        Shape::OneOf(words) if words.contains(&"off") => {
            let words = words.iter().map(|word| Json::from(*word));
            Json::object([("enum", Json::Array(words.chain([Json::Bool(false)]).collect()))])
        }
        Shape::OneOf(words) => Json::object([("enum", Json::array(words.iter().copied()))]),
        Shape::Flag => scalar("boolean"),
        Shape::Whole => Json::object([
            ("type", Json::array(["string", "integer"])),
            ("pattern", "^[0-9]+$".into()),
        ]),
        Shape::Count => quantity(&format!("^{NUMBER}{COUNT_UNIT}$")),
        Shape::Size => quantity(&format!("^{NUMBER}{BYTE_UNIT}$")),
        Shape::Span => quantity(&format!("^(never|{NUMBER} ?{TIME}?)$")),
        Shape::Rate => quantity(&format!("^{NUMBER}{COUNT_UNIT}(/ ?{TIME})?$")),
        Shape::Growth => quantity(&format!("^{NUMBER} ?([kKMG]|[kKMGT]?B|[KMGT]iB)?(/ ?{TIME})?$")),
        Shape::SpreadOf(unit) => {
            let one = || {
                of(if unit == Unit::Count { Shape::Count } else { Shape::Size }, &mut Vec::new())
            };
            let fields = SPREAD_FIELDS.iter().map(|name| ((*name).to_owned(), one()));
            let percentiles = Json::object([
                ("type", "object".into()),
                ("additionalProperties", false.into()),
                ("properties", Json::Object(fields.collect())),
            ]);
            any_of([one(), percentiles])
        }
        Shape::Type => reference("type"),
        Shape::Object(shape) => {
            if !definitions.iter().any(|(name, _)| name == shape.name) {
                definitions.push((shape.name.into(), Json::Null));
                let schema = object(shape, definitions);
                if let Some(slot) = definitions.iter_mut().find(|(name, _)| name == shape.name) {
                    slot.1 = schema;
                }
            }
            reference(shape.name)
        }
        Shape::Named(value) => Json::object([
            ("type", "object".into()),
            ("additionalProperties", of(*value, definitions)),
        ]),
        Shape::List(item) => {
            Json::object([("type", "array".into()), ("items", of(*item, definitions))])
        }
        // Fields belong to the second here, so a struct is not meant.
        Shape::TextOr(Shape::Type, fields) => {
            any_of([type_word(), type_tuple(), of(*fields, definitions)])
        }
        Shape::TextOr(text, fields) => any_of([of(*text, definitions), of(*fields, definitions)]),
    }
}

fn type_word() -> Json {
    let word = "^((double|bool|list|map)|int(:-?[0-9_]+\\.\\.-?[0-9_]+)?|(string|blob|geo|hll)(:.+)?|id:.+)$";
    Json::object([("type", "string".into()), ("pattern", word.into())])
}

fn type_tuple() -> Json {
    Json::object([("type", "array".into()), ("items", reference("type"))])
}

fn type_schema() -> Json {
    let fields = Json::object([
        ("type", "object".into()),
        ("not", Json::object([("required", Json::array(["type"]))])),
        ("additionalProperties", reference("type")),
    ]);
    any_of([type_word(), type_tuple(), reference("type-in-full"), fields])
}

fn type_in_full() -> Json {
    let spread = |unit| of(Shape::SpreadOf(unit), &mut Vec::new());
    Json::object([
        ("type", "object".into()),
        ("required", Json::array(["type"])),
        ("additionalProperties", false.into()),
        (
            "properties",
            Json::object([
                ("type", reference("type")),
                ("size", spread(Unit::Size)),
                ("count", spread(Unit::Count)),
                ("element", reference("type")),
                ("key", reference("type")),
                ("value", reference("type")),
                ("order", of(Shape::OneOf(crate::contract::shape::ORDERS), &mut Vec::new())),
                ("time", of(Shape::OneOf(&["instant", "duration"]), &mut Vec::new())),
                ("unit", of(Shape::Text, &mut Vec::new())),
            ]),
        ),
    ])
}

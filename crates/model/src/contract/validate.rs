//! Compares a file with the [shape](super::shape) of a contract and says what does not fit, where.

use std::collections::HashSet;

use super::shape::{Object, Shape, Unit};
use super::types;
use crate::quantity::{self, SPREAD_FIELDS};
use crate::source::Span;
use crate::yaml::{Kind, Node};
use cairn_value::suggest::closest;

/// Something in the file that cannot be read.
#[derive(Clone, Debug)]
pub struct Misfit {
    /// Where.
    pub span: Span,
    /// What.
    pub text: String,
    /// What would be right.
    pub fix: Option<String>,
}

/// All misfits of a node.
pub fn object(node: &Node, shape: &'static Object, path: &str, misfits: &mut Vec<Misfit>) {
    let Kind::Map(pairs) = &node.kind else {
        return misfits.push(Misfit {
            span: node.span,
            text: format!("{path} must have fields, here is {}", node.describe()),
            fix: first_fields(shape),
        });
    };
    let mut seen = HashSet::new();
    for (key, value) in pairs {
        let name = key.text().unwrap_or_default();
        match shape.fields.iter().find(|field| field.name == name) {
            Some(_) if !seen.insert(name) => {
                misfits.push(twice(key.span, name, path));
            }
            Some(field) => check(value, field.shape, &join(path, name), misfits),
            None => misfits.push(Misfit {
                span: key.span,
                text: format!("{path} has no field `{}`", shorten(name)),
                fix: match closest(name, shape.fields.iter().map(|field| field.name)) {
                    Some(name) => Some(format!("did you mean `{name}`?")),
                    None => first_fields(shape),
                },
            }),
        }
    }
    // A mistyped name has been reported already, with the right one.
    let mistyped = |field: &str| {
        let unknown = |name: &&str| !shape.fields.iter().any(|field| field.name == *name);
        let names = shape.fields.iter().map(|field| field.name);
        let mut keys = pairs.iter().filter_map(|(key, _)| key.text()).filter(unknown);
        keys.any(|name| closest(name, names.clone()) == Some(field))
    };
    for field in shape.fields.iter().filter(|field| field.required) {
        if node.get(field.name).is_none_or(Node::is_null) && !mistyped(field.name) {
            misfits.push(Misfit {
                span: node.span,
                text: format!("{path} needs `{}`", field.name),
                fix: Some(format!("{}: {}", field.name, field.doc)),
            });
        }
    }
}

fn twice(span: Span, name: &str, path: &str) -> Misfit {
    let text = format!("`{}` is given twice in {path}", shorten(name));
    Misfit { span, text, fix: Some("keep one of them".into()) }
}

fn first_fields(shape: &Object) -> Option<String> {
    let names: Vec<&str> = shape.fields.iter().map(|field| field.name).collect();
    Some(format!("fields of {}: {}", shape.name, names.join(", ")))
}

fn join(path: &str, name: &str) -> String {
    if path == "the contract" { format!("`{name}`") } else { format!("{path} `{name}`") }
}

/// Names come from the file and may be long.
pub fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

fn check(node: &Node, shape: Shape, path: &str, misfits: &mut Vec<Misfit>) {
    // `ttl:` without a value is the same as no `ttl`, wherever the field is optional.
    if node.is_null() {
        return;
    }
    match shape {
        Shape::Object(shape) => object(node, shape, path, misfits),
        Shape::Named(value) => named(node, *value, path, misfits),
        Shape::List(item) => match &node.kind {
            Kind::List(items) => items.iter().for_each(|node| check(node, *item, path, misfits)),
            _ => wrong(node, path, "a list", misfits),
        },
        Shape::TextOr(text, fields) => match node.kind {
            Kind::Map(_) => check(node, *fields, path, misfits),
            _ => check(node, *text, path, misfits),
        },
        Shape::SpreadOf(unit) => spread(node, unit, path, misfits),
        Shape::Type => type_of(node, path, misfits),
        scalar => match node.text() {
            Some(text) if fits(text, scalar) => {}
            _ => wrong(node, path, &expected(scalar), misfits),
        },
    }
}

fn named(node: &Node, value: Shape, path: &str, misfits: &mut Vec<Misfit>) {
    let Kind::Map(pairs) = &node.kind else {
        return wrong(node, path, "names with a value each", misfits);
    };
    let mut seen = HashSet::new();
    for (key, node) in pairs {
        let Some(name) = key.text().filter(|name| !name.is_empty()) else {
            wrong(key, path, "a name", misfits);
            continue;
        };
        if !seen.insert(name) {
            misfits.push(twice(key.span, name, path));
        }
        let path = format!("{path} `{}`", shorten(name));
        if node.is_null() && !matches!(value, Shape::OneOf(_)) {
            misfits.push(Misfit { span: key.span, text: format!("{path} is empty"), fix: None });
        }
        check(node, value, &path, misfits);
    }
}

fn spread(node: &Node, unit: Unit, path: &str, misfits: &mut Vec<Misfit>) {
    let scalar = match unit {
        Unit::Count => Shape::Count,
        Unit::Size => Shape::Size,
    };
    if !matches!(node.kind, Kind::Map(_)) {
        return check(node, scalar, path, misfits);
    }
    for (key, value) in node.pairs() {
        match key.text() {
            Some(name) if SPREAD_FIELDS.contains(&name) => {
                check(value, scalar, &format!("{path} `{name}`"), misfits);
            }
            _ => wrong(key, path, "avg, p50, p95, p99 or max", misfits),
        }
    }
    let falls = super::read::spread(node, unit).is_some_and(|spread| !spread.is_rising());
    if falls {
        misfits.push(Misfit {
            span: node.span,
            text: format!("{path} falls where percentiles must rise"),
            fix: Some("p50 <= p95 <= p99 <= max".into()),
        });
    }
}

fn type_of(node: &Node, path: &str, misfits: &mut Vec<Misfit>) {
    match &node.kind {
        Kind::Scalar { text, .. } if types::scalar(text).is_some() => {}
        Kind::Scalar { .. } => wrong(node, path, types::EXPECTED, misfits),
        Kind::List(items) => items.iter().for_each(|node| type_of(node, path, misfits)),
        Kind::Map(pairs) => {
            let in_full = node.get("type").is_some();
            for (key, node) in pairs {
                let name = key.text().unwrap_or_default();
                let path = format!("{path} `{}`", shorten(name));
                match name {
                    "count" if in_full => spread(node, Unit::Count, &path, misfits),
                    "size" if in_full => spread(node, Unit::Size, &path, misfits),
                    "order" if in_full => {
                        check(node, Shape::OneOf(super::shape::ORDERS), &path, misfits);
                    }
                    _ if in_full && !types::FULL_FIELDS.contains(&name) => {
                        wrong(key, &path, &types::FULL_FIELDS.join(", "), misfits);
                    }
                    "time" | "unit" if in_full => {}
                    _ => type_of(node, &path, misfits),
                }
            }
        }
    }
}

/// Whether a text is of a scalar shape.
pub fn fits(text: &str, shape: Shape) -> bool {
    match shape {
        Shape::Text => true,
        Shape::Version => text == "1",
        Shape::OneOf(words) => words.contains(&text),
        Shape::Flag => matches!(text, "true" | "false"),
        Shape::Count => quantity::count(text).is_some(),
        Shape::Whole => text.parse::<u64>().is_ok(),
        Shape::Size => quantity::bytes(text).is_some(),
        Shape::Span => text == "never" || quantity::duration(text).is_some(),
        Shape::Rate => quantity::rate(text).is_some(),
        Shape::Growth => quantity::growth(text).is_some(),
        _ => false,
    }
}

fn expected(shape: Shape) -> String {
    match shape {
        Shape::Version => "1, the version of the format".into(),
        Shape::OneOf(words) => words.join(", "),
        Shape::Flag => "true or false".into(),
        Shape::Count => "a number, as in 1000000, 1_000_000 or 10k".into(),
        Shape::Whole => "a whole number of 64 bits".into(),
        Shape::Size => "a size, as in 400, 128KiB or 1MiB".into(),
        Shape::Span => "a time, as in 30d, 5m, 90s or never".into(),
        Shape::Rate => "a rate, as in 100/s or 3/day".into(),
        Shape::Growth => "a growth, as in 500B/day or 100/day".into(),
        _ => "a text".into(),
    }
}

fn wrong(node: &Node, path: &str, expected: &str, misfits: &mut Vec<Misfit>) {
    let found = match node.text() {
        Some(text) => format!("`{}`", shorten(text)),
        None => node.describe().to_owned(),
    };
    let close = node.text().and_then(|text| closest(text, expected.split(", ")));
    misfits.push(Misfit {
        span: node.span,
        text: format!("{path} cannot be {found}"),
        fix: Some(match close {
            Some(word) => format!("did you mean `{word}`?"),
            None => format!("expected {expected}"),
        }),
    });
}

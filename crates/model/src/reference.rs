//! The reference page of the contract's fields, from the tables that also read it.

use std::fmt::Write;

use crate::contract::shape::{Object, ROOT, Shape, Unit};

/// The page.
pub fn page() -> String {
    let mut out = String::from(
        "# The contract, field by field\n\n`cairn model init --example NAME` writes an example, `cairn model schema` prints \
         the JSON Schema.\nSeveral files make one contract; each starts with `cairn: 1`.\n",
    );
    let mut objects: Vec<&'static Object> = vec![&ROOT];
    let mut at = 0;
    while let Some(object) = objects.get(at).copied() {
        at += 1;
        let _ = write!(
            out,
            "\n## {}\n\n{}\n\n| field | value | meaning |\n| --- | --- | --- |\n",
            object.name, object.doc
        );
        for field in object.fields {
            let must = if field.required { " (required)" } else { "" };
            let kind = describe(field.shape, &mut objects).replace('|', "\\|");
            let _ = writeln!(
                out,
                "| `{}`{must} | {kind} | {} |",
                field.name,
                field.doc.replace('|', "\\|")
            );
        }
    }
    out
}

fn describe(shape: Shape, objects: &mut Vec<&'static Object>) -> String {
    match shape {
        Shape::Text => "text".into(),
        Shape::Version => "`1`".into(),
        Shape::OneOf(words) => {
            words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
        }
        Shape::Flag => "`true` or `false`".into(),
        Shape::Count => "number, as in `10k`".into(),
        Shape::Whole => "whole number".into(),
        Shape::Size => "size, as in `128KiB`".into(),
        Shape::Span => "time, as in `30d`, or `never`".into(),
        Shape::Rate => "rate, as in `100/s`".into(),
        Shape::Growth => "growth, as in `500B/day`".into(),
        Shape::SpreadOf(Unit::Count) => "number, or `{avg, p50, p95, p99, max}`".into(),
        Shape::SpreadOf(Unit::Size) => "size, or `{avg, p50, p95, p99, max}`".into(),
        Shape::Type => "type".into(),
        Shape::Object(object) => {
            if !objects.iter().any(|known| known.name == object.name) {
                objects.push(object);
            }
            format!("[{0}](#{0})", object.name)
        }
        Shape::Named(value) => format!("names with {} each", describe(*value, objects)),
        Shape::List(item) => format!("list of {}", describe(*item, objects)),
        Shape::TextOr(text, fields) => {
            format!("{} or {}", describe(*text, objects), describe(*fields, objects))
        }
    }
}

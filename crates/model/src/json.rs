//! JSON that keeps the order of its fields, so that output reads as it was meant.

use std::fmt::{self, Write};

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Another number.
    Number(f64),
    /// Text.
    Text(String),
    /// An array.
    Array(Vec<Json>),
    /// An object, in this order.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// An object of these fields.
    pub fn object<const N: usize>(fields: [(&str, Json); N]) -> Json {
        Json::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// An array.
    pub fn array(items: impl IntoIterator<Item = impl Into<Json>>) -> Json {
        Json::Array(items.into_iter().map(Into::into).collect())
    }

    /// A field of an object.
    pub fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(fields) => {
                fields.iter().find(|(field, _)| field == name).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// Indented text with a final newline.
    pub fn pretty(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, Some(0));
        out.push('\n');
        out
    }

    fn write(&self, out: &mut String, indent: Option<usize>) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Json::Int(value) => drop(write!(out, "{value}")),
            Json::Number(value) if value.is_finite() => drop(write!(out, "{value}")),
            Json::Number(_) => out.push_str("null"),
            Json::Text(text) => quote(out, text),
            Json::Array(items) => {
                sequence(out, indent, ['[', ']'], items, |out, indent, item| {
                    item.write(out, indent)
                });
            }
            Json::Object(fields) => {
                sequence(out, indent, ['{', '}'], fields, |out, indent, (name, value)| {
                    quote(out, name);
                    out.push_str(": ");
                    value.write(out, indent);
                });
            }
        }
    }
}

fn sequence<T>(
    out: &mut String,
    indent: Option<usize>,
    [open, close]: [char; 2],
    items: &[T],
    mut write_item: impl FnMut(&mut String, Option<usize>, &T),
) {
    out.push(open);
    let inner = indent.map(|depth| depth + 2);
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push_str(if inner.is_some() { "," } else { ", " });
        }
        new_line(out, inner);
        write_item(out, inner, item);
    }
    if !items.is_empty() {
        new_line(out, indent);
    }
    out.push(close);
}

fn new_line(out: &mut String, indent: Option<usize>) {
    if let Some(depth) = indent {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', depth));
    }
}

fn quote(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 => drop(write!(out, "\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// On one line.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.write(&mut out, None);
        f.write_str(&out)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::Text(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Json {
        Json::Text(text)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Json {
        Json::Bool(value)
    }
}

impl From<u64> for Json {
    fn from(value: u64) -> Json {
        i64::try_from(value).map_or(Json::Number(value as f64), Json::Int)
    }
}

impl From<u32> for Json {
    fn from(value: u32) -> Json {
        Json::Int(i64::from(value))
    }
}

impl From<f64> for Json {
    fn from(value: f64) -> Json {
        Json::Number(value)
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Json {
        value.map_or(Json::Null, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_order_is_kept() {
        let json = Json::object([("b", "x\"\n\u{1}".into()), ("a", Json::array([1u64, 2]))]);
        assert_eq!(json.to_string(), "{\"b\": \"x\\\"\\n\\u0001\", \"a\": [1, 2]}");
        assert_eq!(Json::object([("a", Json::Null)]).pretty(), "{\n  \"a\": null\n}\n");
    }
}

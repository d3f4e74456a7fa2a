//! Types of values: what a bin, a list element or a map value holds.

use crate::quantity::{self, Spread};
use crate::yaml::{Kind, Node};

use super::read;
use super::shape::Unit;
use super::template::Template;

/// What the text of a type may be, for messages.
pub const EXPECTED: &str =
    "int, int:0..1439, double, bool, string, string:24, blob, geo, hll, list, map, id:NAME";
/// Fields of a type that is written in full inside another type.
pub const FULL_FIELDS: &[&str] =
    &["type", "size", "count", "element", "key", "value", "order", "time", "unit"];

/// Type of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueType {
    /// A 64-bit integer, with its range where that is known.
    Int(Option<(i64, i64)>),
    /// An integer that is a point in time.
    Instant,
    /// A double.
    Double,
    /// A boolean.
    Bool,
    /// Text of so many bytes.
    String(Option<Spread>),
    /// Bytes.
    Blob(Option<Spread>),
    /// GeoJSON.
    Geo(Option<Spread>),
    /// A HyperLogLog sketch.
    Hll(Option<Spread>),
    /// An identifier of the contract.
    Id(String),
    /// A list of values of different types, always as long.
    Tuple(Vec<ValueType>),
    /// A map with text keys, always the same.
    Struct(Vec<(String, ValueType)>),
    /// A list.
    List(Box<ListType>),
    /// A map.
    Map(Box<MapType>),
}

/// Type of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListType {
    /// Type of its elements.
    pub element: Option<ValueType>,
    /// How many.
    pub count: Option<Spread>,
    /// Whether they are kept sorted.
    pub ordered: bool,
}

/// Type of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct MapType {
    /// Type of its keys.
    pub key: Option<ValueType>,
    /// Template of its keys, when they are composed.
    pub template: Option<Template>,
    /// Type of its values.
    pub value: Option<ValueType>,
    /// How many pairs.
    pub count: Option<Spread>,
    /// Whether pairs are kept sorted by key.
    pub ordered: bool,
}

impl ValueType {
    /// Its name, without numbers.
    pub fn name(&self) -> &'static str {
        match self {
            ValueType::Int(_) | ValueType::Instant => "int",
            ValueType::Double => "double",
            ValueType::Bool => "bool",
            ValueType::String(_) => "string",
            ValueType::Blob(_) => "blob",
            ValueType::Geo(_) => "geo",
            ValueType::Hll(_) => "hll",
            ValueType::Id(_) => "id",
            ValueType::Tuple(_) => "tuple",
            ValueType::Struct(_) => "struct",
            ValueType::List(_) => "list",
            ValueType::Map(_) => "map",
        }
    }

    /// As a person would write it, as in `list of [int, double]`.
    pub fn describe(&self) -> String {
        let all = |types: &[ValueType]| {
            types.iter().map(ValueType::describe).collect::<Vec<_>>().join(", ")
        };
        let or_any = |inner: &Option<ValueType>| {
            inner.as_ref().map_or("anything".into(), ValueType::describe)
        };
        match self {
            ValueType::Int(Some((low, high))) => format!("int {low}..{high}"),
            ValueType::Id(name) => format!("id {name}"),
            ValueType::String(Some(size)) if size.max == Some(size.p50) => {
                format!("string of {:.0} bytes", size.p50)
            }
            ValueType::Tuple(types) => format!("[{}]", all(types)),
            ValueType::Struct(fields) => {
                let fields: Vec<_> = fields
                    .iter()
                    .map(|(name, inner)| format!("{name}: {}", inner.describe()))
                    .collect();
                format!("{{{}}}", fields.join(", "))
            }
            ValueType::List(list) => {
                let order = if list.ordered { "ordered list" } else { "list" };
                format!("{order} of {}", or_any(&list.element))
            }
            ValueType::Map(map) => {
                let order = if map.ordered { "key-ordered map" } else { "map" };
                let key = match &map.template {
                    Some(template) => format!("\"{}\"", template.text()),
                    None => or_any(&map.key),
                };
                format!("{order} of {key} to {}", or_any(&map.value))
            }
            other => other.name().to_owned(),
        }
    }

    /// How many elements a collection has; nothing for other types.
    pub fn count(&self) -> Option<Spread> {
        match self {
            ValueType::List(list) => list.count,
            ValueType::Map(map) => map.count,
            _ => None,
        }
    }

    /// Whether it is a list or map of varying length.
    pub fn is_collection(&self) -> bool {
        matches!(self, ValueType::List(_) | ValueType::Map(_))
    }

    /// Whether it is a number.
    pub fn is_number(&self) -> bool {
        matches!(self, ValueType::Int(_) | ValueType::Instant | ValueType::Double)
    }

    /// Whether values of this type are of any length without a declared size.
    pub fn lacks_size(&self) -> bool {
        match self {
            ValueType::String(None) | ValueType::Blob(None) | ValueType::Geo(None) => true,
            ValueType::Tuple(types) => types.iter().any(ValueType::lacks_size),
            ValueType::Struct(fields) => fields.iter().any(|(_, inner)| inner.lacks_size()),
            ValueType::List(list) => list.element.as_ref().is_none_or(ValueType::lacks_size),
            ValueType::Map(map) => {
                (map.template.is_none() && map.key.as_ref().is_none_or(ValueType::lacks_size))
                    || map.value.as_ref().is_none_or(ValueType::lacks_size)
            }
            _ => false,
        }
    }
}

/// Reads a type that is one text; lists and maps come back without their insides.
pub fn scalar(text: &str) -> Option<ValueType> {
    let (name, format) = match text.split_once(':') {
        Some((name, format)) => (name, Some(format)),
        None => (text, None),
    };
    let sized = |format: Option<&str>| format.map_or(Some(None), |text| size(text).map(Some));
    Some(match (name, format) {
        ("int", None) => ValueType::Int(None),
        ("int", Some(text)) => ValueType::Int(Some(range(text)?)),
        ("double", None) => ValueType::Double,
        ("bool", None) => ValueType::Bool,
        ("string", format) => ValueType::String(sized(format)?),
        ("blob", format) => ValueType::Blob(sized(format)?),
        ("geo", format) => ValueType::Geo(sized(format)?),
        ("hll", format) => ValueType::Hll(sized(format)?),
        ("id", Some(name)) if !name.is_empty() => ValueType::Id(name.to_owned()),
        ("list", None) => {
            ValueType::List(Box::new(ListType { element: None, count: None, ordered: false }))
        }
        ("map", None) => ValueType::Map(Box::new(MapType {
            key: None,
            template: None,
            value: None,
            count: None,
            ordered: false,
        })),
        _ => return None,
    })
}

/// `LO..HI` of integers.
pub fn range(text: &str) -> Option<(i64, i64)> {
    let (low, high) = text.split_once("..")?;
    let parse = |text: &str| text.trim().replace('_', "").parse::<i64>().ok();
    let (low, high) = (parse(low)?, parse(high)?);
    (low <= high).then_some((low, high))
}

/// `24` or `8..40`.
fn size(text: &str) -> Option<Spread> {
    match text.split_once("..") {
        None => quantity::bytes(text).map(Spread::exactly),
        Some((low, high)) => {
            let (low, high) = (quantity::bytes(low)?, quantity::bytes(high)?);
            let middle = (low + high) / 2.0;
            let spread = Spread::of([Some(middle), Some(middle), None, None, Some(high)])?;
            (low <= high).then_some(spread)
        }
    }
}

/// Reads a type; the file has been validated, so what does not parse is absent.
pub fn read(node: &Node) -> Option<ValueType> {
    match &node.kind {
        Kind::Scalar { text, .. } => scalar(text),
        Kind::List(items) => Some(ValueType::Tuple(items.iter().filter_map(read).collect())),
        Kind::Map(_) if node.get("type").is_some() => read_in_full(node),
        Kind::Map(pairs) => {
            let field = |(key, value): &(Node, Node)| Some((key.text()?.to_owned(), read(value)?));
            Some(ValueType::Struct(pairs.iter().filter_map(field).collect()))
        }
    }
}

/// Reads a type whose numbers stand in fields beside it: a bin, or a type inside a type.
pub fn read_in_full(node: &Node) -> Option<ValueType> {
    let size = node.get("size").and_then(|node| read::spread(node, Unit::Size));
    let range = node.get("range").and_then(Node::text).and_then(range);
    let is_instant = node.get("time").and_then(Node::text) == Some("instant");
    let mut value = read(node.get("type")?)?;
    match &mut value {
        ValueType::Int(known) if is_instant && known.or(range).is_none() => {
            value = ValueType::Instant
        }
        ValueType::Int(known) => *known = range.or(*known),
        ValueType::String(known)
        | ValueType::Blob(known)
        | ValueType::Geo(known)
        | ValueType::Hll(known) => *known = size.or(*known),
        ValueType::List(list) => {
            list.element = node.get("element").and_then(read);
            list.count = read::spread_field(node, "count", Unit::Count);
            list.ordered = is_ordered(node);
        }
        ValueType::Map(map) => {
            let key = node.get("key");
            map.template = key.and_then(read::template);
            map.key = key.filter(|_| map.template.is_none()).and_then(read);
            map.value = node.get("value").and_then(read);
            map.count = read::spread_field(node, "count", Unit::Count);
            map.ordered = is_ordered(node);
        }
        _ => {}
    }
    Some(value)
}

fn is_ordered(node: &Node) -> bool {
    matches!(node.get("order").and_then(Node::text), Some(order) if order != "unordered")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::parse;

    fn described(text: &str) -> String {
        read(&parse(0, text).unwrap()).unwrap().describe()
    }

    #[test]
    fn types_in_every_notation() {
        assert_eq!(described("int"), "int");
        assert_eq!(described("int:0..1439"), "int 0..1439");
        assert_eq!(described("[int, double]"), "[int, double]");
        assert_eq!(
            described("{author: string:20, at: int}"),
            "{author: string of 20 bytes, at: int}"
        );
        assert_eq!(
            described(
                "{type: list, order: ordered, element: {type: map, key: string, value: int}}"
            ),
            "ordered list of map of string to int"
        );
    }

    #[test]
    fn what_is_no_type() {
        for text in ["integer", "int:5", "string:x", "id:", "list:3", "int:9..1"] {
            assert_eq!(scalar(text), None, "{text}");
        }
    }
}

//! Values as trees, for embedded programs, tools and tests.

use std::cmp::Ordering;

use crate::limits::DEPTH_MAX;
use crate::order;
use crate::packed::{Head, Malformed, Reader, Token, flags, write};
use crate::particle::{Particle, ParticleType};

/// A value as a tree. The store itself works on packed bytes; this is the form for people.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// No value.
    Nil,
    /// A boolean.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A double.
    Double(f64),
    /// Text.
    String(String),
    /// Bytes.
    Blob(Vec<u8>),
    /// GeoJSON text.
    Geo(String),
    /// A HyperLogLog sketch in the wire's layout.
    Hll(Vec<u8>),
    /// A list; `ordered` keeps its elements sorted.
    List {
        /// Elements in stored order.
        items: Vec<Value>,
        /// Whether the list is flagged as ordered.
        ordered: bool,
    },
    /// A map as pairs in stored order; `ordered` keeps them sorted by key.
    Map {
        /// Pairs in stored order.
        pairs: Vec<(Value, Value)>,
        /// Whether the map is flagged as key-ordered.
        ordered: bool,
    },
}

impl Value {
    /// An unordered list.
    pub fn list(items: impl IntoIterator<Item = Value>) -> Value {
        Value::List { items: items.into_iter().collect(), ordered: false }
    }

    /// A key-ordered map; pairs are sorted here.
    pub fn map(pairs: impl IntoIterator<Item = (Value, Value)>) -> Value {
        let mut pairs: Vec<_> = pairs.into_iter().collect();
        pairs.sort_by(|a, b| a.0.order(&b.0));
        Value::Map { pairs, ordered: true }
    }

    /// The order among values, see [`order`].
    pub fn order(&self, other: &Value) -> Ordering {
        order::compare(&self.to_packed(), &other.to_packed()).unwrap_or(Ordering::Equal)
    }

    /// The particle type of a bin that holds this value.
    pub fn kind(&self) -> ParticleType {
        match self {
            Value::Nil => ParticleType::Nil,
            Value::Bool(_) => ParticleType::Bool,
            Value::Int(_) => ParticleType::Integer,
            Value::Double(_) => ParticleType::Double,
            Value::String(_) => ParticleType::String,
            Value::Blob(_) => ParticleType::Blob,
            Value::Geo(_) => ParticleType::GeoJson,
            Value::Hll(_) => ParticleType::Hll,
            Value::List { .. } => ParticleType::List,
            Value::Map { .. } => ParticleType::Map,
        }
    }

    /// The bytes of a bin that holds this value.
    pub fn to_particle_bytes(&self) -> Vec<u8> {
        match self {
            Value::Nil => Vec::new(),
            Value::Bool(b) => vec![u8::from(*b)],
            Value::Int(i) => i.to_be_bytes().to_vec(),
            Value::Double(d) => d.to_be_bytes().to_vec(),
            Value::String(s) => s.as_bytes().to_vec(),
            Value::Blob(b) | Value::Hll(b) => b.clone(),
            Value::Geo(s) => [&[0, 0, 0], s.as_bytes()].concat(),
            Value::List { .. } | Value::Map { .. } => self.to_packed(),
        }
    }

    /// The value a bin holds; text that is not UTF-8 is shown with replacement characters.
    pub fn from_particle(particle: Particle<'_>) -> Result<Value, Malformed> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(match particle.kind {
            ParticleType::Nil => Value::Nil,
            ParticleType::Bool => Value::Bool(particle.bytes.first().is_some_and(|&b| b != 0)),
            ParticleType::Integer => Value::Int(particle.integer().ok_or(Malformed::Truncated)?),
            ParticleType::Double => Value::Double(particle.double().ok_or(Malformed::Truncated)?),
            ParticleType::String => Value::String(text(particle.bytes)),
            ParticleType::GeoJson => {
                Value::Geo(text(particle.geo_text().ok_or(Malformed::Truncated)?))
            }
            ParticleType::Hll => Value::Hll(particle.bytes.to_vec()),
            ParticleType::List | ParticleType::Map => Value::from_packed(particle.bytes)?,
            _ => Value::Blob(particle.bytes.to_vec()),
        })
    }

    /// The packed form, as it stands inside a collection.
    pub fn to_packed(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.pack(&mut out);
        out
    }

    /// Writes the packed form behind `out`.
    pub fn pack(&self, out: &mut Vec<u8>) {
        match self {
            Value::Nil => write::nil(out),
            Value::Bool(b) => write::boolean(out, *b),
            Value::Int(i) => write::int(out, *i),
            Value::Double(d) => write::double(out, *d),
            Value::String(s) => write::text(out, ParticleType::String.wire(), s.as_bytes()),
            Value::Geo(s) => write::text(out, ParticleType::GeoJson.wire(), s.as_bytes()),
            Value::Blob(b) => write::text(out, ParticleType::Blob.wire(), b),
            Value::Hll(b) => write::text(out, ParticleType::Hll.wire(), b),
            Value::List { items, ordered } => {
                write::list_head(out, items.len() as u32 + u32::from(*ordered));
                if *ordered {
                    write::flags_ext(out, flags::ORDERED);
                }
                items.iter().for_each(|item| item.pack(out));
            }
            Value::Map { pairs, ordered } => {
                write::map_head(out, pairs.len() as u32 + u32::from(*ordered));
                if *ordered {
                    write::flags_ext(out, flags::ORDERED);
                    write::nil(out);
                }
                for (key, value) in pairs {
                    key.pack(out);
                    value.pack(out);
                }
            }
        }
    }

    /// Reads one packed value that fills `bytes`.
    pub fn from_packed(bytes: &[u8]) -> Result<Value, Malformed> {
        let mut reader = Reader::new(bytes);
        let value = Value::unpack(&mut reader, DEPTH_MAX)?;
        if reader.is_done() { Ok(value) } else { Err(Malformed::Trailing) }
    }

    fn unpack(reader: &mut Reader<'_>, depth_left: usize) -> Result<Value, Malformed> {
        let start = reader.position();
        Ok(match reader.token()? {
            Token::Nil => Value::Nil,
            Token::Bool(b) => Value::Bool(b),
            Token::Int(i) => Value::Int(i),
            Token::Double(d) => Value::Double(d),
            Token::Bytes(bytes) => {
                let (&kind, rest) = bytes.split_first().unwrap_or((&0, &[]));
                let text = || String::from_utf8_lossy(rest).into_owned();
                match ParticleType::from_wire(kind) {
                    Some(ParticleType::String) => Value::String(text()),
                    Some(ParticleType::GeoJson) => Value::Geo(text()),
                    Some(ParticleType::Hll) => Value::Hll(rest.to_vec()),
                    _ => Value::Blob(rest.to_vec()),
                }
            }
            Token::Ext(..) => Value::Nil,
            Token::List(_) | Token::Map(_) => {
                let depth_left = depth_left.checked_sub(1).ok_or(Malformed::TooDeep)?;
                let head = Head::read(reader.bytes(), start)?.ok_or(Malformed::Truncated)?;
                *reader = Reader::at(reader.bytes(), head.body);
                let ordered = head.flags & flags::ORDERED != 0;
                let count = head.count as usize;
                if head.is_map {
                    let mut pairs = Vec::with_capacity(count);
                    for _ in 0..count {
                        let key = Value::unpack(reader, depth_left)?;
                        pairs.push((key, Value::unpack(reader, depth_left)?));
                    }
                    Value::Map { pairs, ordered }
                } else {
                    let mut items = Vec::with_capacity(count);
                    for _ in 0..count {
                        items.push(Value::unpack(reader, depth_left)?);
                    }
                    Value::List { items, ordered }
                }
            }
        })
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Value::Int(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Value::Double(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Value::String(value.to_owned())
    }
}

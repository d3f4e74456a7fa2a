//! What an expression yields while it runs: borrowed from the record or the program where it can.

use std::borrow::Cow;

use cairn_value::collection::reply_form;
use cairn_value::packed::{EXT_SPECIAL, Reader, SPECIAL_INFINITY, SPECIAL_WILDCARD, Token, write};
use cairn_value::{Particle, ParticleType};

use super::kind::Kind;
use crate::Reply;

/// A value in flight. A comparison of a bin with a literal allocates nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Val<'a> {
    /// Cannot be told: a bin is absent or of another type, a number is divided by zero.
    Unknown,
    /// Nil.
    Nil,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A double.
    Float(f64),
    /// Text.
    Str(Cow<'a, [u8]>),
    /// Bytes, with the particle type they came with.
    Blob(ParticleType, Cow<'a, [u8]>),
    /// GeoJSON.
    Geo(Geo<'a>),
    /// A HyperLogLog sketch.
    Hll(Cow<'a, [u8]>),
    /// A packed list.
    List(Cow<'a, [u8]>),
    /// A packed map.
    Map(Cow<'a, [u8]>),
    /// The marker that equals every value.
    Wildcard,
    /// The marker above every value.
    Infinity,
    /// The order to remove the element in hand.
    Remove,
}

/// GeoJSON in one of its two forms.
#[derive(Clone, Debug, PartialEq)]
pub enum Geo<'a> {
    /// A bin's value: flags, cells, text.
    Particle(Cow<'a, [u8]>),
    /// Text only, as inside a collection.
    Text(Cow<'a, [u8]>),
}

impl Geo<'_> {
    /// The text.
    pub fn text(&self) -> &[u8] {
        match self {
            Geo::Particle(bytes) => {
                Particle::new(ParticleType::GeoJson, bytes).geo_text().unwrap_or(&[])
            }
            Geo::Text(text) => text,
        }
    }
}

impl<'a> Val<'a> {
    /// A bin's value. Bytes that do not fit their type are unknown.
    pub fn of_particle(particle: Particle<'a>) -> Val<'a> {
        Val::of_bytes(particle.kind, Cow::Borrowed(particle.bytes))
    }

    /// A value of this type and these bytes.
    pub fn of_bytes(kind: ParticleType, bytes: Cow<'a, [u8]>) -> Val<'a> {
        let particle = Particle::new(kind, &bytes);
        match kind {
            ParticleType::Nil => Val::Nil,
            ParticleType::Bool => bytes.first().map_or(Val::Unknown, |&byte| Val::Bool(byte != 0)),
            ParticleType::Integer => particle.integer().map_or(Val::Unknown, Val::Int),
            ParticleType::Double => particle.double().map_or(Val::Unknown, Val::Float),
            ParticleType::String => Val::Str(bytes),
            ParticleType::GeoJson => Val::Geo(Geo::Particle(bytes)),
            ParticleType::Hll => Val::Hll(bytes),
            ParticleType::List => Val::List(bytes),
            ParticleType::Map => Val::Map(bytes),
            _ => Val::Blob(kind, bytes),
        }
    }

    /// A packed element of a collection.
    pub fn of_packed(packed: &'a [u8]) -> Val<'a> {
        match Reader::new(packed).token() {
            Ok(Token::Nil) => Val::Nil,
            Ok(Token::Bool(value)) => Val::Bool(value),
            Ok(Token::Int(value)) => Val::Int(value),
            Ok(Token::Double(value)) => Val::Float(value),
            Ok(Token::Bytes(bytes)) => Val::of_text(bytes).unwrap_or(Val::Unknown),
            Ok(Token::List(_)) => Val::List(Cow::Borrowed(packed)),
            Ok(Token::Map(_)) => Val::Map(Cow::Borrowed(packed)),
            Ok(Token::Ext(EXT_SPECIAL, [SPECIAL_WILDCARD])) => Val::Wildcard,
            Ok(Token::Ext(EXT_SPECIAL, [SPECIAL_INFINITY])) => Val::Infinity,
            _ => Val::Unknown,
        }
    }

    /// Text or bytes behind their particle type; `None` when the type names neither.
    pub fn of_text(bytes: &'a [u8]) -> Option<Val<'a>> {
        let (&kind, rest) = bytes.split_first()?;
        let rest = Cow::Borrowed(rest);
        Some(match ParticleType::from_wire(kind)? {
            ParticleType::String => Val::Str(rest),
            ParticleType::GeoJson => Val::Geo(Geo::Text(rest)),
            ParticleType::Hll => Val::Hll(rest),
            blob if blob.is_blob() => Val::Blob(blob, rest),
            _ => return None,
        })
    }

    /// The kind of this value.
    pub fn kind(&self) -> Kind {
        match self {
            Val::Unknown => Kind::Any,
            Val::Nil => Kind::Nil,
            Val::Bool(_) => Kind::Bool,
            Val::Int(_) => Kind::Int,
            Val::Float(_) => Kind::Float,
            Val::Str(_) => Kind::Str,
            Val::Blob(..) => Kind::Blob,
            Val::Geo(_) => Kind::Geo,
            Val::Hll(_) => Kind::Hll,
            Val::List(_) => Kind::List,
            Val::Map(_) => Kind::Map,
            Val::Wildcard => Kind::Wildcard,
            Val::Infinity => Kind::Infinity,
            Val::Remove => Kind::Remove,
        }
    }

    /// This value when it is of the kind, unknown otherwise.
    pub fn expect(self, kind: Kind) -> Val<'a> {
        if self.kind() == kind { self } else { Val::Unknown }
    }

    /// The bytes of a value that is not a number, boolean or marker.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Val::Str(bytes)
            | Val::Blob(_, bytes)
            | Val::Hll(bytes)
            | Val::List(bytes)
            | Val::Map(bytes) => Some(bytes),
            Val::Geo(geo) => Some(geo.text()),
            _ => None,
        }
    }

    /// The value as a bin or an answer holds it; `None` for what neither can hold.
    pub fn into_reply(self) -> Option<Reply> {
        let (kind, bytes) = match self {
            Val::Nil => (ParticleType::Nil, Vec::new()),
            Val::Bool(value) => (ParticleType::Bool, vec![u8::from(value)]),
            Val::Int(value) => (ParticleType::Integer, value.to_be_bytes().to_vec()),
            Val::Float(value) => (ParticleType::Double, value.to_bits().to_be_bytes().to_vec()),
            Val::Str(bytes) => (ParticleType::String, bytes.into_owned()),
            Val::Blob(kind, bytes) => (kind, bytes.into_owned()),
            Val::Hll(bytes) => (ParticleType::Hll, bytes.into_owned()),
            Val::List(bytes) => seen(ParticleType::List, bytes),
            Val::Map(bytes) => seen(ParticleType::Map, bytes),
            Val::Geo(Geo::Particle(bytes)) => (ParticleType::GeoJson, bytes.into_owned()),
            Val::Geo(Geo::Text(text)) => (ParticleType::GeoJson, super::geo::particle(&text)),
            Val::Unknown | Val::Wildcard | Val::Infinity | Val::Remove => return None,
        };
        Some(Reply { kind, bytes })
    }

    /// Writes the packed form; false for what has none.
    pub fn pack(&self, out: &mut Vec<u8>) -> bool {
        match self {
            Val::Nil => write::nil(out),
            Val::Bool(value) => write::boolean(out, *value),
            Val::Int(value) => write::int(out, *value),
            Val::Float(value) => write::double(out, *value),
            Val::Str(bytes) => write::text(out, ParticleType::String.wire(), bytes),
            Val::Geo(geo) => write::text(out, ParticleType::GeoJson.wire(), geo.text()),
            Val::Blob(kind, bytes) => write::text(out, kind.wire(), bytes),
            Val::Hll(bytes) => write::text(out, ParticleType::Hll.wire(), bytes),
            Val::List(packed) => out.extend_from_slice(&reply_form(ParticleType::List, packed)),
            Val::Map(packed) => out.extend_from_slice(&reply_form(ParticleType::Map, packed)),
            Val::Wildcard => write::special(out, SPECIAL_WILDCARD),
            Val::Infinity => write::special(out, SPECIAL_INFINITY),
            Val::Unknown | Val::Remove => return false,
        }
        true
    }
}

/// A collection without its persisted index, which never leaves its bin.
fn seen(kind: ParticleType, bytes: Cow<'_, [u8]>) -> (ParticleType, Vec<u8>) {
    let shorter = match reply_form(kind, &bytes) {
        Cow::Owned(shorter) => Some(shorter),
        Cow::Borrowed(_) => None,
    };
    (kind, shorter.unwrap_or_else(|| bytes.into_owned()))
}

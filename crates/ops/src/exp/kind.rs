//! The types of expressions, known before any record is read.

use cairn_value::ParticleType;

/// The type of what an expression yields. The first ten have numbers on the wire; the others exist
/// only while a program is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Kind {
    Nil,
    Bool,
    Int,
    Str,
    List,
    Map,
    Blob,
    Float,
    Geo,
    Hll,
    /// Not known before the program runs: what `unknown` yields, and what fits every type.
    Any,
    /// The marker that equals every value.
    Wildcard,
    /// The marker above every value.
    Infinity,
    /// The order to remove an element, which only a modification by path understands.
    Remove,
}

impl Kind {
    /// The kinds with a number on the wire, in the order of their numbers.
    pub const WIRE: [Kind; 10] = [
        Kind::Nil,
        Kind::Bool,
        Kind::Int,
        Kind::Str,
        Kind::List,
        Kind::Map,
        Kind::Blob,
        Kind::Float,
        Kind::Geo,
        Kind::Hll,
    ];

    /// The kind a wire number names, if it names one.
    pub fn from_wire(number: i64) -> Option<Kind> {
        Kind::WIRE.get(usize::try_from(number).ok()?).copied()
    }

    /// The kind of a bin's value.
    pub fn of_particle(kind: ParticleType) -> Kind {
        match kind {
            ParticleType::Nil => Kind::Nil,
            ParticleType::Bool => Kind::Bool,
            ParticleType::Integer => Kind::Int,
            ParticleType::Double => Kind::Float,
            ParticleType::String => Kind::Str,
            ParticleType::List => Kind::List,
            ParticleType::Map => Kind::Map,
            ParticleType::Hll => Kind::Hll,
            ParticleType::GeoJson => Kind::Geo,
            _ => Kind::Blob,
        }
    }

    /// The kind that both can be: their common one, or the known one when the other is not known.
    pub fn unify(self, other: Kind) -> Option<Kind> {
        match (self, other) {
            (Kind::Any, known) | (known, Kind::Any) => Some(known),
            (a, b) if a == b => Some(a),
            _ => None,
        }
    }

    /// True when a bin or an answer can hold a value of this kind.
    pub fn is_storable(self) -> bool {
        !matches!(self, Kind::Wildcard | Kind::Infinity)
    }

    /// The name in errors and documentation.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Nil => "nil",
            Kind::Bool => "boolean",
            Kind::Int => "integer",
            Kind::Str => "string",
            Kind::List => "list",
            Kind::Map => "map",
            Kind::Blob => "blob",
            Kind::Float => "float",
            Kind::Geo => "GeoJSON",
            Kind::Hll => "HyperLogLog",
            Kind::Any => "any",
            Kind::Wildcard => "wildcard",
            Kind::Infinity => "infinity",
            Kind::Remove => "removal",
        }
    }
}

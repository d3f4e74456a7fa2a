//! A bin's value: a type byte and the bytes that travel on the wire.

/// Types a bin's value can have, with their numbers on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum ParticleType {
    Nil = 0,
    Integer = 1,
    Double = 2,
    String = 3,
    Blob = 4,
    JavaBlob = 7,
    CSharpBlob = 8,
    PythonBlob = 9,
    RubyBlob = 10,
    PhpBlob = 11,
    ErlangBlob = 12,
    Vector = 16,
    Bool = 17,
    Hll = 18,
    Map = 19,
    List = 20,
    GeoJson = 23,
}

impl ParticleType {
    /// The type a wire byte names, if it names one.
    pub const fn from_wire(byte: u8) -> Option<ParticleType> {
        use ParticleType::*;
        Some(match byte {
            0 => Nil,
            1 => Integer,
            2 => Double,
            3 => String,
            4 => Blob,
            7 => JavaBlob,
            8 => CSharpBlob,
            9 => PythonBlob,
            10 => RubyBlob,
            11 => PhpBlob,
            12 => ErlangBlob,
            16 => Vector,
            17 => Bool,
            18 => Hll,
            19 => Map,
            20 => List,
            23 => GeoJson,
            _ => return None,
        })
    }

    /// The byte that names this type on the wire.
    pub const fn wire(self) -> u8 {
        self as u8
    }

    /// True for the types whose bytes are opaque to the store.
    pub const fn is_blob(self) -> bool {
        use ParticleType::*;
        matches!(
            self,
            Blob | JavaBlob | CSharpBlob | PythonBlob | RubyBlob | PhpBlob | ErlangBlob | Vector
        )
    }
}

/// A borrowed bin value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Particle<'a> {
    /// Its type.
    pub kind: ParticleType,
    /// Its bytes as on the wire: 8 bytes big-endian for integers and doubles, one byte for
    /// booleans, the packed form for lists and maps, the bytes themselves for the rest.
    pub bytes: &'a [u8],
}

impl<'a> Particle<'a> {
    /// A particle of these parts.
    pub const fn new(kind: ParticleType, bytes: &'a [u8]) -> Self {
        Particle { kind, bytes }
    }

    /// The number, when this is a whole integer.
    pub fn integer(&self) -> Option<i64> {
        match self.kind {
            ParticleType::Integer => Some(i64::from_be_bytes(self.bytes.try_into().ok()?)),
            _ => None,
        }
    }

    /// The number, when this is a double.
    pub fn double(&self) -> Option<f64> {
        match self.kind {
            ParticleType::Double => Some(f64::from_be_bytes(self.bytes.try_into().ok()?)),
            _ => None,
        }
    }

    /// The GeoJSON text behind the flags and cell ids, when this is a well-formed geo particle.
    pub fn geo_text(&self) -> Option<&'a [u8]> {
        if self.kind != ParticleType::GeoJson {
            return None;
        }
        let cells = u16::from_be_bytes([*self.bytes.get(1)?, *self.bytes.get(2)?]) as usize;
        self.bytes.get(3 + 8 * cells..)
    }
}

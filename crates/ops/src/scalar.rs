//! Read, write, increment, append and prepend: operations on a bin's value as a whole.

use std::borrow::Cow;

use cairn_value::{Edits, Error, Particle, ParticleType, ResultCode, collection};

use crate::{Effect, cdt, geo, hll};

/// Widest integer that the wire carries, in bytes.
const INTEGER_BYTES: usize = 8;

/// A value that came over the wire, checked and in stored form.
pub type Stored<'a> = (ParticleType, Cow<'a, [u8]>);

/// Checks a value that is to become a bin's value and returns its stored form: integers are widened
/// to 8 bytes, lists and maps take their shortest form, GeoJSON gets its cells, everything else is borrowed. `None` stands
/// for nil, which removes the bin.
pub fn stored<'a>(kind: u8, bytes: &'a [u8]) -> Result<Option<Stored<'a>>, Error> {
    let kind = ParticleType::from_wire(kind).ok_or_else(|| {
        Error::new(ResultCode::Parameter, format!("particle type {kind} does not exist"))
    })?;
    let bytes = match kind {
        ParticleType::Nil => return Ok(None),
        ParticleType::Integer => integer_bytes(bytes)?,
        ParticleType::Double if bytes.len() != INTEGER_BYTES => {
            return Err(malformed(kind, bytes, "8 bytes"));
        }
        ParticleType::Bool if !matches!(bytes, [0 | 1]) => {
            return Err(malformed(kind, bytes, "one byte, 0 or 1"));
        }
        ParticleType::List | ParticleType::Map => {
            cdt::with_index(collection::stored_form(kind, bytes)?)
        }
        ParticleType::GeoJson => Cow::Owned(geo::stored_bytes(bytes)?),
        ParticleType::Hll => {
            hll::check(bytes)?;
            Cow::Borrowed(bytes)
        }
        _ => Cow::Borrowed(bytes),
    };
    Ok(Some((kind, bytes)))
}

fn malformed(kind: ParticleType, bytes: &[u8], expected: &str) -> Error {
    let text = format!("a value of type {kind:?} has {expected}, not {} bytes", bytes.len());
    Error::new(ResultCode::Parameter, text)
}

fn integer_bytes(bytes: &[u8]) -> Result<Cow<'_, [u8]>, Error> {
    match bytes.len() {
        INTEGER_BYTES => Ok(Cow::Borrowed(bytes)),
        1..INTEGER_BYTES => {
            let mut wide = vec![0; INTEGER_BYTES - bytes.len()];
            wide.extend_from_slice(bytes);
            Ok(Cow::Owned(wide))
        }
        _ => Err(malformed(ParticleType::Integer, bytes, "1 to 8 bytes")),
    }
}

/// Adds a number to a number of the same type, modulo 2^64 for integers.
pub fn increment(old: Particle<'_>, kind: u8, bytes: &[u8]) -> Result<Effect, Error> {
    let refuse = || mismatch(old.kind, "increment", kind);
    match old.kind {
        ParticleType::Integer if kind == ParticleType::Integer.wire() => {
            let by = integer_bytes(bytes)?;
            let by = Particle::new(ParticleType::Integer, &by).integer().ok_or_else(refuse)?;
            let sum = old.integer().ok_or_else(refuse)?.wrapping_add(by);
            Ok(Effect::Whole(ParticleType::Integer, sum.to_be_bytes().to_vec()))
        }
        ParticleType::Double if kind == ParticleType::Double.wire() => {
            let by = Particle::new(ParticleType::Double, bytes).double();
            let by = by.ok_or_else(|| malformed(ParticleType::Double, bytes, "8 bytes"))?;
            let sum = old.double().ok_or_else(refuse)? + by;
            Ok(Effect::Whole(ParticleType::Double, sum.to_be_bytes().to_vec()))
        }
        _ => Err(refuse()),
    }
}

/// Which end of a value grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Append.
    Back,
    /// Prepend.
    Front,
}

/// Puts text to text or bytes to bytes of the same type, at either end.
pub fn extend(old: Particle<'_>, kind: u8, bytes: &[u8], end: End) -> Result<Effect, Error> {
    let extendable = old.kind == ParticleType::String || old.kind.is_blob();
    if !extendable || kind != old.kind.wire() {
        return Err(mismatch(old.kind, "append or prepend", kind));
    }
    let mut edits = Edits::none();
    let at = match end {
        End::Back => old.bytes.len(),
        End::Front => 0,
    };
    edits.push(at, 0, bytes.to_vec());
    Ok(Effect::Edit { kind: old.kind, edits })
}

/// The refusal of an operation that does not fit the bin's type. GeoJSON bins have a code of their
/// own in the protocol.
fn mismatch(old: ParticleType, operation: &str, given: u8) -> Error {
    let code = match old {
        ParticleType::GeoJson => ResultCode::ServerError,
        _ => ResultCode::BinType,
    };
    Error::new(code, format!("cannot {operation} a value of type {given} to a bin of type {old:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(result: Result<Option<Stored<'_>>, Error>) -> u8 {
        result.map_or_else(|error| error.code.wire(), |_| 0)
    }

    #[test]
    fn values_are_checked_before_they_are_stored() {
        for (kind, bytes, expected) in [
            (1, &[5][..], 0),
            (1, &[], 4),
            (1, &[0; 9], 4),
            (2, &[0; 8], 0),
            (2, &[0; 4], 4),
            (17, &[1], 0),
            (17, &[2], 4),
            (17, &[], 4),
            (3, &[0xff, 0xfe], 0),
            (5, &[], 4),
            (6, &[], 4),
            (7, b"java", 0),
            (99, b"abc", 4),
            (18, &[0, 1, 2], 4),
            (20, &[0x92, 1], 1),
            (19, &[0x82, 1, 1, 1, 2], 1),
            (23, &[0, 0], 160),
            (23, b"\0\0\0{\"type\":\"bad\"}", 160),
            (23, b"\0\0\0{\"type\":\"Point\",\"coordinates\":[1,2]}", 0),
        ] {
            assert_eq!(code(stored(kind, bytes)), expected, "type {kind}, {bytes:?}");
        }
    }

    #[test]
    fn short_integers_are_widened_with_zeros() {
        let (kind, bytes) = stored(1, &[0xff, 2]).unwrap().unwrap();
        assert_eq!((kind, &*bytes), (ParticleType::Integer, &[0, 0, 0, 0, 0, 0, 0xff, 2][..]));
    }

    #[test]
    fn sketches_need_the_registers_they_announce() {
        let mut sketch = vec![0, 4, 0];
        sketch.resize(11 + 12, 0);
        assert_eq!(code(stored(18, &sketch)), 0);
        sketch.push(0);
        assert_eq!(code(stored(18, &sketch)), 4);
    }

    #[test]
    fn integers_wrap() {
        let max = i64::MAX.to_be_bytes();
        let old = Particle::new(ParticleType::Integer, &max);
        let Ok(Effect::Whole(ParticleType::Integer, sum)) = increment(old, 1, &[3]) else {
            panic!("no sum");
        };
        assert_eq!(sum, (i64::MIN + 2).to_be_bytes());
    }

    #[test]
    fn types_must_fit() {
        let text = Particle::new(ParticleType::String, b"abc");
        assert_eq!(increment(text, 1, &[1]).unwrap_err().code, ResultCode::BinType);
        assert_eq!(extend(text, 4, b"x", End::Back).unwrap_err().code, ResultCode::BinType);
        let geo = Particle::new(ParticleType::GeoJson, &[0, 0, 0]);
        assert_eq!(extend(geo, 3, b"", End::Front).unwrap_err().code, ResultCode::ServerError);
    }

    #[test]
    fn an_append_is_an_edit_of_its_own_size() {
        let text = Particle::new(ParticleType::String, b"abc");
        let Ok(Effect::Edit { edits, .. }) = extend(text, 3, b"de", End::Back) else {
            panic!("no edit");
        };
        assert_eq!(edits.inserted_len(), 2);
        assert_eq!(edits.apply(b"abc"), b"abcde");
    }
}

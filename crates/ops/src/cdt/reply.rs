//! Answers: single values as particles, and lists of values or numbers.

use cairn_value::ParticleType;
use cairn_value::packed::{Malformed, Reader, Token, write};

use crate::Reply;

/// A packed value as the particle that a bin holding it would have.
pub fn particle_of(value: &[u8]) -> Result<Reply, Malformed> {
    let (kind, bytes) = match Reader::new(value).token()? {
        Token::Nil | Token::Ext(..) => return Ok(Reply::nil()),
        Token::Bool(b) => (ParticleType::Bool, vec![u8::from(b)]),
        Token::Int(i) => return Ok(Reply::int(i)),
        Token::Double(d) => (ParticleType::Double, d.to_be_bytes().to_vec()),
        Token::List(_) => (ParticleType::List, value.to_vec()),
        Token::Map(_) => (ParticleType::Map, value.to_vec()),
        Token::Bytes(bytes) => return Ok(bytes_particle(bytes)),
    };
    Ok(Reply { kind, bytes })
}

fn bytes_particle(bytes: &[u8]) -> Reply {
    let (&first, rest) = bytes.split_first().unwrap_or((&ParticleType::Blob.wire(), &[]));
    let kind = ParticleType::from_wire(first).unwrap_or(ParticleType::Blob);
    if kind == ParticleType::GeoJson {
        // In a bin, flags and a cell count of zero stand before the text.
        return Reply { kind, bytes: [&[0, 0, 0], rest].concat() };
    }
    Reply { kind, bytes: rest.to_vec() }
}

/// A boolean.
pub fn boolean(value: bool) -> Reply {
    Reply { kind: ParticleType::Bool, bytes: vec![u8::from(value)] }
}

/// A list of packed values.
pub fn list<'v>(values: impl ExactSizeIterator<Item = &'v [u8]>) -> Reply {
    let mut bytes = Vec::new();
    write::list_head(&mut bytes, values.len() as u32);
    values.for_each(|value| bytes.extend_from_slice(value));
    Reply { kind: ParticleType::List, bytes }
}

/// A list of `count` packed values that stand one behind the other.
pub fn list_of(count: u32, values: &[u8]) -> Reply {
    let mut bytes = Vec::with_capacity(values.len() + 5);
    write::list_head(&mut bytes, count);
    bytes.extend_from_slice(values);
    Reply { kind: ParticleType::List, bytes }
}

/// A list of numbers.
pub fn numbers(numbers: impl ExactSizeIterator<Item = u32>) -> Reply {
    let mut bytes = Vec::new();
    write::list_head(&mut bytes, numbers.len() as u32);
    numbers.for_each(|number| write::int(&mut bytes, i64::from(number)));
    Reply { kind: ParticleType::List, bytes }
}

//! The total order among packed values that ordered lists and maps need.
//!
//! By type first: nil, boolean, integer, text, list, map, bytes, double, GeoJSON, infinity. Inside
//! a type: numbers by value, text and bytes byte by byte, lists element by element and then by
//! length, maps by length and then pair by pair as they stand, which is in key order for all maps
//! that are stored. The wildcard equals everything.

use std::cmp::Ordering;

use crate::limits::DEPTH_MAX;
use crate::packed::{EXT_SPECIAL, Head, Malformed, Reader, SPECIAL_WILDCARD, Token};
use crate::particle::ParticleType;

/// Place of a value's type in the order among types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum TypeRank {
    Nil,
    Bool,
    Int,
    Text,
    List,
    Map,
    Bytes,
    Double,
    Geo,
    Infinity,
    Wildcard,
}

impl TypeRank {
    /// The rank of a token.
    pub fn of(token: &Token<'_>) -> TypeRank {
        match token {
            Token::Nil => TypeRank::Nil,
            Token::Bool(_) => TypeRank::Bool,
            Token::Int(_) => TypeRank::Int,
            Token::Double(_) => TypeRank::Double,
            Token::List(_) => TypeRank::List,
            Token::Map(_) => TypeRank::Map,
            Token::Bytes(bytes) => match bytes.first() {
                Some(&byte) if byte == ParticleType::String.wire() => TypeRank::Text,
                Some(&byte) if byte == ParticleType::GeoJson.wire() => TypeRank::Geo,
                _ => TypeRank::Bytes,
            },
            Token::Ext(EXT_SPECIAL, [SPECIAL_WILDCARD]) => TypeRank::Wildcard,
            Token::Ext(..) => TypeRank::Infinity,
        }
    }
}

/// Compares the packed values that start both slices.
///
/// ```
/// use std::cmp::Ordering;
/// use cairn_value::order::compare;
/// assert_eq!(compare(&[0x05], &[0xcd, 0x01, 0x00]), Ok(Ordering::Less)); // 5 < 256
/// assert_eq!(compare(&[0xa2, 3, b'a'], &[0x05]), Ok(Ordering::Greater)); // "a" > 5
/// ```
#[inline]
pub fn compare(a: &[u8], b: &[u8]) -> Result<Ordering, Malformed> {
    // Two integers, or two texts, are compared by far the most often.
    match (Reader::new(a).token()?, Reader::new(b).token()?) {
        (Token::Int(x), Token::Int(y)) => return Ok(x.cmp(&y)),
        (Token::Bytes([kind, x @ ..]), Token::Bytes([other, y @ ..])) if kind == other => {
            return Ok(x.cmp(y));
        }
        _ => {}
    }
    compare_next(&mut Reader::new(a), &mut Reader::new(b), DEPTH_MAX)
}

/// Compares the next values of two readers and moves both behind them when they are equal; after
/// another outcome the readers may stand inside the values.
pub fn compare_next(
    a: &mut Reader<'_>,
    b: &mut Reader<'_>,
    depth_left: usize,
) -> Result<Ordering, Malformed> {
    let (start_a, start_b) = (a.position(), b.position());
    let (token_a, token_b) = (a.token()?, b.token()?);
    let (rank_a, rank_b) = (TypeRank::of(&token_a), TypeRank::of(&token_b));
    if rank_a == TypeRank::Wildcard || rank_b == TypeRank::Wildcard {
        (*a, *b) = (Reader::at(a.bytes(), start_a), Reader::at(b.bytes(), start_b));
        a.skip()?;
        b.skip()?;
        return Ok(Ordering::Equal);
    }
    if rank_a != rank_b {
        return Ok(rank_a.cmp(&rank_b));
    }
    Ok(match (token_a, token_b) {
        (Token::Bool(x), Token::Bool(y)) => x.cmp(&y),
        (Token::Int(x), Token::Int(y)) => x.cmp(&y),
        (Token::Double(x), Token::Double(y)) => compare_doubles(x, y),
        (Token::Bytes(x), Token::Bytes(y)) => x.get(1..).cmp(&y.get(1..)),
        (Token::List(_), Token::List(_)) | (Token::Map(_), Token::Map(_)) => {
            let depth_left = depth_left.checked_sub(1).ok_or(Malformed::TooDeep)?;
            let (Some(head_a), Some(head_b)) =
                (Head::read(a.bytes(), start_a)?, Head::read(b.bytes(), start_b)?)
            else {
                return Err(Malformed::Truncated);
            };
            *a = Reader::at(a.bytes(), head_a.body);
            *b = Reader::at(b.bytes(), head_b.body);
            if head_a.is_map {
                compare_maps(a, b, head_a, head_b, depth_left)?
            } else {
                for _ in 0..head_a.count.min(head_b.count) {
                    let order = compare_next(a, b, depth_left)?;
                    if order != Ordering::Equal {
                        return Ok(order);
                    }
                }
                head_a.count.cmp(&head_b.count)
            }
        }
        _ => Ordering::Equal,
    })
}

/// Doubles by value; all NaNs are equal and above every number, so that the order is total.
pub fn compare_doubles(x: f64, y: f64) -> Ordering {
    x.partial_cmp(&y).unwrap_or_else(|| x.is_nan().cmp(&y.is_nan()))
}

fn compare_maps(
    a: &mut Reader<'_>,
    b: &mut Reader<'_>,
    head_a: Head,
    head_b: Head,
    depth_left: usize,
) -> Result<Ordering, Malformed> {
    let by_count = head_a.count.cmp(&head_b.count);
    if by_count != Ordering::Equal {
        return Ok(by_count);
    }
    for _ in 0..2 * u64::from(head_a.count) {
        let order = compare_next(a, b, depth_left)?;
        if order != Ordering::Equal {
            return Ok(order);
        }
    }
    Ok(Ordering::Equal)
}

//! Lists and maps as whole bin values: what is accepted from outside, and in which form it is kept.
//!
//! A written list or map is checked once, here, so that everything behind it may rely on five
//! things: it is well formed and nested to [`DEPTH_MAX`] levels at most; map keys are integers,
//! text or bytes and no key stands twice; a collection flagged as ordered is sorted; the pairs of
//! an unordered map are kept sorted by key too, so that every map can be searched; and every
//! element has its one shortest form. Bytes that are in that form already are borrowed.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::error::{Error, ResultCode};
use crate::limits::DEPTH_MAX;
use crate::order;
use crate::packed::{EXT_SPECIAL, Head, Malformed, Reader, Token, flags, write};
use crate::particle::ParticleType;

/// Why a list or map is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The bytes are no packed value.
    Malformed(Malformed),
    /// A list where a map is announced, a map where a list is, or neither.
    OtherType,
    /// A map key that is no integer, text or bytes.
    KeyType,
    /// A key that stands in its map twice.
    DuplicateKey,
    /// Flagged as ordered, but not sorted.
    Unsorted,
    /// A wildcard or infinity marker, which is no value.
    Marker,
}

impl From<Malformed> for Refused {
    fn from(malformed: Malformed) -> Self {
        Refused::Malformed(malformed)
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refused::Malformed(malformed) => malformed.fmt(f),
            Refused::OtherType => write!(f, "the bytes hold another type than announced"),
            Refused::KeyType => write!(f, "a map key is an integer, a string or a blob"),
            Refused::DuplicateKey => write!(f, "a map key stands twice"),
            Refused::Unsorted => write!(f, "flagged as ordered but not sorted"),
            Refused::Marker => write!(f, "a wildcard or infinity is not a value"),
        }
    }
}

impl std::error::Error for Refused {}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        Error::new(ResultCode::ServerError, format!("list or map refused: {refused}"))
    }
}

/// Checks a list or map that is to become a bin's value and returns its stored form.
///
/// The flag that asks for a persisted index stays on the outermost collection and goes from the
/// others; flags that mean nothing for a type go as well.
///
/// ```
/// use cairn_value::{ParticleType, collection::stored_form};
/// // [5] with a 16-bit count and a 64-bit integer.
/// let long = [0xdc, 0, 1, 0xd3, 0, 0, 0, 0, 0, 0, 0, 5];
/// assert_eq!(&*stored_form(ParticleType::List, &long).unwrap(), [0x91, 5]);
/// ```
pub fn stored_form(kind: ParticleType, bytes: &[u8]) -> Result<Cow<'_, [u8]>, Refused> {
    if kind == ParticleType::List && is_uncountable_list(bytes) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut reader = Reader::new(bytes);
    match (reader.peek()?, kind) {
        (Token::List(_), ParticleType::List) | (Token::Map(_), ParticleType::Map) => {}
        _ => return Err(Refused::OtherType),
    }
    let canonical = check_value(&mut reader, DEPTH_MAX, true)?;
    if !reader.is_done() {
        return Err(Malformed::Trailing.into());
    }
    if canonical {
        return Ok(Cow::Borrowed(bytes));
    }
    Ok(Cow::Owned(rewritten(bytes, true)?))
}

/// The stored form of a checked value. Ordered lists in it must be sorted in that form.
fn rewritten(bytes: &[u8], outermost: bool) -> Result<Vec<u8>, Refused> {
    let mut out = Vec::with_capacity(bytes.len());
    rewrite_value(&mut Reader::new(bytes), &mut out, outermost)?;
    check_value(&mut Reader::new(&out), DEPTH_MAX, outermost)?;
    Ok(out)
}

/// Checks a value that is to become an element of a list or map and returns its stored form.
///
/// ```
/// use cairn_value::collection::element_form;
/// // An unordered map is kept sorted by key.
/// assert_eq!(&*element_form(&[0x82, 2, 0, 1, 0]).unwrap(), [0x82, 1, 0, 2, 0]);
/// ```
pub fn element_form(bytes: &[u8]) -> Result<Cow<'_, [u8]>, Refused> {
    let mut reader = Reader::new(bytes);
    let canonical = check_value(&mut reader, DEPTH_MAX, false)?;
    if !reader.is_done() {
        return Err(Malformed::Trailing.into());
    }
    if canonical {
        return Ok(Cow::Borrowed(bytes));
    }
    Ok(Cow::Owned(rewritten(bytes, false)?))
}

/// What a client sees of a stored list or map: the persisted index and its flag stay behind.
pub fn reply_form(kind: ParticleType, bytes: &[u8]) -> Cow<'_, [u8]> {
    if !matches!(kind, ParticleType::List | ParticleType::Map) {
        return Cow::Borrowed(bytes);
    }
    match Head::read(bytes, 0) {
        Ok(Some(head)) if head.flags & flags::PERSIST_INDEX != 0 => {
            let body = bytes.get(head.body..).unwrap_or_default();
            let mut out = Vec::with_capacity(body.len() + 9);
            write_head(&mut out, head.is_map, head.count, head.flags & !flags::PERSIST_INDEX);
            out.extend_from_slice(body);
            Cow::Owned(out)
        }
        _ => Cow::Borrowed(bytes),
    }
}

/// A list header alone, with a count of 2^31 or more. The protocol's servers take that count for a
/// negative number, so for no elements, and keep the bytes; everybody who reads them later finds
/// them truncated and refuses.
fn is_uncountable_list(bytes: &[u8]) -> bool {
    matches!(bytes, [0xdd, high, _, _, _] if high & 0x80 != 0)
}

/// Checks the next value and tells whether it is in stored form.
fn check_value(
    reader: &mut Reader<'_>,
    depth_left: usize,
    outermost: bool,
) -> Result<bool, Refused> {
    let start = reader.position();
    match reader.token()? {
        Token::List(_) | Token::Map(_) => {
            let depth_left = depth_left.checked_sub(1).ok_or(Malformed::TooDeep)?;
            let head = Head::read(reader.bytes(), start)?.ok_or(Malformed::Truncated)?;
            *reader = Reader::at(reader.bytes(), head.body);
            let body_canonical = if head.is_map {
                check_pairs(reader, &head, depth_left)?
            } else {
                check_items(reader, &head, depth_left)?
            };
            Ok(body_canonical && head_is_canonical(reader.bytes(), start, &head, outermost))
        }
        Token::Ext(EXT_SPECIAL, _) => Err(Refused::Marker),
        token => {
            let first = reader.bytes().get(start).copied().unwrap_or_default();
            Ok(scalar_is_canonical(&token, first))
        }
    }
}

fn check_items(reader: &mut Reader<'_>, head: &Head, depth_left: usize) -> Result<bool, Refused> {
    let ordered = head.flags & flags::ORDERED != 0;
    let mut canonical = true;
    let mut previous: Option<&[u8]> = None;
    for _ in 0..head.count {
        let start = reader.position();
        canonical &= check_value(reader, depth_left, false)?;
        // Other forms may sort differently; they are looked at again once they are rewritten.
        if ordered && canonical {
            let item = &reader.bytes()[start..reader.position()];
            if let Some(previous) = previous
                && order::compare(previous, item)? == Ordering::Greater
            {
                return Err(Refused::Unsorted);
            }
            previous = Some(item);
        }
    }
    Ok(canonical)
}

fn check_pairs(reader: &mut Reader<'_>, head: &Head, depth_left: usize) -> Result<bool, Refused> {
    let ordered = head.flags & flags::ORDERED != 0;
    let mut canonical = true;
    let mut previous: Option<&[u8]> = None;
    // An unordered map's keys are collected to find doubles; a pair has two bytes at least.
    let mut keys = Vec::with_capacity(if ordered { 0 } else { head.count as usize });
    for _ in 0..head.count {
        let start = reader.position();
        if !is_key(&reader.peek()?) {
            return Err(Refused::KeyType);
        }
        canonical &= check_value(reader, depth_left, false)?;
        let key = &reader.bytes()[start..reader.position()];
        if ordered {
            if let Some(previous) = previous {
                ascending(previous, key)?;
            }
            previous = Some(key);
        } else {
            keys.push(key);
        }
        canonical &= check_value(reader, depth_left, false)?;
    }
    let sorted = keys.windows(2).all(|pair| by_order(pair[0], pair[1]) == Ordering::Less);
    if !sorted {
        refuse_duplicates(keys)?;
    }
    Ok(canonical && sorted)
}

/// The order of keys. They are scalars that were read before, so the comparison cannot fail.
fn by_order(a: &[u8], b: &[u8]) -> Ordering {
    order::compare(a, b).unwrap_or(Ordering::Equal)
}

fn ascending(previous: &[u8], key: &[u8]) -> Result<(), Refused> {
    match order::compare(previous, key)? {
        Ordering::Less => Ok(()),
        Ordering::Equal => Err(Refused::DuplicateKey),
        Ordering::Greater => Err(Refused::Unsorted),
    }
}

fn refuse_duplicates(mut keys: Vec<&[u8]>) -> Result<(), Refused> {
    keys.sort_unstable_by(|a, b| by_order(a, b));
    let doubled = keys.windows(2).any(|pair| by_order(pair[0], pair[1]) == Ordering::Equal);
    if doubled { Err(Refused::DuplicateKey) } else { Ok(()) }
}

/// True for what may be a map key: an integer, text or bytes.
pub fn is_key(token: &Token<'_>) -> bool {
    match token {
        Token::Int(_) => true,
        Token::Bytes([kind, ..]) => {
            *kind == ParticleType::String.wire() || *kind == ParticleType::Blob.wire()
        }
        _ => false,
    }
}

/// The flags that a stored collection keeps.
fn kept_flags(head: &Head, outermost: bool) -> u8 {
    let known = if head.is_map {
        flags::ORDERED | flags::VALUE_ORDERED | flags::PRESERVE_ORDER
    } else {
        flags::ORDERED
    };
    head.flags & (known | if outermost { flags::PERSIST_INDEX } else { 0 })
}

fn head_is_canonical(bytes: &[u8], start: usize, head: &Head, outermost: bool) -> bool {
    let mut expected = HeadBytes::default();
    write_head(&mut expected, head.is_map, head.count, kept_flags(head, outermost));
    bytes.get(start..head.body) == Some(expected.as_slice())
}

/// Where a head is written: a buffer that grows, or one on the stack for comparing.
trait Sink {
    fn put(&mut self, bytes: &[u8]);
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Room for the longest head: five bytes of count, three of flags, one nil.
#[derive(Default)]
struct HeadBytes {
    bytes: [u8; 9],
    len: usize,
}

impl HeadBytes {
    fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl Sink for HeadBytes {
    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }
}

/// Writes the head of a collection of `count` elements or pairs, with an extension when there are
/// flags.
fn write_head(out: &mut impl Sink, is_map: bool, count: u32, flags: u8) {
    let counted = count + u32::from(flags != 0);
    let (fixed, wide, widest) = if is_map { (0x80, 0xde, 0xdf) } else { (0x90, 0xdc, 0xdd) };
    match counted {
        0..=15 => out.put(&[fixed | counted as u8]),
        16..=0xffff => {
            let [a, b] = (counted as u16).to_be_bytes();
            out.put(&[wide, a, b]);
        }
        _ => {
            let [a, b, c, d] = counted.to_be_bytes();
            out.put(&[widest, a, b, c, d]);
        }
    }
    if flags != 0 {
        out.put(&[0xc7, 0, flags]);
        if is_map {
            out.put(&[0xc0]);
        }
    }
}

/// True when a scalar that starts with byte `first` has its shortest form.
fn scalar_is_canonical(token: &Token<'_>, first: u8) -> bool {
    match token {
        Token::Int(value) => match value {
            -32..=0x7f => first == *value as u8,
            0x80..=0xff => first == 0xcc,
            0x100..=0xffff => first == 0xcd,
            0x1_0000..=0xffff_ffff => first == 0xce,
            0x1_0000_0000.. => first == 0xcf,
            -0x80..=-33 => first == 0xd0,
            -0x8000..=-0x81 => first == 0xd1,
            -0x8000_0000..=-0x8001 => first == 0xd2,
            _ => first == 0xd3,
        },
        Token::Bytes(bytes) => match bytes.len() {
            len @ 0..=31 => first == 0xa0 | len as u8,
            32..=0xff => first == 0xd9,
            0x100..=0xffff => first == 0xda,
            _ => first == 0xdb,
        },
        // Nil, booleans and doubles have one form per width; extensions stay as they came.
        _ => true,
    }
}

/// Writes the stored form of the next value, which was checked before.
fn rewrite_value(
    reader: &mut Reader<'_>,
    out: &mut Vec<u8>,
    outermost: bool,
) -> Result<(), Malformed> {
    let start = reader.position();
    match reader.token()? {
        Token::List(_) | Token::Map(_) => {
            let head = Head::read(reader.bytes(), start)?.ok_or(Malformed::Truncated)?;
            *reader = Reader::at(reader.bytes(), head.body);
            write_head(out, head.is_map, head.count, kept_flags(&head, outermost));
            if !head.is_map {
                return (0..head.count).try_for_each(|_| rewrite_value(reader, out, false));
            }
            let mut pairs = Vec::with_capacity(head.count as usize);
            for _ in 0..head.count {
                pairs.push((reader.skip()?, reader.skip()?));
            }
            pairs.sort_by(|a, b| by_order(a.0, b.0));
            for (key, value) in pairs {
                rewrite_value(&mut Reader::new(key), out, false)?;
                rewrite_value(&mut Reader::new(value), out, false)?;
            }
        }
        Token::Int(value) => write::int(out, value),
        Token::Bytes([kind, rest @ ..]) => write::text(out, *kind, rest),
        Token::Bytes([]) => out.push(0xa0),
        _ => out.extend_from_slice(reader.bytes().get(start..reader.position()).unwrap_or(&[])),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        (0..text.len())
            .step_by(2)
            .map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap())
            .collect()
    }

    fn stored(kind: ParticleType, text: &str) -> Result<Vec<u8>, Refused> {
        stored_form(kind, &hex(text)).map(Cow::into_owned)
    }

    #[test]
    fn shortest_forms_are_kept_and_others_become_them() {
        use ParticleType::{List, Map};
        for (kind, given, kept) in [
            (Map, "81a2036101", "81a2036101"),
            (Map, "de0001a2036101", "81a2036101"),
            (Map, "81a20361d30000000000000001", "81a2036101"),
            (Map, "81d9020361cd0001", "81a2036101"),
            (Map, "81a20361ca3f800000", "81a20361ca3f800000"),
            (Map, "81c70003c0", "81c70003c0"),
            (Map, "81a2036181a2036e82c70011c0a2037801", "81a2036181a2036e82c70001c0a2037801"),
            (List, "dc000105", "9105"),
            (List, "91c40104", "91a104"),
            (List, "91d10100", "91cd0100"),
            (List, "92c7000201", "9101"),
            (List, "91c70001", "91c70001"),
            (List, "91d40100", "91d40100"),
            (List, "91a0", "91a0"),
        ] {
            assert_eq!(stored(kind, given), Ok(hex(kept)), "{given}");
        }
    }

    #[test]
    fn canonical_bytes_are_borrowed() {
        let list = hex("9601a20361a20462cb3ff8000000000000c0c3");
        assert!(matches!(stored_form(ParticleType::List, &list), Ok(Cow::Borrowed(_))));
    }

    #[test]
    fn what_is_no_list_or_map_is_refused() {
        use ParticleType::{List, Map};
        use Refused::*;
        for (kind, given, why) in [
            (List, "01", OtherType),
            (List, "80", OtherType),
            (Map, "90", OtherType),
            (List, "9201", Malformed(super::Malformed::Truncated)),
            (List, "9001", Malformed(super::Malformed::Trailing)),
            (List, "91c1", Malformed(super::Malformed::UnknownByte(0xc1))),
            (List, "91d4ff00", Marker),
            (Map, "81a20361d4ff01", Marker),
            (Map, "81d4ff0001", KeyType),
            (Map, "81a16101", KeyType),
            (Map, "81c001", KeyType),
            (Map, "818001", KeyType),
            (Map, "82a2036101a2036102", DuplicateKey),
            (Map, "8201010102", DuplicateKey),
            (Map, "820101d30000000000000001c0", DuplicateKey),
            (Map, "83c70001c0a2036201a2036102", Unsorted),
            (Map, "83c70001c0a2036101a2036102", DuplicateKey),
            (Map, "81a2036293c700010301", Unsorted),
            (List, "93c70001a2036201", Unsorted),
        ] {
            assert_eq!(stored(kind, given), Err(why), "{given}");
        }
    }

    #[test]
    fn nesting_ends_at_the_limit() {
        let nested = |depth: usize| [vec![0x91; depth - 1], vec![0x90]].concat();
        assert!(stored_form(ParticleType::List, &nested(DEPTH_MAX)).is_ok());
        assert_eq!(
            stored_form(ParticleType::List, &nested(DEPTH_MAX + 1)),
            Err(Refused::Malformed(Malformed::TooDeep))
        );
    }

    #[test]
    fn the_persist_flag_stays_in_the_store_and_out_of_replies() {
        let given = hex("83c70011c0a2036101a2036202");
        let kept = stored_form(ParticleType::Map, &given).unwrap();
        assert_eq!(*kept, given);
        assert_eq!(*reply_form(ParticleType::Map, &kept), hex("83c70001c0a2036101a2036202"));
        assert_eq!(*reply_form(ParticleType::List, &hex("93c700100102")), hex("920102"));
        assert_eq!(*reply_form(ParticleType::Blob, &hex("93c700100102")), hex("93c700100102"));
    }
}

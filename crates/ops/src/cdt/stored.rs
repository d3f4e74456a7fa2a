//! The form in which values are stored inside collections.
//!
//! What a client sends as an element is checked before it is kept: it is well formed and not too
//! deep, holds no wildcard or infinity, ordered lists in it are sorted, maps have valid keys, each
//! once. Unordered maps are kept sorted by key, so that every map can be searched.

use std::borrow::Cow;
use std::cmp::Ordering;

use cairn_value::limits::DEPTH_MAX;
use cairn_value::packed::{Head, Malformed, Reader, Token, flags, write};
use cairn_value::{Error, ParticleType, ResultCode};

use super::seq::compare;

/// True for a value that may be a map's key: integer, text or bytes.
pub fn is_key(value: &[u8]) -> bool {
    match Reader::new(value).token() {
        Ok(Token::Int(_)) => true,
        Ok(Token::Bytes(bytes)) => bytes.first() != Some(&ParticleType::GeoJson.wire()),
        _ => false,
    }
}

/// Checks a value that is to be stored in a collection and gives its stored form.
pub fn element(value: &[u8]) -> Result<Cow<'_, [u8]>, Error> {
    let mut reader = Reader::new(value);
    let form = stored(&mut reader, DEPTH_MAX)?;
    if reader.is_done() { Ok(form) } else { Err(Malformed::Trailing.into()) }
}

fn stored<'a>(reader: &mut Reader<'a>, depth_left: usize) -> Result<Cow<'a, [u8]>, Error> {
    let start = reader.position();
    match reader.token()? {
        Token::Ext(..) => Err(Error::new(
            ResultCode::Parameter,
            "wildcard and infinity only compare, they cannot be stored",
        )),
        Token::List(_) | Token::Map(_) => {
            let depth_left = depth_left.checked_sub(1).ok_or(Malformed::TooDeep)?;
            let head = Head::read(reader.bytes(), start)?.ok_or(Malformed::Truncated)?;
            *reader = Reader::at(reader.bytes(), head.body);
            if head.is_map {
                stored_map(reader, start, head, depth_left)
            } else {
                stored_list(reader, start, head, depth_left)
            }
        }
        _ => Ok(Cow::Borrowed(&reader.bytes()[start..reader.position()])),
    }
}

fn stored_list<'a>(
    reader: &mut Reader<'a>,
    start: usize,
    head: Head,
    depth_left: usize,
) -> Result<Cow<'a, [u8]>, Error> {
    let mut items = Vec::with_capacity(head.count as usize);
    for _ in 0..head.count {
        items.push(stored(reader, depth_left)?);
    }
    if head.flags & flags::ORDERED != 0 {
        for pair in items.windows(2) {
            if compare(&pair[0], &pair[1])? == Ordering::Greater {
                return Err(unsorted("list"));
            }
        }
    }
    let plain = head.flags & !flags::ORDERED == 0 && head.body - head.ext <= 3;
    if plain && items.iter().all(|item| matches!(item, Cow::Borrowed(_))) {
        return Ok(Cow::Borrowed(&reader.bytes()[start..reader.position()]));
    }
    let mut out = Vec::new();
    let ordered = head.flags & flags::ORDERED;
    write::list_head(&mut out, head.count + u32::from(ordered != 0));
    if ordered != 0 {
        write::flags_ext(&mut out, ordered);
    }
    items.iter().for_each(|item| out.extend_from_slice(item));
    Ok(Cow::Owned(out))
}

fn stored_map<'a>(
    reader: &mut Reader<'a>,
    start: usize,
    head: Head,
    depth_left: usize,
) -> Result<Cow<'a, [u8]>, Error> {
    let mut pairs = Vec::with_capacity(head.count as usize);
    for _ in 0..head.count {
        let key = reader.skip()?;
        if !is_key(key) {
            let text = "a map's key is an integer, text or bytes";
            return Err(Error::new(ResultCode::Parameter, text));
        }
        pairs.push((key, stored(reader, depth_left)?));
    }
    let mut sorted = true;
    for pair in pairs.windows(2) {
        sorted &= compare(pair[0].0, pair[1].0)? == Ordering::Less;
    }
    let order = head.flags & (flags::ORDERED | flags::VALUE_ORDERED);
    if !sorted {
        if order != 0 {
            return Err(unsorted("map"));
        }
        sort_by_value(&mut pairs, |pair| pair.0)?;
        for pair in pairs.windows(2) {
            if compare(pair[0].0, pair[1].0)? == Ordering::Equal {
                return Err(Error::new(ResultCode::Parameter, "a map holds each key once"));
            }
        }
    }
    let plain = head.flags == order && head.body - head.ext <= 4;
    if sorted && plain && pairs.iter().all(|(_, value)| matches!(value, Cow::Borrowed(_))) {
        return Ok(Cow::Borrowed(&reader.bytes()[start..reader.position()]));
    }
    let mut out = Vec::new();
    write::map_head(&mut out, head.count + u32::from(order != 0));
    if order != 0 {
        write::flags_ext(&mut out, order);
        write::nil(&mut out);
    }
    for (key, value) in &pairs {
        out.extend_from_slice(key);
        out.extend_from_slice(value);
    }
    Ok(Cow::Owned(out))
}

fn unsorted(what: &str) -> Error {
    let text = format!("a {what} that is flagged as ordered must come sorted");
    Error::new(ResultCode::Parameter, text)
}

/// The order in which packed values sort, as their places; equal ones keep their order.
///
/// A merge sort of our own: values from outside may hold wildcards, under which the order is not
/// total, and the standard library's sort may panic on such input.
pub fn sorted_order<V: AsRef<[u8]>>(values: &[V]) -> Result<Vec<usize>, Malformed> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    let mut merged = Vec::with_capacity(order.len());
    let mut width = 1;
    while width < order.len() {
        merged.clear();
        for run in order.chunks(2 * width) {
            let (mut left, mut right) = run.split_at(width.min(run.len()));
            while let (Some((&a, left_rest)), Some((&b, right_rest))) =
                (left.split_first(), right.split_first())
            {
                if compare(values[b].as_ref(), values[a].as_ref())? == Ordering::Less {
                    merged.push(b);
                    right = right_rest;
                } else {
                    merged.push(a);
                    left = left_rest;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        std::mem::swap(&mut order, &mut merged);
        width *= 2;
    }
    Ok(order)
}

/// Sorts things by the packed value that `value` gives for each; equal ones keep their order.
pub fn sort_by_value<T>(
    things: &mut Vec<T>,
    value: impl for<'t> Fn(&'t T) -> &'t [u8],
) -> Result<(), Malformed> {
    let values: Vec<&[u8]> = things.iter().map(value).collect();
    let order = sorted_order(&values)?;
    let mut slots: Vec<Option<T>> = things.drain(..).map(Some).collect();
    things.extend(order.into_iter().filter_map(|at| slots[at].take()));
    Ok(())
}

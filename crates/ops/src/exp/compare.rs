//! Comparisons, membership in a list, and the keys and values of a map.

use std::borrow::Cow;
use std::cmp::Ordering;

use cairn_value::order;
use cairn_value::packed::{Head, Malformed, Reader, flags, write};

use super::table::Code;
use super::val::Val;

/// eq, ne, gt, ge, lt, le.
pub(super) fn apply<'a>(code: Code, left: &Val<'_>, right: &Val<'_>) -> Val<'a> {
    let order = match (left, right) {
        (Val::Bool(x), Val::Bool(y)) => x.cmp(y),
        (Val::Int(x), Val::Int(y)) => x.cmp(y),
        (Val::Float(x), Val::Float(y)) => match x.partial_cmp(y) {
            Some(order) => order,
            None => return Val::Bool(code == Code::Ne),
        },
        (Val::Str(x), Val::Str(y)) | (Val::Blob(_, x), Val::Blob(_, y)) => x.cmp(y),
        (Val::List(x), Val::List(y)) => match order::compare(x, y) {
            Ok(order) => order,
            Err(_) => return Val::Unknown,
        },
        (Val::Map(x), Val::Map(y)) => match compare_maps(x, y) {
            Some(order) => order,
            None => return Val::Unknown,
        },
        (Val::Nil, Val::Nil) | (Val::Wildcard, Val::Wildcard) | (Val::Infinity, Val::Infinity) => {
            Ordering::Equal
        }
        _ => return Val::Unknown,
    };
    Val::Bool(match code {
        Code::Eq => order.is_eq(),
        Code::Ne => order.is_ne(),
        Code::Gt => order.is_gt(),
        Code::Ge => order.is_ge(),
        Code::Lt => order.is_lt(),
        _ => order.is_le(),
    })
}

/// Maps have an order only when both are kept in key order.
fn compare_maps(x: &[u8], y: &[u8]) -> Option<Ordering> {
    let is_ordered = |map: &[u8]| {
        Head::read(map, 0).ok().flatten().is_some_and(|head| head.flags & flags::ORDERED != 0)
    };
    if is_ordered(x) && is_ordered(y) { order::compare(x, y).ok() } else { None }
}

/// Whether a value is an element of a list.
pub(super) fn in_list<'a>(value: &Val<'_>, list: &Val<'_>) -> Val<'a> {
    let Val::List(list) = list else { return Val::Unknown };
    let mut packed = Vec::new();
    if !value.pack(&mut packed) {
        return Val::Unknown;
    }
    contains(list, &packed).map_or(Val::Unknown, Val::Bool)
}

fn contains(list: &[u8], packed: &[u8]) -> Result<bool, Malformed> {
    let head = Head::read(list, 0)?.ok_or(Malformed::Truncated)?;
    let mut reader = Reader::at(list, head.body);
    for _ in 0..head.count {
        if order::compare(reader.skip()?, packed)?.is_eq() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// map_keys and map_values.
pub(super) fn split_map<'a>(code: Code, map: &Val<'_>) -> Val<'a> {
    let Val::Map(map) = map else { return Val::Unknown };
    match half(map, code == Code::MapKeys) {
        Ok(list) => Val::List(Cow::Owned(list)),
        Err(_) => Val::Unknown,
    }
}

fn half(map: &[u8], keys: bool) -> Result<Vec<u8>, Malformed> {
    let head = Head::read(map, 0)?.ok_or(Malformed::Truncated)?;
    let mut reader = Reader::at(map, head.body);
    let mut list = Vec::new();
    write::list_head(&mut list, head.count);
    for _ in 0..head.count {
        let (key, value) = (reader.skip()?, reader.skip()?);
        list.extend_from_slice(if keys { key } else { value });
    }
    Ok(list)
}

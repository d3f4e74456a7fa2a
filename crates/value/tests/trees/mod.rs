//! Generated value trees and naive operations on them, shared by the tests.
#![allow(dead_code)]

use std::cmp::Ordering;

use cairn_value::Value;
use proptest::collection::vec;
use proptest::prelude::*;

fn scalar() -> impl Strategy<Value = Value> {
    let edge = prop_oneof![
        Just(0i64),
        Just(127),
        Just(128),
        Just(255),
        Just(256),
        Just(65_535),
        Just(65_536),
        Just(u32::MAX.into()),
        Just(i64::from(u32::MAX) + 1),
        Just(i64::MAX),
        Just(-1),
        Just(-32),
        Just(-33),
        Just(-128),
        Just(-129),
        Just(-32_768),
        Just(-32_769),
        Just(i32::MIN.into()),
        Just(i64::from(i32::MIN) - 1),
        Just(i64::MIN),
    ];
    prop_oneof![
        Just(Value::Nil),
        any::<bool>().prop_map(Value::Bool),
        edge.prop_map(Value::Int),
        any::<i64>().prop_map(Value::Int),
        (-1e300..1e300f64).prop_map(Value::Double),
        "[a-zé]{0,40}".prop_map(Value::String),
        vec(any::<u8>(), 0..40).prop_map(Value::Blob),
        Just(Value::Geo(r#"{"type":"Point","coordinates":[1,2]}"#.into())),
    ]
}

/// A scalar that may be a map key.
fn key() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-9..9i64).prop_map(Value::Int),
        "[ab]{0,2}".prop_map(Value::String),
        vec(0..3u8, 0..2).prop_map(Value::Blob),
    ]
}

/// Any value a bin may hold, valid as the store demands it.
pub fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 48, 8, |inner| {
        let items = vec(inner.clone(), 0..20);
        let pairs = vec((key(), inner), 0..20);
        prop_oneof![
            (items, any::<bool>()).prop_map(|(mut items, ordered)| {
                if ordered {
                    items.sort_by(compare);
                }
                Value::List { items, ordered }
            }),
            (pairs, any::<bool>()).prop_map(|(mut pairs, ordered)| {
                let mut seen: Vec<Value> = Vec::new();
                pairs.retain(|(key, _)| {
                    let first = !seen.contains(key);
                    seen.push(key.clone());
                    first
                });
                if ordered {
                    pairs.sort_by(|a, b| compare(&a.0, &b.0));
                }
                Value::Map { pairs, ordered }
            }),
        ]
    })
}

/// The tree as the store keeps it: the pairs of every map in the order of their keys.
pub fn kept(value: Value) -> Value {
    match value {
        Value::List { items, ordered } => {
            let mut items: Vec<_> = items.into_iter().map(kept).collect();
            if ordered {
                items.sort_by(compare);
            }
            Value::List { items, ordered }
        }
        Value::Map { pairs, ordered } => {
            let mut pairs: Vec<_> = pairs.into_iter().map(|(k, v)| (k, kept(v))).collect();
            pairs.sort_by(|a, b| compare(&a.0, &b.0));
            Value::Map { pairs, ordered }
        }
        scalar => scalar,
    }
}

/// Place of a type in the order among types.
fn rank(value: &Value) -> u8 {
    match value {
        Value::Nil => 0,
        Value::Bool(_) => 1,
        Value::Int(_) => 2,
        Value::String(_) => 3,
        Value::List { .. } => 4,
        Value::Map { .. } => 5,
        Value::Blob(_) | Value::Hll(_) => 6,
        Value::Double(_) => 7,
        Value::Geo(_) => 8,
    }
}

/// The order among values, spelled out on trees.
pub fn compare(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::Double(a), Value::Double(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
        (Value::String(a), Value::String(b)) | (Value::Geo(a), Value::Geo(b)) => {
            a.as_bytes().cmp(b.as_bytes())
        }
        (Value::Blob(a) | Value::Hll(a), Value::Blob(b) | Value::Hll(b)) => a.cmp(b),
        (Value::List { items: a, .. }, Value::List { items: b, .. }) => {
            let differing = a.iter().zip(b).map(|(a, b)| compare(a, b)).find(|o| o.is_ne());
            differing.unwrap_or(a.len().cmp(&b.len()))
        }
        (Value::Map { pairs: a, .. }, Value::Map { pairs: b, .. }) => {
            let by_pair = |(a, b): (&(Value, Value), &(Value, Value))| {
                compare(&a.0, &b.0).then_with(|| compare(&a.1, &b.1))
            };
            a.len().cmp(&b.len()).then_with(|| {
                a.iter().zip(b).map(by_pair).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
            })
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

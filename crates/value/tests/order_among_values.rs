//! The order among packed values: total, and the one that trees have.
#![allow(clippy::unwrap_used)]

mod trees;

use std::cmp::Ordering;

use cairn_value::Value;
use cairn_value::limits::DEPTH_MAX;
use cairn_value::order::{compare, compare_doubles, compare_next};
use cairn_value::packed::Reader;
use proptest::prelude::*;

fn packed(a: &Value, b: &Value) -> Ordering {
    compare(&a.to_packed(), &b.to_packed()).unwrap()
}

#[test]
fn types_stand_in_their_order() {
    let ascending = [
        Value::Nil,
        Value::Bool(true),
        Value::Int(9),
        Value::from("a"),
        Value::list([]),
        Value::map([]),
        Value::Blob(vec![]),
        Value::Double(0.0),
        Value::Geo("{}".into()),
    ];
    for pair in ascending.windows(2) {
        assert_eq!(packed(&pair[0], &pair[1]), Ordering::Less, "{pair:?}");
    }
}

#[test]
fn the_wildcard_equals_everything_and_infinity_is_above() {
    let (wildcard, infinity) = ([0xd4, 0xff, 0], [0xd4, 0xff, 1]);
    for value in [Value::Nil, Value::list([Value::Int(1)]), Value::Geo("{}".into())] {
        let bytes = value.to_packed();
        assert_eq!(compare(&wildcard, &bytes), Ok(Ordering::Equal));
        assert_eq!(compare(&bytes, &infinity), Ok(Ordering::Less));
    }
    // [1, *] takes part in every list that starts with 1.
    let prefix = [0x92, 1, 0xd4, 0xff, 0];
    assert_eq!(compare(&prefix, &[0x92, 1, 0x80]), Ok(Ordering::Equal));
}

#[test]
fn doubles_have_a_total_order() {
    assert_eq!(compare_doubles(f64::NAN, f64::NAN), Ordering::Equal);
    assert_eq!(compare_doubles(f64::NAN, f64::INFINITY), Ordering::Greater);
    assert_eq!(compare_doubles(-0.0, 0.0), Ordering::Equal);
}

#[test]
fn maps_inside_map_keys_cost_no_more_than_their_size() {
    // Two keys per level, each a map of the level below: 2^18 leaves.
    let mut bytes = vec![0x80];
    for _ in 0..18 {
        bytes = [&[0x82][..], &bytes, &[1], &bytes, &[1]].concat();
    }
    assert_eq!(compare(&bytes, &bytes), Ok(Ordering::Equal));
}

/// Bytes that start like a short scalar and may be cut off or go on behind it.
fn short() -> impl Strategy<Value = Vec<u8>> {
    let head = prop_oneof![0xa0..=0xa4u8, 0xcc..=0xce_u8, Just(0xd0), Just(0xc4), any::<u8>()];
    let rest = prop::collection::vec(prop_oneof![3..5u8, any::<u8>()], 0..7);
    (head, rest).prop_map(|(head, rest)| [vec![head], rest].concat())
}

proptest! {
    #[test]
    fn short_values_compare_like_all_others(a in short(), b in short()) {
        for (a, b) in [(&a, &b), (&a, &a)] {
            let (mut left, mut right) = (Reader::new(a), Reader::new(b));
            prop_assert_eq!(compare(a, b), compare_next(&mut left, &mut right, DEPTH_MAX));
        }
    }

    #[test]
    fn packed_values_compare_like_trees(a in trees::value(), b in trees::value()) {
        prop_assert_eq!(packed(&a, &b), trees::compare(&a, &b));
        prop_assert_eq!(packed(&b, &a), packed(&a, &b).reverse());
        prop_assert_eq!(packed(&a, &a), Ordering::Equal);
    }

    #[test]
    fn the_order_is_transitive(mut values in prop::collection::vec(trees::value(), 3)) {
        values.sort_by(packed);
        prop_assert_ne!(packed(&values[0], &values[1]), Ordering::Greater);
        prop_assert_ne!(packed(&values[1], &values[2]), Ordering::Greater);
        prop_assert_ne!(packed(&values[0], &values[2]), Ordering::Greater);
    }
}

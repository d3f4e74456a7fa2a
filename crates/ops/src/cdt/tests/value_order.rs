//! A map that keeps the order of its values does what a map that sorts them does.

use cairn_value::Value;
use proptest::collection::vec;
use proptest::prelude::*;

use super::{Bin, call, ints, seen};
use crate::Mode;
use crate::cdt::seq::{Place, Seq};
use crate::cdt::value_order::ValueOrder;
use crate::cdt::work;

const KEY_AND_VALUE_ORDERED: i64 = 3;
const WITH_INDEX: i64 = 0x10;

fn key() -> impl Strategy<Value = Value> {
    prop_oneof![(0..60i64).prop_map(Value::Int), "[a-c]{1,2}".prop_map(Value::String)]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        (0..9i64).prop_map(Value::Int),
        "[ab]{0,1}".prop_map(Value::String),
        vec(0..3i64, 0..2).prop_map(ints),
    ]
}

fn pairs() -> impl Strategy<Value = Value> {
    vec((key(), value()), 0..90).prop_map(|pairs| {
        let mut kept: Vec<(Value, Value)> = Vec::new();
        for (key, value) in pairs {
            if kept.iter().all(|(other, _)| *other != key) {
                kept.push((key, value));
            }
        }
        Value::map(kept)
    })
}

/// Code and arguments of an operation, and whether it reads.
fn operation() -> impl Strategy<Value = (i64, Vec<Value>, bool)> {
    let rank = || -5..9i64;
    let want = || prop_oneof![1..9i64, Just(13i64)].prop_map(Value::Int);
    prop_oneof![
        (key(), value()).prop_map(|(k, v)| (67, vec![k, v, 3.into()], false)),
        pairs().prop_map(|map| (68, vec![map, 3.into()], false)),
        (want(), key()).prop_map(|(w, k)| (76, vec![w, k], false)),
        (want(), rank(), 0..4i64).prop_map(|(w, r, c)| (87, vec![w, r.into(), c.into()], false)),
        (want(), value(), value()).prop_map(|(w, b, e)| (86, vec![w, b, e], false)),
        (want(), rank(), 0..5i64).prop_map(|(w, r, c)| (106, vec![w, r.into(), c.into()], true)),
        (want(), rank()).prop_map(|(w, r)| (100, vec![w, r.into()], true)),
        (want(), value(), value()).prop_map(|(w, b, e)| (105, vec![w, b, e], true)),
        (want(), value(), rank(), 0..5i64).prop_map(|(w, v, r, c)| (
            110,
            vec![w, v, r.into(), c.into()],
            true
        )),
        (want(), key(), value()).prop_map(|(w, k, v)| (103, vec![w, k, v], true)),
        (want(), rank(), 0..5i64).prop_map(|(w, r, c)| (104, vec![w, r.into(), c.into()], true)),
        Just((75, Vec::new(), false)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn kept_and_sorted_orders_answer_the_same(
        map in pairs(),
        operations in vec(operation(), 1..14),
    ) {
        let mut sorting = Bin::of(&map);
        sorting.modify(&call(64, &[KEY_AND_VALUE_ORDERED.into()])).unwrap();
        let mut keeping = Bin::of(&map);
        let order = KEY_AND_VALUE_ORDERED | WITH_INDEX;
        keeping.modify(&call(64, &[order.into()])).unwrap();
        for (code, arguments, reads) in operations {
            let mode = if reads { Mode::Read } else { Mode::Modify };
            let call = call(code, &arguments);
            let expected = sorting.run(&call, mode).map_err(|error| error.code);
            let got = keeping.run(&call, mode).map_err(|error| error.code);
            prop_assert_eq!(got.map(seen), expected.map(seen), "{} {:?}", code, arguments);
            prop_assert_eq!(keeping.seen(), sorting.seen(), "{} {:?}", code, arguments);
            let seq = Seq::read(&keeping.bytes, 0, Place::Top).unwrap().unwrap();
            let order = ValueOrder::of(&seq).unwrap().expect("the order is kept");
            for rank in 0..seq.len() {
                let index = order.index_of(rank).unwrap();
                prop_assert_eq!(order.rank_of(seq.pair(index).unwrap()), Ok(rank));
            }
        }
    }
}

#[test]
fn a_page_by_rank_and_a_put_do_not_sort_the_map() {
    println!("   pairs  operation    decoded compared  entries    moved");
    for len in [10i64, 1_000, 100_000] {
        let mut bin = Bin::of(&Value::map((0..len).map(|n| (n.into(), (n * 7_919 % len).into()))));
        bin.modify(&call(64, &[(KEY_AND_VALUE_ORDERED | WITH_INDEX).into()])).unwrap();
        work::take();
        let page = bin.read(&call(106, &[7.into(), (len / 2).into(), 10.into()])).unwrap();
        let paged = work::take();
        let first = len / 2;
        assert_eq!(seen(page), Some(ints(first..(first + 10).min(len))));
        bin.modify(&call(67, &[(len / 2).into(), (len / 3).into(), 3.into()])).unwrap();
        let put = work::take();
        for (name, w) in [("page of 10", paged), ("put", put)] {
            println!(
                "{len:>8}  {name:<12} {:>7} {:>8} {:>8} {:>8}",
                w.decoded, w.compared, w.entries, w.moved
            );
        }
        let logarithm = (len as f64).log2().ceil() as u64 + 2;
        assert!(paged.compared <= 12 * (logarithm + 1), "{paged:?}");
        assert!(put.compared <= 4 * logarithm * (logarithm + 3), "{put:?}");
        assert!(put.moved <= 160, "{put:?}");
    }
}

#[test]
fn a_nested_change_moves_its_pair_to_where_the_value_sorts() {
    let map = Value::map((0..50).map(|n| (n.into(), ints([n]))));
    let mut bin = Bin::of(&map);
    bin.modify(&call(64, &[(KEY_AND_VALUE_ORDERED | WITH_INDEX).into()])).unwrap();
    let nested = super::in_context(&[(0x22, 7.into())], &call(9, &[0.into(), 999.into()]));
    bin.modify(&nested).unwrap();
    let last = bin.read(&call(100, &[6.into(), (-1).into()])).unwrap();
    assert_eq!(seen(last), Some(7.into()));
    let first = bin.read(&call(106, &[6.into(), 6.into(), 2.into()])).unwrap();
    assert_eq!(seen(first), Some(ints([6, 8])));
}

//! Contexts: which element they reach, what they create, how nested changes reach outwards.

use cairn_value::{ResultCode, Value};

use super::{Bin, call, in_context, ints, seen};
use crate::cdt::seq::{Place, Seq};

fn size(steps: &[(i64, Value)], bin: &Value) -> Result<Option<Value>, ResultCode> {
    let call = in_context(steps, &call(16, &[]));
    Bin::of(bin).read(&call).map(seen).map_err(|error| error.code)
}

#[test]
fn every_kind_of_step_reaches_its_element() {
    let list = Value::list([ints([9, 9]), ints([1, 1, 1]), ints([5])]);
    for (kind, value, expected) in [
        (0x10, Value::Int(1), 3),
        (0x10, Value::Int(-1), 1),
        (0x11, Value::Int(0), 3),
        (0x11, Value::Int(-1), 2),
        (0x13, ints([5]), 1),
    ] {
        assert_eq!(size(&[(kind, value)], &list), Ok(Some(expected.into())), "{kind:#x}");
    }
    let map = Value::map([
        ("a".into(), ints([9, 9])),
        ("b".into(), ints([1, 1, 1])),
        ("c".into(), ints([5])),
    ]);
    for (kind, value, expected) in [
        (0x20, Value::Int(1), 3),
        (0x21, Value::Int(-1), 2),
        (0x22, Value::from("c"), 1),
        (0x23, ints([9, 9]), 2),
    ] {
        assert_eq!(size(&[(kind, value)], &map), Ok(Some(expected.into())), "{kind:#x}");
    }
}

#[test]
fn steps_that_do_not_fit_say_so() {
    let list = Value::list([ints([1]), 7.into()]);
    assert_eq!(size(&[(0x10, 5.into())], &list), Err(ResultCode::OpNotApplicable));
    assert_eq!(size(&[(0x22, "a".into())], &list), Err(ResultCode::OpNotApplicable));
    assert_eq!(size(&[(0x10, 1.into())], &list), Err(ResultCode::BinType));
    assert_eq!(size(&[(0x10, 0.into())], &"text".into()), Err(ResultCode::Parameter));
    assert_eq!(size(&[], &list), Err(ResultCode::Parameter));
}

#[test]
fn contexts_are_bounded_in_depth() {
    let steps: Vec<(i64, Value)> = (0..65).map(|_| (0x50, 0.into())).collect();
    let refused = Bin::default().modify(&in_context(&steps, &call(1, &[1.into()]))).unwrap_err();
    assert_eq!(refused.code, ResultCode::Parameter);
}

#[test]
fn an_element_of_an_ordered_list_moves_to_where_it_sorts() {
    let mut bin = Bin::of(&Value::list([ints([1]), ints([2]), ints([3])]));
    bin.modify(&call(0, &[0x11.into()])).unwrap();
    bin.modify(&in_context(&[(0x10, 0.into())], &call(9, &[0.into(), 9.into()]))).unwrap();
    let items = vec![ints([2]), ints([3]), ints([9])];
    assert_eq!(bin.seen(), Value::List { items, ordered: true });
    bin.modify(&in_context(&[(0x10, 2.into())], &call(9, &[0.into(), 0.into()]))).unwrap();
    let items = vec![ints([0]), ints([2]), ints([3])];
    assert_eq!(bin.seen(), Value::List { items, ordered: true });
    assert!(Seq::read(&bin.bytes, 0, Place::Top).unwrap().unwrap().index().is_some());
}

#[test]
fn a_nested_change_keeps_the_outer_index_true() {
    let mut bin = Bin::of(&Value::list((0..200).map(|n| ints([n]))));
    bin.modify(&call(0, &[0x10.into()])).unwrap();
    for at in [0, 31, 32, 199, 150] {
        let text = "x".repeat(40).as_str().into();
        bin.modify(&in_context(&[(0x10, at.into())], &call(1, &[text]))).unwrap();
        let seq = Seq::read(&bin.bytes, 0, Place::Top).unwrap().unwrap();
        assert!(seq.index().is_some());
        let walked = seq.elements().unwrap();
        for (i, element) in walked.iter().enumerate() {
            assert_eq!(seq.element(i as u32).unwrap(), *element);
        }
    }
}

#[test]
fn a_way_that_is_missing_is_created_level_by_level() {
    let steps = [(0xa2, "a".into()), (0x62, "b".into()), (0x90, 2.into())];
    let mut bin = Bin::default();
    bin.modify(&in_context(&steps, &call(1, &["v".into()]))).unwrap();
    let list = Value::list([Value::Nil, Value::Nil, Value::list(["v".into()])]);
    let inner = Value::Map { pairs: vec![("b".into(), list)], ordered: false };
    assert_eq!(bin.seen(), Value::map([("a".into(), inner)]));
}

//! Changes are small edits, wherever they happen.

use cairn_value::Value;

use super::{Bin, ENV, call, in_context, ints};
use crate::cdt::work;
use crate::{Effect, Mode, cdt};

fn edits_of(bin: &Bin, call: &[u8]) -> cairn_value::Edits {
    match cdt::apply(call, bin.particle(), Mode::Modify, &ENV).unwrap().effect {
        Effect::Edit { edits, .. } => edits,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_append_to_a_long_unordered_list_decodes_nothing() {
    let bin = Bin::of(&ints(0..10_000));
    work::take();
    let edits = edits_of(&bin, &call(1, &[Value::Int(7)]));
    let work = work::take();
    assert_eq!((work.decoded, work.compared), (0, 0));
    assert!(edits.inserted_len() <= 3, "{edits:?}");
    let mut appended = bin.clone();
    appended.bytes = edits.apply(&bin.bytes);
    assert_eq!(appended.seen(), ints((0..10_000).chain([7])));
}

#[test]
fn a_removal_moves_no_bytes_but_the_count() {
    let bin = Bin::of(&ints(0..10_000));
    let edits = edits_of(&bin, &call(7, &[Value::Int(5_000)]));
    assert!(edits.inserted_len() <= 3, "{edits:?}");
}

#[test]
fn a_nested_append_edits_the_nested_list_alone() {
    let mut items: Vec<Value> = (0..1_000).map(Value::Int).collect();
    items[500] = ints(0..1_000);
    let bin = Bin::of(&Value::list(items));
    let edits = edits_of(&bin, &in_context(&[(0x10, 500.into())], &call(1, &[Value::Int(7)])));
    assert!(edits.inserted_len() <= 3, "{edits:?}");
    assert!(edits.iter().count() <= 2, "{edits:?}");
}

#[test]
fn an_absent_bin_is_created_whole() {
    let applied = cdt::apply(&call(1, &[Value::Int(7)]), None, Mode::Modify, &ENV).unwrap();
    let Effect::Whole(kind, bytes) = applied.effect else { panic!() };
    assert_eq!((kind, bytes), (cairn_value::ParticleType::List, vec![0x91, 7]));
}

#[test]
fn reading_from_the_front_walks_no_further_than_asked() {
    let mut bin = Bin::of(&ints(0..10_000));
    work::take();
    bin.read(&call(17, &[Value::Int(9)])).unwrap();
    assert!(work::take().decoded <= 10);
    bin.read(&call(18, &[Value::Int(20), Value::Int(10)])).unwrap();
    assert!(work::take().decoded <= 30);
}

//! Single cases of list operations, among them two that stop other servers.

use cairn_value::{ResultCode, Value};

use super::{Bin, call, in_context, ints, seen};
use crate::Mode;
use crate::cdt::list::TABLE;

#[test]
fn codes_stand_once_and_in_order_and_every_row_runs() {
    assert!(TABLE.windows(2).all(|pair| pair[0].code < pair[1].code));
    for row in TABLE {
        assert!(row.required <= row.args.len(), "{}", row.name);
        let arguments: Vec<Value> = row
            .args
            .iter()
            .take(row.required)
            .map(|kind| match kind {
                crate::cdt::Kind::List => ints([1]),
                _ => Value::Int(0),
            })
            .collect();
        let mut bin = Bin::of(&ints([3, 1, 2]));
        let mode = row.access.mode();
        bin.run(&call(row.code.into(), &arguments), mode)
            .unwrap_or_else(|e| panic!("{}: {e}", row.name));
        let other = if mode == Mode::Read { Mode::Modify } else { Mode::Read };
        let refused = bin.run(&call(row.code.into(), &arguments), other).unwrap_err();
        assert_eq!(refused.code, ResultCode::Parameter, "{}", row.name);
    }
}

#[test]
fn sort_drops_duplicates_of_an_ordered_list_with_an_index() {
    let mut bin = Bin::of(&ints([5, 1, 3, 3, 1, 9]));
    bin.modify(&call(0, &[0x11.into()])).unwrap();
    bin.modify(&call(13, &[2.into()])).unwrap();
    let expected = Value::List { items: [1, 3, 5, 9].map(Value::Int).to_vec(), ordered: true };
    assert_eq!(bin.seen(), expected);
    let page = bin.read(&call(24, &[7.into(), 1.into(), 2.into()])).unwrap();
    assert_eq!(seen(page), Some(ints([3, 5])));
}

#[test]
fn a_padding_context_at_the_last_index_creates_the_first_element() {
    let mut bin = Bin::default();
    bin.modify(&in_context(&[(0x90, (-1).into())], &call(1, &[7.into()]))).unwrap();
    assert_eq!(bin.seen(), Value::list([ints([7])]));
}

#[test]
fn padding_is_bounded() {
    for (code, arguments) in [
        (3, [i64::MAX.into(), 1.into()]),
        (9, [(1i64 << 40).into(), 1.into()]),
        (12, [i64::MAX.into(), 1.into()]),
    ] {
        let mut bin = Bin::of(&ints([1]));
        let refused = bin.modify(&call(code, &arguments)).unwrap_err();
        assert_eq!(refused.code, ResultCode::RecordTooBig);
    }
    let deep = in_context(&[(0x90, i64::MAX.into())], &call(1, &[7.into()]));
    assert_eq!(Bin::default().modify(&deep).unwrap_err().code, ResultCode::RecordTooBig);
}

#[test]
fn the_raw_form_of_old_clients_is_understood() {
    let mut bin = Bin::of(&ints([4, 5]));
    assert_eq!(seen(bin.read(&[0x00, 16]).unwrap()), Some(2.into()));
    assert_eq!(seen(bin.read(&[0x00, 17, 0x91, 1]).unwrap()), Some(5.into()));
    assert_eq!(seen(bin.modify(&[0x00, 1, 0x91, 6]).unwrap()), Some(3.into()));
    assert_eq!(bin.seen(), ints([4, 5, 6]));
}

#[test]
fn what_is_stored_is_what_a_map_needs() {
    let mut bin = Bin::default();
    let unsorted =
        Value::Map { pairs: vec![(2.into(), 0.into()), (1.into(), 0.into())], ordered: false };
    bin.modify(&call(1, &[unsorted])).unwrap();
    let sorted =
        Value::Map { pairs: vec![(1.into(), 0.into()), (2.into(), 0.into())], ordered: false };
    assert_eq!(bin.seen(), Value::list([sorted]));
}

#[test]
fn repeated_wildcards_do_not_blow_up_the_answer() {
    let mut bin = Bin::of(&ints(0..10_000));
    bin.modify(&call(0, &[1.into()])).unwrap();
    // get_by_value_list(value, [wildcard; 10,000])
    let mut packed = vec![0x93, 23, 7, 0xdc, 0x27, 0x10];
    (0..10_000).for_each(|_| packed.extend_from_slice(&[0xd4, 0xff, 0x00]));
    assert_eq!(bin.read(&packed).unwrap_err().code, ResultCode::RecordTooBig);
}

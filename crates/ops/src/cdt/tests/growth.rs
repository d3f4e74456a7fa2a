//! How work grows with the size of a list that has a persisted index.

use cairn_value::Value;

use super::{Bin, call, ints};
use crate::cdt::persist::{GROUP_MAX, LEAF_MAX};
use crate::cdt::seq::{Place, Seq};
use crate::cdt::work::{self, Work};

const ORDERED_WITH_INDEX: i64 = 0x11;
const ADD_UNIQUE_NO_FAIL: i64 = 1 | 4;

/// An ordered list of `len` even numbers with a persisted index.
fn followers(len: i64) -> Bin {
    let mut bin = Bin::of(&ints((0..len).map(|n| 2 * n)));
    bin.modify(&call(0, &[ORDERED_WITH_INDEX.into()])).unwrap();
    assert!(Seq::read(&bin.bytes, 0, Place::Top).unwrap().unwrap().index().is_some());
    bin
}

fn page(bin: &mut Bin, len: i64) -> Work {
    let page = call(24, &[7.into(), (len / 2).into(), 10.into()]);
    work::take();
    let reply = bin.read(&page).unwrap();
    let work = work::take();
    let first = len / 2;
    let expected = ints((first..(first + 10).min(len)).map(|n| 2 * n));
    assert_eq!(super::seen(reply), Some(expected));
    work
}

fn insert(bin: &mut Bin, value: i64) -> Work {
    let append = call(1, &[value.into(), 1.into(), ADD_UNIQUE_NO_FAIL.into()]);
    work::take();
    bin.modify(&append).unwrap();
    work::take()
}

#[test]
fn a_page_costs_its_elements_and_a_unique_insert_the_logarithm() {
    println!("elements  operation    decoded compared  entries    moved");
    for len in [10, 1_000, 100_000] {
        let mut bin = followers(len);
        let index_bytes = bin.bytes.len();
        let show = |name: &str, w: Work| {
            println!(
                "{len:>8}  {name:<12} {:>7} {:>8} {:>8} {:>8}",
                w.decoded, w.compared, w.entries, w.moved
            );
        };
        let paged = page(&mut bin, len);
        show("page of 10", paged);
        assert!(paged.decoded <= 10 + u64::from(LEAF_MAX), "{paged:?}");
        assert_eq!((paged.compared, paged.moved), (0, 0));

        // Two searches: one asks whether the value is there, one where it goes.
        let logarithm = (len as f64).log2().ceil() as u64 + 2;
        for (name, value) in [("new", len + 1), ("first", -1), ("last", 2 * len + 1)] {
            let inserted = insert(&mut bin, value);
            show(name, inserted);
            assert!(inserted.compared <= 2 * logarithm + 2, "{inserted:?}");
            assert!(inserted.decoded <= 4 * (u64::from(LEAF_MAX) + logarithm), "{inserted:?}");
            assert!(inserted.moved <= 64, "{inserted:?}");
        }
        let double = insert(&mut bin, len + 1);
        show("there before", double);
        assert_eq!(double.moved, 0);
        assert!(bin.bytes.len() < index_bytes + 100);
    }
}

#[test]
fn the_index_stays_small_and_true_under_random_inserts() {
    let mut bin = followers(0);
    let mut value = 1u64;
    for _ in 0..5_000 {
        value = value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
        let work = insert(&mut bin, (value >> 40) as i64);
        assert!(work.moved <= 2_000, "{work:?}");
    }
    let seq = Seq::read(&bin.bytes, 0, Place::Top).unwrap().unwrap();
    let index_size = seq.head().body - seq.head().ext;
    assert!(index_size < seq.len() as usize, "{index_size} bytes for {} elements", seq.len());
    let elements = seq.elements().unwrap();
    for (i, element) in elements.iter().enumerate() {
        assert_eq!(seq.element(i as u32).unwrap(), *element);
    }
}

#[test]
fn a_page_of_a_map_with_an_index_costs_its_pairs() {
    let pairs = (0..100_000).map(|n| (Value::Int(n), Value::Int(n)));
    let bin = Bin::of(&Value::map(pairs));
    let seq = Seq::read(&bin.bytes, 0, Place::Top).unwrap().unwrap();
    let change = crate::cdt::Change { flags: 0x11, splices: Vec::new() };
    let bytes = change.edits(&seq).unwrap().apply(&bin.bytes);
    let seq = Seq::read(&bytes, 0, Place::Top).unwrap().unwrap();
    work::take();
    let page = seq.range(70_000, 70_010).unwrap();
    let paged = work::take();
    assert!(paged.decoded <= 10 + u64::from(LEAF_MAX), "{paged:?}");
    assert_eq!(page, bin.range_of_pairs(70_000, 70_010));

    // A page of keys and values, pair by pair: the entries are added up once for all of them.
    let mut indexed = Bin { kind: bin.kind, bytes: bytes.clone() };
    work::take();
    indexed.read(&call(104, &[8.into(), 70_000.into(), 10.into()])).unwrap();
    let listed = work::take();
    assert!(listed.decoded <= 10 + u64::from(LEAF_MAX), "{listed:?}");
    let groups = 100_000u64.div_ceil(u64::from(LEAF_MAX) * GROUP_MAX as u64);
    assert!(listed.entries <= 2 * groups + GROUP_MAX as u64, "{listed:?}");
    let found = seq.find_key(&Value::Int(70_005).to_packed()).unwrap();
    assert_eq!(found, Ok(70_005));
    let work = work::take();
    assert!(work.compared <= 20, "{work:?}");
}

impl Bin {
    fn range_of_pairs(&self, from: i64, to: i64) -> Vec<u8> {
        let mut out = Vec::new();
        (from..to).for_each(|n| {
            Value::Int(n).pack(&mut out);
            Value::Int(n).pack(&mut out);
        });
        out
    }
}

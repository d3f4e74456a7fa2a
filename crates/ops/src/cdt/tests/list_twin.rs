//! The packed list operations against their naive twin, over generated lists and sequences of
//! operations: at the top of a bin and nested, ordered or not, with a persisted index or without.

use cairn_value::{ResultCode, Value};
use proptest::collection::vec;
use proptest::prelude::*;

use super::twin::{Selector, Twin};
use super::{Bin, call, in_context, ints, seen};
use crate::cdt::seq::{Place, Seq};

#[derive(Clone, Debug)]
enum Step {
    Append(Vec<Value>, i64),
    Insert(i64, Vec<Value>, i64),
    Set(i64, Value),
    Pop(i64),
    Trim(i64, i64),
    Increment(i64, i64),
    Sort(i64),
    SetType(i64),
    Clear,
    Read(Selector, bool, i64),
    Remove(Selector, bool, i64),
}

fn element() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => (-3..4i64).prop_map(Value::Int),
        1 => Just(Value::Int(70_000)),
        1 => Just(Value::Nil),
        1 => any::<bool>().prop_map(Value::Bool),
        2 => "[ab]{0,2}".prop_map(Value::String),
        1 => (0..3).prop_map(|n| Value::Double(f64::from(n) / 2.0)),
        1 => vec(0..3i64, 0..3).prop_map(ints),
        1 => (0..2i64).prop_map(|n| Value::map([(n.into(), n.into())])),
    ]
}

fn count() -> impl Strategy<Value = Option<i64>> {
    prop_oneof![Just(None), (0..6i64).prop_map(Some), Just(Some(i64::MAX)), Just(Some(-1))]
}

fn place() -> impl Strategy<Value = i64> {
    prop_oneof![8 => -9..9i64, 1 => Just(i64::MAX), 1 => Just(-1_000)]
}

fn selector() -> impl Strategy<Value = Selector> {
    prop_oneof![
        (place(), count()).prop_map(|(at, count)| Selector::Index(at, count)),
        (place(), count()).prop_map(|(at, count)| Selector::Rank(at, count)),
        (element(), proptest::option::of(element()))
            .prop_map(|(begin, end)| Selector::Interval(begin, end)),
        element().prop_map(Selector::Value),
        vec(element(), 0..4).prop_map(Selector::Values),
        (element(), -4..5i64, count())
            .prop_map(|(value, rank, count)| Selector::RelativeRank(value, rank, count)),
    ]
}

fn want() -> impl Strategy<Value = i64> {
    prop_oneof![0..6i64, Just(7), Just(13)]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (vec(element(), 0..40), 0..16i64).prop_map(|(values, flags)| Step::Append(values, flags)),
        2 => (-4..12i64, vec(element(), 0..4), 0..16i64)
            .prop_map(|(at, values, flags)| Step::Insert(at, values, flags)),
        1 => (-4..12i64, element()).prop_map(|(at, value)| Step::Set(at, value)),
        1 => (-4..12i64).prop_map(Step::Pop),
        1 => (-4..8i64, 0..60i64).prop_map(|(at, count)| Step::Trim(at, count)),
        1 => (-4..8i64, -3..4i64).prop_map(|(at, by)| Step::Increment(at, by)),
        1 => (0..4i64).prop_map(Step::Sort),
        1 => prop_oneof![Just(0i64), Just(1), Just(16), Just(17)].prop_map(Step::SetType),
        1 => Just(Step::Clear),
        6 => (selector(), any::<bool>(), want()).prop_map(|(s, i, w)| Step::Read(s, i, w)),
        3 => (selector(), any::<bool>(), want()).prop_map(|(s, i, w)| Step::Remove(s, i, w)),
    ]
}

impl Step {
    fn call(&self) -> Vec<u8> {
        match self {
            Step::Append(values, flags) => {
                call(2, &[Value::list(values.clone()), 0.into(), (*flags).into()])
            }
            Step::Insert(at, values, flags) => {
                call(4, &[(*at).into(), Value::list(values.clone()), (*flags).into()])
            }
            Step::Set(at, value) => call(9, &[(*at).into(), value.clone()]),
            Step::Pop(at) => call(5, &[(*at).into()]),
            Step::Trim(at, count) => call(10, &[(*at).into(), (*count).into()]),
            Step::Increment(at, by) => call(12, &[(*at).into(), (*by).into()]),
            Step::Sort(flags) => call(13, &[(*flags).into()]),
            Step::SetType(order) => call(0, &[(*order).into()]),
            Step::Clear => call(11, &[]),
            Step::Read(selector, inverted, want) => {
                selection(selector.read_code(), selector, *inverted, *want)
            }
            Step::Remove(selector, inverted, want) => {
                selection(selector.remove_code(), selector, *inverted, *want)
            }
        }
    }

    fn is_read(&self) -> bool {
        matches!(self, Step::Read(..))
    }
}

fn selection(code: i64, selector: &Selector, inverted: bool, want: i64) -> Vec<u8> {
    let mut arguments = vec![Value::Int(want | if inverted { 0x1_0000 } else { 0 })];
    arguments.extend(selector.arguments());
    call(code, &arguments)
}

/// What the twin answers; `Err(None)` when equal elements leave the outcome open.
fn naive(twin: &mut Twin, step: &Step) -> Result<Option<Value>, Option<ResultCode>> {
    let len = twin.items.len() as i64;
    let index = |at: i64| {
        let at = if at < 0 { at + len } else { at };
        (0..len).contains(&at).then_some(at as usize)
    };
    let outside = Err(Some(ResultCode::OpNotApplicable));
    match step {
        Step::Append(values, flags) => twin.add(None, values, *flags).map(Some).map_err(Some),
        Step::Insert(at, values, flags) => {
            twin.add(Some(*at), values, *flags).map(Some).map_err(Some)
        }
        Step::Set(..) if twin.ordered => outside,
        Step::Set(at, _) if *at < -len => outside,
        Step::Set(at, value) => {
            match index(*at) {
                Some(at) => twin.items[at] = value.clone(),
                None => {
                    twin.items.resize(*at as usize, Value::Nil);
                    twin.items.push(value.clone());
                }
            }
            Ok(None)
        }
        Step::Pop(at) => match index(*at) {
            Some(at) => Ok(Some(twin.items.remove(at))),
            None => outside,
        },
        Step::Trim(at, count) => {
            let kept = twin.select(&Selector::Index(*at, Some(*count))).indexes;
            let gone: Vec<usize> = (0..twin.items.len()).filter(|i| !kept.contains(i)).collect();
            twin.remove(&gone);
            Ok(Some(Value::Int(gone.len() as i64)))
        }
        Step::Increment(at, by) => {
            let new = match index(*at) {
                None if *at < 0 || twin.ordered => return outside,
                None => Value::Int(*by),
                Some(at) => match &twin.items[at] {
                    Value::Int(old) => Value::Int(old + by),
                    Value::Double(old) => Value::Double(old + *by as f64),
                    _ => return Err(Some(ResultCode::Parameter)),
                },
            };
            match index(*at) {
                Some(at) => twin.items[at] = new.clone(),
                None => {
                    twin.items.resize(*at as usize, Value::Nil);
                    twin.items.push(new.clone());
                }
            }
            if twin.ordered {
                twin.sort();
            }
            Ok(Some(new))
        }
        Step::Sort(3) => Err(Some(ResultCode::Parameter)),
        Step::Sort(flags) => {
            twin.sort();
            if flags & 2 != 0 {
                twin.items.dedup_by(|a, b| a.order(b).is_eq());
            }
            if flags & 1 != 0 && !twin.ordered {
                twin.items.reverse();
            }
            Ok(None)
        }
        Step::SetType(order) => {
            twin.ordered = order & 1 != 0;
            if twin.ordered {
                twin.sort();
            }
            Ok(None)
        }
        Step::Clear => {
            twin.items.clear();
            Ok(None)
        }
        Step::Read(selector, inverted, want) => {
            if twin.select(selector).ambiguous && !twin.ordered && matches!(want, 1 | 2 | 7) {
                return Err(None);
            }
            Ok(Some(twin.answer(selector, *inverted, *want).unwrap_or(Value::Nil)))
        }
        Step::Remove(selector, inverted, want) => {
            let selected = twin.select(selector);
            if selected.ambiguous && !twin.ordered {
                return Err(None);
            }
            let answer = twin.answer(selector, *inverted, *want);
            let gone: Vec<usize> = (0..twin.items.len())
                .filter(|i| selected.indexes.contains(i) != *inverted)
                .collect();
            twin.remove(&gone);
            Ok(answer)
        }
    }
}

fn compare(
    step: &Step,
    got: Result<Option<Value>, ResultCode>,
    expected: Result<Option<Value>, ResultCode>,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(got, expected, "{:?}", step);
    Ok(())
}

/// The index, where there is one, finds every element where walking finds it.
fn check_index(bin: &Bin) -> Result<(), TestCaseError> {
    let seq = Seq::read(&bin.bytes, 0, Place::Top).unwrap().unwrap();
    prop_assert_eq!(seq.flags() & 0x10 != 0, seq.index().is_some());
    for (i, element) in seq.elements().unwrap().into_iter().enumerate() {
        prop_assert_eq!(seq.element(i as u32), Ok(element));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn operations_on_a_bin_do_what_the_twin_does(
        items in vec(element(), 0..70),
        order in prop_oneof![Just(0i64), Just(1), Just(16), Just(17)],
        steps in vec(step(), 1..12),
    ) {
        let mut twin = Twin { items: items.clone(), ordered: false };
        let mut bin = Bin::of(&twin.value());
        bin.modify(&call(0, &[order.into()])).unwrap();
        naive(&mut twin, &Step::SetType(order)).unwrap();
        for step in &steps {
            let mode = if step.is_read() { crate::Mode::Read } else { crate::Mode::Modify };
            let before = bin.clone();
            let got = bin.run(&step.call(), mode).map(seen).map_err(|error| error.code);
            match naive(&mut twin, step) {
                Err(None) => {
                    // Which of equal elements went is open; the twin goes on from what is there.
                    let Value::List { items, .. } = bin.seen() else { panic!() };
                    twin.items = items;
                }
                Ok(expected) => compare(step, got, Ok(expected))?,
                Err(Some(code)) => {
                    compare(step, got, Err(code))?;
                    prop_assert_eq!(&bin.bytes, &before.bytes);
                }
            }
            prop_assert_eq!(bin.seen(), twin.value(), "{:?}", step);
            check_index(&bin)?;
        }
    }

    #[test]
    fn operations_in_a_context_do_the_same_inside(
        items in vec(element(), 0..20),
        ordered in any::<bool>(),
        steps in vec(step(), 1..8),
        outer_index in any::<bool>(),
    ) {
        let mut twin = Twin { items, ordered: false };
        if ordered {
            twin.ordered = true;
            twin.sort();
        }
        let outer = |inner: Value| {
            let map = Value::map([("k".into(), inner), ("z".into(), 5.into())]);
            Value::list([1.into(), map, "behind".into()])
        };
        let mut bin = Bin::of(&outer(twin.value()));
        if outer_index {
            bin.modify(&call(0, &[16.into()])).unwrap();
        }
        for step in &steps {
            let mode = if step.is_read() { crate::Mode::Read } else { crate::Mode::Modify };
            let call = in_context(&[(0x10, (-2).into()), (0x22, "k".into())], &step.call());
            let got = bin.run(&call, mode).map(seen).map_err(|error| error.code);
            match naive(&mut twin, step) {
                Err(None) => return Ok(()),
                Ok(expected) => compare(step, got, Ok(expected))?,
                Err(Some(code)) => compare(step, got, Err(code))?,
            }
            prop_assert_eq!(bin.seen(), outer(twin.value()), "{:?}", step);
            check_index(&bin)?;
        }
    }
}

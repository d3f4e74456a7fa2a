//! The twin is a sorted `Vec` of pairs of trees.

use std::cmp::Ordering;

use cairn_value::{Particle, ParticleType, ResultCode, Value, collection};
use proptest::prelude::*;

use super::TABLE;
use crate::cdt::{Access, apply, work};
use crate::{Applied, Effect, Env, Mode, hostile};

const ENV: Env = Env { now_ns: 0 };
const INVERTED: i64 = 0x1_0000;

fn call(code: i64, args: impl IntoIterator<Item = Value>) -> Vec<u8> {
    Value::list(std::iter::once(Value::Int(code)).chain(args)).to_packed()
}

fn mode_of(code: i64) -> Mode {
    let row = TABLE.iter().find(|row| i64::from(row.code) == code).unwrap();
    if row.access == Access::Read { Mode::Read } else { Mode::Modify }
}

/// Runs an operation: the new bytes (the old ones when nothing changes) and the answer.
fn run(code: i64, args: Vec<Value>, bin: &[u8]) -> Result<(Vec<u8>, Option<Value>), ResultCode> {
    let particle = Particle::new(ParticleType::Map, bin);
    let call = call(code, args);
    let done = apply(&call, Some(particle), mode_of(code), &ENV).map_err(|error| error.code)?;
    let bytes = match done.effect {
        Effect::None => bin.to_vec(),
        Effect::Edit { edits, .. } => edits.apply(bin),
        other => panic!("a map changes by edits, not {other:?}"),
    };
    let answer =
        |reply: &crate::Reply| Value::from_particle(Particle::new(reply.kind, &reply.bytes));
    Ok((bytes, done.reply.map(|reply| answer(&reply).unwrap()).filter(|v| *v != Value::Nil)))
}

fn seen(bytes: &[u8]) -> Value {
    Value::from_packed(&collection::reply_form(ParticleType::Map, bytes)).unwrap()
}

fn ints(pairs: &[(i64, i64)]) -> Vec<u8> {
    Value::map(pairs.iter().map(|&(key, value)| (key.into(), value.into()))).to_packed()
}

fn list(items: &[i64]) -> Value {
    Value::list(items.iter().map(|&item| Value::Int(item)))
}

#[test]
fn an_empty_list_inverted_selects_everything() {
    for flags in [0, 1, 3] {
        let map = run(64, vec![flags.into()], &ints(&[(1, 7), (2, 5), (3, 7)])).unwrap().0;
        for code in [107, 108] {
            let get = |want: i64| {
                run(code, vec![(want | INVERTED).into(), list(&[])], &map).unwrap().1.unwrap()
            };
            assert_eq!(get(5), Value::Int(3));
            assert_eq!(get(6), list(&[1, 2, 3]));
            assert_eq!(get(7), list(&[7, 5, 7]));
            let Value::Map { pairs, .. } = get(8) else { panic!("not a map") };
            assert_eq!(pairs.len(), 3);
        }
        for code in [81, 83] {
            let (left, _) = run(code, vec![INVERTED.into(), list(&[])], &map).unwrap();
            assert_eq!(run(96, vec![], &left).unwrap().1, Some(Value::Int(0)));
        }
    }
}

#[test]
fn a_put_into_a_large_map_is_a_small_edit() {
    let pairs: Vec<(i64, i64)> = (0..20_000).map(|i| (2 * i, i)).collect();
    let map = ints(&pairs);
    let put = call(67, [20_001.into(), 5.into(), 1.into(), 0.into()]);
    let done =
        apply(&put, Some(Particle::new(ParticleType::Map, &map)), Mode::Modify, &ENV).unwrap();
    let Effect::Edit { edits, .. } = done.effect else { panic!("not an edit") };
    assert!(edits.inserted_len() < 16, "{} bytes", edits.inserted_len());
    assert_eq!(
        run(97, vec![7.into(), 20_001.into()], &edits.apply(&map)).unwrap().1,
        Some(5.into())
    );
}

#[test]
fn a_persisted_index_finds_keys_and_pages_without_walking() {
    let pairs: Vec<(i64, i64)> = (0..50_000).map(|i| (i, i)).collect();
    let map = run(64, vec![0x11.into()], &ints(&pairs)).unwrap().0;
    for (code, args, most) in [
        (97, vec![7.into(), 49_000.into()], 800),
        (104, vec![7.into(), 30_000.into(), 10.into()], 200),
        (67, vec![25_000.into(), 1.into()], 1_000),
    ] {
        work::take();
        run(code, args, &map).unwrap();
        let work = work::take();
        assert!(work.decoded < most, "operation {code}: {work:?}");
    }
}

#[test]
fn a_put_says_what_it_refuses() {
    let map = ints(&[(1, 1), (2, 2)]);
    let put =
        |key: i64, flags: i64| run(67, vec![key.into(), 9.into(), 0.into(), flags.into()], &map);
    assert_eq!(put(1, 1), Err(ResultCode::ElementExists));
    assert_eq!(put(3, 2), Err(ResultCode::ElementNotFound));
    for (key, flags) in [(1, 5), (3, 6)] {
        assert_eq!(put(key, flags), Ok((map.clone(), Some(2.into()))));
    }
    let items = |flags: i64| {
        let items = Value::map([(2.into(), 9.into()), (3.into(), 9.into())]);
        run(68, vec![items, 0.into(), flags.into()], &map)
    };
    assert_eq!(items(5), Ok((map.clone(), Some(2.into()))));
    assert_eq!(items(13), Ok((ints(&[(1, 1), (2, 2), (3, 9)]), Some(3.into()))));
    assert_eq!(items(14), Ok((ints(&[(1, 1), (2, 9)]), Some(2.into()))));
    assert_eq!(run(65, vec![1.into(), 9.into()], &map), Err(ResultCode::ElementExists));
    assert_eq!(run(69, vec![3.into(), 9.into()], &map), Err(ResultCode::ElementNotFound));
    assert_eq!(run(67, vec![Value::Nil, 9.into()], &map), Err(ResultCode::Parameter));
    assert_eq!(run(73, vec![1.into(), "x".into()], &map), Err(ResultCode::Parameter));
    assert_eq!(run(98, vec![7.into(), 2.into()], &map), Err(ResultCode::OpNotApplicable));
}

/// A map as sorted pairs.
#[derive(Clone, Debug)]
struct Twin {
    pairs: Vec<(Value, Value)>,
}

impl Twin {
    fn find(&self, key: &Value) -> Option<usize> {
        self.pairs.iter().position(|pair| pair.0.order(key) == Ordering::Equal)
    }

    /// Indexes sorted by value, equal values by key.
    fn by_rank(&self) -> Vec<usize> {
        let mut indexes: Vec<usize> = (0..self.pairs.len()).collect();
        indexes.sort_by(|&a, &b| self.pairs[a].1.order(&self.pairs[b].1));
        indexes
    }

    fn put(&mut self, key: Value, value: Value) {
        match self.find(&key) {
            Some(at) => self.pairs[at].1 = value,
            None => {
                self.pairs.push((key, value));
                self.pairs.sort_by(|a, b| a.0.order(&b.0));
            }
        }
    }

    /// Indexes that a selection means, in the order in which it lists them.
    fn select(&self, pick: &Pick) -> Vec<usize> {
        let len = self.pairs.len() as i64;
        let window = |start: i64, count: i64| {
            let range = start.max(0)..(start + count).min(len);
            range.map(|at| at as usize).collect::<Vec<_>>()
        };
        let all = || 0..self.pairs.len();
        let below = |value: &Value, other: &Value| value.order(other) == Ordering::Less;
        match pick {
            Pick::Index(start, count) => {
                window(if *start < 0 { start + len } else { *start }, *count)
            }
            Pick::KeyInterval(from, to) => all()
                .filter(|&at| !below(&self.pairs[at].0, from) && below(&self.pairs[at].0, to))
                .collect(),
            Pick::RelativeIndex(key, index, count) => {
                let first = all().filter(|&at| below(&self.pairs[at].0, key)).count() as i64;
                window(first + index, *count)
            }
            Pick::Rank(start, count) => {
                let ranks = window(if *start < 0 { start + len } else { *start }, *count);
                ranks.into_iter().map(|rank| self.by_rank()[rank]).collect()
            }
            Pick::RelativeRank(value, rank, count) => {
                let first = all().filter(|&at| below(&self.pairs[at].1, value)).count() as i64;
                window(first + rank, *count).into_iter().map(|rank| self.by_rank()[rank]).collect()
            }
            Pick::Value(value) => {
                all().filter(|&at| self.pairs[at].1.order(value) == Ordering::Equal).collect()
            }
            Pick::ValueInterval(from, to) => all()
                .filter(|&at| !below(&self.pairs[at].1, from) && below(&self.pairs[at].1, to))
                .collect(),
            Pick::KeyList(keys) => {
                all().filter(|&at| keys.iter().any(|key| self.find(key) == Some(at))).collect()
            }
            Pick::ValueList(values) => all()
                .filter(|&at| {
                    values.iter().any(|value| self.pairs[at].1.order(value) == Ordering::Equal)
                })
                .collect(),
        }
    }
}

#[derive(Clone, Debug)]
enum Pick {
    Index(i64, i64),
    KeyInterval(Value, Value),
    RelativeIndex(Value, i64, i64),
    Rank(i64, i64),
    RelativeRank(Value, i64, i64),
    Value(Value),
    ValueInterval(Value, Value),
    KeyList(Vec<Value>),
    ValueList(Vec<Value>),
}

impl Pick {
    /// Codes of the operations that get and remove, and the arguments behind the return type.
    fn call(&self) -> (i64, i64, Vec<Value>) {
        let (a, b) = (|n: &i64| Value::Int(*n), |v: &Value| v.clone());
        match self {
            Pick::Index(start, count) => (104, 85, vec![a(start), a(count)]),
            Pick::KeyInterval(from, to) => (103, 84, vec![b(from), b(to)]),
            Pick::RelativeIndex(key, index, count) => (109, 88, vec![b(key), a(index), a(count)]),
            Pick::Rank(start, count) => (106, 87, vec![a(start), a(count)]),
            Pick::RelativeRank(value, rank, count) => (110, 89, vec![b(value), a(rank), a(count)]),
            Pick::Value(value) => (102, 82, vec![b(value)]),
            Pick::ValueInterval(from, to) => (105, 86, vec![b(from), b(to)]),
            Pick::KeyList(keys) => (107, 81, vec![Value::list(keys.clone())]),
            Pick::ValueList(values) => (108, 83, vec![Value::list(values.clone())]),
        }
    }
}

fn some_key() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-4i64..9).prop_map(Value::Int),
        "[a-d]{0,2}".prop_map(Value::String),
        prop::collection::vec(0u8..3, 0..2).prop_map(Value::Blob),
    ]
}

fn some_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => (0i64..6).prop_map(Value::Int),
        1 => some_key(),
        1 => Just(Value::Bool(true)),
        1 => (0i64..3).prop_map(|i| Value::list([i.into()])),
        1 => (0i64..3).prop_map(|i| Value::map([(i.into(), "x".into())])),
    ]
}

fn some_pick() -> impl Strategy<Value = Pick> {
    let (at, count) = (-9i64..9, 0i64..9);
    prop_oneof![
        (at.clone(), count.clone()).prop_map(|(s, c)| Pick::Index(s, c)),
        (some_key(), some_key()).prop_map(|(f, t)| Pick::KeyInterval(f, t)),
        (some_key(), at.clone(), count.clone()).prop_map(|(k, i, c)| Pick::RelativeIndex(k, i, c)),
        (at.clone(), count.clone()).prop_map(|(s, c)| Pick::Rank(s, c)),
        (some_value(), at, count).prop_map(|(v, r, c)| Pick::RelativeRank(v, r, c)),
        some_value().prop_map(Pick::Value),
        (some_value(), some_value()).prop_map(|(f, t)| Pick::ValueInterval(f, t)),
        prop::collection::vec(some_key(), 0..5).prop_map(Pick::KeyList),
        prop::collection::vec(some_value(), 0..5).prop_map(Pick::ValueList),
    ]
}

#[derive(Clone, Debug)]
enum Step {
    Put(Value, Value),
    PutItems(Vec<(Value, Value)>),
    Increment(Value, i64),
    RemoveKey(Value),
    Select(Pick, bool, bool),
}

fn some_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (some_key(), some_value()).prop_map(|(k, v)| Step::Put(k, v)),
        1 => prop::collection::vec((some_key(), some_value()), 0..5).prop_map(Step::PutItems),
        1 => (some_key(), -3i64..4).prop_map(|(k, n)| Step::Increment(k, n)),
        1 => some_key().prop_map(Step::RemoveKey),
        4 => (some_pick(), any::<bool>(), any::<bool>())
            .prop_map(|(p, inverted, remove)| Step::Select(p, inverted, remove)),
    ]
}

fn as_list(values: impl Iterator<Item = Value>) -> Option<Value> {
    Some(Value::list(values))
}

/// Asks the real map about a selection, and compares with the twin; removes it if asked to.
fn compare_selection(
    bytes: &mut Vec<u8>,
    twin: &mut Twin,
    pick: &Pick,
    inverted: bool,
    remove: bool,
) {
    let (get, take, args) = pick.call();
    let ask = |code: i64, want: i64, bytes: &[u8]| {
        let number = want | if inverted { INVERTED } else { 0 };
        run(code, [vec![number.into()], args.clone()].concat(), bytes).unwrap()
    };
    let mut listed = twin.select(pick);
    if inverted {
        listed = (0..twin.pairs.len()).filter(|at| !listed.contains(at)).collect();
    }
    let mut sorted = listed.clone();
    sorted.sort_unstable();
    let ranks = twin.by_rank();
    let rank = |at: usize| ranks.iter().position(|&index| index == at).unwrap() as i64;
    assert_eq!(ask(get, 5, bytes).1, Some((listed.len() as i64).into()));
    let Some(Value::Map { pairs, ordered: true }) = ask(get, 17, bytes).1 else { panic!("no map") };
    assert_eq!(pairs, sorted.iter().map(|&at| twin.pairs[at].clone()).collect::<Vec<_>>());
    // The order in which an inverted selection lists its pairs is told by recorded answers; here
    // the order of plain selections is checked.
    if !inverted {
        let pairs = || listed.iter().map(|&at| twin.pairs[at].clone());
        assert_eq!(ask(get, 6, bytes).1, as_list(pairs().map(|pair| pair.0)));
        assert_eq!(ask(get, 7, bytes).1, as_list(pairs().map(|pair| pair.1)));
        assert_eq!(ask(get, 1, bytes).1, as_list(listed.iter().map(|&at| Value::Int(at as i64))));
        assert_eq!(ask(get, 13, bytes).1, Some((!listed.is_empty()).into()));
        if !matches!(pick, Pick::KeyList(_)) {
            let Some(Value::List { mut items, .. }) = ask(get, 3, bytes).1 else { panic!() };
            let mut expected: Vec<_> = listed.iter().map(|&at| Value::Int(rank(at))).collect();
            items.sort_by(Value::order);
            expected.sort_by(Value::order);
            assert_eq!(items, expected);
        }
    }
    if remove {
        *bytes = ask(take, 0, bytes).0;
        for &at in sorted.iter().rev() {
            twin.pairs.remove(at);
        }
    }
}

fn perform(bytes: &mut Vec<u8>, twin: &mut Twin, step: &Step) {
    match step {
        Step::Put(key, value) => {
            twin.put(key.clone(), value.clone());
            let (new, answer) = run(67, vec![key.clone(), value.clone()], bytes).unwrap();
            assert_eq!(answer, Some((twin.pairs.len() as i64).into()));
            *bytes = new;
        }
        Step::PutItems(items) => {
            let mut unique: Vec<(Value, Value)> = Vec::new();
            for (key, value) in items {
                unique.retain(|pair| pair.0 != *key);
                unique.push((key.clone(), value.clone()));
            }
            unique.iter().for_each(|(key, value)| twin.put(key.clone(), value.clone()));
            let map = Value::Map { pairs: unique, ordered: false };
            *bytes = run(68, vec![map], bytes).unwrap().0;
        }
        Step::Increment(key, by) => {
            let old = twin.find(key).map(|at| twin.pairs[at].1.clone());
            let real = run(73, vec![key.clone(), (*by).into()], bytes);
            match old {
                None | Some(Value::Int(_)) => {
                    let sum = by + if let Some(Value::Int(old)) = old { old } else { 0 };
                    twin.put(key.clone(), sum.into());
                    let (new, answer) = real.unwrap();
                    assert_eq!(answer, Some(sum.into()));
                    *bytes = new;
                }
                Some(_) => assert_eq!(real, Err(ResultCode::Parameter)),
            }
        }
        Step::RemoveKey(key) => {
            let (new, answer) = run(76, vec![7.into(), key.clone()], bytes).unwrap();
            let expected = twin.find(key).map(|at| twin.pairs.remove(at).1);
            assert_eq!(answer, expected);
            *bytes = new;
        }
        Step::Select(pick, inverted, remove) => {
            compare_selection(bytes, twin, pick, *inverted, *remove);
        }
    }
}

proptest! {
    #[test]
    fn sequences_of_operations_agree_with_sorted_pairs(
        steps in prop::collection::vec(some_step(), 1..25),
        flags in prop::sample::select(vec![0i64, 1, 3, 0x11, 0x13]),
    ) {
        let mut bytes = run(64, vec![flags.into()], &[0x80]).unwrap().0;
        let mut twin = Twin { pairs: Vec::new() };
        for step in &steps {
            perform(&mut bytes, &mut twin, step);
            let Value::Map { pairs, ordered } = seen(&bytes) else { panic!("not a map") };
            prop_assert_eq!(&pairs, &twin.pairs);
            prop_assert_eq!(ordered, flags & 1 != 0);
        }
    }
}

#[test]
fn hostile_calls_never_panic() {
    let map = Value::map([(1.into(), 2.into()), ("a".into(), list(&[1])), ("b".into(), 2.into())]);
    let mut seeds = Vec::new();
    for row in TABLE {
        let code = i64::from(row.code);
        seeds.push(call(code, [7.into(), 1.into(), 2.into()]));
        seeds.push(call(code, [7.into(), "a".into(), (-1).into(), 2.into()]));
        seeds.push(call(code, [(INVERTED + 8).into(), list(&[1, 2])]));
        seeds.push(call(code, [map.clone(), 1.into(), 5.into()]));
        seeds.push(call(code, ["k".into(), map.clone(), 3.into()]));
    }
    let bins = [
        map.to_packed(),
        run(64, vec![0x13.into()], &map.to_packed()).unwrap().0,
        Value::map([]).to_packed(),
    ];
    hostile::for_a_while(&seeds, |call, noise| {
        let mut old = bins[noise.below(bins.len())].clone();
        // A bin that went bad in storage must not bring anything down either.
        if noise.below(3) == 0 {
            let at = noise.below(old.len());
            old[at] = noise.below(256) as u8;
        }
        let old = &old;
        for mode in [Mode::Read, Mode::Modify] {
            let bin =
                (noise.below(4) > 0).then(|| Particle::new(ParticleType::Map, old.as_slice()));
            if let Ok(Applied { effect: Effect::Edit { edits, .. }, .. }) =
                apply(call, bin, mode, &ENV)
            {
                edits.apply(old);
            }
        }
    });
}

//! Select and modify by path against a naive walk over trees.
#![allow(clippy::unwrap_used)]

mod exp_trees;

use cairn_ops::exp::Kind;
use cairn_ops::{Effect, Env, Mode, path};
use cairn_value::packed::write;
use cairn_value::{Particle, Value};
use exp_trees::maker::{Maker, any_value, value_of};
use exp_trees::{Dice, Exp, World};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Pick {
    ListIndex(i64),
    ListRank(i64),
    ListValue(Value),
    MapIndex(i64),
    MapRank(i64),
    MapKey(Value),
    MapValue(Value),
    KeysIn(Vec<Value>),
    /// All children, or those that pass.
    All(Option<Exp>),
}

#[derive(Clone, Debug)]
struct Level {
    pick: Pick,
    and: Option<Exp>,
}

#[derive(Clone, Debug)]
struct Path {
    levels: Vec<Level>,
    form: i64,
    no_fail: bool,
    change: Option<Exp>,
}

const TRUE: u8 = 0xc3;

impl Path {
    fn packed(&self) -> Vec<u8> {
        let mut out = Vec::new();
        write::list_head(&mut out, if self.change.is_some() { 4 } else { 3 });
        write::int(&mut out, 0xfe);
        let elements: usize =
            self.levels.iter().map(|l| 2 + 2 * usize::from(l.and.is_some())).sum();
        write::list_head(&mut out, elements as u32);
        for level in &self.levels {
            let (code, value) = match &level.pick {
                Pick::ListIndex(i) => (0x10, Value::Int(*i).to_packed()),
                Pick::ListRank(i) => (0x11, Value::Int(*i).to_packed()),
                Pick::ListValue(v) => (0x13, v.to_packed()),
                Pick::MapIndex(i) => (0x20, Value::Int(*i).to_packed()),
                Pick::MapRank(i) => (0x21, Value::Int(*i).to_packed()),
                Pick::MapKey(v) => (0x22, v.to_packed()),
                Pick::MapValue(v) => (0x23, v.to_packed()),
                Pick::KeysIn(keys) => (0x2a, Value::list(keys.clone()).to_packed()),
                Pick::All(None) => (0x04, vec![TRUE]),
                Pick::All(Some(test)) => (0x04, test.packed()),
            };
            write::int(&mut out, code);
            out.extend_from_slice(&value);
            if let Some(test) = &level.and {
                write::int(&mut out, 0x204);
                out.extend_from_slice(&test.packed());
            }
        }
        write::int(&mut out, self.form | if self.no_fail { 0x10 } else { 0 });
        if let Some(change) = &self.change {
            out.extend_from_slice(&change.packed());
        }
        out
    }
}

type Child = (Option<Value>, Value);

fn children(value: &Value) -> Option<Vec<Child>> {
    match value {
        Value::List { items, .. } => Some(items.iter().map(|v| (None, v.clone())).collect()),
        Value::Map { pairs, .. } => {
            Some(pairs.iter().map(|(k, v)| (Some(k.clone()), v.clone())).collect())
        }
        _ => None,
    }
}

/// The place of the child of a rank by some part.
fn ranked(rank: i64, all: &[Child], by: impl Fn(&Child) -> Value) -> Option<usize> {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|&a, &b| by(&all[a]).order(&by(&all[b])));
    let rank = if rank < 0 { rank + all.len() as i64 } else { rank };
    order.get(usize::try_from(rank).ok()?).copied()
}

impl Path {
    fn is_last(&self, level: usize) -> bool {
        level + 1 == self.levels.len()
    }

    /// Refuses a level that does not fit; false when there is nothing to do.
    fn enter(&self, all: &[Child], is_map: bool, level: usize) -> Result<bool, u8> {
        if all.is_empty() {
            return Ok(false);
        }
        if matches!(self.form, 2 | 3) && self.is_last(level) && !is_map {
            return if self.no_fail { Ok(false) } else { Err(12) };
        }
        match self.levels[level].pick {
            Pick::ListIndex(_) | Pick::ListRank(_) | Pick::ListValue(_) if is_map => Err(4),
            Pick::All(_) => Ok(true),
            Pick::ListIndex(_) | Pick::ListRank(_) | Pick::ListValue(_) => Ok(true),
            _ if !is_map => Err(4),
            _ => Ok(true),
        }
    }

    fn passes(&self, test: &Exp, at: usize, all: &[Child]) -> Result<bool, u8> {
        match run(test, at, all) {
            Some(Value::Bool(passes)) => Ok(passes),
            _ if self.no_fail => Ok(false),
            _ => Err(4),
        }
    }

    fn picks(&self, level: usize, at: usize, all: &[Child]) -> Result<bool, u8> {
        let Level { pick, and } = &self.levels[level];
        let key = &all[at].0;
        let first = |wanted: &Value, part: fn(&Child) -> Value| {
            all.iter().position(|child| part(child).order(wanted).is_eq()) == Some(at)
        };
        let of_key = |child: &Child| child.0.clone().unwrap();
        let of_value = |child: &Child| child.1.clone();
        let picked = match pick {
            Pick::ListIndex(i) => *i == at as i64 || *i + all.len() as i64 == at as i64,
            Pick::ListRank(r) | Pick::MapRank(r) => ranked(*r, all, of_value) == Some(at),
            Pick::MapIndex(i) => ranked(*i, all, of_key) == Some(at),
            Pick::ListValue(v) | Pick::MapValue(v) => first(v, |child| child.1.clone()),
            Pick::MapKey(k) => key.as_ref().unwrap().order(k).is_eq(),
            Pick::KeysIn(keys) => keys.iter().any(|k| key.as_ref().unwrap().order(k).is_eq()),
            Pick::All(None) => true,
            Pick::All(Some(test)) => self.passes(test, at, all)?,
        };
        match and {
            Some(test) if picked => self.passes(test, at, all),
            _ => Ok(picked),
        }
    }

    fn flat(&self, value: &Value, level: usize, out: &mut Vec<Value>) -> Result<(), u8> {
        let Some(all) = children(value) else { return Ok(()) };
        if !self.enter(&all, matches!(value, Value::Map { .. }), level)? {
            return Ok(());
        }
        for (at, (key, child)) in all.iter().enumerate() {
            if !self.picks(level, at, &all)? {
                continue;
            }
            if !self.is_last(level) {
                self.flat(child, level + 1, out)?;
                continue;
            }
            if self.form >= 2 {
                out.extend(key.clone());
            }
            if self.form != 2 {
                out.push(child.clone());
            }
        }
        Ok(())
    }

    fn tree(&self, value: &Value, level: usize) -> Result<Value, u8> {
        let is_map = matches!(value, Value::Map { .. });
        let Some(all) = children(value) else { return Ok(value.clone()) };
        let mut kept = Vec::new();
        if self.enter(&all, is_map, level)? {
            for (at, (key, child)) in all.iter().enumerate() {
                if self.picks(level, at, &all)? {
                    let child = if self.is_last(level) {
                        child.clone()
                    } else {
                        self.tree(child, level + 1)?
                    };
                    kept.push((key.clone(), child));
                }
            }
        }
        Ok(match is_map {
            true => Value::Map {
                pairs: kept.into_iter().map(|(k, v)| (k.unwrap(), v)).collect(),
                ordered: false,
            },
            false => Value::list(kept.into_iter().map(|(_, v)| v)),
        })
    }

    fn modified(&self, value: &Value, level: usize) -> Result<Value, u8> {
        let Some(all) = children(value) else { return Ok(value.clone()) };
        if !self.enter(&all, matches!(value, Value::Map { .. }), level)? {
            return Ok(value.clone());
        }
        let mut new = Vec::new();
        for (at, (key, child)) in all.iter().enumerate() {
            if !self.picks(level, at, &all)? {
                new.push((key.clone(), child.clone()));
            } else if !self.is_last(level) {
                new.push((key.clone(), self.modified(child, level + 1)?));
            } else if !matches!(self.change, Some(Exp::Apply(100, _))) {
                match run(self.change.as_ref().unwrap(), at, &all) {
                    Some(value) => new.push((key.clone(), value)),
                    None if self.no_fail => new.push((key.clone(), child.clone())),
                    None => return Err(1),
                }
            }
        }
        Ok(match value {
            Value::Map { ordered, .. } => Value::Map {
                pairs: new.into_iter().map(|(k, v)| (k.unwrap(), v)).collect(),
                ordered: *ordered,
            },
            Value::List { ordered, .. } => {
                let mut items: Vec<Value> = new.into_iter().map(|(_, v)| v).collect();
                if *ordered {
                    items.sort_by(Value::order);
                }
                Value::List { items, ordered: *ordered }
            }
            _ => unreachable!(),
        })
    }
}

fn run(exp: &Exp, at: usize, all: &[Child]) -> Option<Value> {
    let (key, value) = &all[at];
    let index = if key.is_none() { Some(at as i64) } else { None };
    let world = World { bins: None, hand: Some((key.as_ref(), value, index)) };
    exp.evaluate(&world, &mut Vec::new())
}

fn level(dice: &mut Dice) -> Level {
    let number = dice.pick(&[0, 1, -1, 2, 9]);
    let scalar = any_value(dice, 0);
    let key_kind = dice.pick(&[Kind::Int, Kind::Str]);
    let key = value_of(dice, key_kind, 0);
    let pick = match dice.roll(14) {
        0 => Pick::ListIndex(number),
        1 => Pick::ListRank(number),
        2 => Pick::ListValue(scalar),
        3 => Pick::MapIndex(number),
        4 => Pick::MapRank(number),
        5 => Pick::MapKey(key),
        6 => Pick::MapValue(scalar),
        7 => Pick::KeysIn(vec![key, Value::from("a"), Value::from(1)]),
        8 | 9 => Pick::All(Some(Maker::new(dice, true).make(Kind::Bool, 2))),
        _ => Pick::All(None),
    };
    // A literal is no filter of a context, and filters do not follow filters.
    let pick = match pick {
        Pick::All(Some(Exp::Literal(_))) => Pick::All(None),
        pick => pick,
    };
    let and = match pick {
        Pick::All(_) => None,
        _ if dice.roll(4) > 0 => None,
        _ => Some(Maker::new(dice, true).make(Kind::Bool, 2)),
    };
    Level { pick, and: and.filter(|test| !matches!(test, Exp::Literal(_))) }
}

fn collection(dice: &mut Dice) -> Value {
    let kind = dice.pick(&[Kind::List, Kind::Map]);
    match value_of(dice, kind, 2) {
        Value::List { mut items, .. } if dice.roll(3) == 0 => {
            items.sort_by(Value::order);
            Value::List { items, ordered: true }
        }
        value => value,
    }
}

const ENV: Env = Env { now_ns: 0 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn select(seed in 1u64.., form in 0i64..4, no_fail: bool) {
        let dice = &mut Dice(seed);
        let value = collection(dice);
        let levels = (0..=dice.roll(3)).map(|_| level(dice)).collect();
        let path = Path { levels, form, no_fail, change: None };
        let mut list = Vec::new();
        let expected = match form {
            0 => path.tree(&value, 0),
            _ => path.flat(&value, 0, &mut list).map(|()| Value::list(list)),
        };
        let packed = value.to_packed();
        let bin = Particle::new(value.kind(), &packed);
        let got = path::apply(&path.packed(), Some(bin), Mode::Read, &ENV);
        let got = got
            .map(|applied| Value::from_packed(&applied.reply.unwrap().bytes).unwrap())
            .map_err(|error| error.code.wire());
        prop_assert_eq!(got, expected, "{:?} {:?}", path, value);
    }

    #[test]
    fn modify(seed in 1u64.., no_fail: bool) {
        let dice = &mut Dice(seed);
        let value = collection(dice);
        let levels = (0..=dice.roll(3)).map(|_| level(dice)).collect();
        let kind = dice.pick(&[Kind::Int, Kind::Str, Kind::List, Kind::Map]);
        let change = match dice.roll(4) {
            0 => Exp::Apply(100, Vec::new()),
            _ => Maker::new(dice, true).make(kind, 2),
        };
        let path = Path { levels, form: 4, no_fail, change: Some(change) };
        let expected = path.modified(&value, 0);
        let packed = value.to_packed();
        let bin = Particle::new(value.kind(), &packed);
        let got = path::apply(&path.packed(), Some(bin), Mode::Modify, &ENV)
            .map(|applied| match applied.effect {
                Effect::None => value.clone(),
                Effect::Edit { edits, .. } => Value::from_packed(&edits.apply(&packed)).unwrap(),
                other => panic!("{other:?}"),
            })
            .map_err(|error| error.code.wire());
        prop_assert_eq!(got, expected, "{:?} {:?}", path, value);
    }
}

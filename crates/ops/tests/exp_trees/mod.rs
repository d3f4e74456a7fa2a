//! Expressions as trees: generated with types, packed for the store, and evaluated by a naive
//! recursive twin that knows nothing of programs, spans or borrowed values.
#![allow(dead_code)]

use std::cmp::Ordering;
use std::collections::BTreeMap;

use cairn_ops::exp::Kind;
use cairn_value::packed::write;
use cairn_value::{BinContent, NewBin, Value};

/// Xorshift: repeatable, good enough to make trees.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % sides.max(1)
    }

    pub fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.roll(of.len())].clone()
    }
}

/// An expression as a tree.
#[derive(Clone, Debug)]
pub enum Exp {
    Literal(Value),
    Bin(Kind, &'static str),
    BinType(&'static str),
    Loop(Kind, u8),
    Apply(u8, Vec<Exp>),
    Cond(Vec<Exp>),
    Let(Vec<(String, Exp)>, Box<Exp>),
    Var(String),
}

/// The element in hand: key, value, index.
pub type Hand<'a> = (Option<&'a Value>, &'a Value, Option<i64>);

/// What the twin sees.
pub struct World<'a> {
    pub bins: Option<&'a BTreeMap<&'static str, Value>>,
    pub hand: Option<Hand<'a>>,
}

pub fn kind_of(value: &Value) -> Kind {
    match value {
        Value::Nil => Kind::Nil,
        Value::Bool(_) => Kind::Bool,
        Value::Int(_) => Kind::Int,
        Value::Double(_) => Kind::Float,
        Value::String(_) => Kind::Str,
        Value::Blob(_) => Kind::Blob,
        Value::Geo(_) => Kind::Geo,
        Value::Hll(_) => Kind::Hll,
        Value::List { .. } => Kind::List,
        Value::Map { .. } => Kind::Map,
    }
}

fn number(kind: Kind) -> i64 {
    Kind::WIRE.iter().position(|&other| other == kind).unwrap() as i64
}

impl Exp {
    pub fn packed(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.pack(&mut out);
        out
    }

    fn pack(&self, out: &mut Vec<u8>) {
        let head = |out: &mut Vec<u8>, code: i64, args: usize| {
            write::list_head(out, args as u32 + 1);
            write::int(out, code);
        };
        match self {
            Exp::Literal(list @ Value::List { .. }) => {
                head(out, 126, 1);
                list.pack(out);
            }
            Exp::Literal(value) => value.pack(out),
            Exp::Bin(kind, name) => {
                head(out, 81, 2);
                write::int(out, number(*kind));
                raw(out, name);
            }
            Exp::BinType(name) => {
                head(out, 82, 1);
                raw(out, name);
            }
            Exp::Loop(kind, part) => {
                head(out, 122, 2);
                write::int(out, number(*kind));
                write::int(out, i64::from(*part));
            }
            Exp::Apply(code, args) => {
                head(out, i64::from(*code), args.len());
                args.iter().for_each(|arg| arg.pack(out));
            }
            Exp::Cond(args) => {
                head(out, 123, args.len());
                args.iter().for_each(|arg| arg.pack(out));
            }
            Exp::Var(name) => {
                head(out, 124, 1);
                raw(out, name);
            }
            Exp::Let(vars, body) => {
                head(out, 125, 2 * vars.len() + 1);
                for (name, value) in vars {
                    raw(out, name);
                    value.pack(out);
                }
                body.pack(out);
            }
        }
    }

    /// The naive evaluation; `None` is unknown.
    pub fn evaluate(
        &self,
        world: &World<'_>,
        vars: &mut Vec<(String, Option<Value>)>,
    ) -> Option<Value> {
        match self {
            Exp::Literal(value) => Some(value.clone()),
            Exp::Bin(kind, name) => {
                world.bins?.get(name).filter(|value| kind_of(value) == *kind).cloned()
            }
            Exp::BinType(name) => {
                let kind = world.bins?.get(name).map_or(0, |value| value.kind().wire());
                Some(Value::Int(i64::from(kind)))
            }
            Exp::Loop(kind, part) => {
                let (key, value, index) = world.hand?;
                let part = match part {
                    0 => key?.clone(),
                    1 => value.clone(),
                    _ => Value::Int(index?),
                };
                (kind_of(&part) == *kind).then_some(part)
            }
            Exp::Var(name) => vars.iter().find(|var| var.0 == *name).unwrap().1.clone(),
            Exp::Let(defs, body) => {
                let outer = vars.len();
                for (name, value) in defs {
                    let value = value.evaluate(world, vars);
                    vars.push((name.clone(), value));
                }
                let result = body.evaluate(world, vars);
                vars.truncate(outer);
                result
            }
            Exp::Cond(args) => {
                for pair in args.chunks(2) {
                    let [condition, value] = pair else { return pair[0].evaluate(world, vars) };
                    match condition.evaluate(world, vars)? {
                        Value::Bool(true) => return value.evaluate(world, vars),
                        Value::Bool(false) => {}
                        _ => return None,
                    }
                }
                None
            }
            Exp::Apply(code, args) => {
                let args: Vec<Option<Value>> =
                    args.iter().map(|arg| arg.evaluate(world, vars)).collect();
                apply(*code, &args)
            }
        }
    }
}

fn raw(out: &mut Vec<u8>, text: &str) {
    assert!(text.len() < 32);
    out.push(0xa0 | text.len() as u8);
    out.extend_from_slice(text.as_bytes());
}

fn wrap(value: i128) -> Value {
    Value::Int(value as i64)
}

fn apply(code: u8, args: &[Option<Value>]) -> Option<Value> {
    let bools = || {
        args.iter().map(|arg| match arg {
            Some(Value::Bool(value)) => Some(*value),
            _ => None,
        })
    };
    match code {
        16 if bools().any(|b| b == Some(false)) => return Some(Value::Bool(false)),
        17 if bools().any(|b| b == Some(true)) => return Some(Value::Bool(true)),
        _ => {}
    }
    let known: Vec<Value> = args.iter().cloned().collect::<Option<_>>()?;
    let ints = || {
        known.iter().map(|v| match v {
            Value::Int(i) => i128::from(*i),
            _ => unreachable!(),
        })
    };
    let is_int = matches!(known.first(), Some(Value::Int(_)));
    Some(match code {
        0 => return None,
        1..=6 => Value::Bool(compare(code, &known[0], &known[1])?),
        9 => {
            let Value::List { items, .. } = &known[1] else { return None };
            Value::Bool(items.iter().any(|item| item.order(&known[0]).is_eq()))
        }
        16 => Value::Bool(true),
        17 => Value::Bool(false),
        18 => Value::Bool(known[0] == Value::Bool(false)),
        19 => Value::Bool(known.iter().filter(|v| **v == Value::Bool(true)).count() == 1),
        20 | 21 | 22 | 23 | 50 | 51 if is_int => {
            let mut all = ints();
            let first = all.next()?;
            if known.len() == 1 {
                return match code {
                    21 => Some(wrap(-first)),
                    23 => Some(wrap(1i128.checked_div(first)?)),
                    _ => Some(wrap(first)),
                };
            }
            let mut sum = first;
            for next in all {
                sum = match code {
                    20 => sum + next,
                    21 => sum - next,
                    22 => sum * next,
                    23 => sum.checked_div(next)?,
                    50 => sum.min(next),
                    _ => sum.max(next),
                };
                sum = i128::from(sum as i64);
            }
            wrap(sum)
        }
        20 | 21 | 22 | 23 | 50 | 51 => float_fold(code, &known),
        26 => wrap({
            let all: Vec<i128> = ints().collect();
            all[0].checked_rem(all[1])?
        }),
        27 if is_int => wrap(ints().next()?.abs()),
        27 => Value::Double(float(&known[0]).abs()),
        28 => Value::Double(float(&known[0]).floor()),
        29 => Value::Double(float(&known[0]).ceil()),
        30 => {
            let x = float(&known[0]).trunc();
            let fits = x >= -(2f64.powi(63)) && x < 2f64.powi(63);
            if fits { wrap(x as i128) } else { Value::Int(i64::MIN) }
        }
        31 => Value::Double(ints().next()? as f64),
        32..=34 => {
            let bit = |place: u32| {
                let ones = ints().filter(|i| i >> place & 1 == 1).count();
                match code {
                    32 => ones == known.len(),
                    33 => ones > 0,
                    _ => ones % 2 == 1,
                }
            };
            Value::Int(
                (0..64).fold(0u64, |bits, place| bits | u64::from(bit(place)) << place) as i64
            )
        }
        35 => wrap(-ints().next()? - 1),
        36..=38 => {
            let all: Vec<i128> = ints().collect();
            let by = all[1].rem_euclid(64) as u32;
            match code {
                36 => wrap(all[0] * (1i128 << by)),
                37 => wrap(i128::from(all[0] as u64) / (1i128 << by)),
                _ => wrap(all[0].div_euclid(1i128 << by)),
            }
        }
        39 => wrap((0..64).filter(|place| ints().all(|i| i >> place & 1 == 1)).count() as i128),
        40 | 41 => {
            let Value::Bool(wanted) = known[1] else { return None };
            let bits = match &known[0] {
                Value::Int(i) => *i as u64,
                _ => return None,
            };
            let mut places = 0..64i64;
            let hit = |place: &i64| (bits >> (63 - place) & 1 == 1) == wanted;
            let found = if code == 40 { places.find(hit) } else { places.rfind(hit) };
            Value::Int(found.unwrap_or(-1))
        }
        101 | 102 => {
            let Value::Map { pairs, .. } = &known[0] else { return None };
            let half =
                |(key, value): &(Value, Value)| if code == 101 { key } else { value }.clone();
            Value::list(pairs.iter().map(half))
        }
        _ => unreachable!("code {code}"),
    })
}

fn float(value: &Value) -> f64 {
    match value {
        Value::Double(x) => *x,
        _ => unreachable!(),
    }
}

fn float_fold(code: u8, known: &[Value]) -> Value {
    let mut all = known.iter().map(float);
    let first = all.next().unwrap();
    if known.len() == 1 {
        return Value::Double(match code {
            21 => -first,
            23 => 1.0 / first,
            _ => first,
        });
    }
    Value::Double(all.fold(first, |sum, next| match code {
        20 => sum + next,
        21 => sum - next,
        22 => sum * next,
        23 => sum / next,
        50 => {
            if next < sum {
                next
            } else {
                sum
            }
        }
        _ => {
            if next > sum {
                next
            } else {
                sum
            }
        }
    }))
}

fn compare(code: u8, left: &Value, right: &Value) -> Option<bool> {
    let order = match (left, right) {
        (Value::Double(x), Value::Double(y)) => match x.partial_cmp(y) {
            Some(order) => order,
            None => return Some(code == 2),
        },
        (Value::Map { ordered: x, .. }, Value::Map { ordered: y, .. }) if !(*x && *y) => {
            return None;
        }
        _ => left.order(right),
    };
    Some(match code {
        1 => order == Ordering::Equal,
        2 => order != Ordering::Equal,
        3 => order == Ordering::Greater,
        4 => order != Ordering::Less,
        5 => order == Ordering::Less,
        _ => order != Ordering::Greater,
    })
}

/// Bins that expressions may name: some are absent, some of another type than asked for.
pub const NAMES: [&str; 8] = ["i", "f", "s", "b", "l", "m", "t", "nope"];

/// What the bins hold, in the order of their names; the last name is of none.
const KINDS: [Kind; 7] =
    [Kind::Int, Kind::Float, Kind::Str, Kind::Blob, Kind::List, Kind::Map, Kind::Bool];

/// A value of a kind.
pub fn value_of(dice: &mut Dice, kind: Kind, depth: usize) -> Value {
    match kind {
        Kind::Nil => Value::Nil,
        Kind::Bool => Value::Bool(dice.roll(2) == 0),
        Kind::Int => Value::Int(dice.pick(&[
            0,
            1,
            -1,
            2,
            7,
            -3,
            64,
            i64::MIN,
            i64::MAX,
            i64::MAX - 1,
            1 << 62,
        ])),
        Kind::Float => Value::Double(dice.pick(&[0.0, -0.0, 1.5, -2.5, 1e300, f64::INFINITY, 3.0])),
        Kind::Str => Value::String(dice.pick(&["", "a", "ab", "b", "é"]).to_owned()),
        Kind::Blob => Value::Blob(dice.pick(&[&b""[..], b"\x00", b"ab", b"\xff"]).to_vec()),
        Kind::List => {
            let items: Vec<Value> = (0..dice.roll(5)).map(|_| any_value(dice, depth)).collect();
            Value::list(items)
        }
        _ => {
            let mut pairs: Vec<(Value, Value)> = Vec::new();
            for _ in 0..dice.roll(5) {
                let kind = dice.pick(&[Kind::Int, Kind::Str]);
                let key = value_of(dice, kind, 0);
                if pairs.iter().all(|pair| pair.0 != key) {
                    pairs.push((key, any_value(dice, depth)));
                }
            }
            pairs.sort_by(|a, b| a.0.order(&b.0));
            Value::Map { pairs, ordered: dice.roll(2) == 0 }
        }
    }
}

/// A value of any kind, nested less deep.
pub fn any_value(dice: &mut Dice, depth: usize) -> Value {
    let scalars = [Kind::Int, Kind::Str, Kind::Bool, Kind::Float, Kind::Blob, Kind::Nil];
    match depth {
        0 => {
            let kind = dice.pick(&scalars);
            value_of(dice, kind, 0)
        }
        _ => {
            let kind = dice
                .pick(&[&scalars[..], &[Kind::List, Kind::Map, Kind::List, Kind::Map]].concat());
            value_of(dice, kind, depth - 1)
        }
    }
}

/// The bins of a record.
pub fn bins(dice: &mut Dice) -> BTreeMap<&'static str, Value> {
    let mut bins = BTreeMap::new();
    for (name, kind) in NAMES.iter().zip(KINDS) {
        if dice.roll(12) > 0 {
            bins.insert(*name, value_of(dice, kind, 2));
        }
    }
    bins
}

/// The stored form of bins.
pub fn stored(bins: &BTreeMap<&'static str, Value>) -> Vec<u8> {
    let mut packed = Vec::new();
    for (name, value) in bins {
        let bytes = value.to_particle_bytes();
        let content = BinContent::Whole(value.kind(), bytes.into());
        let bin = NewBin { name: name.as_bytes(), content };
        bin.write_to(|piece| packed.extend_from_slice(piece));
    }
    packed
}

/// A tree maker: what may be named where it stands.
pub struct Maker<'d> {
    pub dice: &'d mut Dice,
    pub loops: bool,
    vars: Vec<(String, Kind)>,
}

impl<'d> Maker<'d> {
    pub fn new(dice: &'d mut Dice, loops: bool) -> Self {
        Maker { dice, loops, vars: Vec::new() }
    }

    /// An expression of a kind.
    pub fn make(&mut self, kind: Kind, depth: usize) -> Exp {
        if depth == 0 || self.dice.roll(6) == 0 {
            return self.leaf(kind);
        }
        let depth = depth - 1;
        match self.dice.roll(8) {
            0 => {
                let conditions = 1 + self.dice.roll(2);
                let mut args = Vec::new();
                for _ in 0..conditions {
                    args.push(self.make(Kind::Bool, depth));
                    args.push(self.make(kind, depth));
                }
                args.push(self.make(kind, depth));
                Exp::Cond(args)
            }
            1 => {
                let outer = self.vars.len();
                let mut defs = Vec::new();
                for _ in 0..=self.dice.roll(2) {
                    let of = self.dice.pick(&[Kind::Int, Kind::Bool, Kind::List, kind]);
                    let value = self.make(of, depth);
                    let name = format!("v{}", self.vars.len());
                    self.vars.push((name.clone(), of));
                    defs.push((name, value));
                }
                let body = self.make(kind, depth);
                self.vars.truncate(outer);
                Exp::Let(defs, Box::new(body))
            }
            _ => self.operation(kind, depth),
        }
    }

    fn leaf(&mut self, kind: Kind) -> Exp {
        let known: Vec<String> =
            self.vars.iter().filter(|var| var.1 == kind).map(|var| var.0.clone()).collect();
        match self.dice.roll(24) {
            // Seldom, because unknown hides everything around it.
            0 => Exp::Apply(0, Vec::new()),
            1..=6 if !known.is_empty() => Exp::Var(self.dice.pick(&known)),
            1..=12 if self.loops => {
                let part = self.dice.roll(3) as u8;
                Exp::Loop(kind, if kind == Kind::Int { part } else { part % 2 })
            }
            1..=2 if kind == Kind::Int => Exp::BinType(self.dice.pick(&NAMES)),
            1..=12 => Exp::Bin(kind, self.name_for(kind)),
            _ => Exp::Literal(value_of(self.dice, kind, 1)),
        }
    }

    /// Mostly the name of a bin of this kind.
    fn name_for(&mut self, kind: Kind) -> &'static str {
        let right = KINDS.iter().position(|&other| other == kind);
        match right {
            Some(place) if self.dice.roll(10) > 0 => NAMES[place],
            _ => self.dice.pick(&NAMES),
        }
    }

    fn many(&mut self, least: usize, kind: Kind, depth: usize) -> Vec<Exp> {
        (0..least + self.dice.roll(3)).map(|_| self.make(kind, depth)).collect()
    }

    fn operation(&mut self, kind: Kind, depth: usize) -> Exp {
        match kind {
            Kind::Bool => match self.dice.roll(8) {
                0..=1 => {
                    let code = self.dice.pick(&[16, 17, 19]);
                    Exp::Apply(code, self.many(2, Kind::Bool, depth))
                }
                2 => Exp::Apply(18, vec![self.make(Kind::Bool, depth)]),
                3 => {
                    let of = self.dice.pick(&[Kind::Int, Kind::Str, Kind::List]);
                    Exp::Apply(9, vec![self.make(of, depth), self.make(Kind::List, depth)])
                }
                _ => {
                    let of = self.dice.pick(&[
                        Kind::Int,
                        Kind::Float,
                        Kind::Str,
                        Kind::Blob,
                        Kind::List,
                        Kind::Map,
                        Kind::Bool,
                    ]);
                    let code = 1 + self.dice.roll(6) as u8;
                    Exp::Apply(code, vec![self.make(of, depth), self.make(of, depth)])
                }
            },
            Kind::Int => match self.dice.roll(6) {
                0..=1 => {
                    let code = self.dice.pick(&[20, 21, 22, 23, 50, 51, 32, 33, 34]);
                    Exp::Apply(code, self.many(1, Kind::Int, depth))
                }
                2 => {
                    let code = self.dice.pick(&[26, 36, 37, 38]);
                    Exp::Apply(code, vec![self.make(Kind::Int, depth), self.make(Kind::Int, depth)])
                }
                3 => Exp::Apply(30, vec![self.make(Kind::Float, depth)]),
                4 => {
                    let code = self.dice.pick(&[40, 41]);
                    Exp::Apply(
                        code,
                        vec![self.make(Kind::Int, depth), self.make(Kind::Bool, depth)],
                    )
                }
                _ => Exp::Apply(self.dice.pick(&[27, 35, 39]), vec![self.make(Kind::Int, depth)]),
            },
            Kind::Float => match self.dice.roll(3) {
                0 => {
                    let code = self.dice.pick(&[20, 21, 22, 23, 50, 51]);
                    Exp::Apply(code, self.many(1, Kind::Float, depth))
                }
                1 => Exp::Apply(31, vec![self.make(Kind::Int, depth)]),
                _ => Exp::Apply(self.dice.pick(&[27, 28, 29]), vec![self.make(Kind::Float, depth)]),
            },
            Kind::List => {
                Exp::Apply(self.dice.pick(&[101, 102]), vec![self.make(Kind::Map, depth)])
            }
            other => self.leaf(other),
        }
    }
}

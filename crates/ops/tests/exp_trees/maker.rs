//! Makes trees with types, and records for them.

use std::collections::BTreeMap;

use cairn_ops::exp::Kind;
use cairn_value::{BinContent, NewBin, Value};

use super::{Dice, Exp};

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

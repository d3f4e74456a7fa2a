//! Expressions as trees: generated with types, packed for the store, and evaluated by a naive
//! recursive twin that knows nothing of programs, spans or borrowed values.
#![allow(dead_code)]

pub mod maker;
mod twin;

use std::collections::BTreeMap;

use cairn_ops::exp::Kind;
use cairn_value::Value;
use cairn_value::packed::write;

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
}

fn raw(out: &mut Vec<u8>, text: &str) {
    assert!(text.len() < 32);
    out.push(0xa0 | text.len() as u8);
    out.extend_from_slice(text.as_bytes());
}

//! Runs a program over a record.

use std::cell::Cell;

use super::program::{Node, Op, Part, Program, WORK_MAX};
use super::scope::{Item, Scope};
use super::table::Code;
use super::val::Val;
use super::{arithmetic, compare, integer, logic, metadata};

/// One run of a program. It recurses as deep as the program is nested, which the compiler bounds.
pub(super) struct Eval<'a> {
    pub program: &'a Program<'a>,
    pub scope: &'a Scope<'a>,
    item: Option<Item<'a>>,
    vars: Vec<Val<'a>>,
    /// Bytes that calls and variables may still touch.
    work_left: usize,
}

impl<'a> Eval<'a> {
    pub fn new(program: &'a Program<'a>, scope: &'a Scope<'a>, item: Option<Item<'a>>) -> Self {
        Eval { program, scope, item, vars: Vec::new(), work_left: WORK_MAX }
    }

    /// The value of the whole program.
    pub fn run(mut self) -> Val<'a> {
        self.eval(0)
    }

    /// The same within what is left of an allowance that several runs share.
    pub fn run_within(mut self, work_left: &Cell<usize>) -> Val<'a> {
        self.work_left = work_left.get();
        let value = self.eval(0);
        work_left.set(self.work_left);
        value
    }

    /// Accounts for work on this many bytes; false when the allowance is used up.
    pub fn charge(&mut self, bytes: usize) -> bool {
        match self.work_left.checked_sub(bytes) {
            Some(left) => self.work_left = left,
            None => self.work_left = 0,
        }
        self.work_left > 0
    }

    /// The value of the node at `at`.
    pub fn eval(&mut self, at: usize) -> Val<'a> {
        let program = self.program;
        let Some(node) = program.nodes.get(at) else { return Val::Unknown };
        match &node.op {
            Op::Nil => Val::Nil,
            Op::Bool(value) => Val::Bool(*value),
            Op::Int(value) => Val::Int(*value),
            Op::Float(value) => Val::Float(*value),
            Op::Wildcard => Val::Wildcard,
            Op::Infinity => Val::Infinity,
            Op::Packed(span) | Op::Geo(span, _) => Val::of_packed(program.slice(*span)),
            Op::Bin(name) => self.bin(program.slice(*name)).expect(node.kind),
            Op::BinType(name) => metadata::bin_type(self.scope, program.slice(*name)),
            Op::Key => metadata::key(self.scope).expect(node.kind),
            Op::DigestModulo(modulus) => metadata::digest_modulo(self.scope, *modulus),
            Op::LoopVar(part) => self.loop_var(*part).expect(node.kind),
            Op::Regex(place) => self.regex(at, *place),
            Op::Call(place) => self.call(at, *place),
            Op::Var(place) => self.var(*place as usize),
            Op::Cond => self.cond(at, node),
            Op::Let => self.r#let(at, node),
            Op::Apply(code) => self.apply(*code, at, node),
        }
    }

    fn apply(&mut self, code: Code, at: usize, node: &Node) -> Val<'a> {
        use Code::*;
        match code {
            Unknown => Val::Unknown,
            RemoveResult => Val::Remove,
            And | Or | Not | Exclusive => logic::apply(code, self.arguments(at, node)),
            Add | Sub | Mul | Div | Min | Max => arithmetic::fold(code, self.arguments(at, node)),
            Pow | Log | Mod | Abs | Floor | Ceil | ToInt | ToFloat => {
                let (first, second) = self.pair(at, node);
                arithmetic::apply(code, first, second)
            }
            IntAnd | IntOr | IntXor => integer::fold(code, self.arguments(at, node)),
            IntNot | LeftShift | RightShift | ArithmeticRightShift | Count | LeftScan
            | RightScan => {
                let (first, second) = self.pair(at, node);
                integer::apply(code, first, second)
            }
            Eq | Ne | Gt | Ge | Lt | Le => {
                let (first, second) = self.pair(at, node);
                compare::apply(code, &first, &second)
            }
            InList => {
                let (first, second) = self.pair(at, node);
                compare::in_list(&first, &second)
            }
            Geo => self.compare_shapes(at),
            MapKeys | MapValues => {
                let (map, _) = self.pair(at, node);
                compare::split_map(code, &map)
            }
            _ => metadata::apply(code, self.scope),
        }
    }

    /// The values of a node's arguments, computed as they are asked for.
    fn arguments<'e>(
        &'e mut self,
        at: usize,
        node: &Node,
    ) -> impl Iterator<Item = Val<'a>> + use<'a, 'e> {
        let end = node.end as usize;
        let mut child = at + 1;
        std::iter::from_fn(move || {
            if child >= end {
                return None;
            }
            let value = self.eval(child);
            child = self.program.nodes.get(child).map_or(end, |node| node.end as usize);
            Some(value)
        })
    }

    /// The first two arguments; nil stands in for a missing one.
    fn pair(&mut self, at: usize, node: &Node) -> (Val<'a>, Val<'a>) {
        let mut arguments = self.arguments(at, node);
        let first = arguments.next().unwrap_or(Val::Nil);
        let second = arguments.next().unwrap_or(Val::Nil);
        (first, second)
    }

    fn bin(&self, name: &[u8]) -> Val<'a> {
        let bin = self.scope.bins.and_then(|bins| bins.bin(name));
        bin.map_or(Val::Unknown, Val::of_particle)
    }

    fn var(&mut self, place: usize) -> Val<'a> {
        let value = self.vars.get(place).cloned().unwrap_or(Val::Unknown);
        let size = value.bytes().map_or(0, <[u8]>::len);
        if self.charge(size) { value } else { Val::Unknown }
    }

    fn loop_var(&self, part: Part) -> Val<'a> {
        let Some(item) = self.item else { return Val::Unknown };
        match part {
            Part::Value => Val::of_packed(item.value),
            Part::Key => item.key.map_or(Val::Unknown, Val::of_packed),
            Part::Index => item.index.map_or(Val::Unknown, |index| Val::Int(i64::from(index))),
        }
    }

    fn regex(&mut self, at: usize, place: u32) -> Val<'a> {
        let value = self.eval(at + 1);
        match (self.program.patterns.get(place as usize), value) {
            (Some(pattern), Val::Str(text)) => Val::Bool(pattern.is_match(&text)),
            _ => Val::Unknown,
        }
    }

    fn cond(&mut self, at: usize, node: &Node) -> Val<'a> {
        let mut child = at + 1;
        loop {
            let value = self.skip(child);
            if value >= node.end as usize {
                return self.eval(child);
            }
            match self.eval(child) {
                Val::Bool(true) => return self.eval(value),
                Val::Bool(false) => child = self.skip(value),
                _ => return Val::Unknown,
            }
        }
    }

    fn r#let(&mut self, at: usize, node: &Node) -> Val<'a> {
        let outer = self.vars.len();
        let mut child = at + 1;
        loop {
            let next = self.skip(child);
            let value = self.eval(child);
            if next >= node.end as usize {
                self.vars.truncate(outer);
                return value;
            }
            self.vars.push(value);
            child = next;
        }
    }

    /// The node behind the subtree at `at`.
    pub fn skip(&self, at: usize) -> usize {
        self.program.nodes.get(at).map_or(usize::MAX, |node| node.end as usize)
    }
}

//! A compiled expression: a flat tree of nodes over the bytes it came from.

use std::borrow::Cow;
use std::cell::Cell;

use cairn_value::{Error, ResultCode};

use super::call::CallShape;
use super::compile::compile;
use super::eval::Eval;
use super::kind::Kind;
use super::posix::Pattern;
use super::scope::{Item, Scope};
use super::table::Code;
use super::val::Val;
use crate::geo::Shape;

/// Most expressions one program may hold. With the size of a node this bounds the memory of a
/// program to a few megabytes, whatever its bytes say.
pub const NODES_MAX: usize = 65_536;
/// Deepest nesting of expressions.
pub const DEPTH_MAX: usize = 96;
/// Largest program in bytes; literal lists may be as large as a record.
pub const SIZE_MAX: usize = cairn_value::limits::RECORD_SIZE_CEILING;
/// Most regular expressions one program may hold.
pub const PATTERNS_MAX: usize = 64;

/// Most variables that may be visible at one place.
pub const VARIABLES_MAX: usize = 1024;

/// Bytes that the calls and variables of one run may touch in total. Behind that everything is
/// unknown, so that a small program cannot keep a thread busy with copies of a large value.
pub const WORK_MAX: usize = 256 * 1024 * 1024;

/// A place in the program's bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub at: u32,
    pub len: u32,
}

/// A node: what it does, what it yields, and where the nodes behind its arguments start. The
/// arguments of node `i` are the subtrees from `i + 1` to `end`.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub op: Op,
    pub kind: Kind,
    pub end: u32,
}

#[derive(Clone, Debug)]
pub(super) enum Op {
    /// A literal whose value needs no bytes.
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    Wildcard,
    Infinity,
    /// A literal text, blob, list or map: its packed form.
    Packed(Span),
    /// Literal GeoJSON: its packed form, and the index of its shape among the program's shapes.
    Geo(Span, u32),
    /// A code whose arguments say everything.
    Apply(Code),
    Bin(Span),
    BinType(Span),
    Key,
    DigestModulo(i64),
    LoopVar(Part),
    /// Index among the program's patterns.
    Regex(u32),
    /// Index among the program's calls.
    Call(u32),
    /// Place among the variables that are visible there.
    Var(u32),
    Cond,
    Let,
}

/// Which part of the element in hand a loop variable names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Key,
    Value,
    Index,
}

/// What a filter says about a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The record passes.
    True,
    /// It does not.
    False,
    /// It cannot be told, which a command treats like "no".
    Unknown,
}

/// A compiled expression.
///
/// ```
/// use cairn_ops::exp::{Program, Scope, Verdict};
/// use cairn_ops::Env;
/// // gt(bin(integer, "n"), 5)
/// let bytes = [0x93, 3, 0x93, 81, 2, 0xa1, b'n', 5];
/// let program = Program::compile_filter(&bytes).unwrap();
/// assert!(program.needs_bins());
/// // Without a record nothing is known about its bins.
/// let scope = Scope::detached(Env { now_ns: 0 });
/// assert_eq!(program.filter(&scope), Verdict::Unknown);
/// ```
#[derive(Clone, Debug)]
pub struct Program<'p> {
    pub(super) bytes: Cow<'p, [u8]>,
    pub(super) nodes: Vec<Node>,
    pub(super) patterns: Vec<Pattern>,
    pub(super) calls: Vec<CallShape>,
    pub(super) shapes: Vec<Shape>,
    pub(super) needs_bins: bool,
}

impl<'p> Program<'p> {
    /// Compiles one packed expression: checks its structure, the number and the types of all
    /// arguments, and its limits.
    pub fn compile(bytes: &'p [u8]) -> Result<Program<'p>, Error> {
        let (program, used) = compile(bytes)?;
        if used == bytes.len() {
            return Ok(program);
        }
        Err(Error::new(
            ResultCode::Parameter,
            format!("{} bytes are left behind the expression", bytes.len() - used),
        ))
    }

    /// Compiles the expression that starts `bytes`; returns also how many bytes it takes.
    pub fn compile_prefix(bytes: &'p [u8]) -> Result<(Program<'p>, usize), Error> {
        compile(bytes)
    }

    /// Compiles a filter, which must yield a boolean.
    pub fn compile_filter(bytes: &'p [u8]) -> Result<Program<'p>, Error> {
        let program = Program::compile(bytes)?;
        match program.kind() {
            Kind::Bool | Kind::Any => Ok(program),
            other => Err(Error::new(
                ResultCode::Parameter,
                format!("a filter yields a boolean, this one yields {}", other.name()),
            )),
        }
    }

    /// The same program with bytes of its own, for a query that outlives its request.
    pub fn into_owned(self) -> Program<'static> {
        Program {
            bytes: Cow::Owned(self.bytes.into_owned()),
            nodes: self.nodes,
            patterns: self.patterns,
            calls: self.calls,
            shapes: self.shapes,
            needs_bins: self.needs_bins,
        }
    }

    /// What the program yields.
    pub fn kind(&self) -> Kind {
        self.nodes.first().map_or(Kind::Any, |node| node.kind)
    }

    /// False when metadata alone decides, so that no bins need be read.
    pub fn needs_bins(&self) -> bool {
        self.needs_bins
    }

    /// Whether a record passes.
    pub fn filter(&self, scope: &Scope<'_>) -> Verdict {
        match self.value(scope) {
            Val::Bool(true) => Verdict::True,
            Val::Bool(false) => Verdict::False,
            _ => Verdict::Unknown,
        }
    }

    /// What the program yields for a record.
    pub fn value<'a>(&'a self, scope: &'a Scope<'a>) -> Val<'a> {
        Eval::new(self, scope, None).run()
    }

    /// What the program yields for one element of a collection.
    /// The runs over all elements share one allowance of work, see [`WORK_MAX`].
    pub fn value_of_item<'a>(
        &'a self,
        scope: &'a Scope<'a>,
        item: Item<'a>,
        work_left: &Cell<usize>,
    ) -> Val<'a> {
        Eval::new(self, scope, Some(item)).run_within(work_left)
    }

    pub(super) fn slice(&self, span: Span) -> &[u8] {
        let at = span.at as usize;
        self.bytes.get(at..at + span.len as usize).unwrap_or(&[])
    }
}

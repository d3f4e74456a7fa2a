//! From packed bytes to a program, with every check that needs no record.

use std::borrow::Cow;

use cairn_value::packed::{
    EXT_SPECIAL, Reader, SPECIAL_INFINITY, SPECIAL_WILDCARD, Token, check as check_packed,
};
use cairn_value::{Error, ParticleType, ResultCode};

use super::kind::Kind;
use super::program::{DEPTH_MAX, NODES_MAX, Node, Op, Program, SIZE_MAX, Span};
use super::table::{Args, Code, Row, Want, Yields, row};

/// Compiles the expression at the start of `bytes`; returns also how many bytes it takes.
pub(super) fn compile(bytes: &[u8]) -> Result<(Program<'_>, usize), Error> {
    if bytes.len() > SIZE_MAX {
        return Err(refusal(format!(
            "the expression is {} bytes, the limit is {SIZE_MAX}",
            bytes.len()
        )));
    }
    let mut compiler = Compiler {
        program: Program {
            bytes: Cow::Borrowed(bytes),
            nodes: Vec::new(),
            patterns: Vec::new(),
            calls: Vec::new(),
            shapes: Vec::new(),
            needs_bins: false,
        },
        vars: Vec::new(),
    };
    let mut reader = Reader::new(bytes);
    compiler.expression(&mut reader, DEPTH_MAX)?;
    Ok((compiler.program, reader.position()))
}

/// An error of the compiler.
pub(super) fn refusal(message: impl Into<Cow<'static, str>>) -> Error {
    Error::new(ResultCode::Parameter, message)
}

pub(super) struct Compiler<'p> {
    pub program: Program<'p>,
    /// Variables of the enclosing lets: name and kind.
    pub vars: Vec<(&'p [u8], Kind)>,
}

impl<'p> Compiler<'p> {
    /// Compiles the next expression and returns its kind.
    pub fn expression(
        &mut self,
        reader: &mut Reader<'p>,
        depth_left: usize,
    ) -> Result<Kind, Error> {
        let depth_left = depth_left.checked_sub(1).ok_or_else(|| {
            refusal(format!("expressions are nested deeper than {DEPTH_MAX} levels"))
        })?;
        let start = reader.position();
        match reader.token()? {
            Token::List(count) => self.list(reader, count, depth_left),
            Token::Nil => self.literal(Op::Nil, Kind::Nil),
            Token::Bool(value) => self.literal(Op::Bool(value), Kind::Bool),
            Token::Int(value) => self.literal(Op::Int(value), Kind::Int),
            Token::Double(value) => self.literal(Op::Float(value), Kind::Float),
            Token::Bytes(bytes) => self.text_literal(span(start, reader), bytes),
            Token::Map(_) => {
                *reader = Reader::at(reader.bytes(), start);
                check_packed(reader.skip()?)?;
                self.literal(Op::Packed(span(start, reader)), Kind::Map)
            }
            Token::Ext(EXT_SPECIAL, [SPECIAL_WILDCARD]) => {
                self.literal(Op::Wildcard, Kind::Wildcard)
            }
            Token::Ext(EXT_SPECIAL, [SPECIAL_INFINITY]) => {
                self.literal(Op::Infinity, Kind::Infinity)
            }
            Token::Ext(kind, _) => {
                Err(refusal(format!("extension type {kind} is no literal of an expression")))
            }
        }
    }

    /// Adds a node without arguments.
    pub fn literal(&mut self, op: Op, kind: Kind) -> Result<Kind, Error> {
        let at = self.open(op)?;
        Ok(self.close(at, kind))
    }

    fn text_literal(&mut self, span: Span, bytes: &[u8]) -> Result<Kind, Error> {
        let particle = bytes.first().and_then(|&byte| ParticleType::from_wire(byte));
        let kind = match particle {
            Some(ParticleType::String) => Kind::Str,
            Some(ParticleType::Hll) => Kind::Hll,
            Some(ParticleType::GeoJson) => {
                let place = self.program.shapes.len() as u32;
                self.program.shapes.push(super::geo::literal(&bytes[1..])?);
                return self.literal(Op::Geo(span, place), Kind::Geo);
            }
            Some(blob) if blob.is_blob() => Kind::Blob,
            _ => return Err(refusal("a literal text or blob starts with its particle type")),
        };
        self.literal(Op::Packed(span), kind)
    }

    /// Starts a node; its arguments follow until `close`.
    pub fn open(&mut self, op: Op) -> Result<usize, Error> {
        let nodes = &mut self.program.nodes;
        if nodes.len() >= NODES_MAX {
            return Err(refusal(format!("the expression has more than {NODES_MAX} parts")));
        }
        nodes.push(Node { op, kind: Kind::Any, end: 0 });
        Ok(nodes.len() - 1)
    }

    /// Ends a node.
    pub fn close(&mut self, at: usize, kind: Kind) -> Kind {
        let end = self.program.nodes.len() as u32;
        if let Some(node) = self.program.nodes.get_mut(at) {
            (node.kind, node.end) = (kind, end);
        }
        kind
    }

    fn list(
        &mut self,
        reader: &mut Reader<'p>,
        count: u32,
        depth_left: usize,
    ) -> Result<Kind, Error> {
        let Some(arg_count) = count.checked_sub(1) else {
            return Err(refusal("an expression is a list that starts with its code"));
        };
        let Token::Int(number) = reader.token()? else {
            return Err(refusal("an expression starts with its code; a list literal is quoted"));
        };
        let row = row(number).ok_or_else(|| refusal(format!("no expression has code {number}")))?;
        let arg_count = arg_count as usize;
        match row.args {
            Args::Fixed(wants) if wants.len() == arg_count => {
                self.apply(reader, row, wants.iter().copied(), depth_left)
            }
            Args::Many(least, want) if arg_count >= least => {
                self.apply(reader, row, std::iter::repeat_n(want, arg_count), depth_left)
            }
            Args::Fixed(_) | Args::Many(..) => Err(arity(row, arg_count)),
            Args::Own(_) => self.own(reader, row, arg_count, depth_left),
            Args::Later => {
                Err(refusal(format!("`{}` is not part of this protocol level", row.name)))
            }
        }
    }

    fn apply(
        &mut self,
        reader: &mut Reader<'p>,
        row: &Row,
        wants: impl Iterator<Item = Want>,
        depth_left: usize,
    ) -> Result<Kind, Error> {
        let at = self.open(Op::Apply(row.code))?;
        let mut common = Kind::Any;
        for want in wants {
            let kind = self.expression(reader, depth_left)?;
            common = fit(want, kind, common).ok_or_else(|| mismatch(row, kind, common))?;
        }
        Ok(self.close(
            at,
            match row.yields {
                Yields::Of(kind) => kind,
                Yields::AsArguments => common,
            },
        ))
    }

    fn own(
        &mut self,
        reader: &mut Reader<'p>,
        row: &Row,
        arg_count: usize,
        depth_left: usize,
    ) -> Result<Kind, Error> {
        let done = match (row.code, arg_count) {
            (Code::Regex, 3) => self.regex(reader, depth_left)?,
            (Code::DigestModulo, 1) => self.digest_modulo(reader)?,
            (Code::Key, 1) => self.key(reader)?,
            (Code::Bin, 2) => self.bin(reader)?,
            (Code::BinType, 1) => self.bin_type(reader)?,
            (Code::LoopVar, 2) => self.loop_var(reader)?,
            (Code::Quote, 1) => self.quote(reader)?,
            (Code::Var, 1) => self.var(reader)?,
            (Code::Cond, 3..) if arg_count % 2 == 1 => self.cond(reader, arg_count, depth_left)?,
            (Code::Let, 3..) if arg_count % 2 == 1 => self.r#let(reader, arg_count, depth_left)?,
            (Code::Call, 4) => self.call(reader, depth_left)?,
            _ => None,
        };
        done.ok_or_else(|| refusal(format!("other arguments are given to {row}")))
    }
}

/// The kind common to the arguments so far, when one of this kind fits what is wanted.
fn fit(want: Want, kind: Kind, common: Kind) -> Option<Kind> {
    match want {
        Want::Of(wanted) => kind.unify(wanted),
        Want::Number if matches!(kind, Kind::Int | Kind::Float | Kind::Any) => kind.unify(common),
        Want::Comparable if !matches!(kind, Kind::Geo | Kind::Hll | Kind::Remove) => {
            kind.unify(common)
        }
        Want::Number | Want::Comparable => None,
        Want::Anything => (kind != Kind::Remove).then_some(common),
    }
}

fn arity(row: &Row, given: usize) -> Error {
    refusal(format!("{given} arguments are given to {row}"))
}

fn mismatch(row: &Row, kind: Kind, common: Kind) -> Error {
    match common {
        Kind::Any => refusal(format!("an argument of {row} is {}", kind.name())),
        _ => refusal(format!("{} and {} are given to {row}", common.name(), kind.name())),
    }
}

/// The place between `start` and where the reader stands.
pub(super) fn span(start: usize, reader: &Reader<'_>) -> Span {
    // A program has SIZE_MAX bytes at most, so offsets fit.
    Span { at: start as u32, len: (reader.position() - start) as u32 }
}

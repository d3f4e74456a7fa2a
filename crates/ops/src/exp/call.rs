//! Calls into the collection, bit and HyperLogLog operations.
//!
//! The operation's arguments may be literals, quoted lists or expressions. Arguments that are all
//! literal are handed over as they stand in the program; with quotes they are laid out once, when
//! the program is compiled; with expressions at every run.

use std::borrow::Cow;

use cairn_value::packed::{Reader, Token, check as check_packed, write};
use cairn_value::{Error, Particle, ParticleType};

use super::compile::{Compiler, refusal, span};
use super::eval::Eval;
use super::kind::Kind;
use super::program::{SIZE_MAX, Span};
use super::table::{Code, row};
use super::val::{Geo, Val};
use crate::{Applied, Effect, Mode};

/// Operation code in front of a context and an operation.
const WITH_CONTEXT: i64 = 0xff;
/// Operation code of select and modify by path, whose arguments hold expressions of their own.
const BY_PATH: i64 = 0xfe;
/// Set in the system number when the operation modifies.
const MODIFY: i64 = 0x40;

/// Which family of operations a call reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum System {
    Collection,
    Bit,
    Hll,
}

impl System {
    fn from_wire(number: i64) -> Option<System> {
        Some(match number {
            0 => System::Collection,
            1 => System::Bit,
            2 => System::Hll,
            _ => return None,
        })
    }

    fn accepts_base(self, kind: Kind) -> bool {
        match self {
            System::Collection => matches!(kind, Kind::List | Kind::Map | Kind::Any),
            System::Bit => matches!(kind, Kind::Blob | Kind::Any),
            System::Hll => matches!(kind, Kind::Hll | Kind::Any),
        }
    }
}

/// A compiled call: the family, whether it modifies, and its packed operation.
#[derive(Clone, Debug)]
pub(super) struct CallShape {
    system: System,
    mode: Mode,
    layout: Layout,
}

/// How the packed operation comes about.
#[derive(Clone, Debug)]
enum Layout {
    /// It stands in the program.
    Plain(Span),
    /// It was laid out when the program was compiled.
    Fixed(Box<[u8]>),
    /// It is laid out at every run.
    Computed(Vec<Piece>),
}

#[derive(Clone, Debug)]
enum Piece {
    Bytes(Box<[u8]>),
    /// The next argument that is an expression.
    Argument,
}

/// Compiles the operation of a call. Returns the shape and which kinds of value it may be called
/// on; `None` when the system or the operation is none.
pub(super) fn shape<'p>(
    compiler: &mut Compiler<'p>,
    reader: &mut Reader<'p>,
    system: i64,
    depth_left: usize,
) -> Result<Option<(CallShape, impl Fn(Kind) -> bool + use<>)>, Error> {
    let Some(family) = System::from_wire(system & !MODIFY) else { return Ok(None) };
    let mode = if system & MODIFY == 0 { Mode::Read } else { Mode::Modify };
    let start = reader.position();
    let mut layouter = Layouter::default();
    if !operation(compiler, reader, depth_left, &mut layouter)? {
        return Ok(None);
    }
    let layout = layouter.finish(span(start, reader));
    let shape = CallShape { system: family, mode, layout };
    Ok(Some((shape, move |kind| family.accepts_base(kind))))
}

/// Reads `[code, arguments..]` or `[0xff, context, [code, arguments..]]`.
fn operation<'p>(
    compiler: &mut Compiler<'p>,
    reader: &mut Reader<'p>,
    depth_left: usize,
    out: &mut Layouter,
) -> Result<bool, Error> {
    let start = reader.position();
    let Token::List(count @ 1..) = reader.token()? else { return Ok(false) };
    let Token::Int(code) = reader.token()? else { return Ok(false) };
    if code == BY_PATH {
        *reader = Reader::at(reader.bytes(), start);
        // A path may hold calls that hold paths. Its expressions are compiled when it runs, so
        // their nesting is bounded here, through the nesting of the bytes.
        let operation = reader.skip()?;
        check_packed(operation)?;
        out.raw(operation);
        return Ok(true);
    }
    write::list_head(&mut out.pending, count);
    write::int(&mut out.pending, code);
    if code == WITH_CONTEXT {
        if count != 3 {
            return Ok(false);
        }
        let context = reader.skip()?;
        check_packed(context)?;
        out.raw(context);
        let depth_left = depth_left.checked_sub(1).ok_or_else(|| refusal("nested too deep"))?;
        return operation(compiler, reader, depth_left, out);
    }
    for _ in 1..count {
        argument(compiler, reader, depth_left, out)?;
    }
    Ok(true)
}

/// Reads one argument: a literal, a quoted list or an expression.
fn argument<'p>(
    compiler: &mut Compiler<'p>,
    reader: &mut Reader<'p>,
    depth_left: usize,
    out: &mut Layouter,
) -> Result<(), Error> {
    let mut ahead = *reader;
    let Token::List(count) = ahead.token()? else {
        let literal = reader.skip()?;
        check_packed(literal)?;
        out.raw(literal);
        return Ok(());
    };
    if let (2, Token::Int(number)) = (count, ahead.token()?)
        && row(number).is_some_and(|row| row.code == Code::Quote)
        && let Token::List(_) = ahead.peek()?
    {
        let list = ahead.skip()?;
        check_packed(list)?;
        out.quoted(list);
        *reader = ahead;
        return Ok(());
    }
    compiler.expression(reader, depth_left)?;
    out.argument();
    Ok(())
}

/// Collects the pieces of an operation.
#[derive(Default)]
struct Layouter {
    pieces: Vec<Piece>,
    pending: Vec<u8>,
    differs: bool,
}

impl Layouter {
    fn raw(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    fn quoted(&mut self, list: &[u8]) {
        self.differs = true;
        self.raw(list);
    }

    fn argument(&mut self) {
        let bytes = std::mem::take(&mut self.pending);
        self.pieces.push(Piece::Bytes(bytes.into_boxed_slice()));
        self.pieces.push(Piece::Argument);
    }

    fn finish(mut self, place: Span) -> Layout {
        match (self.pieces.is_empty(), self.differs) {
            (true, false) => Layout::Plain(place),
            (true, true) => Layout::Fixed(self.pending.into_boxed_slice()),
            (false, _) => {
                self.pieces.push(Piece::Bytes(self.pending.into_boxed_slice()));
                Layout::Computed(self.pieces)
            }
        }
    }
}

impl<'a> Eval<'a> {
    /// Runs a call. Whatever goes wrong inside an operation makes the call unknown.
    pub(super) fn call(&mut self, at: usize, shape: u32) -> Val<'a> {
        let program = self.program;
        let (Some(shape), Some(node)) = (program.calls.get(shape as usize), program.nodes.get(at))
        else {
            return Val::Unknown;
        };
        let mut child = at + 1;
        let operation = match &shape.layout {
            Layout::Plain(place) => Cow::Borrowed(program.slice(*place)),
            Layout::Fixed(bytes) => Cow::Borrowed(&**bytes),
            Layout::Computed(pieces) => match self.lay_out(shape.system, pieces, &mut child) {
                Some(bytes) => Cow::Owned(bytes),
                None => return Val::Unknown,
            },
        };
        let base = self.eval(child);
        let Some(particle) = particle(&base) else { return Val::Unknown };
        if !self.charge(operation.len() + particle.bytes.len()) {
            return Val::Unknown;
        }
        let env = &self.scope.env;
        let applied = match (shape.system, shape.mode) {
            (System::Collection, mode) => crate::cdt::apply(&operation, Some(particle), mode, env),
            (System::Bit, mode) => crate::bit::apply(&operation, Some(particle), mode, env),
            (System::Hll, mode) => crate::hll::apply(&operation, Some(particle), mode, env),
        };
        match (applied, shape.mode) {
            (Ok(applied), Mode::Read) => answer(applied).expect(node.kind),
            (Ok(applied), Mode::Modify) => changed(applied, base).expect(node.kind),
            (Err(_), _) => Val::Unknown,
        }
    }

    /// Lays out an operation whose arguments are expressions; `None` when one is unknown.
    fn lay_out(
        &mut self,
        system: System,
        pieces: &'a [Piece],
        child: &mut usize,
    ) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Bytes(literal) => bytes.extend_from_slice(literal),
                Piece::Argument => {
                    let value = self.eval(*child);
                    *child = self.program.nodes.get(*child)?.end as usize;
                    if let (System::Hll, Val::Hll(_)) = (system, &value) {
                        // One sketch may stand for a list of sketches.
                        write::list_head(&mut bytes, 1);
                    }
                    if !value.pack(&mut bytes) || bytes.len() > SIZE_MAX {
                        return None;
                    }
                }
            }
        }
        Some(bytes)
    }
}

fn particle<'v>(value: &'v Val<'_>) -> Option<Particle<'v>> {
    Some(match value {
        Val::List(bytes) => Particle::new(ParticleType::List, bytes),
        Val::Map(bytes) => Particle::new(ParticleType::Map, bytes),
        Val::Blob(kind, bytes) => Particle::new(*kind, bytes),
        Val::Hll(bytes) => Particle::new(ParticleType::Hll, bytes),
        Val::Str(bytes) => Particle::new(ParticleType::String, bytes),
        Val::Geo(Geo::Particle(bytes)) => Particle::new(ParticleType::GeoJson, bytes),
        _ => return None,
    })
}

/// What a reading operation answered.
fn answer<'a>(applied: Applied) -> Val<'a> {
    match applied.reply {
        Some(reply) => Val::of_bytes(reply.kind, Cow::Owned(reply.bytes)),
        None => Val::Nil,
    }
}

/// The value after a modifying operation.
fn changed<'a>(applied: Applied, base: Val<'a>) -> Val<'a> {
    let new = match applied.effect {
        Effect::None => return base,
        Effect::Remove => return Val::Nil,
        Effect::Whole(kind, bytes) => (kind, bytes),
        Effect::Edit { kind, edits } => {
            let Some(old) = base.bytes() else { return Val::Unknown };
            if edits.new_len(old.len()) > SIZE_MAX {
                return Val::Unknown;
            }
            (kind, edits.apply(old))
        }
    };
    if new.1.len() > SIZE_MAX {
        return Val::Unknown;
    }
    Val::of_bytes(new.0, Cow::Owned(new.1))
}

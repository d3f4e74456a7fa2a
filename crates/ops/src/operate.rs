//! Runs the operations of one command on one record, all or nothing.
//!
//! A command is refused in three places, in this order, and the rule of the protocol is that
//! an answer carries the record's generation only when the record was looked at:
//!
//! 1. [`check`], before the record is looked up (answers carry generation 0): bin names of a
//!    command that writes, operations that a replacing write may not hold, reads in a command that
//!    did not announce them, a command without operations.
//! 2. The engine's policies: record exists or not, generation, key, filter, time to live.
//! 3. [`run`], with the record at hand (answers carry its generation, 0 when there is none): bin
//!    names of a command that only reads, values, types, arguments; and code 2 when there was no
//!    record and the operations made none.
//!
//! Operations see what the ones before them did. Unchanged bins stay borrowed from the record, a
//! bin that one operation edited stays an edit, existing bins keep their place, new ones go behind
//! and the last bin takes the place of a removed one.

use std::borrow::Cow;
use std::cell::OnceCell;

use cairn_value::limits::BINS_MAX;
use cairn_value::record::check_bin_name;
use cairn_value::{Error, NewBin, Particle, ParticleType, RecordView, ResultCode, collection};

use crate::overlay::Overlay;
use crate::read::Lookup;
use crate::scalar::{self, End};
use crate::table::{self, Row, Run};
use crate::{Applied, BinOp, Effect, Env, Mode, Reply, op, read};

/// What a command announced about its operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// READ: operations may answer.
    pub reads: bool,
    /// GET_ALL: all bins are wanted. A command that only reads ignores its operations then; in one
    /// that writes, a read with an empty name stands for all bins.
    pub all_bins: bool,
    /// WRITE: operations may change the record.
    pub writes: bool,
    /// RESPOND_ALL_OPS: every operation answers, with nil where it has nothing to say.
    pub respond_all: bool,
    /// CREATE_OR_REPLACE or REPLACE_ONLY: the old bins go.
    pub replace: bool,
}

/// What becomes of the record, and the answers in the order of their operations.
#[derive(Clone, Debug)]
pub struct Outcome<'r> {
    /// What the store has to do.
    pub change: Change<'r>,
    /// Answers.
    pub replies: Vec<OpReply<'r>>,
}

/// What the store has to do.
#[derive(Clone, Debug)]
pub enum Change<'r> {
    /// Nothing: the command only read.
    None,
    /// The bins stay; generation, last-update time and time to live are renewed.
    Touch,
    /// The record has these bins from now on, in this order.
    Bins(Vec<NewBin<'r>>),
    /// No bin is left: the record goes, and the answer's generation is 0.
    Delete,
}

/// The answer of one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpReply<'r> {
    /// Operation type.
    pub op: u8,
    /// Bin name.
    pub name: &'r [u8],
    /// Type of the value.
    pub kind: ParticleType,
    /// The value as on the wire.
    pub bytes: Cow<'r, [u8]>,
}

impl<'r> OpReply<'r> {
    /// The value of a bin: the part of it that clients see.
    pub(crate) fn bin(name: &'r [u8], kind: ParticleType, bytes: Cow<'r, [u8]>) -> Self {
        let bytes = match bytes {
            Cow::Borrowed(bytes) => collection::reply_form(kind, bytes),
            Cow::Owned(bytes) => match collection::reply_form(kind, &bytes) {
                Cow::Owned(shorter) => Cow::Owned(shorter),
                Cow::Borrowed(_) => Cow::Owned(bytes),
            },
        };
        OpReply { op: op::READ, name, kind, bytes }
    }

    /// What an operation answered.
    pub(crate) fn built(op: &BinOp<'r>, reply: Reply) -> Self {
        OpReply { op: op.op, name: op.name, kind: reply.kind, bytes: Cow::Owned(reply.bytes) }
    }

    /// Nil.
    pub(crate) fn nil(op: &BinOp<'r>) -> Self {
        OpReply { op: op.op, name: op.name, kind: ParticleType::Nil, bytes: Cow::Borrowed(&[]) }
    }
}

/// A record as an operation in the middle of a command sees it.
#[derive(Debug)]
pub struct Scope<'a, 'r> {
    record: Option<&'a RecordView<'r>>,
    /// `None` in a command that only reads: the record's own bins are meant.
    overlay: Option<&'a Overlay<'r>>,
    /// The record's own bins by name, once somebody asked for one.
    stored: OnceCell<Lookup<'r>>,
}

impl<'a, 'r> Scope<'a, 'r> {
    /// A stored record that no operation has changed.
    pub fn stored(record: &'a RecordView<'r>) -> Self {
        Scope { record: Some(record), overlay: None, stored: OnceCell::new() }
    }

    /// The stored record with its metadata; `None` when the command is creating it. Its bins are
    /// the old ones.
    pub fn record(&self) -> Option<&RecordView<'r>> {
        self.record
    }

    /// The bin of this name, as the operations so far have left it.
    pub fn bin(&self, name: &[u8]) -> Option<Particle<'_>> {
        match self.overlay {
            Some(overlay) => overlay.get(name),
            None => {
                let bins = self.record?.bins;
                self.stored.get_or_init(|| Lookup::new(bins, bins.len())).get(name)
            }
        }
    }
}

/// Refuses a command that writes for what can be told without the record. Commands that only read
/// pass: what is wrong with them is told by [`run`].
pub fn check(ops: &[BinOp<'_>], options: Options) -> Result<(), Error> {
    if !options.writes {
        return Ok(());
    }
    if ops.is_empty() {
        return Err(Error::new(ResultCode::Parameter, "a write has no operations"));
    }
    for op in ops {
        check_bin_name(op.name)?;
        let Some(row) = table::find(op.op) else { continue };
        if row.mode == Mode::Read && !options.reads {
            let text = format!("the command does not announce its {}", row.name);
            return Err(Error::new(ResultCode::Parameter, text));
        }
        if options.replace && needs_old_record(row, op) {
            let text = format!("a replacing write cannot hold a {}", describe(row, op));
            return Err(Error::new(ResultCode::Parameter, text));
        }
    }
    if options.all_bins && (options.respond_all || !ops.iter().any(reads_all_bins)) {
        let text = "all bins are announced but not read, or every operation is to answer";
        return Err(Error::new(ResultCode::Parameter, text));
    }
    Ok(())
}

fn needs_old_record(row: &Row, op: &BinOp<'_>) -> bool {
    match row.run {
        Run::Write => op.kind == ParticleType::Nil.wire(),
        _ => row.mode == Mode::Modify,
    }
}

fn describe(row: &Row, op: &BinOp<'_>) -> &'static str {
    if op.op == op::WRITE { "removal of a bin" } else { row.name }
}

fn reads_all_bins(op: &BinOp<'_>) -> bool {
    op.op == op::READ && op.name.is_empty()
}

/// Runs the operations of a command that passed [`check`] and the engine's policies.
pub fn run<'r>(
    record: Option<&RecordView<'r>>,
    ops: &[BinOp<'r>],
    env: &Env,
    options: Options,
) -> Result<Outcome<'r>, Error> {
    if !options.writes {
        let record = record.ok_or(ResultCode::NotFound)?;
        let replies = read::run(record, ops, env, options)?;
        return Ok(Outcome { change: Change::None, replies });
    }
    let overlay = match record {
        Some(record) if !options.replace => Overlay::new(record.bins),
        _ => Overlay::default(),
    };
    Command { record, overlay, env, options, replies: Vec::new() }.run(ops)
}

struct Command<'a, 'r> {
    record: Option<&'a RecordView<'r>>,
    overlay: Overlay<'r>,
    env: &'a Env,
    options: Options,
    replies: Vec<OpReply<'r>>,
}

impl<'r> Command<'_, 'r> {
    fn run(mut self, ops: &[BinOp<'r>]) -> Result<Outcome<'r>, Error> {
        for op in ops {
            if self.options.all_bins && reads_all_bins(op) {
                self.reply_all_bins();
            } else {
                self.execute(table::find(op.op).ok_or_else(|| not_a("known operation", op))?, op)?;
            }
        }
        if self.overlay.len() > BINS_MAX {
            let text = format!(
                "the record would have {} bins, the limit is {BINS_MAX}; use a map for more",
                self.overlay.len()
            );
            return Err(Error::new(ResultCode::RecordTooBig, text));
        }
        let change = match (self.record, self.overlay.is_empty()) {
            (None, true) => return Err(ResultCode::NotFound.into()),
            (Some(_), true) => Change::Delete,
            (Some(_), false) if !self.overlay.is_changed() && !self.options.replace => {
                Change::Touch
            }
            _ => Change::Bins(self.overlay.into_bins()),
        };
        Ok(Outcome { change, replies: self.replies })
    }

    fn execute(&mut self, row: &Row, op: &BinOp<'r>) -> Result<(), Error> {
        match row.run {
            Run::Read => match self.overlay.find(op.name) {
                Some(place) => self.reply_bin(place),
                None => self.reply_nil(op),
            },
            Run::Write => {
                match scalar::stored(op.kind, op.value)? {
                    Some((kind, bytes)) => self.overlay.put(op.name, kind, bytes),
                    None => self.overlay.remove(op.name),
                }
                self.reply_nil(op);
            }
            Run::Increment => self.change(op, |old| scalar::increment(old, op.kind, op.value))?,
            Run::Append => {
                self.change(op, |old| scalar::extend(old, op.kind, op.value, End::Back))?;
            }
            Run::Prepend => {
                self.change(op, |old| scalar::extend(old, op.kind, op.value, End::Front))?;
            }
            Run::Touch => {}
            Run::Delete => {
                self.overlay.clear();
                self.reply_nil(op);
            }
            Run::Bin(function) => {
                let env = self.env;
                let applied = function(op.value, self.settled(op.name), row.mode, env)?;
                self.conclude(row, op, applied);
            }
            Run::Record(function) => {
                self.overlay.settle_all();
                let (record, overlay) = (self.record, Some(&self.overlay));
                let scope = Scope { record, overlay, stored: OnceCell::new() };
                let bin = scope.bin(op.name);
                let applied = function(op.value, bin, &scope, row.mode, self.env)?;
                self.conclude(row, op, applied);
            }
            Run::Missing => return Err(missing(row)),
        }
        Ok(())
    }

    /// The value of a bin in one piece, after what was done to it before.
    fn settled(&mut self, name: &[u8]) -> Option<Particle<'_>> {
        let place = self.overlay.find(name)?;
        self.overlay.settle(place);
        self.overlay.particle(place)
    }

    /// Changes a bin by its old value; on a bin that is not there, the operation is a write.
    fn change(
        &mut self,
        op: &BinOp<'r>,
        effect: impl FnOnce(Particle<'_>) -> Result<Effect, Error>,
    ) -> Result<(), Error> {
        match self.settled(op.name) {
            Some(old) => {
                let effect = effect(old)?;
                self.overlay.apply(op.name, effect);
            }
            None => {
                if let Some((kind, bytes)) = scalar::stored(op.kind, op.value)? {
                    self.overlay.put(op.name, kind, bytes);
                }
            }
        }
        self.reply_nil(op);
        Ok(())
    }

    fn conclude(&mut self, row: &Row, op: &BinOp<'r>, applied: Applied) {
        if row.mode == Mode::Modify {
            self.overlay.apply(op.name, applied.effect);
        }
        match applied.reply {
            Some(reply) => self.replies.push(OpReply::built(op, reply)),
            None => self.reply_nil(op),
        }
    }

    /// Nothing to say: nil where every operation answers.
    fn reply_nil(&mut self, op: &BinOp<'r>) {
        if self.options.respond_all {
            self.replies.push(OpReply::nil(op));
        }
    }

    fn reply_bin(&mut self, place: usize) {
        let (name, kind, bytes) = self.overlay.value(place);
        self.replies.push(OpReply::bin(name, kind, bytes));
    }

    fn reply_all_bins(&mut self) {
        (0..self.overlay.len()).for_each(|place| self.reply_bin(place));
    }
}

pub(crate) fn missing(row: &Row) -> Error {
    Error::new(ResultCode::Unsupported, format!("{} is not supported yet", row.name))
}

pub(crate) fn not_a(expected: &str, op: &BinOp<'_>) -> Error {
    let name = table::find(op.op).map_or("unknown", |row| row.name);
    Error::new(ResultCode::Parameter, format!("operation {} ({name}) is no {expected}", op.op))
}

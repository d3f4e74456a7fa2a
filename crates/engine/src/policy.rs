//! What a command asks of a record besides its data.

use std::marker::PhantomData;

use cairn_value::{Digest, Error, Meta, NewBin, RecordView, ResultCode};

/// The record that a command is about.
#[derive(Clone, Copy, Debug)]
pub struct Target<'q> {
    /// Its identity.
    pub digest: Digest,
    /// Name of its set, empty for none.
    pub set: &'q [u8],
    /// The user key in wire form (type byte, then bytes), when the command carries it. It is
    /// compared with the stored key when there is one.
    pub key: Option<&'q [u8]>,
}

/// What a read asks for.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadPolicy {
    /// Whether the read extends the record's life.
    pub touch: ReadTouch,
}

/// When a read extends a record's life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadTouch {
    /// As the namespace says.
    #[default]
    Default,
    /// Never.
    Never,
    /// When less than this percentage of the life given by the last write is left.
    Below(u32),
}

/// What a write asks for.
#[derive(Clone, Copy, Debug, Default)]
pub struct WritePolicy {
    /// What may be there before.
    pub exists: Exists,
    /// Which generation must be there before.
    pub generation: GenerationCheck,
    /// How long the record lives.
    pub ttl: Ttl,
    /// Whether to store the user key with the record, when the command carries it.
    pub store_key: bool,
}

/// What may be there before a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exists {
    /// Anything: create or merge.
    #[default]
    Any,
    /// No record.
    CreateOnly,
    /// A record.
    UpdateOnly,
    /// Anything; the old bins go.
    Replace,
    /// A record; its old bins go.
    ReplaceOnly,
}

impl Exists {
    /// True when the old bins go.
    pub fn replaces(self) -> bool {
        matches!(self, Exists::Replace | Exists::ReplaceOnly)
    }
}

/// Which generation must be there before a write. An absent record has generation 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GenerationCheck {
    /// Any.
    #[default]
    None,
    /// Exactly this one.
    Equal(u32),
    /// The command's generation must be greater than the record's.
    Greater(u32),
}

/// How long a record lives after a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ttl {
    /// As the namespace says.
    #[default]
    Default,
    /// Forever.
    Never,
    /// As long as before; a new record as the namespace says.
    Keep,
    /// This many seconds from now.
    Seconds(u32),
}

/// What the closure of an update sees. `'r` is the record under its lock, `'q` the request, which
/// lives longer, so that a change can borrow from both.
#[derive(Clone, Copy, Debug)]
pub struct Slot<'r, 'q: 'r> {
    /// The record, unless there is none or it has expired.
    pub record: Option<RecordView<'r>>,
    /// The time of this update, in nanoseconds since the Unix epoch.
    pub now_ns: u64,
    pub(crate) _request: PhantomData<&'r &'q ()>,
}

/// What an update does to its record.
#[derive(Clone, Debug)]
pub enum Change<'r> {
    /// Nothing; generation and times stay.
    None,
    /// Generation, last-update time and TTL move, bins stay.
    Touch,
    /// These are the bins now. A record without bins is deleted.
    Write(Vec<NewBin<'r>>),
    /// The record goes.
    Delete,
}

/// How an update ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// The record stands, changed or not.
    Stands(Meta),
    /// The record is gone, or was never there.
    Gone,
}

impl Written {
    /// Metadata of the record that stands.
    pub fn meta(&self) -> Option<Meta> {
        match self {
            Written::Stands(meta) => Some(*meta),
            Written::Gone => None,
        }
    }
}

/// A refused command, with the metadata of the record when there was one: answers carry it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Why.
    pub error: Error,
    /// The record's generation, 0 when there is none.
    pub generation: u16,
    /// The record's void time, 0 when there is none or it never expires.
    pub void_time: u32,
}

impl Failure {
    pub(crate) fn of(error: impl Into<Error>, meta: Option<Meta>) -> Self {
        Failure {
            error: error.into(),
            generation: meta.map_or(0, |m| m.generation),
            void_time: meta.map_or(0, |m| m.void_time),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::of(error, None)
    }
}

impl From<ResultCode> for Failure {
    fn from(code: ResultCode) -> Self {
        Failure::of(code, None)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for Failure {}

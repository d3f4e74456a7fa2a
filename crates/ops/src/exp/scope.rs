//! What an expression can see: a record, its bins as they are now, the clock, and inside a path
//! the element in hand.

use cairn_value::{Bins, Particle, RecordView};

use crate::{Env, operate};

/// The bins of a record as an expression finds them. A command that has changed bins already shows
/// the changed ones.
pub trait BinLookup {
    /// The value of the bin of this name.
    fn bin(&self, name: &[u8]) -> Option<Particle<'_>>;
}

impl BinLookup for Bins<'_> {
    fn bin(&self, name: &[u8]) -> Option<Particle<'_>> {
        self.get(name)
    }
}

impl BinLookup for operate::Scope<'_, '_> {
    fn bin(&self, name: &[u8]) -> Option<Particle<'_>> {
        operate::Scope::bin(self, name)
    }
}

/// What an expression can see.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// The record before the command, for its metadata; `None` when there is none.
    pub record: Option<RecordView<'a>>,
    /// Its bins now; `None` where bins cannot be reached.
    pub bins: Option<&'a dyn BinLookup>,
    /// The clock.
    pub env: Env,
}

impl<'a> Scope<'a> {
    /// A stored record.
    pub fn of_record(record: &'a RecordView<'a>, env: Env) -> Scope<'a> {
        Scope { record: Some(*record), bins: Some(&record.bins), env }
    }

    /// No record at all: the scope of expressions inside a path.
    pub fn detached(env: Env) -> Scope<'a> {
        Scope { record: None, bins: None, env }
    }
}

impl std::fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scope").field("record", &self.record).finish_non_exhaustive()
    }
}

/// The element of a collection that a path has in hand.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// Its packed key, inside a map.
    pub key: Option<&'a [u8]>,
    /// Its packed value.
    pub value: &'a [u8],
    /// Its place, inside a list.
    pub index: Option<u32>,
}

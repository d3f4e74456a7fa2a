//! What a step creates where nothing is.

use cairn_value::limits::RECORD_SIZE_CEILING;
use cairn_value::packed::{flags, write};
use cairn_value::{Error, ResultCode};

use super::{Pick, Step, no_such_element};
use crate::cdt::change::{Change, Splice};
use crate::cdt::seq::Seq;
use crate::cdt::stored;

/// Kinds of collection that a step may create, as the two high bits of its type tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Create {
    Never,
    Unordered,
    /// Lists: unordered, filled up with nil. Maps: ordered by key.
    Second,
    /// Lists: ordered. Maps: ordered by key and value.
    Third,
}

impl Step<'_> {
    fn create(&self) -> Create {
        match self.kind & 0xc0 {
            0x40 => Create::Unordered,
            0x80 => Create::Second,
            0xc0 => Create::Third,
            _ => Create::Never,
        }
    }
}

/// What a step creates.
pub(super) enum Creation {
    /// An element of a list behind this many new nils.
    Element { nils: u32, ordered: bool },
    /// A pair of a map with these flags.
    Pair { flags: u8 },
}

/// Decides what a step may create in an existing collection or as a new one.
pub(super) fn creation(step: &Step<'_>, existing: Option<&Seq<'_>>) -> Result<Creation, Error> {
    let create = step.create();
    if create == Create::Never {
        return Err(no_such_element());
    }
    match step.pick() {
        Some(Pick::MapKey) if stored::is_key(step.value) => Ok(Creation::Pair {
            flags: match create {
                Create::Second => flags::ORDERED,
                Create::Third => flags::ORDERED | flags::VALUE_ORDERED,
                _ => 0,
            },
        }),
        Some(Pick::ListIndex) => {
            let index = step.number().ok_or_else(no_such_element)?;
            let ordered = existing.map_or(create == Create::Third, Seq::is_ordered);
            let len = existing.map_or(0, Seq::len);
            let nils = new_nils(index, len, ordered, create)?;
            Ok(Creation::Element { nils, ordered })
        }
        _ => Err(no_such_element()),
    }
}

/// How many nils go before an element created at `index` of a list of `len`.
fn new_nils(index: i64, len: u32, ordered: bool, create: Create) -> Result<u32, Error> {
    if index == -1 && len == 0 {
        return Ok(0);
    }
    let nils = index.checked_sub(i64::from(len)).filter(|&nils| nils >= 0);
    match nils.ok_or_else(no_such_element)? {
        0 => Ok(0),
        _ if ordered && create == Create::Third => Ok(0),
        nils if create == Create::Second && !ordered => pad_limit(nils),
        _ => Err(no_such_element()),
    }
}

/// Bounds the nils that fill a list up to an index: more could not be stored anyway.
pub(crate) fn pad_limit(nils: i64) -> Result<u32, Error> {
    if nils as u64 <= RECORD_SIZE_CEILING as u64 {
        return Ok(nils as u32);
    }
    let text = format!("{nils} nils before the new element exceed the size of any record");
    Err(Error::new(ResultCode::RecordTooBig, text))
}

/// A new collection that holds `inner` where the step says.
pub(super) fn container(step: &Step<'_>, inner: Vec<u8>) -> Result<Vec<u8>, Error> {
    let mut out = Vec::with_capacity(inner.len() + 8);
    match creation(step, None)? {
        Creation::Element { nils, ordered } => {
            write::list_head(&mut out, nils + 1 + u32::from(ordered));
            if ordered {
                write::flags_ext(&mut out, flags::ORDERED);
            }
            (0..nils).for_each(|_| write::nil(&mut out));
        }
        Creation::Pair { flags } => {
            write::map_head(&mut out, 1 + u32::from(flags != 0));
            if flags != 0 {
                write::flags_ext(&mut out, flags);
                write::nil(&mut out);
            }
            out.extend_from_slice(step.value);
        }
    }
    out.extend_from_slice(&inner);
    Ok(out)
}

/// The change that puts `inner` into an existing collection where the step says.
pub(super) fn insertion(step: &Step<'_>, seq: &Seq<'_>, inner: Vec<u8>) -> Result<Change, Error> {
    let splice = match creation(step, Some(seq))? {
        Creation::Element { ordered: true, .. } => {
            Splice::insert(seq.count_up_to(&inner)?, inner, 1)
        }
        Creation::Element { nils, .. } => {
            let mut elements = vec![0xc0; nils as usize];
            elements.extend_from_slice(&inner);
            Splice::insert(seq.len(), elements, nils + 1)
        }
        Creation::Pair { .. } => {
            let at = seq.count_below(step.value)?;
            Splice::insert(at, [step.value, &inner].concat(), 1)
        }
    };
    Ok(Change::splice(seq, splice))
}

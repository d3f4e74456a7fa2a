//! Contexts: the way from a bin to a collection nested inside it.
//!
//! A context is a packed list `[type, value, type, value, ..]`. Each step picks an element of the
//! collection that the steps before have reached; a step may say what to create where nothing is.

use std::cmp::Ordering;

use cairn_value::limits::DEPTH_MAX;
use cairn_value::packed::{Reader, Token};
use cairn_value::{Error, Particle, ParticleType, ResultCode};

use super::change::{Change, Splice};
use super::seq::{Place, Seq, compare};

mod create;
mod pick;

use create::{container, creation, insertion};
use pick::pick;

pub(crate) use create::pad_limit;

/// How a step picks its element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// Element of a list by index.
    ListIndex,
    /// Element of a list by rank.
    ListRank,
    /// First element of a list with a value.
    ListValue,
    /// Pair of a map by index.
    MapIndex,
    /// Pair of a map by rank of its value.
    MapRank,
    /// Pair of a map by key.
    MapKey,
    /// First pair of a map with a value.
    MapValue,
}

/// One step of a context.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Type as on the wire, create bits included.
    pub kind: i64,
    /// Packed index, rank, key or value.
    pub value: &'a [u8],
}

impl<'a> Step<'a> {
    /// How the step picks, when it picks one element.
    pub fn pick(&self) -> Option<Pick> {
        if self.kind < 0 {
            return None;
        }
        Some(match self.kind & 0x3f {
            0x10 => Pick::ListIndex,
            0x11 => Pick::ListRank,
            0x13 => Pick::ListValue,
            0x20 => Pick::MapIndex,
            0x21 => Pick::MapRank,
            0x22 => Pick::MapKey,
            0x23 => Pick::MapValue,
            _ => return None,
        })
    }

    fn number(&self) -> Option<i64> {
        match Reader::new(self.value).token() {
            Ok(Token::Int(number)) => Some(number),
            _ => None,
        }
    }
}

/// Reads the packed list of a context.
pub fn steps(context: &[u8]) -> Result<Vec<Step<'_>>, Error> {
    let mut reader = Reader::new(context);
    let Token::List(count) = reader.token()? else { return Err(malformed()) };
    if count == 0 || count % 2 != 0 || count as usize > 2 * DEPTH_MAX {
        return Err(malformed());
    }
    let mut steps = Vec::with_capacity(count as usize / 2);
    for _ in 0..count / 2 {
        let Token::Int(kind) = reader.token()? else { return Err(malformed()) };
        steps.push(Step { kind, value: reader.skip()? });
    }
    if reader.is_done() { Ok(steps) } else { Err(malformed()) }
}

fn malformed() -> Error {
    Error::new(
        ResultCode::Parameter,
        format!("a context is a list of up to {DEPTH_MAX} pairs of a type and a value"),
    )
}

/// A collection on the way, and which of its elements the way takes.
struct Level<'a> {
    seq: Seq<'a>,
    element: u32,
}

/// The end of the way.
enum End<'a> {
    /// A collection.
    Collection(Seq<'a>),
    /// Another value, at this offset.
    Scalar(usize),
    /// Nothing yet: what the steps left would create, in this collection or in a new bin.
    Missing { within: Option<Seq<'a>>, steps: Vec<Step<'a>> },
}

/// Where a context leads in a bin.
pub struct Way<'a> {
    levels: Vec<Level<'a>>,
    end: End<'a>,
}

impl<'a> Way<'a> {
    /// Follows `steps` into `bin`. Without steps, the end is the bin itself.
    pub fn follow(steps: &[Step<'a>], bin: Option<Particle<'a>>) -> Result<Way<'a>, Error> {
        let Some(bin) = bin else {
            let end = End::Missing { within: None, steps: steps.to_vec() };
            return Ok(Way { levels: Vec::new(), end });
        };
        let mut way = Way { levels: Vec::new(), end: End::Scalar(0) };
        let is_collection = matches!(bin.kind, ParticleType::List | ParticleType::Map);
        let top = if is_collection { Seq::read(bin.bytes, 0, Place::Top)? } else { None };
        let Some(mut seq) = top else {
            if steps.is_empty() {
                return Ok(way);
            }
            let text = "a context leads into lists and maps, the bin holds neither";
            return Err(Error::new(ResultCode::Parameter, text));
        };
        for (at, step) in steps.iter().enumerate() {
            let Some(element) = pick(step, &seq)? else {
                let steps = steps[at..].to_vec();
                way.end = End::Missing { within: Some(seq), steps };
                return Ok(way);
            };
            let start = value_offset(&seq, element)?;
            let inner = Seq::read(bin.bytes, start, Place::Nested)?;
            way.levels.push(Level { seq, element });
            match inner {
                Some(inner) => seq = inner,
                None if at + 1 == steps.len() => {
                    way.end = End::Scalar(start);
                    return Ok(way);
                }
                None => return Err(no_such_element()),
            }
        }
        way.end = End::Collection(seq);
        Ok(way)
    }

    /// The collection at the end, when there is one.
    pub fn collection(&self) -> Option<&Seq<'a>> {
        match &self.end {
            End::Collection(seq) => Some(seq),
            _ => None,
        }
    }

    /// True when a value stands at the end that is no collection.
    pub fn is_scalar(&self) -> bool {
        matches!(self.end, End::Scalar(_))
    }

    /// True when the bin itself is absent.
    pub fn is_bin_absent(&self) -> bool {
        matches!(self.end, End::Missing { within: None, .. })
    }

    /// The packed value at the end, when there is one.
    pub fn value(&self, bin: Particle<'a>) -> Result<Option<&'a [u8]>, Error> {
        let at = match &self.end {
            End::Collection(seq) => seq.at(),
            End::Scalar(at) => *at,
            End::Missing { .. } => return Ok(None),
        };
        Ok(Some(Reader::at(bin.bytes, at).skip()?))
    }

    /// Checks that the end exists or may be created. The error names what is missing.
    pub fn check_creatable(&self) -> Result<(), Error> {
        let End::Missing { within, steps } = &self.end else { return Ok(()) };
        for (at, step) in steps.iter().enumerate() {
            let existing = if at == 0 { within.as_ref() } else { None };
            creation(step, existing)?;
        }
        Ok(())
    }

    /// Where a collection that is created at the end would stand.
    pub fn new_place(&self) -> Place {
        match &self.end {
            End::Missing { within: None, steps } if steps.is_empty() => Place::Top,
            End::Missing { within: None, .. } => Place::NestedInNewBin,
            _ => Place::Nested,
        }
    }

    /// Edits that make `change` to the collection at the end.
    pub fn change(&self, change: &Change) -> Result<cairn_value::Edits, Error> {
        let End::Collection(seq) = &self.end else { return Err(no_such_element()) };
        self.outwards(change.edits(seq)?)
    }

    /// Puts the new packed value `inner` at the missing end. Gives edits when the bin exists, and
    /// the whole new bin otherwise.
    pub fn create(&self, mut inner: Vec<u8>) -> Result<Created, Error> {
        let End::Missing { within, steps } = &self.end else { return Err(no_such_element()) };
        let new_levels = if within.is_some() { 1.. } else { 0.. };
        for step in steps.get(new_levels.start..).unwrap_or_default().iter().rev() {
            inner = container(step, inner)?;
        }
        let (Some(seq), Some(step)) = (within, steps.first()) else {
            return Ok(Created::Bin(inner));
        };
        let change = insertion(step, seq, inner)?;
        Ok(Created::Edits(self.outwards(change.edits(seq)?)?))
    }

    /// Carries a nested change outwards: ordered lists stay sorted, a persisted index stays true.
    fn outwards(&self, mut edits: cairn_value::Edits) -> Result<cairn_value::Edits, Error> {
        for level in self.levels.iter().rev() {
            let (seq, i) = (&level.seq, level.element);
            if seq.is_ordered() && !seq.is_map() {
                let start = seq.offset(i)?;
                let old = seq.element(i)?;
                let new = edits.apply_from(start, old);
                if let Some(change) = resort(seq, i, &new)? {
                    edits = change.edits(seq)?;
                    continue;
                }
            }
            edits = Change::touch(seq, i, edits)?;
        }
        Ok(edits)
    }
}

/// What a context created.
pub enum Created {
    /// A change to an existing bin.
    Edits(cairn_value::Edits),
    /// A new bin's bytes.
    Bin(Vec<u8>),
}

/// The change that moves element `i` of an ordered list, now `new`, to where it sorts; `None` when
/// it may stay where it is.
fn resort(seq: &Seq<'_>, i: u32, new: &[u8]) -> Result<Option<Change>, Error> {
    let below = i > 0 && compare(new, seq.element(i - 1)?)? == Ordering::Less;
    let above = i + 1 < seq.len() && compare(new, seq.element(i + 1)?)? == Ordering::Greater;
    if !below && !above {
        return Ok(None);
    }
    let (mut low, mut high) = if below { (0, i) } else { (i + 1, seq.len()) };
    while low < high {
        let middle = low + (high - low) / 2;
        if compare(seq.element(middle)?, new)? == Ordering::Greater {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    let mut splices = vec![Splice::insert(low, new.to_vec(), 1), Splice::remove(i, 1)];
    splices.sort_by_key(|splice| splice.at);
    Ok(Some(Change { flags: seq.flags(), splices }))
}

/// Offset of the value of element `i`: the element itself, or what follows the key.
fn value_offset(seq: &Seq<'_>, i: u32) -> Result<usize, Error> {
    let at = seq.offset(i)?;
    if !seq.is_map() {
        return Ok(at);
    }
    let mut reader = Reader::at(seq.bytes(), at);
    reader.skip()?;
    Ok(reader.position())
}

pub(crate) fn no_such_element() -> Error {
    Error::new(ResultCode::OpNotApplicable, "the context leads to no element of the bin")
}

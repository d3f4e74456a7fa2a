//! Contexts: the way from a bin to a collection nested inside it.
//!
//! A context is a packed list `[type, value, type, value, ..]`. Each step picks an element of the
//! collection that the steps before have reached; a step may say what to create where nothing is.

use std::cmp::Ordering;

use cairn_value::limits::{DEPTH_MAX, RECORD_SIZE_CEILING};
use cairn_value::packed::{Reader, Token, flags, write};
use cairn_value::{Error, Particle, ParticleType, ResultCode};

use super::change::{Change, Splice};
use super::seq::{Place, Seq, compare, resolve};
use super::stored;

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

    fn create(&self) -> Create {
        match self.kind & 0xc0 {
            0x40 => Create::Unordered,
            0x80 => Create::Second,
            0xc0 => Create::Third,
            _ => Create::Never,
        }
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

/// The element that a step picks, `None` when there is none.
fn pick(step: &Step<'_>, seq: &Seq<'_>) -> Result<Option<u32>, Error> {
    let pick = step.pick().ok_or_else(no_such_element)?;
    let of_map = matches!(pick, Pick::MapIndex | Pick::MapRank | Pick::MapKey | Pick::MapValue);
    if of_map != seq.is_map() {
        return Err(no_such_element());
    }
    let number = || step.number().ok_or_else(no_such_element);
    Ok(match pick {
        Pick::ListIndex | Pick::MapIndex => resolve(number()?, seq.len()),
        Pick::ListRank if seq.is_ordered() => resolve(number()?, seq.len()),
        Pick::ListRank | Pick::MapRank => match resolve(number()?, seq.len()) {
            Some(rank) => Some(nth_smallest(seq, rank)?),
            None => None,
        },
        Pick::ListValue if seq.is_ordered() => seq.find_key(step.value)?.ok(),
        Pick::ListValue | Pick::MapValue => first_equal(seq, step.value)?,
        Pick::MapKey => {
            if !stored::is_key(step.value) {
                return Err(no_such_element());
            }
            seq.find_key(step.value)?.ok()
        }
    })
}

/// The values of a collection: elements of a list, values of a map.
fn values<'a>(seq: &Seq<'a>) -> Result<Vec<&'a [u8]>, Error> {
    if !seq.is_map() {
        return Ok(seq.elements()?);
    }
    Ok(seq.pairs()?.into_iter().map(|(_, value)| value).collect())
}

fn nth_smallest(seq: &Seq<'_>, rank: u32) -> Result<u32, Error> {
    let values = values(seq)?;
    let order = stored::sorted_order(&values)?;
    Ok(order[rank as usize] as u32)
}

fn first_equal(seq: &Seq<'_>, value: &[u8]) -> Result<Option<u32>, Error> {
    for (i, candidate) in values(seq)?.into_iter().enumerate() {
        if compare(candidate, value)? == Ordering::Equal {
            return Ok(Some(i as u32));
        }
    }
    Ok(None)
}

/// What a step creates.
enum Creation {
    /// An element of a list behind this many new nils.
    Element { nils: u32, ordered: bool },
    /// A pair of a map with these flags.
    Pair { flags: u8 },
}

/// Decides what a step may create in an existing collection or as a new one.
fn creation(step: &Step<'_>, existing: Option<&Seq<'_>>) -> Result<Creation, Error> {
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
fn container(step: &Step<'_>, inner: Vec<u8>) -> Result<Vec<u8>, Error> {
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
fn insertion(step: &Step<'_>, seq: &Seq<'_>, inner: Vec<u8>) -> Result<Change, Error> {
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

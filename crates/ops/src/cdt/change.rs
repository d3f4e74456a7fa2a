//! What an operation does to a collection, and the edits that do it.

use cairn_value::packed::{Malformed, Reader, flags, write};
use cairn_value::{Edits, Error, ResultCode};

use super::persist::{self, Index, Span};
use super::seq::{Pair, Place, Seq, split_pair};
use super::value_order::{self, ValueOrder};
use super::work;

/// At one place, elements go and others come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    /// First element concerned.
    pub at: u32,
    /// Elements that go.
    pub remove: u32,
    /// Packed elements that come in their place.
    pub insert: Vec<u8>,
    /// How many elements `insert` holds; in a map, how many pairs.
    pub count: u32,
}

impl Splice {
    /// Elements come before element `at`.
    pub fn insert(at: u32, elements: Vec<u8>, count: u32) -> Splice {
        Splice { at, remove: 0, insert: elements, count }
    }

    /// Elements `at..at + remove` go.
    pub fn remove(at: u32, remove: u32) -> Splice {
        Splice { at, remove, insert: Vec::new(), count: 0 }
    }
}

/// A change of one collection: its new flags, and splices in ascending order that do not overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Order and persist bits of the changed collection.
    pub flags: u8,
    /// What goes and comes.
    pub splices: Vec<Splice>,
}

impl Change {
    /// A single splice that leaves the flags alone.
    pub fn splice(seq: &Seq<'_>, splice: Splice) -> Change {
        Change { flags: seq.flags(), splices: vec![splice] }
    }

    /// The elements at `indexes` (ascending) go.
    pub fn remove(seq: &Seq<'_>, indexes: impl IntoIterator<Item = u32>) -> Change {
        let mut splices: Vec<Splice> = Vec::new();
        for index in indexes {
            match splices.last_mut() {
                Some(last) if last.at + last.remove == index => last.remove += 1,
                _ => splices.push(Splice::remove(index, 1)),
            }
        }
        Change { flags: seq.flags(), splices }
    }

    /// All elements make way for `elements`, and the flags change.
    pub fn replace(seq: &Seq<'_>, flags: u8, elements: Vec<u8>, count: u32) -> Change {
        let all = Splice { at: 0, remove: seq.len(), insert: elements, count };
        Change { flags, splices: vec![all] }
    }

    /// The collection's new length.
    pub fn new_len(&self, seq: &Seq<'_>) -> Result<u32, Error> {
        let mut len = i64::from(seq.len());
        for splice in &self.splices {
            len += i64::from(splice.count) - i64::from(splice.remove);
        }
        // One is kept free for the flags element.
        let fits = (0..i64::from(u32::MAX)).contains(&len);
        if fits { Ok(len as u32) } else { Err(ResultCode::RecordTooBig.into()) }
    }

    /// The edits against the bin that make this change to `seq`.
    pub fn edits(&self, seq: &Seq<'_>) -> Result<Edits, Error> {
        let count = self.new_len(seq)?;
        let flags = match seq.place() {
            Place::Nested => self.flags & !flags::PERSIST_INDEX,
            Place::Top | Place::NestedInNewBin => self.flags,
        };
        let spans = self.spans(seq)?;
        let mut edits = Edits::none();
        let persists = flags & flags::PERSIST_INDEX != 0 && seq.place() == Place::Top;
        match seq.index() {
            Some(index) if persists && self.keeps_index(seq, index, flags, count) => {
                let moves = Moves::of(self, seq, index)?;
                edits = indexed_head(seq, index, flags, count, &spans, &moves)?;
            }
            _ => {
                let mut head = head_bytes(seq.is_map(), count + u32::from(flags != 0));
                if persists {
                    let order = match persist::keeps_order(seq.is_map(), flags) {
                        true => value_order::build(&self.new_pairs(seq)?)?,
                        false => Vec::new(),
                    };
                    persist::write_new(&mut head, flags, &self.new_lengths(seq)?, &order);
                } else if flags != 0 {
                    write::flags_ext(&mut head, flags);
                }
                if flags != 0 && seq.is_map() {
                    write::nil(&mut head);
                }
                push_difference(&mut edits, seq.bytes(), seq.at()..seq.head().body, &head);
            }
        }
        let body = seq.head().body;
        for (splice, span) in self.splices.iter().zip(&spans) {
            let range = body + span.start..body + span.end;
            push_difference(&mut edits, seq.bytes(), range, &splice.insert);
        }
        work::moved(edits.inserted_len());
        Ok(edits)
    }

    /// Whether the old index can be edited into the new one.
    fn keeps_index(&self, seq: &Seq<'_>, index: &Index<'_>, flags: u8, count: u32) -> bool {
        let keeps_order = persist::keeps_order(seq.is_map(), flags);
        !index.is_sparse(count) && index.value_order().is_some() == keeps_order
    }

    /// Adds to `edits`, which lie inside element `i` of `seq`, what keeps a persisted index true.
    pub(crate) fn touch(seq: &Seq<'_>, i: u32, edits: Edits) -> Result<Edits, Error> {
        let Some(index) = seq.index() else { return Ok(edits) };
        let body = seq.head().body;
        let (start, end) = (seq.offset(i)? - body, seq.offset(i + 1)? - body);
        let insert = vec![edits.new_len(end - start) as u32];
        let span = Span { at: i, remove: 1, start, end, insert };
        let new = edits.apply_from(body + start, seq.element(i)?);
        let moves = match index.value_order() {
            Some(_) => Moves { gone: vec![seq.pair(i)?], come: vec![split_pair(&new)?] },
            None => Moves::default(),
        };
        let mut all = indexed_head(seq, index, seq.flags(), seq.len(), &[span], &moves)?;
        for edit in edits.iter() {
            all.push(edit.at, edit.remove, edit.insert.clone());
        }
        Ok(all)
    }

    /// All pairs of a map after the change, in the order of their keys.
    fn new_pairs<'p>(&'p self, seq: &Seq<'p>) -> Result<Vec<Pair<'p>>, Malformed> {
        let old = seq.pairs()?;
        let mut pairs = Vec::with_capacity(old.len());
        let mut next = 0;
        for splice in &self.splices {
            pairs.extend_from_slice(&old[next..splice.at as usize]);
            pairs.extend(inserted_pairs(splice)?);
            next = (splice.at + splice.remove) as usize;
        }
        pairs.extend_from_slice(&old[next..]);
        Ok(pairs)
    }

    /// The splices with byte offsets; checks that they ascend within the collection.
    fn spans(&self, seq: &Seq<'_>) -> Result<Vec<Span>, Error> {
        let mut spans = Vec::with_capacity(self.splices.len());
        let body = seq.head().body;
        let mut free = 0;
        let wanted = seq.index().is_some();
        for splice in &self.splices {
            // Searches go wrong in damaged bytes; what they found is not believed then.
            let behind = splice.at.checked_add(splice.remove).filter(|&end| end <= seq.len());
            let (Some(behind), true) = (behind, splice.at >= free) else {
                return Err(Malformed::Truncated.into());
            };
            free = behind;
            let start = seq.offset(splice.at)? - body;
            let end = if splice.remove == 0 { start } else { seq.offset(free)? - body };
            if end < start || body + end > seq.bytes().len() {
                return Err(Malformed::Truncated.into());
            }
            let insert = if wanted { self.inserted_lengths(seq, splice)? } else { Vec::new() };
            spans.push(Span { at: splice.at, remove: splice.remove, start, end, insert });
        }
        Ok(spans)
    }

    fn inserted_lengths(&self, seq: &Seq<'_>, splice: &Splice) -> Result<Vec<u32>, Malformed> {
        lengths(&mut Reader::new(&splice.insert), seq.is_map(), splice.count)
    }

    /// Lengths of all elements after the change.
    fn new_lengths(&self, seq: &Seq<'_>) -> Result<Vec<u32>, Malformed> {
        let mut all = Vec::new();
        let mut next = 0;
        for splice in &self.splices {
            all.extend(lengths_between(seq, next, splice.at)?);
            all.extend(self.inserted_lengths(seq, splice)?);
            next = splice.at + splice.remove;
        }
        all.extend(lengths_between(seq, next, seq.len())?);
        Ok(all)
    }
}

/// Pairs that go from a map and come to it; empty where no order of values is kept.
#[derive(Default)]
struct Moves<'p> {
    gone: Vec<Pair<'p>>,
    come: Vec<Pair<'p>>,
}

impl<'p> Moves<'p> {
    fn of(change: &'p Change, seq: &Seq<'p>, index: &Index<'_>) -> Result<Moves<'p>, Malformed> {
        let mut moves = Moves::default();
        if index.value_order().is_none() {
            return Ok(moves);
        }
        for splice in &change.splices {
            for at in splice.at..splice.at + splice.remove {
                moves.gone.push(seq.pair(at)?);
            }
            moves.come.extend(inserted_pairs(splice)?);
        }
        Ok(moves)
    }
}

fn inserted_pairs(splice: &Splice) -> Result<Vec<Pair<'_>>, Malformed> {
    let mut reader = Reader::new(&splice.insert);
    (0..splice.count).map(|_| Ok((reader.skip()?, reader.skip()?))).collect()
}

/// Edits of the head of a collection with a persisted index: count, flags, entries, order.
fn indexed_head(
    seq: &Seq<'_>,
    index: &Index<'_>,
    flags: u8,
    count: u32,
    spans: &[Span],
    moves: &Moves<'_>,
) -> Result<Edits, Error> {
    let update = index.update(spans, &|from, to| lengths_between(seq, from, to))?;
    let old_order = index.value_order().unwrap_or_default();
    let order = match ValueOrder::of(seq)? {
        Some(order) => order_edits(&order, seq, moves)?,
        None => Edits::none(),
    };
    let payload_len = update.tables_len + order.new_len(old_order.len());
    let mut head = head_bytes(seq.is_map(), count + 1);
    persist::write_head(&mut head, flags, payload_len);
    let mut edits = Edits::none();
    push_difference(&mut edits, seq.bytes(), seq.at()..index.at(), &head);
    for edit in update.edits.iter() {
        edits.push(edit.at, edit.remove, edit.insert.clone());
    }
    for edit in order.iter() {
        edits.push(index.order_at() + edit.at, edit.remove, edit.insert.clone());
    }
    Ok(edits)
}

/// Edits against the kept order of a map's values.
fn order_edits(
    order: &ValueOrder<'_, '_>,
    seq: &Seq<'_>,
    moves: &Moves<'_>,
) -> Result<Edits, Error> {
    if let Some(edits) = order.edits(&moves.gone, &moves.come)? {
        return Ok(edits);
    }
    // Both stand in the order of their keys.
    let mut pairs = seq.pairs()?;
    let mut gone = moves.gone.iter().peekable();
    pairs.retain(|pair| gone.next_if(|gone| gone.0 == pair.0).is_none());
    pairs.extend_from_slice(&moves.come);
    let old = seq.index().and_then(Index::value_order).unwrap_or_default();
    let mut edits = Edits::none();
    push_difference(&mut edits, old, 0..old.len(), &value_order::build(&pairs)?);
    Ok(edits)
}

fn head_bytes(is_map: bool, count: u32) -> Vec<u8> {
    let mut head = Vec::new();
    if is_map {
        write::map_head(&mut head, count)
    } else {
        write::list_head(&mut head, count)
    };
    head
}

fn lengths_between(seq: &Seq<'_>, from: u32, to: u32) -> Result<Vec<u32>, Malformed> {
    if from >= to {
        return Ok(Vec::new());
    }
    let mut reader = Reader::at(seq.bytes(), seq.offset(from)?);
    work::decoded(u64::from(to - from));
    lengths(&mut reader, seq.is_map(), to - from)
}

fn lengths(reader: &mut Reader<'_>, is_map: bool, count: u32) -> Result<Vec<u32>, Malformed> {
    let mut lengths = Vec::new();
    for _ in 0..count {
        let start = reader.position();
        reader.skip()?;
        if is_map {
            reader.skip()?;
        }
        lengths.push((reader.position() - start) as u32);
    }
    Ok(lengths)
}

/// Pushes the edit that turns `range` of `old` into `new`, without what both have in common at
/// either end.
fn push_difference(edits: &mut Edits, old: &[u8], range: std::ops::Range<usize>, new: &[u8]) {
    let before = old.get(range.clone()).unwrap_or_default();
    let same = before.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (rest, new) = (&before[same..], &new[same..]);
    let tail = rest.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    edits.push(range.start + same, rest.len() - tail, new[..new.len() - tail].to_vec());
}

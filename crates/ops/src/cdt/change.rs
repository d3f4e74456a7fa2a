//! What an operation does to a collection, and the edits that do it.

use cairn_value::packed::{Malformed, Reader, flags, write};
use cairn_value::{Edits, Error, ResultCode};

use super::persist::{self, Span};
use super::seq::{Place, Seq};
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
            Some(index) if persists && !index.is_sparse(count) => {
                edits = indexed_head(seq, index, flags, count, &spans)?;
            }
            _ => {
                let mut head = head_bytes(seq.is_map(), count + u32::from(flags != 0));
                if persists {
                    persist::write_new(&mut head, flags, &self.new_lengths(seq)?);
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

    /// Adds to `edits`, which lie inside element `i` of `seq`, what keeps a persisted index true.
    pub(crate) fn touch(seq: &Seq<'_>, i: u32, edits: Edits) -> Result<Edits, Error> {
        let Some(index) = seq.index() else { return Ok(edits) };
        let body = seq.head().body;
        let (start, end) = (seq.offset(i)? - body, seq.offset(i + 1)? - body);
        let insert = vec![edits.new_len(end - start) as u32];
        let span = Span { at: i, remove: 1, start, end, insert };
        let mut all = indexed_head(seq, index, seq.flags(), seq.len(), &[span])?;
        for edit in edits.iter() {
            all.push(edit.at, edit.remove, edit.insert.clone());
        }
        Ok(all)
    }

    /// The splices with byte offsets; checks that they ascend within the collection.
    fn spans(&self, seq: &Seq<'_>) -> Result<Vec<Span>, Error> {
        let mut spans = Vec::with_capacity(self.splices.len());
        let body = seq.head().body;
        let mut free = 0;
        let wanted = seq.index().is_some();
        for splice in &self.splices {
            debug_assert!(splice.at >= free && splice.at + splice.remove <= seq.len());
            free = splice.at + splice.remove;
            let start = seq.offset(splice.at)? - body;
            let end = if splice.remove == 0 { start } else { seq.offset(free)? - body };
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

/// Edits of the head of a collection with a persisted index: count, flags, entries.
fn indexed_head(
    seq: &Seq<'_>,
    index: &persist::Index<'_>,
    flags: u8,
    count: u32,
    spans: &[Span],
) -> Result<Edits, Error> {
    let update = index.update(spans, &|from, to| lengths_between(seq, from, to))?;
    let mut head = head_bytes(seq.is_map(), count + 1);
    persist::write_head(&mut head, flags, update.payload_len);
    let mut edits = Edits::none();
    push_difference(&mut edits, seq.bytes(), seq.at()..index.at(), &head);
    for edit in update.edits.iter() {
        edits.push(edit.at, edit.remove, edit.insert.clone());
    }
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

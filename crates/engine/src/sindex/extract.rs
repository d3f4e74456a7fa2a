//! From a record to the values that are indexed.

use std::borrow::Cow;

use cairn_ops::exp::{Geo, Program, Scope, Val};
use cairn_ops::hll::murmur;
use cairn_ops::{Env, cdt, geo};
use cairn_value::packed::{Head, Reader};
use cairn_value::{Error, RecordView};

use super::definition::{IndexDefinition, IndexKind, IndexPart, IndexSource};

/// A value of a record as an index sees it.
#[derive(Clone, Debug, PartialEq)]
pub enum IndexValue<'a> {
    /// An integer.
    Integer(i64),
    /// A text.
    String(Cow<'a, [u8]>),
    /// Bytes.
    Blob(Cow<'a, [u8]>),
    /// A GeoJSON text and the cells that cover it.
    Geo(Cow<'a, [u8]>, Vec<u64>),
    /// The record is in the set.
    Member,
}

impl IndexValue<'_> {
    /// Shows `each` the sort keys under which the value stands in an index: one, or several for a
    /// region. Texts and bytes stand under a hash, which is confirmed in the record.
    pub(super) fn for_each_key(&self, mut each: impl FnMut(u64)) {
        match self {
            IndexValue::Integer(value) => each(integer_key(*value)),
            IndexValue::String(bytes) | IndexValue::Blob(bytes) => each(hash_key(bytes)),
            IndexValue::Geo(_, cells) => cells.iter().copied().for_each(each),
            IndexValue::Member => each(0),
        }
    }
}

/// Unsigned, in the order of the integers.
pub(super) fn integer_key(value: i64) -> u64 {
    value as u64 ^ 1 << 63
}

pub(super) fn hash_key(bytes: &[u8]) -> u64 {
    murmur::hash(bytes).0
}

/// Yields the values of a record that an index holds. The same record always yields the same, so
/// that what was put into the index can be taken out again.
pub trait KeyExtractor: Send + Sync + std::fmt::Debug {
    /// Shows `each` every value of the record.
    fn values(&self, record: &RecordView<'_>, each: &mut dyn FnMut(IndexValue<'_>));
}

/// The extractor of an index definition.
#[derive(Debug)]
pub struct Extractor {
    set: Vec<u8>,
    source: Source,
    kind: IndexKind,
    part: IndexPart,
}

#[derive(Debug)]
enum Source {
    Bin { name: Vec<u8>, context: Vec<u8> },
    Expression(Program<'static>),
    Membership,
}

impl Extractor {
    /// Checks a definition and prepares what it needs.
    pub fn new(definition: &IndexDefinition) -> Result<Extractor, Error> {
        definition.check()?;
        let source = match definition.source.clone() {
            IndexSource::Bin { name, context } => Source::Bin { name, context },
            IndexSource::Expression(bytes) => {
                Source::Expression(Program::compile(&bytes)?.into_owned())
            }
            IndexSource::Membership => Source::Membership,
        };
        let IndexDefinition { set, kind, part, .. } = definition;
        Ok(Extractor { set: set.clone(), source, kind: *kind, part: *part })
    }

    /// Shows `each` the value itself or what is inside it, as far as it is of the right kind.
    fn parts(&self, value: Val<'_>, each: &mut dyn FnMut(IndexValue<'_>)) {
        match (self.part, &value) {
            (IndexPart::Value, _) => {
                if let Some(value) = self.wanted(value) {
                    each(value);
                }
            }
            (IndexPart::ListElements, Val::List(packed))
            | (IndexPart::MapKeys | IndexPart::MapValues, Val::Map(packed)) => {
                self.elements(packed, each);
            }
            _ => {}
        }
    }

    fn elements(&self, packed: &[u8], each: &mut dyn FnMut(IndexValue<'_>)) {
        let Ok(Some(head)) = Head::read(packed, 0) else { return };
        let mut reader = Reader::at(packed, head.body);
        for _ in 0..head.count {
            let Ok(mut element) = reader.skip() else { return };
            if head.is_map {
                let Ok(value) = reader.skip() else { return };
                if self.part == IndexPart::MapValues {
                    element = value;
                }
            }
            if let Some(value) = self.wanted(Val::of_packed(element)) {
                each(value);
            }
        }
    }

    /// The value when it is of the kind that the index holds.
    fn wanted<'a>(&self, value: Val<'a>) -> Option<IndexValue<'a>> {
        use cairn_value::ParticleType::Blob;
        Some(match (self.kind, value) {
            (IndexKind::Integer, Val::Int(value)) => IndexValue::Integer(value),
            (IndexKind::String, Val::Str(text)) => IndexValue::String(text),
            (IndexKind::Blob, Val::Blob(Blob, bytes)) => IndexValue::Blob(bytes),
            (IndexKind::Geo, Val::Geo(value)) => {
                let cells = cells_of(&value)?;
                IndexValue::Geo(Cow::Owned(value.text().to_vec()), cells)
            }
            _ => return None,
        })
    }
}

impl KeyExtractor for Extractor {
    fn values(&self, record: &RecordView<'_>, each: &mut dyn FnMut(IndexValue<'_>)) {
        if !self.set.is_empty() && self.set != record.set {
            return;
        }
        match &self.source {
            Source::Membership => each(IndexValue::Member),
            Source::Bin { name, context } => {
                let Some(bin) = record.bins.get(name) else { return };
                if context.is_empty() {
                    self.parts(Val::of_particle(bin), each);
                } else if let Ok(Some(packed)) = cdt::locate(context, bin) {
                    self.parts(Val::of_packed(packed), each);
                }
            }
            Source::Expression(program) => {
                // The clock stands still, or a record would yield other values later than when it
                // was put into the index.
                let env = Env { now_ns: record.meta.last_update_ns };
                self.parts(program.value(&Scope::of_record(record, env)), each);
            }
        }
    }
}

/// The cells of a geo value: those stored with a bin, or computed for an element of a collection.
fn cells_of(value: &Geo<'_>) -> Option<Vec<u64>> {
    let computed;
    let bytes = match value {
        Geo::Particle(bytes) => bytes.as_ref(),
        Geo::Text(text) => {
            computed = geo::particle_bytes(text).ok()?;
            &computed
        }
    };
    let (head, rest) = bytes.split_first_chunk::<3>()?;
    let count = u16::from_be_bytes([head[1], head[2]]).into();
    let (cells, _) = rest.as_chunks::<8>();
    Some(cells.iter().take(count).map(|cell| u64::from_be_bytes(*cell)).collect())
}

//! What a query asks an index for.

use cairn_ops::geo::{self, Shape, cell};
use cairn_value::{Error, RecordView, ResultCode};

use super::definition::IndexKind;
use super::extract::{IndexValue, KeyExtractor, hash_key, integer_key};

/// Cells that a query region is covered with, at most.
const QUERY_CELLS_MAX: usize = 32;

/// What a query asks an index for.
#[derive(Clone, Debug)]
pub enum IndexFilter {
    /// Integers from the first to the second, both included.
    Integers(i64, i64),
    /// One text.
    String(Vec<u8>),
    /// One run of bytes.
    Blob(Vec<u8>),
    /// Points inside a region, or regions around a point.
    Geo(Shape),
}

impl IndexFilter {
    /// Filters by a GeoJSON text; invalid ones are refused.
    pub fn geo(text: &[u8]) -> Result<IndexFilter, Error> {
        let shape = geo::parse(text);
        Ok(IndexFilter::Geo(shape.map_err(|e| Error { code: ResultCode::Parameter, ..e })?))
    }

    /// The kind of index that can answer.
    pub fn kind(&self) -> IndexKind {
        match self {
            IndexFilter::Integers(..) => IndexKind::Integer,
            IndexFilter::String(_) => IndexKind::String,
            IndexFilter::Blob(_) => IndexKind::Blob,
            IndexFilter::Geo(_) => IndexKind::Geo,
        }
    }

    /// The runs of sort keys under which matches stand, ascending, both ends included.
    pub(super) fn key_ranges(&self) -> Vec<(u64, u64)> {
        match self {
            IndexFilter::Integers(first, last) => vec![(integer_key(*first), integer_key(*last))],
            IndexFilter::String(bytes) | IndexFilter::Blob(bytes) => {
                let hash = hash_key(bytes);
                vec![(hash, hash)]
            }
            IndexFilter::Geo(Shape::Point(point)) => ancestors(cell::leaf(point)),
            IndexFilter::Geo(region) => {
                region.cover(QUERY_CELLS_MAX).into_iter().map(cell::range).collect()
            }
        }
    }

    fn matches(&self, value: &IndexValue<'_>) -> bool {
        match (self, value) {
            (IndexFilter::Integers(first, last), IndexValue::Integer(value)) => {
                (first..=last).contains(&value)
            }
            (IndexFilter::String(wanted), IndexValue::String(text)) => wanted[..] == text[..],
            (IndexFilter::Blob(wanted), IndexValue::Blob(bytes)) => wanted[..] == bytes[..],
            (IndexFilter::Geo(shape), IndexValue::Geo(text, _)) => {
                geo::parse(text).is_ok_and(|stored| shape.compares(&stored))
            }
            _ => false,
        }
    }

    /// The least sort key in the ranges under which the record matches: there, and only there, a
    /// query tells it, however many of its values match.
    pub(super) fn least_match(
        &self,
        extractor: &dyn KeyExtractor,
        record: &RecordView<'_>,
        ranges: &[(u64, u64)],
    ) -> Option<u64> {
        let mut least = None;
        extractor.values(record, &mut |value| {
            if !self.matches(&value) {
                return;
            }
            value.for_each_key(|key| {
                let asked = ranges.iter().any(|(first, last)| (*first..=*last).contains(&key));
                if asked && least.is_none_or(|least| key < least) {
                    least = Some(key);
                }
            });
        });
        least
    }

    /// The value of a sort key as cursors on the wire carry it.
    pub(super) fn cursor_value(&self, key: u64) -> u64 {
        match self {
            IndexFilter::Integers(..) => key ^ 1 << 63,
            _ => key,
        }
    }
}

/// A leaf cell and all cells that contain it, each a range of its own.
fn ancestors(leaf: u64) -> Vec<(u64, u64)> {
    let mut cells: Vec<u64> = (0..=cell::LEVEL_MAX)
        .map(|up| {
            let mark = 1u64 << (2 * up);
            leaf & mark.wrapping_neg() | mark
        })
        .collect();
    cells.sort_unstable();
    cells.dedup();
    cells.into_iter().map(|cell| (cell, cell)).collect()
}

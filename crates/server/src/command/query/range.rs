//! Which index a query asks, and for what.

use std::sync::Arc;

use cairn_engine::{IndexFilter, IndexPart, IndexSource, Namespace, SecondaryIndex, check_context};
use cairn_value::limits::BIN_NAME_MAX;
use cairn_value::{Error, ParticleType, ResultCode};

use crate::wire::Fields;
use crate::wire::field::kind;

/// An index and what it is asked for.
#[derive(Debug)]
pub(super) struct Selection {
    pub index: Arc<SecondaryIndex>,
    pub filter: IndexFilter,
}

/// The index that the fields select; `None` when they select none, as those of scans do.
pub(super) fn selection(
    namespace: &Namespace,
    fields: Fields<'_>,
) -> Result<Option<Selection>, Error> {
    let Some(range) = fields.get(kind::INDEX_RANGE) else {
        return match fields.get(kind::INDEX_NAME) {
            None => Ok(None),
            Some(_) => refuse("an index is named, but not what to look for in it"),
        };
    };
    let (bin, filter) = parse_range(range)?;
    let context = fields.get(kind::INDEX_CONTEXT).unwrap_or_default();
    check_context(context)?;
    let name = fields.get(kind::INDEX_NAME);
    let expression = fields.get(kind::INDEX_EXPRESSION);
    if usize::from(!bin.is_empty())
        + usize::from(name.is_some())
        + usize::from(expression.is_some())
        != 1
    {
        return refuse("an index is selected by a bin, by an expression or by its name");
    }
    let set = fields.get(kind::SET).unwrap_or_default();
    let source = match expression {
        Some(bytes) => IndexSource::Expression(bytes.to_vec()),
        None => IndexSource::Bin { name: bin.to_vec(), context: context.to_vec() },
    };
    let part = part(fields.get(kind::INDEX_TYPE).unwrap_or_default());
    let index = namespace.find_index(|index| {
        let own = index.definition();
        let named = match name {
            Some(name) => index.name().as_bytes() == name,
            None => own.source == source && Some(own.part) == part,
        };
        named
            && own.set == set
            && own.kind == filter.kind()
            && own.source != IndexSource::Membership
    });
    match index {
        Some(index) => Ok(Some(Selection { index, filter })),
        None => Err(Error::new(
            ResultCode::IndexNotFound,
            "no index of this set is about this bin, context, type and collection type",
        )),
    }
}

/// The collection type; `None` for one that does not exist, which no index has.
fn part(data: &[u8]) -> Option<IndexPart> {
    match data {
        [] | [0] => Some(IndexPart::Value),
        [1] => Some(IndexPart::ListElements),
        [2] => Some(IndexPart::MapKeys),
        [3] => Some(IndexPart::MapValues),
        _ => None,
    }
}

/// Reads one range: the bin's name and what to look for.
fn parse_range(data: &[u8]) -> Result<(&[u8], IndexFilter), Error> {
    let malformed = || refused("a range is a bin's name, a type, a begin and an end");
    let (&count, rest) = data.split_first().ok_or_else(malformed)?;
    if count != 1 {
        return refuse("a query has one range");
    }
    let (&len, rest) = rest.split_first().ok_or_else(malformed)?;
    let (bin, rest) = rest.split_at_checked(len.into()).ok_or_else(malformed)?;
    if bin.len() > BIN_NAME_MAX {
        return refuse("the name of the bin is too long");
    }
    let (&particle, rest) = rest.split_first().ok_or_else(malformed)?;
    let (begin, rest) = split_value(rest).ok_or_else(malformed)?;
    let (end, rest) = split_value(rest).ok_or_else(malformed)?;
    if !rest.is_empty() {
        return Err(malformed());
    }
    let filter = match ParticleType::from_wire(particle) {
        Some(ParticleType::Integer) => {
            let number = |bytes: &[u8]| bytes.try_into().map(i64::from_be_bytes).ok();
            match (number(begin), number(end)) {
                (Some(begin), Some(end)) if begin <= end => IndexFilter::Integers(begin, end),
                (Some(_), Some(_)) => return refuse("the range ends before it begins"),
                _ => return refuse("an integer has 8 bytes"),
            }
        }
        Some(ParticleType::String) if begin == end => IndexFilter::String(begin.to_vec()),
        Some(ParticleType::Blob) if begin == end => IndexFilter::Blob(begin.to_vec()),
        Some(ParticleType::String | ParticleType::Blob) => {
            return refuse("texts and bytes have no ranges, begin and end must be the same");
        }
        Some(ParticleType::GeoJson) => IndexFilter::geo(begin)?,
        _ => return refuse("a range is of integers, a text, bytes or GeoJSON"),
    };
    Ok((bin, filter))
}

fn split_value(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_be_bytes(*len) as usize)
}

fn refused(text: &'static str) -> Error {
    Error::new(ResultCode::Parameter, text)
}

fn refuse<T>(text: &'static str) -> Result<T, Error> {
    Err(refused(text))
}

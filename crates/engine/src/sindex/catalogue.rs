//! The definitions of all indexes as bytes, so that a namespace in files can bring its indexes back.
//!
//! ```text
//! count u32 | for each: name | set | source u8 | first | second | kind u8 | part u8
//! ```
//!
//! Texts are a length u32 and bytes; numbers are little-endian. `first` and `second` are the bin
//! and its context, or the expression and nothing.

use cairn_value::{Error, ResultCode};

use super::definition::{IndexDefinition, IndexKind, IndexPart, IndexSource};
use super::registry::INDEXES_MAX;

const KINDS: [IndexKind; 4] =
    [IndexKind::Integer, IndexKind::String, IndexKind::Blob, IndexKind::Geo];
const PARTS: [IndexPart; 4] =
    [IndexPart::Value, IndexPart::ListElements, IndexPart::MapKeys, IndexPart::MapValues];

/// Writes names and definitions.
pub(crate) fn encode<'a>(
    indexes: impl ExactSizeIterator<Item = (String, &'a IndexDefinition)>,
) -> Vec<u8> {
    let mut bytes = (indexes.len() as u32).to_le_bytes().to_vec();
    for (name, definition) in indexes {
        put(&mut bytes, name.as_bytes());
        put(&mut bytes, &definition.set);
        let (source, first, second) = match &definition.source {
            IndexSource::Bin { name, context } => (0, &name[..], &context[..]),
            IndexSource::Expression(expression) => (1, &expression[..], &[][..]),
            IndexSource::Membership => (2, &[][..], &[][..]),
        };
        bytes.push(source);
        put(&mut bytes, first);
        put(&mut bytes, second);
        bytes.push(code(&KINDS, definition.kind));
        bytes.push(code(&PARTS, definition.part));
    }
    bytes
}

/// Reads what [`encode`] wrote; anything else is refused.
pub(crate) fn decode(bytes: &[u8]) -> Result<Vec<(String, IndexDefinition)>, Error> {
    let mut rest = bytes;
    let indexes = decode_all(&mut rest).filter(|_| rest.is_empty());
    indexes.ok_or_else(|| {
        let text = "the catalogue of secondary indexes is damaged; create the indexes again";
        Error::new(ResultCode::ServerError, text)
    })
}

fn decode_all(rest: &mut &[u8]) -> Option<Vec<(String, IndexDefinition)>> {
    let count = number(rest)? as usize;
    if count > INDEXES_MAX {
        return None;
    }
    (0..count).map(|_| decode_one(rest)).collect()
}

fn decode_one(rest: &mut &[u8]) -> Option<(String, IndexDefinition)> {
    let name = String::from_utf8(take(rest)?).ok()?;
    let set = take(rest)?;
    let source = byte(rest)?;
    let (first, second) = (take(rest)?, take(rest)?);
    let source = match source {
        0 => IndexSource::Bin { name: first, context: second },
        1 => IndexSource::Expression(first),
        2 => IndexSource::Membership,
        _ => return None,
    };
    let kind = *KINDS.get(usize::from(byte(rest)?))?;
    let part = *PARTS.get(usize::from(byte(rest)?))?;
    Some((name, IndexDefinition { set, source, kind, part }))
}

fn put(bytes: &mut Vec<u8>, text: &[u8]) {
    bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
    bytes.extend_from_slice(text);
}

fn code<T: PartialEq>(table: &[T], value: T) -> u8 {
    table.iter().position(|known| *known == value).unwrap_or(0) as u8
}

fn byte(rest: &mut &[u8]) -> Option<u8> {
    let (&first, after) = rest.split_first()?;
    *rest = after;
    Some(first)
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    let (first, after) = rest.split_first_chunk::<4>()?;
    *rest = after;
    Some(u32::from_le_bytes(*first))
}

fn take(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let len = number(rest)? as usize;
    let (text, after) = rest.split_at_checked(len)?;
    *rest = after;
    Some(text.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(any::<u8>(), 0..20)
    }

    fn definition() -> impl Strategy<Value = IndexDefinition> {
        let source = prop_oneof![
            (bytes(), bytes()).prop_map(|(name, context)| IndexSource::Bin { name, context }),
            bytes().prop_map(IndexSource::Expression),
            Just(IndexSource::Membership),
        ];
        (bytes(), source, 0usize..4, 0usize..4).prop_map(|(set, source, kind, part)| {
            IndexDefinition { set, source, kind: KINDS[kind], part: PARTS[part] }
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(all in prop::collection::vec(("[a-z]{1,9}", definition()), 0..5)) {
            let encoded = encode(all.iter().map(|(name, own)| (name.clone(), own)));
            prop_assert_eq!(decode(&encoded).unwrap(), all);
            for len in 0..encoded.len() {
                prop_assert!(decode(&encoded[..len]).is_err());
            }
        }

        #[test]
        fn any_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = decode(&bytes);
        }
    }
}

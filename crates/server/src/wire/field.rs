//! Fields of a message: what it is about.

/// Types of fields.
#[allow(missing_docs)]
pub mod kind {
    pub const NAMESPACE: u8 = 0;
    pub const SET: u8 = 1;
    pub const KEY: u8 = 2;
    pub const DIGEST: u8 = 4;
    pub const TRANSACTION_ID: u8 = 5;
    pub const TASK_ID: u8 = 7;
    pub const SOCKET_TIMEOUT: u8 = 9;
    pub const RECORDS_PER_S: u8 = 10;
    pub const PARTITIONS: u8 = 11;
    pub const DIGESTS: u8 = 12;
    pub const MAX_RECORDS: u8 = 13;
    /// Values under which an index found records.
    pub const INDEX_VALUES: u8 = 15;
    pub const INDEX_NAME: u8 = 21;
    pub const INDEX_RANGE: u8 = 22;
    pub const INDEX_CONTEXT: u8 = 23;
    pub const INDEX_EXPRESSION: u8 = 24;
    pub const INDEX_TYPE: u8 = 26;
    pub const UDF_PACKAGE: u8 = 30;
    pub const UDF_FUNCTION: u8 = 31;
    pub const UDF_ARGUMENTS: u8 = 32;
    pub const BATCH_INDEX: u8 = 41;
    pub const FILTER: u8 = 43;
    pub const ERROR_DETAILS: u8 = 45;
}

/// One field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// Its type, see [`kind`].
    pub kind: u8,
    /// Its data.
    pub data: &'a [u8],
}

/// A run of fields whose bounds were checked by [`Fields::split`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Fields<'a> {
    bytes: &'a [u8],
}

impl<'a> Fields<'a> {
    /// Splits `count` fields off the front of `bytes`; `None` when they do not fit.
    pub fn split(bytes: &'a [u8], count: u16) -> Option<(Fields<'a>, &'a [u8])> {
        let mut rest = bytes;
        for _ in 0..count {
            (_, rest) = split_field(rest)?;
        }
        let len = bytes.len() - rest.len();
        Some((Fields { bytes: &bytes[..len] }, rest))
    }

    /// Data of the first field of this type.
    pub fn get(&self, kind: u8) -> Option<&'a [u8]> {
        self.into_iter().find(|field| field.kind == kind).map(|field| field.data)
    }
}

impl<'a> IntoIterator for Fields<'a> {
    type Item = Field<'a>;
    type IntoIter = FieldsIter<'a>;

    fn into_iter(self) -> FieldsIter<'a> {
        FieldsIter { rest: self.bytes }
    }
}

/// Iterates over [`Fields`].
#[derive(Clone, Debug)]
pub struct FieldsIter<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for FieldsIter<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        let (field, rest) = split_field(self.rest)?;
        self.rest = rest;
        Some(field)
    }
}

fn split_field(bytes: &[u8]) -> Option<(Field<'_>, &[u8])> {
    let (size, rest) = bytes.split_first_chunk::<4>()?;
    let (body, rest) = rest.split_at_checked(u32::from_be_bytes(*size) as usize)?;
    let (&kind, data) = body.split_first()?;
    Some((Field { kind, data }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_end_where_their_sizes_say() {
        let bytes = [0, 0, 0, 3, 0, b'n', b's', 0, 0, 0, 1, 2, 99];
        let (fields, rest) = Fields::split(&bytes, 2).unwrap();
        assert_eq!(fields.get(kind::NAMESPACE), Some(&b"ns"[..]));
        assert_eq!(fields.get(kind::KEY), Some(&b""[..]));
        assert_eq!(fields.get(kind::SET), None);
        assert_eq!(rest, [99]);
    }

    #[test]
    fn a_field_of_no_bytes_or_past_the_end_is_refused() {
        assert!(Fields::split(&[0, 0, 0, 0], 1).is_none());
        assert!(Fields::split(&[0, 0, 0, 9, 0, 1], 1).is_none());
        assert!(Fields::split(&[255, 255, 255, 255, 0, 1], 1).is_none());
        assert!(Fields::split(&[0, 0], 1).is_none());
        assert!(Fields::split(&[], 0).is_some());
    }
}

//! The rows of a batch field.

use cairn_ops::BinOp;
use cairn_value::Digest;

use crate::wire::flags::{info1, info2};
use crate::wire::{Fields, MessageHeader, Ops};

/// Types of rows: two values, or bits that announce what follows.
mod row_type {
    /// An old read: only `info1`.
    pub const OLD_READ: u8 = 0x00;
    /// As the row before, with another index and digest.
    pub const REPEAT: u8 = 0x01;
    pub const HAS_INFO: u8 = 0x02;
    pub const HAS_GENERATION: u8 = 0x04;
    pub const HAS_TTL: u8 = 0x08;
    pub const HAS_INFO4: u8 = 0x10;
    pub const KNOWN: u8 = HAS_INFO | HAS_GENERATION | HAS_TTL | HAS_INFO4;
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    pub index: u32,
    pub digest: Digest,
    /// False when it repeats what the row before asked for.
    pub is_new: bool,
    pub header: MessageHeader,
    pub fields: Fields<'a>,
    pub ops: Ops<'a>,
}

impl Row<'_> {
    /// True for a row that reads and does not write.
    pub fn reads_only(&self) -> bool {
        self.header.info2 & info2::WRITE == 0 && self.header.info1 & info1::READ != 0
    }
}

/// What a row asks for, apart from its record.
#[derive(Clone, Copy, Debug)]
struct Template<'a> {
    header: MessageHeader,
    fields: Fields<'a>,
    ops: Ops<'a>,
}

/// Reads the rows of a batch field one by one.
#[derive(Clone, Debug)]
pub(super) struct Rows<'a> {
    data: &'a [u8],
    rest: &'a [u8],
    left: u32,
    flags: u8,
    template: Option<Template<'a>>,
    /// Where the template begins in `data`.
    template_at: usize,
}

/// A place between two rows, to go on from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    at: usize,
    left: u32,
    template_at: Option<usize>,
}

impl<'a> Rows<'a> {
    /// The rows of a field; `None` when it is too short for its own beginning.
    pub fn new(data: &'a [u8]) -> Option<Rows<'a>> {
        let (count, rest) = data.split_first_chunk::<4>()?;
        let (&flags, rest) = rest.split_first()?;
        let left = u32::from_be_bytes(*count);
        Some(Rows { data, rest, left, flags, template: None, template_at: 0 })
    }

    /// The rows behind a place in a field that was read to there before.
    pub fn resume(data: &'a [u8], place: Option<Place>) -> Option<Rows<'a>> {
        let mut rows = Rows::new(data)?;
        let Some(place) = place else { return Some(rows) };
        if let Some(at) = place.template_at {
            rows.template = Some(split_template(data.get(at..)?)?.0);
            rows.template_at = at;
        }
        rows.rest = data.get(place.at..)?;
        rows.left = place.left;
        Some(rows)
    }

    /// Rows that were not read yet.
    pub fn left(&self) -> u32 {
        self.left
    }

    /// Flags of the batch.
    pub fn flags(&self) -> u8 {
        self.flags
    }

    /// Where the next row begins.
    pub fn place(&self) -> Place {
        Place {
            at: self.data.len() - self.rest.len(),
            left: self.left,
            template_at: self.template.is_some().then_some(self.template_at),
        }
    }

    /// The operations that a repeating row would run.
    pub fn template_ops(&self, ops: &mut Vec<BinOp<'a>>) {
        ops.clear();
        ops.extend(self.template.iter().flat_map(|template| template.ops));
    }

    /// The next row; `None` behind the last one and when it is malformed.
    pub fn next_row(&mut self) -> Option<Row<'a>> {
        self.left = self.left.checked_sub(1)?;
        let (index, rest) = self.rest.split_first_chunk::<4>()?;
        let (digest, rest) = rest.split_first_chunk::<20>()?;
        let is_new = *rest.first()? != row_type::REPEAT;
        let (template, rest) = match is_new {
            false => (self.template?, &rest[1..]),
            true => {
                self.template_at = self.data.len() - rest.len();
                split_template(rest)?
            }
        };
        (self.template, self.rest) = (Some(template), rest);
        let Template { header, fields, ops } = template;
        let (index, digest) = (u32::from_be_bytes(*index), Digest(*digest));
        Some(Row { index, digest, is_new, header, fields, ops })
    }
}

/// Splits a row from its type on off the front of `bytes`.
fn split_template(bytes: &[u8]) -> Option<(Template<'_>, &[u8])> {
    let (&row_type, mut rest) = bytes.split_first()?;
    let mut header = MessageHeader::default();
    if row_type == row_type::OLD_READ {
        [header.info1] = take(&mut rest)?;
    } else {
        if row_type & !row_type::KNOWN != 0 || row_type & row_type::HAS_INFO == 0 {
            return None;
        }
        [header.info1, header.info2, header.info3] = take(&mut rest)?;
        if row_type & row_type::HAS_INFO4 != 0 {
            [header.info4] = take(&mut rest)?;
        }
        if row_type & row_type::HAS_GENERATION != 0 {
            header.generation = u16::from_be_bytes(take(&mut rest)?).into();
        }
        if row_type & row_type::HAS_TTL != 0 {
            header.record_ttl = u32::from_be_bytes(take(&mut rest)?);
        }
    }
    header.fields = u16::from_be_bytes(take(&mut rest)?);
    header.ops = u16::from_be_bytes(take(&mut rest)?);
    let (fields, rest) = Fields::split(rest, header.fields)?;
    let (ops, rest) = Ops::split(rest, header.ops)?;
    Some((Template { header, fields, ops }, rest))
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, after) = rest.split_first_chunk::<N>()?;
    *rest = after;
    Some(*taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Two reads of all bins, the second a repeat, and a write with generation and TTL.
    fn batch() -> Vec<u8> {
        let mut data = vec![0, 0, 0, 3, 0x0d];
        data.extend_from_slice(&[0, 0, 0, 7]);
        data.extend_from_slice(&[1; 20]);
        data.extend_from_slice(&[0x0a, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0]);
        data.extend_from_slice(&[0, 0, 0, 5, 0, b't', b'e', b's', b't']);
        data.extend_from_slice(&[0, 0, 0, 8]);
        data.extend_from_slice(&[2; 20]);
        data.push(1);
        data.extend_from_slice(&[0, 0, 0, 9]);
        data.extend_from_slice(&[3; 20]);
        data.extend_from_slice(&[0x0e, 0, 1, 0, 0, 4, 0, 0, 0, 60, 0, 0, 0, 1]);
        data.extend_from_slice(&[0, 0, 0, 6, 2, 3, 0, 1, b'a', b'x']);
        data
    }

    #[test]
    fn rows_repeat_or_bring_their_own() {
        let data = batch();
        let mut rows = Rows::new(&data).unwrap();
        assert_eq!((rows.left(), rows.flags()), (3, 0x0d));
        let first = rows.next_row().unwrap();
        assert_eq!((first.index, first.digest, first.is_new), (7, Digest([1; 20]), true));
        assert!(first.reads_only());
        let second = rows.next_row().unwrap();
        assert_eq!((second.index, second.digest, second.is_new), (8, Digest([2; 20]), false));
        assert_eq!(second.fields.get(0), Some(&b"test"[..]));
        let third = rows.next_row().unwrap();
        assert_eq!((third.header.generation, third.header.record_ttl), (4, 60));
        assert_eq!(third.ops.len(), 1);
        assert!(!third.reads_only());
        assert!(rows.next_row().is_none());
    }

    #[test]
    fn reading_goes_on_from_any_place() {
        let data = batch();
        let mut rows = Rows::new(&data).unwrap();
        for _ in 0..3 {
            let place = rows.place();
            let mut resumed = Rows::resume(&data, Some(place)).unwrap();
            let (a, b) = (rows.next_row().unwrap(), resumed.next_row().unwrap());
            assert_eq!((a.index, a.digest, a.header), (b.index, b.digest, b.header));
            assert_eq!(a.fields.into_iter().count(), b.fields.into_iter().count());
        }
    }

    #[test]
    fn a_repeat_needs_a_row_before() {
        let data = [&[0, 0, 0, 1, 0][..], &[0; 24], &[1]].concat();
        assert!(Rows::new(&data).unwrap().next_row().is_none());
        assert!(Rows::new(&[0, 0, 0, 1]).is_none());
    }

    proptest! {
        #[test]
        fn damaged_batches_never_panic(
            cut in 0usize..150,
            at in 0usize..150,
            byte: u8,
        ) {
            let mut data = batch();
            let at = at % data.len();
            data[at] = byte;
            data.truncate(data.len().saturating_sub(cut % 40));
            if let Some(mut rows) = Rows::new(&data) {
                while let Some(row) = rows.next_row() {
                    prop_assert_eq!(row.ops.into_iter().count(), row.ops.len());
                    prop_assert!(Rows::resume(&data, Some(rows.place())).is_some());
                }
            }
        }
    }
}

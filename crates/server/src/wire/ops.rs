//! Operations of a message.

use cairn_ops::BinOp;

/// Bytes of an operation between its size and its name.
const OP_HEADER_LEN: usize = 4;

/// A run of operations whose bounds were checked by [`Ops::split`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Ops<'a> {
    count: u16,
    bytes: &'a [u8],
}

impl<'a> Ops<'a> {
    /// Splits `count` operations off the front of `bytes`; `None` when they do not fit or one is
    /// malformed.
    pub fn split(bytes: &'a [u8], count: u16) -> Option<(Ops<'a>, &'a [u8])> {
        let mut rest = bytes;
        for _ in 0..count {
            (_, rest) = split_op(rest)?;
        }
        let len = bytes.len() - rest.len();
        Some((Ops { count, bytes: &bytes[..len] }, rest))
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// True when there are none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl<'a> IntoIterator for Ops<'a> {
    type Item = BinOp<'a>;
    type IntoIter = OpsIter<'a>;

    fn into_iter(self) -> OpsIter<'a> {
        OpsIter { rest: self.bytes }
    }
}

/// Iterates over [`Ops`].
#[derive(Clone, Debug)]
pub struct OpsIter<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for OpsIter<'a> {
    type Item = BinOp<'a>;

    fn next(&mut self) -> Option<BinOp<'a>> {
        let (op, rest) = split_op(self.rest)?;
        self.rest = rest;
        Some(op)
    }
}

fn split_op(bytes: &[u8]) -> Option<(BinOp<'_>, &[u8])> {
    let (size, rest) = bytes.split_first_chunk::<4>()?;
    let (body, rest) = rest.split_at_checked(u32::from_be_bytes(*size) as usize)?;
    let ([op, kind, version, name_len], body) = body.split_first_chunk::<OP_HEADER_LEN>()?;
    if *version != 0 {
        return None;
    }
    let (name, value) = body.split_at_checked(*name_len as usize)?;
    Some((BinOp { op: *op, kind: *kind, name, value }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_split_into_name_and_value() {
        let bytes = [0, 0, 0, 7, 2, 3, 0, 1, b'a', b'x', b'y', 42];
        let (ops, rest) = Ops::split(&bytes, 1).unwrap();
        assert_eq!(rest, [42]);
        let op = ops.into_iter().next().unwrap();
        assert_eq!((op.op, op.kind, op.name, op.value), (2, 3, &b"a"[..], &b"xy"[..]));
    }

    #[test]
    fn sizes_names_and_versions_that_do_not_fit_are_refused() {
        for bad in [
            &[0, 0, 0, 0][..],
            &[0, 0, 0, 3, 1, 0, 0],
            &[0, 0, 0, 64, 1, 0, 0, 1, b'a'],
            &[0, 0, 0, 5, 1, 0, 0, 9, b'a'],
            &[255, 255, 255, 255, 1, 0, 0, 1, b'a'],
            &[0, 0, 0, 5, 1, 0, 7, 1, b'a'],
            &[0, 0],
        ] {
            assert!(Ops::split(bad, 1).is_none(), "{bad:?}");
        }
    }
}

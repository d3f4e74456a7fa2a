//! A record command: header, fields, operations.

use super::field::Fields;
use super::ops::Ops;

/// Bytes of the header. The size byte in a request is not trusted: clients always send this.
pub const MESSAGE_HEADER_LEN: usize = 22;

/// Header of a request or an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageHeader {
    /// Reading bits, see [`super::flags::info1`].
    pub info1: u8,
    /// Writing bits, see [`super::flags::info2`].
    pub info2: u8,
    /// More writing bits and marks, see [`super::flags::info3`].
    pub info3: u8,
    /// Transaction and error detail bits.
    pub info4: u8,
    /// Outcome, in answers.
    pub result: u8,
    /// Generation asked for, or the record's.
    pub generation: u32,
    /// Time to live in requests, void time in answers.
    pub record_ttl: u32,
    /// Timeout in requests, row number in answers to a batch.
    pub transaction_ttl: u32,
    /// Fields that follow.
    pub fields: u16,
    /// Operations that follow.
    pub ops: u16,
}

impl MessageHeader {
    /// Splits a header off the front of a body.
    pub fn split(body: &[u8]) -> Option<(MessageHeader, &[u8])> {
        let (h, rest) = body.split_first_chunk::<MESSAGE_HEADER_LEN>()?;
        let header = MessageHeader {
            info1: h[1],
            info2: h[2],
            info3: h[3],
            info4: h[4],
            result: h[5],
            generation: u32::from_be_bytes([h[6], h[7], h[8], h[9]]),
            record_ttl: u32::from_be_bytes([h[10], h[11], h[12], h[13]]),
            transaction_ttl: u32::from_be_bytes([h[14], h[15], h[16], h[17]]),
            fields: u16::from_be_bytes([h[18], h[19]]),
            ops: u16::from_be_bytes([h[20], h[21]]),
        };
        Some((header, rest))
    }

    /// The header's bytes.
    pub fn to_bytes(self) -> [u8; MESSAGE_HEADER_LEN] {
        let mut h = [0; MESSAGE_HEADER_LEN];
        h[..6].copy_from_slice(&[
            MESSAGE_HEADER_LEN as u8,
            self.info1,
            self.info2,
            self.info3,
            self.info4,
            self.result,
        ]);
        h[6..10].copy_from_slice(&self.generation.to_be_bytes());
        h[10..14].copy_from_slice(&self.record_ttl.to_be_bytes());
        h[14..18].copy_from_slice(&self.transaction_ttl.to_be_bytes());
        h[18..20].copy_from_slice(&self.fields.to_be_bytes());
        h[20..22].copy_from_slice(&self.ops.to_be_bytes());
        h
    }
}

/// A message with its parts found and bounded.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// Its header.
    pub header: MessageHeader,
    /// Its fields.
    pub fields: Fields<'a>,
    /// Its operations.
    pub ops: Ops<'a>,
}

impl<'a> Message<'a> {
    /// Reads the body of a frame; `None` when a part is malformed, missing or left over.
    pub fn parse(body: &'a [u8]) -> Option<Message<'a>> {
        let (header, rest) = MessageHeader::split(body)?;
        let (fields, rest) = Fields::split(rest, header.fields)?;
        let (ops, rest) = Ops::split(rest, header.ops)?;
        rest.is_empty().then_some(Message { header, fields, ops })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn put_frame_body() -> Vec<u8> {
        let header = MessageHeader { info2: 1, fields: 2, ops: 1, ..Default::default() };
        let mut body = header.to_bytes().to_vec();
        body.extend_from_slice(&[0, 0, 0, 5, 0]);
        body.extend_from_slice(b"test");
        body.extend_from_slice(&[0, 0, 0, 21, 4]);
        body.extend_from_slice(&[7; 20]);
        body.extend_from_slice(&[0, 0, 0, 6, 2, 3, 0, 1, b'a', b'x']);
        body
    }

    #[test]
    fn a_message_is_its_parts() {
        let body = put_frame_body();
        let message = Message::parse(&body).unwrap();
        assert_eq!(message.header.info2, 1);
        assert_eq!(message.fields.get(0), Some(&b"test"[..]));
        assert_eq!(message.ops.len(), 1);
    }

    #[test]
    fn no_prefix_and_no_extension_of_a_message_is_a_message() {
        let body = put_frame_body();
        for len in 0..body.len() {
            assert!(Message::parse(&body[..len]).is_none(), "prefix of {len} bytes");
        }
        let longer = [&body[..], &[0]].concat();
        assert!(Message::parse(&longer).is_none());
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Some(message) = Message::parse(&bytes) {
                prop_assert_eq!(message.ops.into_iter().count(), message.ops.len());
            }
        }

        #[test]
        fn a_changed_byte_never_panics(at in 0usize..80, byte: u8) {
            let mut body = put_frame_body();
            let at = at % body.len();
            body[at] = byte;
            if let Some(message) = Message::parse(&body) {
                prop_assert_eq!(message.ops.into_iter().count(), message.ops.len());
                prop_assert_eq!(message.fields.into_iter().count(), message.header.fields as usize);
            }
        }
    }
}

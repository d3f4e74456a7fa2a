//! Writers of answers into the connection's output buffer.

use cairn_ops::op;
use cairn_ops::operate::OpReply;
use cairn_value::{Error, ParticleType};

use super::details::error_details;
use super::field::kind;
use super::frame::{FRAME_HEADER_LEN, FrameHeader, FrameType};
use super::message::{MESSAGE_HEADER_LEN, MessageHeader};

/// An answer frame under construction at the end of a buffer. The header's size is filled in by
/// [`FrameWriter::finish`].
#[derive(Debug)]
pub struct FrameWriter<'o> {
    out: &'o mut Vec<u8>,
    start: usize,
    kind: FrameType,
}

impl<'o> FrameWriter<'o> {
    /// Starts a frame at the end of `out`.
    pub fn start(out: &'o mut Vec<u8>, kind: FrameType) -> Self {
        let start = out.len();
        out.extend_from_slice(&[0; FRAME_HEADER_LEN]);
        FrameWriter { out, start, kind }
    }

    /// The buffer, to append the frame's body to.
    pub fn body(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// Completes the frame. A message frame without a message is left out: clients take one as
    /// the end of the answer.
    pub fn finish(self) {
        let size = self.out.len() - self.start - FRAME_HEADER_LEN;
        if size == 0 && self.kind == FrameType::Message {
            return self.out.truncate(self.start);
        }
        let header = FrameHeader { kind: self.kind, size };
        self.out[self.start..self.start + FRAME_HEADER_LEN].copy_from_slice(&header.to_bytes());
    }
}

/// A message under construction inside a frame; counts its operations.
#[derive(Debug)]
pub struct MessageWriter<'o> {
    out: &'o mut Vec<u8>,
    start: usize,
    header: MessageHeader,
    /// Operation that all answers name instead of their own.
    named: Option<u8>,
}

impl<'o> MessageWriter<'o> {
    /// Starts a message with this header; the counts in it are replaced.
    pub fn start(out: &'o mut Vec<u8>, header: MessageHeader) -> Self {
        let start = out.len();
        out.extend_from_slice(&[0; MESSAGE_HEADER_LEN]);
        let header = MessageHeader { fields: 0, ops: 0, ..header };
        MessageWriter { out, start, header, named: None }
    }

    /// The header as it stands.
    pub fn header(&self) -> MessageHeader {
        self.header
    }

    /// Changes the header that [`MessageWriter::finish`] writes; the counts stay.
    pub fn set_header(&mut self, header: MessageHeader) {
        let MessageHeader { fields, ops, .. } = self.header;
        self.header = MessageHeader { fields, ops, ..header };
    }

    /// Appends a field; all fields come before the first operation.
    pub fn field(&mut self, kind: u8, data: &[u8]) {
        debug_assert_eq!(self.header.ops, 0, "fields come first");
        self.out.extend_from_slice(&(data.len() as u32 + 1).to_be_bytes());
        self.out.push(kind);
        self.out.extend_from_slice(data);
        self.header.fields += 1;
    }

    /// Appends an operation: a bin of a record or the answer of an operation.
    pub fn op(&mut self, op: u8, name: &[u8], kind: ParticleType, value: &[u8]) {
        let name_len = name.len().min(u8::MAX as usize);
        let size = (4 + name_len + value.len()) as u32;
        self.out.extend_from_slice(&size.to_be_bytes());
        self.out.extend_from_slice(&[op, kind.wire(), 0, name_len as u8]);
        self.out.extend_from_slice(&name[..name_len]);
        self.out.extend_from_slice(value);
        // Answers do not outnumber the operations of a request and the bins of a record.
        self.header.ops = self.header.ops.saturating_add(1);
    }

    /// Lets every answer name the operation READ, whatever operation it answers.
    pub fn answer_as_read(&mut self, yes: bool) {
        self.named = yes.then_some(op::READ);
    }

    /// Appends the answers of a command's operations.
    pub fn replies(&mut self, replies: &[OpReply<'_>]) {
        for reply in replies {
            self.op(self.named.unwrap_or(reply.op), reply.name, reply.kind, &reply.bytes);
        }
    }

    /// Drops what was written so far, for an answer that turned into an error.
    pub fn clear(&mut self) {
        self.out.truncate(self.start + MESSAGE_HEADER_LEN);
        (self.header.fields, self.header.ops) = (0, 0);
    }

    /// Appends what a refusal has to tell, if the request asks for it.
    pub fn error_details(&mut self, error: &Error, request_info4: u8) {
        if let Some(details) = error_details(error, request_info4) {
            self.field(kind::ERROR_DETAILS, &details);
        }
    }

    /// Completes the message.
    pub fn finish(self) {
        let range = self.start..self.start + MESSAGE_HEADER_LEN;
        self.out[range].copy_from_slice(&self.header.to_bytes());
    }
}

/// Appends a frame that holds one message without operations.
pub fn message(out: &mut Vec<u8>, header: MessageHeader) {
    let mut frame = FrameWriter::start(out, FrameType::Message);
    MessageWriter::start(frame.body(), header).finish();
    frame.finish();
}

/// Appends a frame that refuses a command, with the details that its fourth info byte asks for.
pub fn refusal(out: &mut Vec<u8>, error: &Error, request_info4: u8) {
    let header = MessageHeader { result: error.code.wire(), ..Default::default() };
    refusal_with(out, error, request_info4, header);
}

/// As [`refusal`], with this header.
pub fn refusal_with(out: &mut Vec<u8>, error: &Error, request_info4: u8, header: MessageHeader) {
    let mut frame = FrameWriter::start(out, FrameType::Message);
    let mut message = MessageWriter::start(frame.body(), header);
    message.error_details(error, request_info4);
    message.finish();
    frame.finish();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Message;
    use cairn_value::ResultCode;

    #[test]
    fn what_is_written_can_be_read() {
        let mut out = vec![9, 9];
        let mut frame = FrameWriter::start(&mut out, FrameType::Message);
        let header = MessageHeader { generation: 7, record_ttl: 8, ..Default::default() };
        let mut message = MessageWriter::start(frame.body(), header);
        message.op(1, b"bin", ParticleType::String, b"text");
        message.op(1, b"", ParticleType::Nil, b"");
        message.finish();
        frame.finish();
        let header = FrameHeader::parse(out[2..10].first_chunk().unwrap(), 1000).unwrap();
        assert_eq!(header, FrameHeader { kind: FrameType::Message, size: out.len() - 10 });
        let message = Message::parse(&out[10..]).unwrap();
        assert_eq!((message.header.generation, message.header.record_ttl), (7, 8));
        let ops: Vec<_> = message.ops.into_iter().map(|op| (op.name, op.value)).collect();
        assert_eq!(ops, [(&b"bin"[..], &b"text"[..]), (b"", b"")]);
    }

    #[test]
    fn a_refusal_carries_the_code_only() {
        let mut out = Vec::new();
        refusal(&mut out, &ResultCode::UnknownNamespace.into(), 0);
        let message = Message::parse(&out[8..]).unwrap();
        assert_eq!(message.header.result, 20);
        assert!(message.ops.is_empty());
    }
}

//! Record commands: what a message asks for, and the family that answers it.
//!
//! What is wrong with a message is told in this order: its form (4), its namespace (20), its
//! digest (4, or 16 when there is none), its key (16), then what its family checks. Answers carry
//! the record's generation and void time as soon as the record was looked at.

mod batch;
mod delete;
mod policy;
mod query;
mod read;
mod target;
mod write;

use cairn_engine::{Engine, Failure};
use cairn_value::{Error, Meta, ResultCode};

use crate::wire::flags::{info1, info2};
use crate::wire::reply::{self, FrameWriter, MessageWriter};
use crate::wire::{FrameType, Message, MessageHeader};
use target::Single;

/// Appends the answer to the body of a message frame.
pub(crate) fn answer(engine: &Engine, body: &[u8], out: &mut Vec<u8>) {
    let Some(message) = Message::parse(body) else {
        let text = "the message's fields and operations do not fill it exactly";
        return reply::refusal(out, &Error::new(ResultCode::Parameter, text));
    };
    if message.header.info1 & info1::BATCH_INDEX != 0 {
        return batch::answer(engine, &message, out);
    }
    match target::find(engine, &message) {
        Ok(Some(single)) => answer_single(&single, out),
        Ok(None) => query::answer(engine, &message, out),
        Err(error) => reply::refusal(out, &error),
    }
}

fn answer_single(single: &Single<'_>, out: &mut Vec<u8>) {
    let mut frame = FrameWriter::start(out, FrameType::Message);
    let mut message = MessageWriter::start(frame.body(), MessageHeader::default());
    run(single, &mut message);
    message.finish();
    frame.finish();
}

/// Runs a command on one record and writes its answer.
fn run(single: &Single<'_>, message: &mut MessageWriter<'_>) {
    let answer = execute(single, message);
    let header = match answer {
        Ok(Answer { generation, void_time }) => MessageHeader {
            generation: generation.into(),
            record_ttl: void_time,
            ..message.header()
        },
        Err(failure) => {
            message.clear_ops();
            MessageHeader {
                result: failure.error.code.wire(),
                generation: failure.generation.into(),
                record_ttl: failure.void_time,
                ..message.header()
            }
        }
    };
    message.set_header(header);
}

fn execute(single: &Single<'_>, message: &mut MessageWriter<'_>) -> Result<Answer, Failure> {
    let MessageHeader { info1, info2, .. } = single.header;
    single.refuse_unsupported()?;
    if info2 & info2::WRITE != 0 {
        return match info2 & info2::DELETE {
            0 => write::execute(single, message),
            _ => delete::execute(single),
        };
    }
    if info1 & info1::READ != 0 {
        return read::execute(single, message);
    }
    Err(Error::new(ResultCode::Parameter, "the command neither reads nor writes").into())
}

/// What an answer's header says about the record, 0 when it is gone.
#[derive(Clone, Copy, Debug, Default)]
struct Answer {
    generation: u16,
    void_time: u32,
}

impl From<Meta> for Answer {
    fn from(meta: Meta) -> Self {
        Answer { generation: meta.generation, void_time: meta.void_time }
    }
}

//! Record commands: what a message asks for, and the family that answers it.
//!
//! What is wrong with a message is told in this order: its form (4), its namespace (20), its
//! digest (4, or 16 when there is none), its key (16), then what its family checks. Answers carry
//! the record's generation and void time as soon as the record was looked at.

mod batch;
mod delete;
mod filter;
mod policy;
mod query;
mod read;
mod target;
mod write;

use cairn_engine::Failure;
use cairn_value::{Error, Meta, ResultCode};

use crate::session::Job;
use crate::wire::field::kind;
use crate::wire::flags::{info1, info2};
use crate::wire::reply::{self, FrameWriter, MessageWriter};
use crate::wire::{FrameType, Message, MessageHeader};
use filter::Filter;
pub(crate) use query::Context;
use target::Single;

/// Appends the answer to the body of a message frame, or its beginning and what is left to do.
pub(crate) fn answer(context: Context<'_>, body: &[u8], out: &mut Vec<u8>) -> Option<Box<dyn Job>> {
    let Some(message) = Message::parse(body) else {
        let text = "the message's fields and operations do not fill it exactly";
        reply::refusal(out, &Error::new(ResultCode::Parameter, text), 0);
        return None;
    };
    if message.header.info1 & info1::BATCH_INDEX != 0 {
        return batch::answer(context.engine, &message, out);
    }
    answer_checked(context, body, &message, out).unwrap_or_else(|error| {
        reply::refusal(out, &error, message.header.info4);
        None
    })
}

fn answer_checked(
    context: Context<'_>,
    body: &[u8],
    message: &Message<'_>,
    out: &mut Vec<u8>,
) -> Result<Option<Box<dyn Job>>, Error> {
    let (header, fields) = (message.header, message.fields);
    let namespace = target::namespace(context.engine, fields)?;
    let Some(digest) = target::digest(fields)? else {
        return query::answer(context, namespace, body, message, out);
    };
    let target = target::target(digest, fields)?;
    let ops: Vec<_> = message.ops.into_iter().collect();
    let single = Single {
        header,
        namespace,
        target,
        filter: Filter::compile(fields.get(kind::FILTER)),
        ops: &ops,
    };
    let mut frame = FrameWriter::start(out, FrameType::Message);
    let mut message = MessageWriter::start(frame.body(), MessageHeader::default());
    run(&single, &mut message);
    message.finish();
    frame.finish();
    Ok(None)
}

/// Runs a command on one record and writes its answer into a message; returns its code.
fn run(single: &Single<'_, '_>, message: &mut MessageWriter<'_>) -> ResultCode {
    let (code, generation, void_time) = match execute(single, message) {
        Ok(answer) => (ResultCode::Ok, answer.generation, answer.void_time),
        Err(failure) => {
            message.clear();
            message.error_details(&failure.error, single.header.info4);
            (failure.error.code, failure.generation, failure.void_time)
        }
    };
    message.set_header(MessageHeader {
        result: code.wire(),
        generation: generation.into(),
        record_ttl: void_time,
        ..message.header()
    });
    code
}

fn execute(single: &Single<'_, '_>, message: &mut MessageWriter<'_>) -> Result<Answer, Failure> {
    let MessageHeader { info1, info2, .. } = single.header;
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

//! Commands on many records in one message.

use cairn_engine::Engine;
use cairn_value::{Error, ResultCode};

use super::target;
use crate::wire::flags::info3;
use crate::wire::reply;
use crate::wire::{Message, MessageHeader};

/// Refuses: batches are not available. The answer is the last of its stream.
pub(super) fn answer(engine: &Engine, message: &Message<'_>, out: &mut Vec<u8>) {
    let refused = Error::new(ResultCode::Unsupported, "batch commands are not available");
    let error = target::namespace(engine, message.fields).err().unwrap_or(refused);
    let (info3, result) = (info3::LAST, error.code.wire());
    reply::message(out, MessageHeader { info3, result, ..Default::default() });
}

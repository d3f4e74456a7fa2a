//! Commands on the records of partitions: scans and queries.

use cairn_engine::Engine;
use cairn_value::{Error, ResultCode};

use crate::wire::{Message, reply};

/// Refuses: queries are not available, and a message without digest is nothing else.
pub(super) fn answer(_: &Engine, _: &Message<'_>, out: &mut Vec<u8>) {
    let text = "the message names no record by its digest, and queries are not available";
    reply::refusal(out, &Error::new(ResultCode::Unsupported, text));
}

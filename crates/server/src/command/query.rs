//! Commands on the records of partitions: scans and queries.

use cairn_value::{Error, ResultCode};

use crate::wire::Message;

/// Refuses: queries are not available, and a message without digest is nothing else.
pub(super) fn answer(_: &Message<'_>, _: &mut Vec<u8>) -> Result<(), Error> {
    let text = "the message names no record by its digest, and queries are not available";
    Err(Error::new(ResultCode::Unsupported, text))
}

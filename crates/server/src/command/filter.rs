//! Filter expressions: whether a command may touch its record.

use cairn_ops::Env;
use cairn_value::{Error, RecordView, ResultCode};

/// Refuses a command whose filter does not say yes to the record.
pub(super) fn check(
    filter: Option<&[u8]>,
    _record: &RecordView<'_>,
    _env: &Env,
) -> Result<(), Error> {
    match filter {
        None => Ok(()),
        Some(_) => Err(Error::new(ResultCode::Unsupported, "filter expressions are not available")),
    }
}

//! Deleting a record. Answers never carry its metadata.

use cairn_engine::{Change, Failure};
use cairn_ops::Env;

use super::target::Single;
use super::{Answer, policy};

pub(super) fn execute(single: &Single<'_, '_>) -> Result<Answer, Failure> {
    let policy = policy::delete(&single.header);
    let deleted = single.namespace.update(&single.target, &policy, |slot| {
        if let Some(record) = &slot.record {
            single.filter.check(record, Env { now_ns: slot.now_ns })?;
        }
        Ok((Change::Delete, ()))
    });
    match deleted {
        Ok(_) => Ok(Answer::default()),
        Err(failure) => Err(failure.error.into()),
    }
}

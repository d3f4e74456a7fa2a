//! Deleting a record. Answers never carry its metadata.

use cairn_engine::{Change, Failure};

use super::target::Single;
use super::{Answer, policy};

pub(super) fn execute(single: &Single<'_>) -> Result<Answer, Failure> {
    let policy = policy::delete(&single.header);
    let deleted: Result<_, Failure> =
        single.namespace.update(&single.target, &policy, |_| Ok((Change::Delete, ())));
    match deleted {
        Ok(_) => Ok(Answer::default()),
        Err(failure) => Err(failure.error.into()),
    }
}

//! Writing a record: any run of operations, all or nothing.

use cairn_engine::{Change, Failure, WritePolicy};
use cairn_ops::{Env, operate};
use cairn_value::ResultCode;

use super::target::Single;
use super::{Answer, policy};
use crate::wire::reply::MessageWriter;

pub(super) fn execute(
    single: &Single<'_, '_>,
    message: &mut MessageWriter<'_>,
) -> Result<Answer, Failure> {
    let options = policy::options(&single.header);
    operate::check(single.ops, options)?;
    let asked = policy::write(&single.header);
    let impossible = asked.is_none();
    let policy: WritePolicy = asked.unwrap_or_default();
    let ((), written) = single.namespace.update(&single.target, &policy, |slot| {
        if impossible {
            let code = slot.record.map_or(ResultCode::NotFound, |_| ResultCode::RecordExists);
            return Err(code.into());
        }
        let env = Env { now_ns: slot.now_ns };
        if let Some(record) = &slot.record {
            single.filter.check(record, env)?;
        }
        let outcome = operate::run(slot.record.as_ref(), single.ops, &env, options)?;
        message.replies(&outcome.replies);
        Ok((change(outcome.change), ()))
    })?;
    Ok(written.meta().map(Answer::from).unwrap_or_default())
}

pub(super) fn change(change: operate::Change<'_>) -> Change<'_> {
    match change {
        operate::Change::None => Change::None,
        operate::Change::Touch => Change::Touch,
        operate::Change::Bins(bins) => Change::Write(bins),
        operate::Change::Delete => Change::Delete,
    }
}

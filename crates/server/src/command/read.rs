//! Reading a record: all bins, some, what operations answer, or metadata alone.

use cairn_engine::Failure;
use cairn_ops::{Env, operate};

use super::target::Single;
use super::{Answer, policy};
use crate::wire::flags::info1;
use crate::wire::reply::MessageWriter;

pub(super) fn execute(
    single: &Single<'_>,
    message: &mut MessageWriter<'_>,
) -> Result<Answer, Failure> {
    let header = &single.header;
    let options = operate::Options { writes: false, ..policy::options(header) };
    let metadata_only = header.info1 & info1::NO_BIN_DATA != 0;
    let env = Env { now_ns: single.namespace.now_ns() };
    let ((), meta) = single.namespace.read(&single.target, &policy::read(header), |record| {
        if metadata_only {
            return Ok(());
        }
        let outcome = operate::run(Some(record), &single.ops, &env, options)?;
        message.replies(&outcome.replies);
        Ok(())
    })?;
    Ok(meta.into())
}

//! Reading a record: all bins, some, what operations answer, or metadata alone.

use cairn_engine::Failure;
use cairn_ops::{Env, op, operate};
use cairn_value::{RecordView, collection};

use super::target::Single;
use super::{Answer, policy};
use crate::wire::flags::info1;
use crate::wire::reply::MessageWriter;

pub(super) fn execute(
    single: &Single<'_, '_>,
    message: &mut MessageWriter<'_>,
) -> Result<Answer, Failure> {
    let header = &single.header;
    let options = operate::Options { writes: false, ..policy::options(header) };
    let metadata_only = header.info1 & info1::NO_BIN_DATA != 0;
    let env = Env { now_ns: single.namespace.now_ns() };
    let ((), meta) = single.namespace.read(&single.target, &policy::read(header), |record| {
        single.filter.check(record, env)?;
        if metadata_only {
            return Ok(());
        }
        if options.all_bins {
            all_bins(record, message);
            return Ok(());
        }
        let outcome = operate::run(Some(record), single.ops, &env, options)?;
        message.replies(&outcome.replies);
        Ok(())
    })?;
    Ok(meta.into())
}

/// Straight from the record: the most common read builds nothing in between.
pub(super) fn all_bins(record: &RecordView<'_>, message: &mut MessageWriter<'_>) {
    for bin in record.bins {
        let value = collection::reply_form(bin.particle.kind, bin.particle.bytes);
        message.op(op::READ, bin.name, bin.particle.kind, &value);
    }
}

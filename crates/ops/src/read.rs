//! Runs the operations of a command that only reads, straight on the stored record.

use std::borrow::Cow;
use std::collections::HashMap;

use cairn_value::record::check_bin_name;
use cairn_value::{Bins, Error, Particle, ParticleType, RecordView, ResultCode};

use crate::operate::{OpReply, Options, Scope, missing, not_a};
use crate::table::{self, Run};
use crate::{BinOp, Env, Mode, op};

/// Questions from which on bins are looked up in a map instead of one by one.
const INDEXED_FROM: usize = 16;

/// The answers of a command that only reads.
pub(crate) fn run<'r>(
    record: &RecordView<'r>,
    ops: &[BinOp<'r>],
    env: &Env,
    options: Options,
) -> Result<Vec<OpReply<'r>>, Error> {
    if options.all_bins {
        let reply = |bin: cairn_value::Bin<'r>| {
            OpReply::bin(bin.name, bin.particle.kind, Cow::Borrowed(bin.particle.bytes))
        };
        return Ok(record.bins.into_iter().map(reply).collect());
    }
    if ops.is_empty() {
        return Err(Error::new(ResultCode::Parameter, "a read names no bins"));
    }
    let lookup = Lookup::new(record.bins, ops.len());
    let scope = Scope::stored(record);
    let mut replies = Vec::with_capacity(ops.len());
    for op in ops {
        check_bin_name(op.name)?;
        let row = table::find(op.op).filter(|row| row.mode == Mode::Read);
        let row = row.ok_or_else(|| not_a("read", op))?;
        let bin = lookup.get(op.name);
        let applied = match row.run {
            Run::Read => {
                replies.extend(match bin {
                    Some(bin) => Some(OpReply::bin(op.name, bin.kind, Cow::Borrowed(bin.bytes))),
                    None => options.respond_all.then(|| OpReply::nil(op)),
                });
                continue;
            }
            Run::Bin(function) => function(op.value, bin, Mode::Read, env)?,
            Run::Record(function) => function(op.value, bin, &scope, Mode::Read, env)?,
            _ => return Err(missing(row)),
        };
        replies.extend(match applied.reply {
            // Among reads alone, a collection operation that found nothing is left out.
            Some(reply)
                if op.op == op::CDT_READ
                    && reply.kind == ParticleType::Nil
                    && !options.respond_all =>
            {
                None
            }
            Some(reply) => Some(OpReply::built(op, reply)),
            None => options.respond_all.then(|| OpReply::nil(op)),
        });
    }
    Ok(replies)
}

/// Finds bins: one by one for a few questions, so that nothing is built for them.
#[derive(Debug)]
pub(crate) enum Lookup<'r> {
    OneByOne(Bins<'r>),
    Indexed(HashMap<&'r [u8], Particle<'r>>),
}

impl<'r> Lookup<'r> {
    /// For about so many questions.
    pub(crate) fn new(bins: Bins<'r>, questions: usize) -> Self {
        if questions < INDEXED_FROM {
            return Lookup::OneByOne(bins);
        }
        Lookup::Indexed(bins.into_iter().map(|bin| (bin.name, bin.particle)).collect())
    }

    /// The bin of this name.
    pub(crate) fn get(&self, name: &[u8]) -> Option<Particle<'r>> {
        match self {
            Lookup::OneByOne(bins) => bins.get(name),
            Lookup::Indexed(places) => places.get(name).copied(),
        }
    }
}

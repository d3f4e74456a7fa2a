//! Commands on the records of partitions: scans, queries of secondary indexes, and queries that
//! change records in the background.
//!
//! A query names the partitions it wants, each from its beginning or after a record, and gets a
//! message per record and one with the mark LAST. A record that the filter does not say yes to,
//! whose operations fail, or that has nothing of what was asked for, is left out. Scans go from the
//! greatest digest down; queries of an index by value, then by digest. A background query is
//! answered by LAST alone, and `query-show` tells its progress.

mod background;
mod foreground;
mod plan;
mod range;
mod rows;
mod throttle;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use cairn_engine::{Engine, Namespace};
use cairn_value::Error;

use crate::queries::{About, Queries};
use crate::session::{Job, JobState};
use crate::wire::field::kind;
use crate::wire::flags::{info1, info3};
use crate::wire::{Message, MessageHeader, reply};
use background::BackgroundQuery;
use foreground::ForegroundQuery;
use plan::Plan;
use throttle::Throttle;

/// What queries need of the server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub engine: &'a Arc<Engine>,
    pub queries: &'a Arc<Queries>,
    pub from: Option<SocketAddr>,
}

/// Appends the beginning of the answer to a query and returns the job that makes the rest.
pub(super) fn answer(
    context: Context<'_>,
    namespace: &Namespace,
    body: &[u8],
    message: &Message<'_>,
    out: &mut Vec<u8>,
) -> Result<Option<Box<dyn Job>>, Error> {
    let plan = Plan::of(namespace, message)?;
    let background = plan::is_background(message);
    let is_short = message.header.info1 & info1::SHORT_QUERY != 0;
    let about = about(context, namespace, message, &plan, background);
    let running = context.queries.begin(about, background || !is_short)?;
    let throttle = Throttle::new(plan.records_per_second, Instant::now());
    let (engine, body) = (Arc::clone(context.engine), body.to_vec());
    if background {
        let work = Box::new(BackgroundQuery { engine, body, plan, throttle, running });
        context.queries.run_in_background(work)?;
        reply::message(out, MessageHeader { info3: info3::LAST, ..Default::default() });
        return Ok(None);
    }
    let mut job = ForegroundQuery { engine, body, plan, throttle, running };
    match job.step(out) {
        JobState::Done => Ok(None),
        JobState::More | JobState::Later(_) => Ok(Some(Box::new(job))),
    }
}

fn about(
    context: Context<'_>,
    namespace: &Namespace,
    message: &Message<'_>,
    plan: &Plan,
    background: bool,
) -> About {
    let fields = message.fields;
    let task = fields.get(kind::TASK_ID).and_then(|data| data.try_into().ok());
    let resumed = plan.partitions.iter().filter(|partition| partition.after.is_some()).count();
    About {
        id: task.map_or(0, u64::from_be_bytes),
        namespace: namespace.name().into(),
        set: String::from_utf8_lossy(fields.get(kind::SET).unwrap_or_default()).into_owned(),
        index: plan.index_name(),
        partitions: plan.partitions.len() - resumed,
        digests: resumed,
        records_per_second: plan.records_per_second,
        socket_timeout_ms: plan::number(fields, kind::SOCKET_TIMEOUT),
        background,
        from: context.from,
    }
}

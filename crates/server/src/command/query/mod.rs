//! Commands on the records of partitions: scans.
//!
//! A scan names the partitions it wants, each from its beginning or after a digest, and gets a
//! message per record and one with the mark LAST. A record that the filter does not say yes to,
//! whose operations fail, or that has nothing of what was asked for, is left out. The answer is
//! made piece by piece, while the client takes it and others get their turn.

mod plan;

use std::ops::ControlFlow;
use std::sync::Arc;

use cairn_engine::{Engine, Namespace, ScanEnd};
use cairn_ops::exp::Program;
use cairn_ops::{BinOp, Env, operate};
use cairn_value::{Digest, Error, RecordView};

use super::filter::Filter;
use super::{policy, read, target};
use crate::session::{Job, JobState};
use crate::wire::field::kind;
use crate::wire::flags::{info1, info3};
use crate::wire::reply::{FrameWriter, MessageWriter};
use crate::wire::{FrameType, Message, MessageHeader};
use plan::Plan;

/// Answers are cut into frames of about this many bytes.
const FRAME_LEN: usize = 64 * 1024;
/// Records that are looked at before other connections get their turn.
const RECORDS_PER_STEP: usize = 1000;

/// Appends the beginning of the answer to a scan and returns the job that makes the rest.
pub(super) fn answer(
    engine: &Arc<Engine>,
    body: &[u8],
    message: &Message<'_>,
    out: &mut Vec<u8>,
) -> Result<Option<Box<dyn Job>>, Error> {
    let plan = Plan::of(message)?;
    let mut job = ScanJob { engine: Arc::clone(engine), body: body.to_vec(), plan };
    match job.step(out) {
        JobState::Done => Ok(None),
        JobState::More => Ok(Some(Box::new(job))),
    }
}

/// A scan whose answer is under way.
#[derive(Debug)]
struct ScanJob {
    engine: Arc<Engine>,
    /// The request; it was parsed and checked before.
    body: Vec<u8>,
    plan: Plan,
}

impl Job for ScanJob {
    fn step(&mut self, out: &mut Vec<u8>) -> JobState {
        let mut frame = FrameWriter::start(out, FrameType::Message);
        let state = scan(&self.engine, &self.body, &mut self.plan, frame.body());
        if state == JobState::Done {
            let header = MessageHeader { info3: info3::LAST, ..Default::default() };
            MessageWriter::start(frame.body(), header).finish();
        }
        frame.finish();
        state
    }
}

/// Appends records until the scan ends or others should have their turn.
fn scan(engine: &Engine, body: &[u8], plan: &mut Plan, out: &mut Vec<u8>) -> JobState {
    let Some(message) = Message::parse(body) else { return JobState::Done };
    let Ok(namespace) = target::namespace(engine, message.fields) else { return JobState::Done };
    let start = out.len();
    let mut looked_at = 0;
    let mut rows = Rows::new(namespace, &message, out);
    while let Some(partition) = plan.partitions.last().copied() {
        let end = namespace.scan(partition.id, partition.after, |record| {
            if plan.left == 0 {
                return ControlFlow::Break(());
            }
            looked_at += 1;
            plan.left -= u64::from(rows.add(record));
            let enough = rows.out.len() - start >= FRAME_LEN || looked_at >= RECORDS_PER_STEP;
            if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match end {
            Ok(ScanEnd::Stopped(_)) if plan.left == 0 => return JobState::Done,
            Ok(ScanEnd::Stopped(digest)) => {
                plan.resume_after(digest);
                return JobState::More;
            }
            // A partition that cannot be read ends here; its records are told by no other.
            Ok(ScanEnd::Finished) | Err(_) => plan.partitions.pop(),
        };
    }
    JobState::Done
}

/// Writes the records that a scan asks for.
struct Rows<'a, 'o> {
    namespace: &'a Namespace,
    set: &'a [u8],
    filter: Filter<'a>,
    ops: Vec<BinOp<'a>>,
    options: operate::Options,
    metadata_only: bool,
    env: Env,
    out: &'o mut Vec<u8>,
}

impl<'a, 'o> Rows<'a, 'o> {
    fn new(namespace: &'a Namespace, message: &Message<'a>, out: &'o mut Vec<u8>) -> Self {
        let fields = message.fields;
        Rows {
            namespace,
            set: fields.get(kind::SET).unwrap_or_default(),
            filter: Filter::compile(fields.get(kind::FILTER)),
            ops: message.ops.into_iter().collect(),
            options: policy::options(&message.header),
            metadata_only: message.header.info1 & info1::NO_BIN_DATA != 0,
            env: Env { now_ns: namespace.now_ns() },
            out,
        }
    }

    /// Appends a record, unless it is left out.
    fn add(&mut self, record: &RecordView<'_>) -> bool {
        if !self.set.is_empty() && self.set != record.set {
            return false;
        }
        if self.filter.check(record, self.env).is_err() {
            return false;
        }
        let start = self.out.len();
        let header = MessageHeader {
            info1: if self.metadata_only { info1::NO_BIN_DATA } else { 0 },
            generation: record.meta.generation.into(),
            record_ttl: record.meta.void_time,
            ..Default::default()
        };
        let mut message = MessageWriter::start(self.out, header);
        identify(&mut message, self.namespace, record);
        let wanted = if self.metadata_only {
            true
        } else if self.ops.is_empty() {
            read::all_bins(record, &mut message);
            true
        } else {
            match operate::run(Some(record), &self.ops, &self.env, self.options) {
                Ok(outcome) => {
                    message.replies(&outcome.replies);
                    !outcome.replies.is_empty()
                }
                Err(_) => false,
            }
        };
        message.finish();
        if !wanted {
            self.out.truncate(start);
        }
        wanted
    }
}

/// Says which record a message is about.
fn identify(message: &mut MessageWriter<'_>, namespace: &Namespace, record: &RecordView<'_>) {
    message.field(kind::NAMESPACE, namespace.name().as_bytes());
    let Digest(digest) = record.digest;
    message.field(kind::DIGEST, &digest);
    if !record.set.is_empty() {
        message.field(kind::SET, record.set);
    }
    if let Some(key) = record.key {
        message.field(kind::KEY, key);
    }
}

/// Refuses a filter that does not compile.
fn check_filter(message: &Message<'_>) -> Result<(), Error> {
    message.fields.get(kind::FILTER).map(Program::compile_filter).transpose().map(drop)
}

//! Queries that send records: the answer is made piece by piece, while the client takes it and
//! others get their turn.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use cairn_engine::{Engine, Namespace, QueryEnd, QueryPlace, ScanEnd};
use cairn_value::{Error, RecordView, ResultCode};

use super::plan::{Partition, Plan, Way};
use super::rows::Rows;
use super::throttle::Throttle;
use crate::command::target;
use crate::queries::Running;
use crate::session::{Job, JobState};
use crate::wire::flags::info3;
use crate::wire::reply::{FrameWriter, MessageWriter};
use crate::wire::{FrameType, Message, MessageHeader};

/// Answers are cut into frames of about this many bytes.
const FRAME_LEN: usize = 64 * 1024;
/// Records that are looked at before other connections get their turn.
const RECORDS_PER_STEP: usize = 1000;

/// A query whose answer is under way.
#[derive(Debug)]
pub(super) struct ForegroundQuery {
    pub engine: Arc<Engine>,
    /// The request; it was parsed and checked before.
    pub body: Vec<u8>,
    pub plan: Plan,
    pub throttle: Throttle,
    pub running: Running,
}

impl Job for ForegroundQuery {
    fn step(&mut self, out: &mut Vec<u8>) -> JobState {
        let allowed = match self.throttle.allowance(Instant::now()) {
            Ok(allowed) => allowed,
            Err(later) => {
                self.running.tracked.throttled.fetch_add(1, Ordering::Relaxed);
                return JobState::Later(later);
            }
        };
        let start = out.len();
        let mut frame = FrameWriter::start(out, FrameType::Message);
        let state = if self.running.tracked.is_aborted() {
            end(frame.body(), ResultCode::QueryAborted);
            JobState::Done
        } else {
            self.fill(frame.body(), allowed)
        };
        frame.finish();
        self.running.tracked.bytes.fetch_add((out.len() - start) as u64, Ordering::Relaxed);
        state
    }
}

/// Appends the message that ends an answer.
fn end(out: &mut Vec<u8>, code: ResultCode) {
    let header = MessageHeader { info3: info3::LAST, result: code.wire(), ..Default::default() };
    MessageWriter::start(out, header).finish();
}

/// Why a partition was left.
enum Left {
    /// It was seen to its end.
    Finished,
    /// Others should have their turn; it goes on here.
    At(QueryPlace),
}

impl ForegroundQuery {
    /// Appends records until the query ends or others should have their turn.
    fn fill(&mut self, out: &mut Vec<u8>, allowed: u64) -> JobState {
        let ForegroundQuery { engine, body, plan, throttle, running } = self;
        let message = Message::parse(body);
        let found = message.map(|message| (message, target::namespace(engine, message.fields)));
        let Some((message, Ok(namespace))) = found else {
            end(out, ResultCode::ServerError);
            return JobState::Done;
        };
        let (start, mut looked_at, mut sent) = (out.len(), 0, 0u64);
        let mut rows = Rows::new(namespace, &message, out);
        let limit = plan.left.min(allowed);
        let state = loop {
            let Some(partition) = plan.partitions.last().copied() else { break JobState::Done };
            let visit = |record: &RecordView<'_>, value: Option<u64>| {
                if sent == limit {
                    return ControlFlow::Break(());
                }
                looked_at += 1;
                sent += u64::from(rows.add(record, value, &running.tracked));
                let enough = rows.out.len() - start >= FRAME_LEN || looked_at >= RECORDS_PER_STEP;
                if enough || sent == limit {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            };
            match walk(namespace, &mut plan.way, partition, visit) {
                Ok(Left::At(place)) => {
                    plan.resume_after(place);
                    break if sent == plan.left { JobState::Done } else { JobState::More };
                }
                // A partition that cannot be read ends here; its records are told by no other.
                Ok(Left::Finished) | Err(_) => {
                    plan.partitions.pop();
                    running.tracked.partitions_done.fetch_add(1, Ordering::Relaxed);
                }
            }
        };
        throttle.pass(sent);
        if plan.left != u64::MAX {
            plan.left -= sent;
        }
        if state == JobState::Done {
            end(out, ResultCode::Ok);
        }
        state
    }
}

/// Shows `visit` the records of a partition as the query finds them.
fn walk(
    namespace: &Namespace,
    way: &mut Way,
    partition: Partition,
    mut visit: impl FnMut(&RecordView<'_>, Option<u64>) -> ControlFlow<()>,
) -> Result<Left, Error> {
    let below = partition.after.map(|place| place.digest);
    let end = match way {
        Way::Index(query) => {
            let visit =
                |record: &RecordView<'_>, place: QueryPlace| visit(record, Some(place.value));
            return Ok(match namespace.query(query, partition.id, partition.after, visit)? {
                QueryEnd::Finished => Left::Finished,
                QueryEnd::Stopped(place) => Left::At(place),
            });
        }
        Way::Scan => namespace.scan(partition.id, below, |record| visit(record, None))?,
        Way::Members(index) => {
            namespace.scan_set(index, partition.id, below, |record| visit(record, None))?
        }
    };
    Ok(match end {
        ScanEnd::Finished => Left::Finished,
        ScanEnd::Stopped(digest) => Left::At(QueryPlace { value: 0, digest }),
    })
}

/// The records of a partition that a query finds, all at once.
pub(super) fn visit_all(
    namespace: &Namespace,
    way: &mut Way,
    partition: Partition,
    mut visit: impl FnMut(&RecordView<'_>),
) -> Result<(), Error> {
    walk(namespace, way, partition, |record, _| {
        visit(record);
        ControlFlow::Continue(())
    })
    .map(drop)
}

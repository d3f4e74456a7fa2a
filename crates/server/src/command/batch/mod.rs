//! Commands on many records in one message.
//!
//! ```text
//! batch  rows u32 | flags u8 | row..
//! row    index u32 | digest 20 | type u8 | what the type announces | fields u16 | ops u16 | fields.. | ops..
//! ```
//!
//! All rows are looked at before the first one runs: a batch that is malformed or names an unknown
//! namespace is refused as a whole. Then each row runs like a command of its own and answers with
//! its index; a message with the mark LAST ends the answer. A long batch is answered piece by
//! piece, so that a client that is slow to take its answers bounds what waits for it.

mod rows;

use std::sync::Arc;

use cairn_engine::Engine;
use cairn_ops::BinOp;
use cairn_ops::exp::Program;
use cairn_value::{Error, ResultCode};

use super::filter::Filter;
use super::target::{self, Single};
use crate::session::{Job, JobState};
use crate::wire::field::kind;
use crate::wire::flags::info3;
use crate::wire::reply::{self, FrameWriter, MessageWriter};
use crate::wire::{FrameType, Message, MessageHeader};
use rows::{Row, Rows};

/// Answers are cut into frames of about this many bytes.
const FRAME_LEN: usize = 64 * 1024;
/// Rows that run before other connections get their turn.
const ROWS_PER_STEP: usize = 512;

/// Bits of a batch's flags.
mod flag {
    /// A row that fails leaves the result of the batch alone.
    pub const RESPOND_ALL_KEYS: u8 = 0x04;
}

/// Appends the answer to a batch, or its beginning and the job that makes the rest.
pub(super) fn answer(
    engine: &Arc<Engine>,
    message: &Message<'_>,
    out: &mut Vec<u8>,
) -> Option<Box<dyn Job>> {
    let checked = check(engine, message);
    let (data, filter) = match checked {
        Ok(checked) => checked,
        Err(error) => {
            reply::refusal_with(out, &error, message.header.info4, last(error.code));
            return None;
        }
    };
    let mut progress = Progress::default();
    if progress.step(engine, data, filter, out) == JobState::Done {
        return None;
    }
    let (engine, data) = (Arc::clone(engine), data.to_vec());
    Some(Box::new(BatchJob { engine, data, filter: filter.map(<[u8]>::to_vec), progress }))
}

/// Refuses a batch as a whole; otherwise returns its rows and its filter.
fn check<'a>(
    engine: &Engine,
    message: &Message<'a>,
) -> Result<(&'a [u8], Option<&'a [u8]>), Error> {
    let malformed = |text: &'static str| Error::new(ResultCode::Parameter, text);
    let data = message.fields.get(kind::BATCH_INDEX).ok_or_else(|| malformed("no batch field"))?;
    let mut rows = Rows::new(data).ok_or_else(|| malformed("the batch field is too short"))?;
    if rows.left() == 0 {
        return Err(malformed("the batch has no rows"));
    }
    while rows.left() > 0 {
        let row = rows.next_row().ok_or_else(|| malformed("a row of the batch is malformed"))?;
        if row.is_new && target::namespace(engine, row.fields).is_err() {
            return Err(malformed("a row of the batch names no known namespace"));
        }
    }
    let filter = message.fields.get(kind::FILTER);
    filter.map(Program::compile_filter).transpose()?;
    Ok((data, filter))
}

/// The message that ends the answer to a batch.
fn last(code: ResultCode) -> MessageHeader {
    MessageHeader { info3: info3::LAST, result: code.wire(), ..Default::default() }
}

/// A batch whose answer is under way.
#[derive(Debug)]
struct BatchJob {
    engine: Arc<Engine>,
    data: Vec<u8>,
    filter: Option<Vec<u8>>,
    progress: Progress,
}

impl Job for BatchJob {
    fn step(&mut self, out: &mut Vec<u8>) -> JobState {
        self.progress.step(&self.engine, &self.data, self.filter.as_deref(), out)
    }
}

/// How far a batch has come.
#[derive(Debug, Default)]
struct Progress {
    place: Option<rows::Place>,
    /// What the first row that failed answered, for batches that want to know.
    failed: Option<ResultCode>,
}

impl Progress {
    /// Runs rows until the batch ends or others should have their turn, and appends one frame.
    fn step(
        &mut self,
        engine: &Engine,
        data: &[u8],
        filter: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> JobState {
        let start = out.len();
        let mut frame = FrameWriter::start(out, FrameType::Message);
        let Some(mut rows) = Rows::resume(data, self.place) else { return JobState::Done };
        let filter = filter.and_then(|bytes| Program::compile_filter(bytes).ok());
        let mut ops = Vec::new();
        rows.template_ops(&mut ops);
        for _ in 0..ROWS_PER_STEP {
            let Some(row) = rows.next_row() else { break };
            if row.is_new {
                ops.clear();
                ops.extend(row.ops);
            }
            let code = run_row(engine, &row, &ops, filter.as_ref(), frame.body());
            self.note(code);
            if frame.body().len() - start >= FRAME_LEN {
                break;
            }
        }
        let done = rows.left() == 0;
        if done {
            let tolerant = rows.flags() & flag::RESPOND_ALL_KEYS != 0;
            let code = self.failed.filter(|_| !tolerant).unwrap_or(ResultCode::Ok);
            MessageWriter::start(frame.body(), last(code)).finish();
        }
        frame.finish();
        self.place = Some(rows.place());
        if done { JobState::Done } else { JobState::More }
    }

    /// Absent and filtered records are no failures of a batch.
    fn note(&mut self, code: ResultCode) {
        let harmless =
            matches!(code, ResultCode::Ok | ResultCode::NotFound | ResultCode::FilteredOut);
        if !harmless {
            self.failed.get_or_insert(code);
        }
    }
}

fn run_row<'a>(
    engine: &'a Engine,
    row: &Row<'a>,
    ops: &[BinOp<'a>],
    filter: Option<&Program<'_>>,
    out: &mut Vec<u8>,
) -> ResultCode {
    let header = MessageHeader { transaction_ttl: row.index, ..Default::default() };
    let mut message = MessageWriter::start(out, header);
    // A read answers as a read, whatever operation it was.
    message.answer_as_read(row.reads_only());
    let code = match single(engine, row, ops, filter) {
        Ok(single) => super::run(&single, &mut message),
        Err(error) => {
            message.error_details(&error, row.header.info4);
            message.set_header(MessageHeader { result: error.code.wire(), ..message.header() });
            error.code
        }
    };
    message.finish();
    code
}

/// A row's own filter counts, otherwise the one of the batch.
fn single<'a: 'o, 'o>(
    engine: &'a Engine,
    row: &Row<'a>,
    ops: &'o [BinOp<'a>],
    filter: Option<&'o Program<'o>>,
) -> Result<Single<'a, 'o>, Error> {
    let namespace = target::namespace(engine, row.fields)?;
    let target = target::target(row.digest, row.fields)?;
    let filter = match (row.fields.get(kind::FILTER), filter) {
        (None, Some(program)) => Filter::Shared(program),
        (own, _) => Filter::compile(own),
    };
    Ok(Single { header: row.header, namespace, target, filter, ops })
}

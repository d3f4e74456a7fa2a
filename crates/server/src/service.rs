//! The service behind the sockets: every frame of the protocol and its answer.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use cairn_engine::Engine;
use cairn_value::{Error, ResultCode};

use crate::command::Context;
use crate::limits::Limits;
use crate::queries::Queries;
use crate::session::{Client, Job, Service};
use crate::wire::reply::{self, FrameWriter};
use crate::wire::{FrameType, compressed};
use crate::{command, info};

/// Bytes of an administration message's header.
const ADMIN_HEADER_LEN: usize = 16;

/// Answers frames from an engine.
#[derive(Debug)]
pub(crate) struct RecordService {
    engine: Arc<Engine>,
    queries: Arc<Queries>,
    info: info::State,
}

impl RecordService {
    pub fn new(
        engine: Arc<Engine>,
        addr: SocketAddr,
        connections: Arc<AtomicUsize>,
        limits: Limits,
    ) -> Self {
        let queries = Arc::<Queries>::default();
        let info =
            info::State::new(Arc::clone(&engine), Arc::clone(&queries), addr, connections, limits);
        RecordService { engine, queries, info }
    }
}

impl RecordService {
    /// Ends what runs in the background and waits for it.
    pub fn stop(&self) {
        self.queries.stop();
    }
}

impl Service for RecordService {
    fn answer(
        &self,
        frame: FrameType,
        body: &[u8],
        client: &mut Client,
        out: &mut Vec<u8>,
    ) -> Option<Box<dyn Job>> {
        let context = Context { engine: &self.engine, queries: &self.queries, from: client.peer };
        match frame {
            FrameType::Message => return command::answer(context, body, out),
            FrameType::Compressed => match compressed::inflate(body, self.info.limits.frame_size())
            {
                Some(body) => return command::answer(context, &body, out),
                None => {
                    let text = "the compressed message is damaged or larger than it says";
                    reply::refusal(out, &Error::new(ResultCode::Parameter, text), 0);
                }
            },
            FrameType::Info => {
                let mut frame = FrameWriter::start(out, FrameType::Info);
                info::answer(&self.info, client, body, frame.body());
                frame.finish();
            }
            FrameType::Admin => refuse_administration(out),
        }
        None
    }
}

/// There are no users: clients that log in learn that security is not enabled and go on.
fn refuse_administration(out: &mut Vec<u8>) {
    let mut frame = FrameWriter::start(out, FrameType::Admin);
    let mut body = [0; ADMIN_HEADER_LEN];
    body[1] = ResultCode::SecurityNotEnabled.wire();
    frame.body().extend_from_slice(&body);
    frame.finish();
}

//! One connection's state: the frame that is not complete yet, the answers that were not taken
//! yet, and what the client told about itself. No socket is touched here.

use std::net::SocketAddr;
use std::time::Instant;

use crate::limits::{INFO_REQUEST_MAX, Limits};
use crate::wire::frame::BadFrame;
use crate::wire::{FRAME_HEADER_LEN, FrameHeader, FrameType};

/// Answers frames. The server's implementation runs commands; tests use smaller ones.
pub trait Service: Send + Sync {
    /// Appends the answer to the body of a frame. When it is long, only its beginning, and returns
    /// the job that makes the rest.
    fn answer(
        &self,
        frame: FrameType,
        body: &[u8],
        client: &mut Client,
        out: &mut Vec<u8>,
    ) -> Option<Box<dyn Job>>;
}

/// The rest of a long answer, made piece by piece while the client takes it and others get their
/// turn.
pub trait Job: Send + std::fmt::Debug {
    /// Appends the next piece.
    fn step(&mut self, out: &mut Vec<u8>) -> JobState;
}

/// Whether a job goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// There is more to do.
    More,
    /// There is more to do, but not before this time.
    Later(Instant),
    /// The answer is complete.
    Done,
}

/// What is known about the client of a connection.
#[derive(Debug, Default)]
pub struct Client {
    /// The address of this server that the client reached.
    pub local: Option<SocketAddr>,
    /// The client's own address.
    pub peer: Option<SocketAddr>,
    /// What `user-agent-set` named, base64 as sent.
    pub user_agent: Option<String>,
}

/// Buffers kept by an idle connection are given back when they are larger than this.
const KEEP_CAPACITY_MAX: usize = 4096;

/// State of one connection.
#[derive(Debug, Default)]
pub struct Session {
    /// Bytes received that do not make a whole frame, or frames that wait until the client takes
    /// its answers.
    input: Vec<u8>,
    /// Answers that the socket did not take.
    output: Vec<u8>,
    /// Bytes of `output` that were sent.
    sent: usize,
    /// The rest of the answer to the last frame.
    job: Option<Box<dyn Job>>,
    /// Whole frames may wait in `input`, or the job goes on.
    holds_back: bool,
    /// When the job goes on, if not at once.
    resume_at: Option<Instant>,
    client: Client,
}

impl Session {
    /// A new connection that reached this address from another.
    pub fn new(local: Option<SocketAddr>, peer: Option<SocketAddr>) -> Self {
        let client = Client { local, peer, ..Client::default() };
        Session { client, ..Session::default() }
    }

    /// Takes bytes from the socket (none to go on with those held back), answers the frames that
    /// are complete and appends the answers to `out`, see [`Session::output`]. An error ends the
    /// connection.
    pub fn receive(
        &mut self,
        bytes: &[u8],
        service: &impl Service,
        limits: &Limits,
        out: &mut Vec<u8>,
    ) -> Result<(), BadFrame> {
        if self.input.is_empty() {
            let used = self.answer_frames(bytes, service, limits, out)?;
            self.input.extend_from_slice(&bytes[used..]);
            return Ok(());
        }
        self.input.extend_from_slice(bytes);
        self.resume(service, limits, out)
    }

    fn resume(
        &mut self,
        service: &impl Service,
        limits: &Limits,
        out: &mut Vec<u8>,
    ) -> Result<(), BadFrame> {
        let mut input = std::mem::take(&mut self.input);
        let used = self.answer_frames(&input, service, limits, out)?;
        input.drain(..used);
        if !input.is_empty() || input.capacity() <= KEEP_CAPACITY_MAX {
            self.input = input;
        }
        Ok(())
    }

    /// Answers frame after frame until one is incomplete or too many answers wait. Returns how many
    /// bytes were consumed.
    fn answer_frames(
        &mut self,
        bytes: &[u8],
        service: &impl Service,
        limits: &Limits,
        out: &mut Vec<u8>,
    ) -> Result<usize, BadFrame> {
        let mut rest = bytes;
        if !self.finish_job(limits, out) {
            return Ok(0);
        }
        while let Some((header, after)) = rest.split_first_chunk::<FRAME_HEADER_LEN>() {
            if out.len() >= limits.output_pause_len {
                self.holds_back = true;
                break;
            }
            let header = FrameHeader::parse(header, limits.frame_size())?;
            if header.kind == FrameType::Info && header.size > INFO_REQUEST_MAX {
                let size = header.size as u64;
                return Err(BadFrame::TooLarge { size, limit: INFO_REQUEST_MAX });
            }
            let Some((body, after)) = after.split_at_checked(header.size) else { break };
            self.job = service.answer(header.kind, body, &mut self.client, out);
            rest = after;
            if self.job.is_some() {
                self.holds_back = true;
                break;
            }
        }
        Ok(bytes.len() - rest.len())
    }

    /// Lets the job, if there is one, make its next piece; true when none is left.
    fn finish_job(&mut self, limits: &Limits, out: &mut Vec<u8>) -> bool {
        self.resume_at = None;
        if let Some(job) = &mut self.job {
            self.holds_back = true;
            if out.len() >= limits.output_pause_len {
                return false;
            }
            match job.step(out) {
                JobState::More => return false,
                JobState::Later(at) => {
                    self.resume_at = Some(at);
                    return false;
                }
                JobState::Done => self.job = None,
            }
        }
        self.holds_back = false;
        true
    }

    /// The buffer that answers must be appended to, to leave in order: the answers that still wait,
    /// or `scratch`, emptied, when there are none. Give it back with [`Session::keep_unsent`].
    pub fn output(&mut self, scratch: &mut Vec<u8>) -> Vec<u8> {
        if self.output.is_empty() {
            let mut out = std::mem::take(scratch);
            out.clear();
            return out;
        }
        let mut out = std::mem::take(&mut self.output);
        out.drain(..self.sent);
        self.sent = 0;
        out
    }

    /// Keeps what the socket did not take of `out`, of which `sent` bytes left.
    pub fn keep_unsent(&mut self, out: Vec<u8>, sent: usize, scratch: &mut Vec<u8>) {
        if sent < out.len() {
            (self.output, self.sent) = (out, sent);
        } else {
            *scratch = out;
        }
    }

    /// True while answers wait to be taken.
    pub fn has_output(&self) -> bool {
        !self.output.is_empty()
    }

    /// True when an incomplete frame or unanswered frames are held.
    pub fn has_input(&self) -> bool {
        !self.input.is_empty()
    }

    /// True when there is more to answer without another byte from the client.
    pub fn holds_back(&self) -> bool {
        self.holds_back
    }

    /// When to go on with what is held back, if not at once.
    pub fn resume_at(&self) -> Option<Instant> {
        self.resume_at
    }

    /// True when so many answers wait that nothing more may be read.
    pub fn is_paused(&self, limits: &Limits) -> bool {
        self.output.len() - self.sent >= limits.output_pause_len
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Answers every frame with its own bytes.
    struct Echo;

    impl Service for Echo {
        fn answer(
            &self,
            kind: FrameType,
            body: &[u8],
            _: &mut Client,
            out: &mut Vec<u8>,
        ) -> Option<Box<dyn Job>> {
            out.extend_from_slice(&FrameHeader { kind, size: body.len() }.to_bytes());
            out.extend_from_slice(body);
            None
        }
    }

    /// Answers every frame with as many bytes as its body says, ten at a time.
    struct Countdown;

    #[derive(Debug)]
    struct Left(u8);

    impl Job for Left {
        fn step(&mut self, out: &mut Vec<u8>) -> JobState {
            let now = self.0.min(10);
            out.extend(std::iter::repeat_n(b'x', now.into()));
            self.0 -= now;
            if self.0 == 0 { JobState::Done } else { JobState::More }
        }
    }

    impl Service for Countdown {
        fn answer(
            &self,
            _: FrameType,
            body: &[u8],
            _: &mut Client,
            out: &mut Vec<u8>,
        ) -> Option<Box<dyn Job>> {
            out.push(b'[');
            Some(Box::new(Left(body[0])))
        }
    }

    fn frame(body: &[u8]) -> Vec<u8> {
        let header = FrameHeader { kind: FrameType::Message, size: body.len() };
        [&header.to_bytes()[..], body].concat()
    }

    #[test]
    fn a_frame_split_at_every_byte_is_answered_once_it_is_whole() {
        let frame = frame(b"hello");
        for at in 0..frame.len() {
            let (mut session, mut out) = (Session::default(), Vec::new());
            session.receive(&frame[..at], &Echo, &Limits::default(), &mut out).unwrap();
            assert!(out.is_empty());
            assert_eq!(session.has_input(), at > 0);
            session.receive(&frame[at..], &Echo, &Limits::default(), &mut out).unwrap();
            assert_eq!(out, frame);
            assert!(!session.has_input());
        }
    }

    #[test]
    fn nothing_more_is_answered_while_answers_wait() {
        let limits = Limits { output_pause_len: 100, ..Limits::default() };
        let frames: Vec<u8> = (0..10).flat_map(|_| frame(&[7; 42])).collect();
        let (mut session, mut scratch) = (Session::default(), Vec::new());
        let mut out = session.output(&mut scratch);
        session.receive(&frames, &Echo, &limits, &mut out).unwrap();
        assert_eq!(out.len(), 100, "two answers reach the limit");
        session.keep_unsent(out, 0, &mut scratch);
        assert!(session.is_paused(&limits) && session.holds_back());

        let mut taken = Vec::new();
        while session.has_output() || session.has_input() {
            let mut out = session.output(&mut scratch);
            let sent = out.len().min(30);
            taken.extend_from_slice(&out[..sent]);
            out.drain(..sent);
            session.receive(&[], &Echo, &limits, &mut out).unwrap();
            assert!(out.len() < 100 + 50);
            session.keep_unsent(out, 0, &mut scratch);
        }
        assert_eq!(taken, frames);
    }

    #[test]
    fn a_job_is_finished_before_the_next_frame_is_answered() {
        let limits = Limits { output_pause_len: 25, ..Limits::default() };
        let frames: Vec<u8> = [35u8, 5, 60].iter().flat_map(|n| frame(&[*n])).collect();
        let (mut session, mut taken) = (Session::default(), Vec::new());
        let mut bytes = &frames[..];
        for _ in 0..30 {
            let mut out = Vec::new();
            session.receive(bytes, &Countdown, &limits, &mut out).unwrap();
            assert!(out.len() <= 25 + 10);
            taken.extend_from_slice(&out);
            bytes = &[];
        }
        assert!(!session.holds_back() && !session.has_input());
        let expected: String = [35, 5, 60].map(|n| format!("[{}", "x".repeat(n))).concat();
        assert_eq!(String::from_utf8(taken).unwrap(), expected);
    }

    #[test]
    fn frames_that_are_malformed_or_too_large_end_the_connection() {
        let limits = Limits { frame_size_max: 1000, ..Limits::default() };
        let receive = |bytes: &[u8]| {
            let mut out = Vec::new();
            let result = Session::default().receive(bytes, &Echo, &limits, &mut out);
            (result.is_err(), out)
        };
        let good = frame(b"x");
        let (ended, out) = receive(&[&good[..], &[3, 3, 0, 0, 0, 0, 0, 0]].concat());
        assert!(ended, "wrong version");
        assert_eq!(out, good, "what came before is answered");
        assert!(receive(&[2, 9, 0, 0, 0, 0, 0, 0]).0, "unknown type");
        assert!(receive(&[2, 3, 0, 0, 0, 0, 3, 0xe9]).0, "one byte over the limit");
        assert!(!receive(&[2, 3, 0, 0, 0, 0, 3, 0xe8]).0, "at the limit");
        let limits = Limits::default();
        let too_long_info = [2, 1, 0, 0, 0, 0x10, 0, 1];
        let mut out = Vec::new();
        assert!(Session::default().receive(&too_long_info, &Echo, &limits, &mut out).is_err());
    }

    proptest! {
        #[test]
        fn answers_do_not_depend_on_how_bytes_arrive(
            bodies in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 0..20),
            cuts in proptest::collection::vec(1usize..50, 0..60),
        ) {
            let stream: Vec<u8> = bodies.iter().flat_map(|body| frame(body)).collect();
            let (mut session, mut out) = (Session::default(), Vec::new());
            let mut rest = &stream[..];
            for cut in cuts {
                let (now, later) = rest.split_at(cut.min(rest.len()));
                session.receive(now, &Echo, &Limits::default(), &mut out).unwrap();
                rest = later;
            }
            session.receive(rest, &Echo, &Limits::default(), &mut out).unwrap();
            prop_assert_eq!(out, stream);
            prop_assert!(!session.has_input());
        }

        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let (mut session, mut out) = (Session::default(), Vec::new());
            let _ = session.receive(&bytes, &Echo, &Limits::default(), &mut out);
        }
    }
}

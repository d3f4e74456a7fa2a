//! Readiness loops: one per core, each with its own connections, running every request to
//! completion.
//!
//! Readiness is reported on edges. A receive that leaves room in the buffer has drained the
//! socket, so a request that fits costs one receive and one send. Loop 0 also accepts, and hands
//! each connection to the loop that has the fewest.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token, Waker};

use crate::limits::Limits;
use crate::session::{Service, Session};

const WAKER: Token = Token(0);
const LISTENER: Token = Token(1);
const FIRST_CONNECTION: usize = 2;

/// Bytes taken from a socket at once.
const RECEIVE_LEN: usize = 128 * 1024;
/// Receives from one connection before the others get their turn.
const RECEIVES_PER_TURN: usize = 8;
/// A scratch buffer that grew beyond this for one large answer is given back.
const SCRATCH_KEEP_MAX: usize = 1024 * 1024;
/// How often silent connections are looked for.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// Pause after the system refused to accept, usually for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// What all loops of a server share.
#[derive(Debug)]
pub(crate) struct Common<S> {
    pub service: S,
    pub limits: Limits,
    pub stopping: AtomicBool,
    /// Connections of all loops.
    pub connections: Arc<AtomicUsize>,
}

/// How to reach a loop from outside.
#[derive(Debug)]
pub(crate) struct Mailbox {
    pub waker: Arc<Waker>,
    pub sender: Sender<TcpStream>,
    /// Connections of this loop, those under way to it included.
    pub load: Arc<AtomicUsize>,
}

/// The listening socket and the ways to every loop, for the loop that accepts.
#[derive(Debug)]
pub(crate) struct Acceptor {
    pub listener: TcpListener,
    pub loops: Vec<Mailbox>,
    /// When to try again after the system refused.
    retry_at: Option<Instant>,
}

impl Acceptor {
    pub fn new(listener: TcpListener, loops: Vec<Mailbox>) -> Self {
        Acceptor { listener, loops, retry_at: None }
    }
}

struct Connection {
    stream: TcpStream,
    session: Session,
    last_traffic: Instant,
    /// Waits in the queue of connections that may have more to read.
    queued: bool,
}

/// Whether a connection goes on.
#[derive(PartialEq, Eq)]
enum Fate {
    /// Nothing more to read for now.
    Waits,
    /// The socket may hold more bytes.
    HasMore,
    /// Its answer goes on at this time.
    Later(Instant),
    /// It is over.
    Ends,
}

pub(crate) struct EventLoop<S> {
    poll: Poll,
    common: Arc<Common<S>>,
    arrivals: Receiver<TcpStream>,
    acceptor: Option<Acceptor>,
    load: Arc<AtomicUsize>,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    /// Connections that used up their turn.
    more: VecDeque<usize>,
    /// Connections whose answers go on later.
    later: Vec<(Instant, usize)>,
    receive: Box<[u8]>,
    scratch: Vec<u8>,
    now: Instant,
    swept: Instant,
}

impl<S: Service> EventLoop<S> {
    pub fn new(
        poll: Poll,
        common: Arc<Common<S>>,
        arrivals: Receiver<TcpStream>,
        load: Arc<AtomicUsize>,
    ) -> Self {
        let now = Instant::now();
        EventLoop {
            poll,
            common,
            arrivals,
            acceptor: None,
            load,
            connections: Vec::new(),
            free: Vec::new(),
            more: VecDeque::new(),
            later: Vec::new(),
            receive: vec![0; RECEIVE_LEN].into_boxed_slice(),
            scratch: Vec::new(),
            now,
            swept: now,
        }
    }

    /// Makes this loop the one that accepts.
    pub fn accept_with(&mut self, mut acceptor: Acceptor) -> io::Result<()> {
        self.poll.registry().register(&mut acceptor.listener, LISTENER, Interest::READABLE)?;
        self.acceptor = Some(acceptor);
        Ok(())
    }

    /// Creates the waker of a loop's poll.
    pub fn waker(poll: &Poll) -> io::Result<Arc<Waker>> {
        Ok(Arc::new(Waker::new(poll.registry(), WAKER)?))
    }

    /// Runs until the server stops.
    pub fn run(mut self) {
        let mut events = Events::with_capacity(1024);
        while !self.common.stopping.load(Ordering::Acquire) {
            match self.poll.poll(&mut events, Some(self.patience())) {
                Err(error) if error.kind() != ErrorKind::Interrupted => break,
                _ => self.now = Instant::now(),
            }
            for event in &events {
                match event.token() {
                    WAKER => self.take_arrivals(),
                    LISTENER => self.accept(),
                    Token(token) => self.serve(token - FIRST_CONNECTION),
                }
            }
            self.serve_queued();
            self.serve_later();
            if self.acceptor.as_ref().is_some_and(|a| a.retry_at.is_some_and(|at| at <= self.now)) {
                self.accept();
            }
            if self.now.duration_since(self.swept) >= SWEEP_EVERY {
                self.end_silent();
            }
        }
        for index in 0..self.connections.len() {
            self.end(index);
        }
    }

    /// How long the poll may wait.
    fn patience(&self) -> Duration {
        if !self.more.is_empty() {
            return Duration::ZERO;
        }
        let retry = self.acceptor.as_ref().and_then(|a| a.retry_at);
        let times = self.later.iter().map(|(at, _)| *at).chain(retry);
        times
            .min()
            .map_or(SWEEP_EVERY, |at| at.saturating_duration_since(self.now).min(SWEEP_EVERY))
    }

    fn accept(&mut self) {
        let Some(acceptor) = &mut self.acceptor else { return };
        acceptor.retry_at = None;
        loop {
            match acceptor.listener.accept() {
                Ok((stream, _)) => {
                    let open = self.common.connections.fetch_add(1, Ordering::AcqRel);
                    if open >= self.common.limits.connections_max {
                        self.common.connections.fetch_sub(1, Ordering::AcqRel);
                        continue;
                    }
                    hand_over(&acceptor.loops, stream, &self.common.connections);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::Interrupted | ErrorKind::ConnectionAborted
                    ) => {}
                Err(_) => {
                    acceptor.retry_at = Some(self.now + ACCEPT_PAUSE);
                    return;
                }
            }
        }
    }

    fn take_arrivals(&mut self) {
        while let Ok(mut stream) = self.arrivals.try_recv() {
            let index = self.free.pop().unwrap_or_else(|| {
                self.connections.push(None);
                self.connections.len() - 1
            });
            let interest = Interest::READABLE | Interest::WRITABLE;
            let token = Token(index + FIRST_CONNECTION);
            // Small answers must not wait for the peer's acknowledgement; a socket that refuses
            // the option still works.
            let _ = stream.set_nodelay(true);
            let registered = self.poll.registry().register(&mut stream, token, interest);
            self.connections[index] = Some(Connection {
                session: Session::new(stream.local_addr().ok(), stream.peer_addr().ok()),
                stream,
                last_traffic: self.now,
                queued: false,
            });
            if registered.is_err() {
                self.end(index);
            }
        }
    }

    fn serve_queued(&mut self) {
        for _ in 0..self.more.len() {
            let Some(index) = self.more.pop_front() else { return };
            if let Some(Some(connection)) = self.connections.get_mut(index) {
                connection.queued = false;
                self.serve(index);
            }
        }
    }

    /// Goes on with the answers whose time has come.
    fn serve_later(&mut self) {
        let now = self.now;
        for (_, index) in self.later.extract_if(.., |(at, _)| *at <= now).collect::<Vec<_>>() {
            self.serve(index);
        }
    }

    /// Sends and receives what a connection's socket is ready for.
    fn serve(&mut self, index: usize) {
        let Some(Some(connection)) = self.connections.get_mut(index) else { return };
        let fate = connection.turn(&self.common, &mut self.receive, &mut self.scratch, self.now);
        if self.scratch.capacity() > SCRATCH_KEEP_MAX {
            self.scratch = Vec::new();
        }
        match fate {
            Fate::Waits => {}
            Fate::HasMore if connection.queued => {}
            Fate::Later(at) => {
                // One time for each connection; an older one has passed or comes later.
                self.later.retain(|(_, other)| *other != index);
                self.later.push((at, index));
            }
            Fate::HasMore => {
                connection.queued = true;
                self.more.push_back(index);
            }
            Fate::Ends => self.end(index),
        }
    }

    fn end(&mut self, index: usize) {
        let Some(mut connection) = self.connections.get_mut(index).and_then(Option::take) else {
            return;
        };
        // The socket closes anyway when it is dropped.
        let _ = self.poll.registry().deregister(&mut connection.stream);
        self.free.push(index);
        self.load.fetch_sub(1, Ordering::AcqRel);
        self.common.connections.fetch_sub(1, Ordering::AcqRel);
    }

    fn end_silent(&mut self) {
        self.swept = self.now;
        let limits = &self.common.limits;
        let (idle, stalled) = (limits.idle_max, limits.stalled_max);
        for index in 0..self.connections.len() {
            let Some(connection) = &self.connections[index] else { continue };
            let silent = self.now.duration_since(connection.last_traffic);
            let busy = connection.session.has_input() || connection.session.has_output();
            if idle.is_some_and(|max| silent > max) || busy && silent > stalled {
                self.end(index);
            }
        }
    }
}

impl Connection {
    fn turn<S: Service>(
        &mut self,
        common: &Common<S>,
        receive: &mut [u8],
        scratch: &mut Vec<u8>,
        now: Instant,
    ) -> Fate {
        if (self.session.has_output() || self.session.holds_back())
            && !self.advance(&[], common, scratch)
        {
            return Fate::Ends;
        }
        for _ in 0..RECEIVES_PER_TURN {
            if self.session.is_paused(&common.limits) {
                return Fate::Waits;
            }
            if self.session.holds_back() {
                // The client waits for its answer and need not say anything.
                self.last_traffic = now;
                return match self.session.resume_at() {
                    Some(at) => Fate::Later(at),
                    None => Fate::HasMore,
                };
            }
            match self.stream.read(receive) {
                Ok(0) => return Fate::Ends,
                Ok(len) => {
                    self.last_traffic = now;
                    if !self.advance(&receive[..len], common, scratch) {
                        return Fate::Ends;
                    }
                    if len < receive.len() && !self.session.holds_back() {
                        return Fate::Waits;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Fate::Waits,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Fate::Ends,
            }
        }
        Fate::HasMore
    }

    /// Answers what was received, or goes on with what is held back, and sends the answers, those
    /// that waited first. False ends the connection.
    fn advance<S: Service>(
        &mut self,
        received: &[u8],
        common: &Common<S>,
        scratch: &mut Vec<u8>,
    ) -> bool {
        let mut out = self.session.output(scratch);
        let Common { service, limits, .. } = common;
        let session = &mut self.session;
        // A defect that one command hits must not take the other connections down. Updates are
        // computed before anything changes, so what a panic leaves behind is sound.
        let answered = catch_unwind(AssertUnwindSafe(|| {
            session.receive(received, service, limits, &mut out).is_ok()
        }));
        match answered {
            Ok(good) => self.send(out, scratch) && good,
            Err(_) => false,
        }
    }

    /// Sends as much as the socket takes and keeps the rest. False ends the connection.
    fn send(&mut self, out: Vec<u8>, scratch: &mut Vec<u8>) -> bool {
        let mut sent = 0;
        let alive = loop {
            if sent == out.len() {
                break true;
            }
            match self.stream.write(&out[sent..]) {
                Ok(0) => break false,
                Ok(len) => sent += len,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break false,
            }
        };
        self.session.keep_unsent(out, sent, scratch);
        alive
    }
}

/// Gives a new connection to the loop that has the fewest.
fn hand_over(loops: &[Mailbox], stream: TcpStream, connections: &AtomicUsize) {
    let Some(mailbox) = loops.iter().min_by_key(|m| m.load.load(Ordering::Acquire)) else { return };
    mailbox.load.fetch_add(1, Ordering::AcqRel);
    if mailbox.sender.send(stream).is_err() || mailbox.waker.wake().is_err() {
        // The loop has ended, and with it the server.
        mailbox.load.fetch_sub(1, Ordering::AcqRel);
        connections.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Client, Job};
    use crate::wire::FrameType;
    use std::net::Shutdown;
    use std::sync::mpsc;

    /// Answers one byte, or panics when asked to.
    struct Brittle;

    impl Service for Brittle {
        fn answer(
            &self,
            _: FrameType,
            body: &[u8],
            _: &mut Client,
            out: &mut Vec<u8>,
        ) -> Option<Box<dyn Job>> {
            assert_ne!(body, b"break", "asked to");
            out.push(b'.');
            None
        }
    }

    #[test]
    fn a_panic_ends_its_connection_only() {
        let common = Arc::new(Common {
            service: Brittle,
            limits: Limits::default(),
            stopping: AtomicBool::new(false),
            connections: Arc::new(AtomicUsize::new(0)),
        });
        let poll = Poll::new().unwrap();
        let waker = EventLoop::<Brittle>::waker(&poll).unwrap();
        let (sender, arrivals) = mpsc::channel();
        let load = Arc::new(AtomicUsize::new(0));
        let mut event_loop = EventLoop::new(poll, common.clone(), arrivals, load.clone());
        let listener = TcpListener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let addr = listener.local_addr().unwrap();
        let mailboxes = vec![Mailbox { waker: waker.clone(), sender, load }];
        event_loop.accept_with(Acceptor::new(listener, mailboxes)).unwrap();
        let thread = std::thread::spawn(move || event_loop.run());

        let mut good = std::net::TcpStream::connect(addr).unwrap();
        let mut bad = std::net::TcpStream::connect(addr).unwrap();
        bad.write_all(b"\x02\x03\0\0\0\0\0\x05break").unwrap();
        assert!(matches!(bad.read(&mut [0; 1]), Ok(0) | Err(_)), "closed without an answer");
        good.write_all(&[2, 3, 0, 0, 0, 0, 0, 0]).unwrap();
        let mut answer = [0; 1];
        good.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b".");
        assert_eq!(common.connections.load(Ordering::Acquire), 1);

        good.shutdown(Shutdown::Both).unwrap();
        common.stopping.store(true, Ordering::Release);
        waker.wake().unwrap();
        thread.join().unwrap();
    }
}

//! Starting and stopping a server inside a process.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;

use cairn_engine::{Background, Engine};
use mio::net::TcpListener;
use mio::{Poll, Waker};

use crate::event_loop::{Acceptor, Common, EventLoop, Mailbox};
use crate::http::Http;
use crate::limits::Limits;
use crate::service::RecordService;

/// What to listen on, and with which limits.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Address of the client protocol; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Address of HTTP; `None` for no HTTP.
    pub http: Option<SocketAddr>,
    /// Readiness loops; 0 is one per core.
    pub loops: usize,
    /// Bounds on connections.
    pub limits: Limits,
}

impl Default for ServerConfig {
    fn default() -> Self {
        ServerConfig {
            listen: SocketAddr::from(([127, 0, 0, 1], 3000)),
            http: None,
            loops: 0,
            limits: Limits::default(),
        }
    }
}

/// A running server. Dropping it stops it.
#[derive(Debug)]
pub struct Server {
    addr: SocketAddr,
    http: Option<Http>,
    common: Arc<Common<RecordService>>,
    wakers: Vec<Arc<Waker>>,
    threads: Vec<JoinHandle<()>>,
    /// Expiry, defragmentation and the like.
    background: Option<Background>,
}

impl Server {
    /// Binds the addresses and starts the threads; when this returns, the server accepts.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::sync::Arc;
    /// use cairn_engine::{Engine, NamespaceConfig};
    /// use cairn_server::{Server, ServerConfig};
    ///
    /// let engine = Engine::in_memory([NamespaceConfig::new("test")])?;
    /// let config = ServerConfig { listen: "127.0.0.1:0".parse()?, ..ServerConfig::default() };
    /// let server = Server::start(config, Arc::new(engine))?;
    /// assert_ne!(server.addr().port(), 0);
    /// server.stop();
    /// # Ok(())
    /// # }
    /// ```
    pub fn start(config: ServerConfig, engine: Arc<Engine>) -> io::Result<Server> {
        let listener =
            TcpListener::bind(config.listen).map_err(|error| named(error, config.listen))?;
        let addr = listener.local_addr()?;
        let http = config.http.map(|http| Http::start(http).map_err(|error| named(error, http)));
        let http = http.transpose()?;
        let connections = Arc::new(AtomicUsize::new(0));
        let service = RecordService::new(
            Arc::clone(&engine),
            addr,
            Arc::clone(&connections),
            config.limits.clone(),
        );
        let common = Arc::new(Common {
            service,
            limits: config.limits,
            stopping: AtomicBool::new(false),
            connections,
        });
        let background = Some(Background::start(engine)?);
        let (wakers, threads) = (Vec::new(), Vec::new());
        let mut server = Server { addr, http, common, wakers, threads, background };
        server.spawn_loops(listener, loop_count(config.loops))?;
        Ok(server)
    }

    fn spawn_loops(&mut self, listener: TcpListener, count: usize) -> io::Result<()> {
        let (mut loops, mut mailboxes) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let poll = Poll::new()?;
            let waker = EventLoop::<RecordService>::waker(&poll)?;
            let (sender, arrivals) = mpsc::channel();
            let load = Arc::new(AtomicUsize::new(0));
            self.wakers.push(Arc::clone(&waker));
            mailboxes.push(Mailbox { waker, sender, load: Arc::clone(&load) });
            loops.push(EventLoop::new(poll, Arc::clone(&self.common), arrivals, load));
        }
        if let Some(first) = loops.first_mut() {
            first.accept_with(Acceptor::new(listener, mailboxes))?;
        }
        for (number, event_loop) in loops.into_iter().enumerate() {
            let thread = std::thread::Builder::new().name(format!("cairn-loop-{number}"));
            self.threads.push(thread.spawn(move || event_loop.run())?);
        }
        Ok(())
    }

    /// Where clients connect.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Where HTTP answers, when it was asked for.
    pub fn http_addr(&self) -> Option<SocketAddr> {
        self.http.as_ref().map(|http| http.addr)
    }

    /// Stops accepting, closes every connection and waits for the threads to end.
    pub fn stop(self) {}

    fn shut_down(&mut self) {
        self.common.stopping.store(true, Ordering::Release);
        for waker in &self.wakers {
            // A loop that cannot be woken looks at the flag within a second.
            let _ = waker.wake();
        }
        for thread in self.threads.drain(..) {
            // A loop that panicked has said so already.
            let _ = thread.join();
        }
        self.common.service.stop();
        self.background = None;
        if let Some(http) = self.http.take() {
            http.stop();
        }
    }
}

/// Says which address could not be listened on.
fn named(error: io::Error, address: SocketAddr) -> io::Error {
    io::Error::new(error.kind(), format!("{address}: {error}"))
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shut_down();
    }
}

fn loop_count(asked: usize) -> usize {
    match asked {
        0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
        count => count.min(1024),
    }
}

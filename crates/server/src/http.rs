//! A minimal HTTP listener: `GET /healthz` says `ok`, everything else is not found.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Requests served at once; one more is closed as soon as it is accepted.
const REQUESTS_MAX: usize = 64;
/// Longest request head that is read.
const HEAD_MAX: usize = 8 * 1024;
/// A client that is silent for longer is left.
const SILENCE_MAX: Duration = Duration::from_secs(5);

/// A running listener.
#[derive(Debug)]
pub(crate) struct Http {
    pub addr: SocketAddr,
    stopping: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Http {
    pub fn start(addr: SocketAddr) -> io::Result<Http> {
        let listener = TcpListener::bind(addr)?;
        let addr = listener.local_addr()?;
        let stopping = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stopping);
        let thread = std::thread::Builder::new()
            .name("cairn-http".into())
            .spawn(move || accept(&listener, &seen))?;
        Ok(Http { addr, stopping, thread })
    }

    pub fn stop(self) {
        self.stopping.store(true, Ordering::Release);
        // A connection of our own ends the wait for one.
        let _ = TcpStream::connect_timeout(&self.addr, Duration::from_secs(1));
        let _ = self.thread.join();
    }
}

fn accept(listener: &TcpListener, stopping: &AtomicBool) {
    let busy = Arc::new(AtomicUsize::new(0));
    loop {
        let accepted = listener.accept();
        if stopping.load(Ordering::Acquire) {
            return;
        }
        let Ok((stream, _)) = accepted else {
            std::thread::sleep(Duration::from_millis(50));
            continue;
        };
        if busy.load(Ordering::Acquire) >= REQUESTS_MAX {
            continue;
        }
        busy.fetch_add(1, Ordering::AcqRel);
        let done = Arc::clone(&busy);
        let spawned = std::thread::Builder::new().spawn(move || {
            // A client that goes away needs no answer.
            let _ = answer(stream);
            done.fetch_sub(1, Ordering::AcqRel);
        });
        if spawned.is_err() {
            busy.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

fn answer(mut stream: TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(SILENCE_MAX))?;
    stream.set_write_timeout(Some(SILENCE_MAX))?;
    let head = read_head(&mut stream)?;
    let (status, body) = route(&head);
    let len = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {len}\r\nconnection: close\r\n\r\n{body}"
    )
}

fn read_head(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut chunk = [0; 1024];
    while !head.windows(4).any(|w| w == b"\r\n\r\n") {
        let len = stream.read(&mut chunk)?;
        if len == 0 || head.len() + len > HEAD_MAX {
            return Err(ErrorKind::InvalidData.into());
        }
        head.extend_from_slice(&chunk[..len]);
    }
    Ok(head)
}

fn route(head: &[u8]) -> (&'static str, &'static str) {
    let line = head.split(|&byte| byte == b'\r').next().unwrap_or_default();
    let mut words = line.split(|&byte| byte == b' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = target.split(|&byte| byte == b'?').next().unwrap_or_default();
    match (method, path) {
        (b"GET", b"/healthz") => ("200 OK", "ok"),
        (_, b"/healthz") => ("405 Method Not Allowed", "use GET\n"),
        _ => ("404 Not Found", "nothing here; try GET /healthz\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(addr: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(addr).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn healthz_is_ok_and_the_rest_is_not_found() {
        let http = Http::start("127.0.0.1:0".parse().unwrap()).unwrap();
        let answer = get(http.addr, "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("\r\n\r\nok"), "{answer}");
        assert!(get(http.addr, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
        assert!(get(http.addr, "POST /healthz HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
        http.stop();
    }
}

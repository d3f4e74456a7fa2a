//! A server in this process and a client that speaks bytes.
#![allow(dead_code, clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use cairn_engine::{Engine, NamespaceConfig};
use cairn_server::wire::{FrameHeader, FrameType, Message, MessageHeader};
use cairn_server::{Limits, Server, ServerConfig};
use cairn_value::{Digest, ParticleType};

pub fn start() -> Server {
    start_with(Limits::default())
}

pub fn start_with(limits: Limits) -> Server {
    let namespaces = [NamespaceConfig::new("test"), NamespaceConfig::new("bar")];
    start_on(Arc::new(Engine::in_memory(namespaces).unwrap()), limits)
}

pub fn start_on(engine: Arc<Engine>, limits: Limits) -> Server {
    let listen = "127.0.0.1:0".parse().unwrap();
    let config = ServerConfig { listen, loops: 2, limits, ..ServerConfig::default() };
    Server::start(config, engine).unwrap()
}

/// An answer with its parts copied.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    pub code: u8,
    pub generation: u32,
    pub info3: u8,
    /// Operation, bin name, particle type, value.
    pub ops: Vec<(u8, String, u8, Vec<u8>)>,
}

impl Answer {
    pub fn refused(code: u8) -> Answer {
        Answer { code, generation: 0, info3: 0, ops: Vec::new() }
    }
}

pub struct Connection {
    pub stream: TcpStream,
}

impl Connection {
    pub fn open(addr: SocketAddr) -> Self {
        let stream = TcpStream::connect(addr).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.set_nodelay(true).unwrap();
        Connection { stream }
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    pub fn frame(&mut self) -> (FrameType, Vec<u8>) {
        let mut header = [0; 8];
        self.stream.read_exact(&mut header).unwrap();
        let header = FrameHeader::parse(&header, usize::MAX).unwrap();
        let mut body = vec![0; header.size];
        self.stream.read_exact(&mut body).unwrap();
        (header.kind, body)
    }

    pub fn answer(&mut self) -> Answer {
        let (kind, body) = self.frame();
        assert_eq!(kind, FrameType::Message);
        let message = Message::parse(&body).unwrap();
        let ops = message.ops.into_iter().map(|op| {
            (op.op, String::from_utf8(op.name.to_vec()).unwrap(), op.kind, op.value.to_vec())
        });
        let MessageHeader { result, generation, info3, .. } = message.header;
        Answer { code: result, generation, info3, ops: ops.collect() }
    }

    pub fn ask(&mut self, request: &[u8]) -> Answer {
        self.send(request);
        self.answer()
    }

    pub fn info(&mut self, command: &str) -> String {
        self.send(&frame(FrameType::Info, format!("{command}\n").as_bytes()));
        let (kind, body) = self.frame();
        assert_eq!(kind, FrameType::Info);
        let text = String::from_utf8(body).unwrap();
        let line = text.strip_suffix('\n').unwrap();
        line.strip_prefix(command).unwrap().strip_prefix('\t').unwrap().to_owned()
    }

    /// True when the server closes without another byte.
    pub fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        match self.stream.read_to_end(&mut rest) {
            Ok(_) => rest.is_empty(),
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}

pub fn frame(kind: FrameType, body: &[u8]) -> Vec<u8> {
    [&FrameHeader { kind, size: body.len() }.to_bytes()[..], body].concat()
}

/// A request on the record of a string key in set `s` of namespace `test`.
pub struct Request {
    pub header: MessageHeader,
    pub fields: Vec<(u8, Vec<u8>)>,
    pub ops: Vec<Op>,
}

pub type Op = (u8, &'static str, ParticleType, Vec<u8>);

impl Request {
    pub fn new(info1: u8, info2: u8, key: &str, ops: &[Op]) -> Self {
        let digest = Digest::of(b"s", ParticleType::String, key.as_bytes());
        let fields = vec![(0, b"test".to_vec()), (1, b"s".to_vec()), (4, digest.0.to_vec())];
        let header = MessageHeader { info1, info2, ..Default::default() };
        Request { header, fields, ops: ops.to_vec() }
    }

    pub fn info3(mut self, info3: u8) -> Self {
        self.header.info3 = info3;
        self
    }

    pub fn generation(mut self, generation: u32) -> Self {
        self.header.generation = generation;
        self
    }

    pub fn field(mut self, kind: u8, data: &[u8]) -> Self {
        self.fields.push((kind, data.to_vec()));
        self
    }

    pub fn body(&self) -> Vec<u8> {
        let (fields, ops) = (self.fields.len() as u16, self.ops.len() as u16);
        let mut body = MessageHeader { fields, ops, ..self.header }.to_bytes().to_vec();
        for (kind, data) in &self.fields {
            body.extend_from_slice(&(data.len() as u32 + 1).to_be_bytes());
            body.push(*kind);
            body.extend_from_slice(data);
        }
        for (op, name, kind, value) in &self.ops {
            body.extend_from_slice(&((4 + name.len() + value.len()) as u32).to_be_bytes());
            body.extend_from_slice(&[*op, kind.wire(), 0, name.len() as u8]);
            body.extend_from_slice(name.as_bytes());
            body.extend_from_slice(value);
        }
        body
    }

    pub fn frame(&self) -> Vec<u8> {
        frame(FrameType::Message, &self.body())
    }
}

pub fn read(name: &'static str) -> Op {
    (1, name, ParticleType::Nil, Vec::new())
}

pub fn write_int(name: &'static str, value: i64) -> Op {
    (2, name, ParticleType::Integer, value.to_be_bytes().to_vec())
}

pub fn increment(name: &'static str, by: i64) -> Op {
    (5, name, ParticleType::Integer, by.to_be_bytes().to_vec())
}

pub fn write_blob(name: &'static str, value: Vec<u8>) -> Op {
    (2, name, ParticleType::Blob, value)
}

pub fn put(key: &str, ops: &[Op]) -> Vec<u8> {
    Request::new(0, 1, key, ops).frame()
}

pub fn get(key: &str) -> Vec<u8> {
    Request::new(3, 0, key, &[]).frame()
}

pub fn remove(key: &str) -> Vec<u8> {
    Request::new(0, 3, key, &[]).frame()
}

/// The one bin of an answer, as an integer.
pub fn int(answer: &Answer) -> i64 {
    let [(_, _, kind, value)] = &answer.ops[..] else { panic!("one bin expected: {answer:?}") };
    assert_eq!(*kind, ParticleType::Integer.wire());
    i64::from_be_bytes(value[..].try_into().unwrap())
}

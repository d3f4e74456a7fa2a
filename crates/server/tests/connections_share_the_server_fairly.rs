//! Frames that come in pieces, in crowds, broken or without end.

mod support;

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use cairn_server::Limits;
use cairn_server::wire::FrameType;
use support::*;

#[test]
fn a_frame_may_come_byte_by_byte() {
    let server = start();
    let mut client = Connection::open(server.addr());
    for byte in put("k", &[write_int("a", 1)]) {
        client.send(&[byte]);
    }
    assert_eq!(client.answer().code, 0);
    assert_eq!(int(&client.ask(&get("k"))), 1);
}

#[test]
fn pipelined_frames_are_answered_in_order() {
    let server = start();
    let mut client = Connection::open(server.addr());
    let mut frames = Vec::new();
    for n in 0..500 {
        frames.extend(put("k", &[write_int("a", n)]));
        frames.extend(get("k"));
    }
    client.send(&frames);
    for n in 0..500 {
        assert_eq!(client.answer().generation, n as u32 + 1);
        assert_eq!(int(&client.answer()), n);
    }
}

#[test]
fn connections_see_one_store() {
    let server = start();
    let mut clients: Vec<_> = (0..8).map(|_| Connection::open(server.addr())).collect();
    let ops = [increment("n", 1)];
    for client in &mut clients {
        client.send(&(0..50).flat_map(|_| put("hot", &ops)).collect::<Vec<_>>());
    }
    for client in &mut clients {
        (0..50).for_each(|_| assert_eq!(client.answer().code, 0));
    }
    assert_eq!(int(&clients[0].ask(&get("hot"))), 400);
}

#[test]
fn a_client_that_takes_no_answers_is_not_read_from_and_loses_nothing() {
    let limits = Limits { output_pause_len: 256 * 1024, ..Limits::default() };
    let server = start_with(limits);
    let mut client = Connection::open(server.addr());
    assert_eq!(client.ask(&put("big", &[write_blob("b", vec![7; 500_000])])).code, 0);

    let requests = 200;
    let frames: Vec<u8> = (0..requests).flat_map(|_| get("big")).collect();
    let mut writer = client.stream.try_clone().unwrap();
    let sender = std::thread::spawn(move || writer.write_all(&frames));
    std::thread::sleep(Duration::from_millis(100));
    let mut other = Connection::open(server.addr());
    assert_eq!(other.ask(&put("k", &[write_int("a", 1)])).code, 0, "others are served");
    for _ in 0..requests {
        assert_eq!(client.answer().ops[0].3.len(), 500_000);
    }
    sender.join().unwrap().unwrap();
}

#[test]
fn broken_frames_end_their_connection_only() {
    let server = start_with(Limits { frame_size_max: 100_000, ..Limits::default() });
    let mut good = Connection::open(server.addr());
    for bad in [
        &[0u8; 8][..],
        &[2, 7, 0, 0, 0, 0, 0, 0],
        &[2, 3, 0, 0, 0, 1, 0x86, 0xa1],
        &[2, 3, 255, 255, 255, 255, 255, 255],
        b"GET / HTTP/1.1\r\n\r\n",
    ] {
        let mut client = Connection::open(server.addr());
        client.send(bad);
        assert!(client.is_closed(), "{bad:?}");
        assert_eq!(good.ask(&put("k", &[write_int("a", 1)])).code, 0);
    }
}

#[test]
fn compressed_messages_are_understood() {
    use flate2::{Compression, write::ZlibEncoder};
    let server = start();
    let mut client = Connection::open(server.addr());
    let inner = put("k", &[write_blob("b", vec![3; 10_000])]);
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&inner).unwrap();
    let body = [&(inner.len() as u64).to_be_bytes()[..], &encoder.finish().unwrap()].concat();
    assert_eq!(client.ask(&frame(FrameType::Compressed, &body)).code, 0);
    assert_eq!(client.ask(&get("k")).ops[0].3, vec![3; 10_000]);
    let lying = [&9u64.to_be_bytes()[..], &body[8..]].concat();
    assert_eq!(client.ask(&frame(FrameType::Compressed, &lying)).code, 4);
    assert_eq!(client.ask(&get("k")).code, 0, "the connection goes on");
}

#[test]
fn connections_beyond_the_limit_are_closed() {
    let server = start_with(Limits { connections_max: 2, ..Limits::default() });
    let mut first = Connection::open(server.addr());
    let mut second = Connection::open(server.addr());
    assert_eq!(first.info("status"), "ok");
    assert_eq!(second.info("status"), "ok");
    assert!(Connection::open(server.addr()).is_closed());
    drop(second);
    let freed = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        let mut third = Connection::open(server.addr());
        // The close may race with the request: either way there is no answer.
        let sent = third.stream.write_all(&get("k"));
        sent.is_ok() && third.stream.read(&mut [0; 8]).is_ok_and(|len| len > 0)
    });
    assert!(freed, "a connection that ends makes room");
}

#[test]
fn idle_and_stalled_connections_are_closed() {
    let limits = Limits {
        idle_max: Some(Duration::from_millis(1500)),
        stalled_max: Duration::from_millis(100),
        ..Limits::default()
    };
    let server = start_with(limits);
    let start = Instant::now();
    let mut stalled = Connection::open(server.addr());
    stalled.send(&get("k")[..20]);
    assert!(stalled.is_closed());
    let stalled_for = start.elapsed();
    let mut idle = Connection::open(server.addr());
    let opened = Instant::now();
    assert!(idle.is_closed());
    assert!(stalled_for < Duration::from_secs(3), "{stalled_for:?}");
    assert!(opened.elapsed() > Duration::from_millis(1400));
}

#[test]
fn a_stopped_server_is_gone() {
    let server = start();
    let addr = server.addr();
    let mut client = Connection::open(addr);
    assert_eq!(client.info("status"), "ok");
    server.stop();
    assert!(client.is_closed());
    assert!(std::net::TcpStream::connect(addr).is_err());
}

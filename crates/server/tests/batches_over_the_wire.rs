//! Batches: an answer per row, in pieces when it is long.

#![allow(clippy::unwrap_used)]

mod support;

use cairn_server::wire::{FrameType, Message, MessageHeader};
use cairn_value::{Digest, ParticleType};
use support::*;

/// A row of a batch.
struct Row {
    key: String,
    /// The row from its type on.
    rest: Vec<u8>,
}

fn row(key: &str, info: [u8; 3], ops: &[Op]) -> Row {
    let mut rest = vec![0x0e];
    rest.extend_from_slice(&info);
    rest.extend_from_slice(&[0; 6]);
    let mut request = Request::new(0, 0, key, ops);
    request.fields.truncate(2);
    let body = request.body();
    rest.extend_from_slice(&body[18..22]);
    rest.extend_from_slice(&body[22..]);
    Row { key: key.to_owned(), rest }
}

fn repeat(key: &str) -> Row {
    Row { key: key.to_owned(), rest: vec![1] }
}

fn batch(flags: u8, rows: &[Row]) -> Vec<u8> {
    let mut data = (rows.len() as u32).to_be_bytes().to_vec();
    data.push(flags);
    for (index, row) in rows.iter().enumerate() {
        data.extend_from_slice(&(index as u32).to_be_bytes());
        data.extend_from_slice(&Digest::of(b"s", ParticleType::String, row.key.as_bytes()).0);
        data.extend_from_slice(&row.rest);
    }
    let header = MessageHeader { info1: 8, ..Default::default() };
    Request { header, fields: vec![(41, data)], ops: vec![] }.frame()
}

/// All messages of an answer: (row, code, operations), and the code of the last.
fn answers(client: &mut Connection) -> (Vec<(u32, u8, usize)>, u8) {
    let mut rows = Vec::new();
    loop {
        let (kind, body) = client.frame();
        assert_eq!(kind, FrameType::Message);
        let mut rest = &body[..];
        while !rest.is_empty() {
            let (header, _) = MessageHeader::split(rest).unwrap();
            let len = (22..=rest.len()).find(|len| Message::parse(&rest[..*len]).is_some());
            rest = &rest[len.unwrap()..];
            if header.info3 & 1 != 0 {
                assert!(rest.is_empty());
                return (rows, header.result);
            }
            rows.push((header.transaction_ttl, header.result, header.ops.into()));
        }
    }
}

const READ_ALL: [u8; 3] = [3, 0, 0];
const WRITE: [u8; 3] = [0, 1, 0];
const DELETE: [u8; 3] = [0, 3, 0];

#[test]
fn every_row_answers_with_its_index() {
    let server = start();
    let mut client = Connection::open(server.addr());
    let rows = [
        row("a", WRITE, &[write_int("x", 1), write_int("y", 2)]),
        row("b", WRITE, &[write_int("x", 2)]),
        row("a", READ_ALL, &[]),
        repeat("b"),
        repeat("missing"),
        row("b", DELETE, &[]),
        row("b", READ_ALL, &[]),
    ];
    client.send(&batch(0x0d, &rows));
    let (rows, last) = answers(&mut client);
    let expected = [(0, 0, 0), (1, 0, 0), (2, 0, 2), (3, 0, 1), (4, 2, 0), (5, 0, 0), (6, 2, 0)];
    assert_eq!((&rows[..], last), (&expected[..], 0));
}

#[test]
fn the_last_message_tells_a_failure_unless_all_keys_were_asked_for() {
    let server = start();
    let mut client = Connection::open(server.addr());
    let text = (9, "x", ParticleType::String, b"t".to_vec());
    let rows = || {
        [
            row("a", WRITE, &[write_int("x", 1)]),
            row("missing", READ_ALL, &[]),
            row("a", WRITE, std::slice::from_ref(&text)),
            row("a", WRITE, &[write_int("x", 2)]),
        ]
    };
    client.send(&batch(0x04, &rows()));
    assert_eq!(answers(&mut client).1, 0);
    client.send(&batch(0x00, &rows()));
    let (codes, last) = answers(&mut client);
    assert_eq!(codes.iter().map(|row| row.1).collect::<Vec<_>>(), [0, 2, 12, 0]);
    assert_eq!(last, 12);
}

#[test]
fn a_malformed_batch_is_refused_as_a_whole() {
    let server = start();
    let mut client = Connection::open(server.addr());
    let write = || row("a", WRITE, &[write_int("x", 1)]);
    let mut unknown_namespace = row("a", READ_ALL, &[]);
    let at = unknown_namespace.rest.windows(4).position(|w| w == b"test").unwrap();
    unknown_namespace.rest[at..at + 4].copy_from_slice(b"nope");
    let unknown_type = Row { key: "a".into(), rest: vec![0x40, 0, 0, 0, 0] };
    for rows in
        [vec![], vec![write(), unknown_namespace], vec![write(), unknown_type], vec![repeat("a")]]
    {
        client.send(&batch(0x0d, &rows));
        assert_eq!(answers(&mut client), (vec![], 4));
    }
    assert_eq!(client.ask(&get("a")).code, 2, "no row has run");
}

#[test]
fn a_long_answer_comes_in_pieces_and_others_are_served_meanwhile() {
    let server = start();
    let mut client = Connection::open(server.addr());
    assert_eq!(client.ask(&put("big", &[write_blob("b", vec![7; 100_000])])).code, 0);
    let mut rows = vec![row("big", READ_ALL, &[])];
    rows.extend((1..2000).map(|_| repeat("big")));
    client.send(&batch(0x0d, &rows));
    let mut other = Connection::open(server.addr());
    for n in 0..100 {
        assert_eq!(other.ask(&put("k", &[write_int("a", n)])).code, 0);
    }
    let mut seen = 0;
    loop {
        let (_, body) = client.frame();
        assert!(body.len() < 300_000);
        if body.len() >= 22 && body[body.len() - 22 + 3] == 1 {
            break;
        }
        seen += 1;
    }
    assert!(seen >= 1000, "{seen} frames");
    assert_eq!(client.ask(&get("k")).code, 0, "the connection goes on");
}

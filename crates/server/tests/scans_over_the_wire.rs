//! Scans: every record of the partitions asked for, once.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeMap;

use cairn_server::wire::{FrameType, Message, MessageHeader};
use support::*;

const RECORDS: usize = 3000;

/// A scan of these partitions of set `s`, or after these digests.
fn scan(partitions: &[u16], digests: &[Vec<u8>], ops: &[Op]) -> Request {
    let mut request = Request::new(1, 0, "", ops).info3(4);
    request.fields.truncate(2);
    let ids = partitions.iter().flat_map(|id| id.to_le_bytes()).collect::<Vec<_>>();
    request.field(7, &[9; 8]).field(11, &ids).field(12, &digests.concat())
}

fn all() -> Vec<u16> {
    (0..4096).collect()
}

/// Digest and number of operations of every record, in order, and the code of the last message.
fn rows(client: &mut Connection, request: &[u8]) -> (Vec<(Vec<u8>, u16)>, u8) {
    client.send(request);
    let mut rows = Vec::new();
    loop {
        let (kind, body) = client.frame();
        assert_eq!(kind, FrameType::Message);
        let mut rest = &body[..];
        while !rest.is_empty() {
            let (header, _) = MessageHeader::split(rest).unwrap();
            if header.info3 & 1 != 0 || header.result != 0 {
                return (rows, header.result);
            }
            let len = (22..=rest.len()).find(|len| Message::parse(&rest[..*len]).is_some());
            let message = Message::parse(&rest[..len.unwrap()]).unwrap();
            assert_eq!(message.fields.get(0), Some(&b"test"[..]));
            rows.push((message.fields.get(4).unwrap().to_vec(), header.ops));
            rest = &rest[len.unwrap()..];
        }
    }
}

fn fill(client: &mut Connection) {
    for n in 0..RECORDS {
        let more = write_blob("b", vec![7; 100]);
        let ops = [write_int("n", n as i64), more];
        assert_eq!(client.ask(&put(&format!("k{n}"), &ops[..1 + n % 2])).code, 0);
    }
}

#[test]
fn every_record_is_seen_once_in_all_partitions_or_in_parts() {
    let server = start();
    let mut client = Connection::open(server.addr());
    fill(&mut client);
    let (whole, last) = rows(&mut client, &scan(&all(), &[], &[]).frame());
    assert_eq!((whole.len(), last), (RECORDS, 0));
    let mut parts = BTreeMap::new();
    for chunk in all().chunks(1000) {
        parts.extend(rows(&mut client, &scan(chunk, &[], &[]).frame()).0);
    }
    assert_eq!(parts, whole.into_iter().collect());
}

#[test]
fn a_scan_goes_on_after_a_digest_and_ends_at_its_limit() {
    let server = start();
    let mut client = Connection::open(server.addr());
    fill(&mut client);
    let (whole, _) = rows(&mut client, &scan(&all(), &[], &[]).frame());
    let limited = scan(&all(), &[], &[]).field(13, &7u64.to_be_bytes());
    let (first, last) = rows(&mut client, &limited.frame());
    assert_eq!((first.len(), last), (7, 0));

    // The records of one partition, one by one.
    let partition = |digest: &[u8]| u16::from_le_bytes([digest[0], digest[1]]) & 0xfff;
    let crowded = whole.iter().map(|row| partition(&row.0)).fold(BTreeMap::new(), |mut all, id| {
        *all.entry(id).or_insert(0) += 1;
        all
    });
    let (&id, &count) = crowded.iter().max_by_key(|(_, count)| **count).unwrap();
    let mut request = scan(&[id], &[], &[]);
    let mut seen = Vec::new();
    loop {
        let page = request.field(13, &1u64.to_be_bytes()).frame();
        let (page, _) = rows(&mut client, &page);
        let Some((digest, _)) = page.into_iter().next() else { break };
        request = scan(&[], std::slice::from_ref(&digest), &[]);
        seen.push(digest);
    }
    assert_eq!(seen.len(), count);
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), count, "none twice");
}

#[test]
fn projection_leaves_out_records_that_have_nothing_of_it() {
    let server = start();
    let mut client = Connection::open(server.addr());
    fill(&mut client);
    let (with_blob, _) = rows(&mut client, &scan(&all(), &[], &[read("b")]).frame());
    assert_eq!(with_blob.len(), RECORDS / 2);
    assert!(with_blob.iter().all(|row| row.1 == 1));
    // gt(bin(integer, "n"), 100)
    let filter = [0x93, 3, 0x93, 81, 2, 0xa1, b'n', 100];
    let (filtered, _) = rows(&mut client, &scan(&all(), &[], &[]).field(43, &filter).frame());
    assert_eq!(filtered.len(), RECORDS - 101);
}

#[test]
fn a_scan_that_cannot_be_done_is_refused_with_its_code() {
    let server = start();
    let mut client = Connection::open(server.addr());
    let mut code = |request: Request| rows(&mut client, &request.frame()).1;
    assert_eq!(code(scan(&[4096], &[], &[])), 4, "no such partition");
    assert_eq!(code(scan(&[1], &[], &[]).info3(0)), 16, "not by partition");
    assert_eq!(code(scan(&[1], &[], &[read("sixteen_letters_")])), 4, "bin name");
    assert_eq!(code(scan(&[1], &[], &[]).field(43, &[0x93])), 4, "filter");
    assert_eq!(code(scan(&[1], &[], &[]).field(22, &[1])), 4, "half a range");
}

#[test]
fn a_scan_that_finds_little_sends_no_empty_frames() {
    let server = start();
    let mut client = Connection::open(server.addr());
    fill(&mut client);
    let mut request = scan(&all(), &[], &[]);
    request.fields[1] = (1, b"other".to_vec());
    client.send(&request.frame());
    let (kind, body) = client.frame();
    assert_eq!((kind, body.len()), (FrameType::Message, 22), "the last message and nothing else");
    assert_eq!(MessageHeader::split(&body).unwrap().0.info3, 1);
}

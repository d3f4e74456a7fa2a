//! Queries of secondary indexes, in the foreground and in the background.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::{Duration, Instant};

use cairn_server::Server;
use cairn_server::wire::{FrameType, Message, MessageHeader};
use support::*;

const RECORDS: i64 = 500;

fn filled() -> (Server, Connection) {
    let server = start();
    let mut client = Connection::open(server.addr());
    for n in 0..RECORDS {
        assert_eq!(client.ask(&put(&format!("k{n}"), &[write_int("n", n)])).code, 0);
    }
    (server, client)
}

fn indexed() -> (Server, Connection) {
    let (server, mut client) = filled();
    create(&mut client, "sindex-create:ns=test;set=s;indexname=by_n;indexdata=n,NUMERIC");
    (server, client)
}

fn create(client: &mut Connection, command: &str) {
    assert_eq!(client.info(command), "ok");
    let name = command.split_once("indexname=").unwrap().1.split(';').next().unwrap();
    let stat = format!("sindex-stat:namespace=test;indexname={name}");
    wait_until(|| client.info(&stat).contains("load_pct=100"));
}

fn wait_until(mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < deadline, "takes too long");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn range(bin: &str, first: i64, last: i64) -> Vec<u8> {
    let mut bytes = vec![1, bin.len() as u8];
    bytes.extend_from_slice(bin.as_bytes());
    bytes.push(1);
    for end in [first, last] {
        bytes.extend_from_slice(&8u32.to_be_bytes());
        bytes.extend_from_slice(&end.to_be_bytes());
    }
    bytes
}

/// A query of all partitions under a task id.
fn query(task: u64, first: i64, last: i64) -> Request {
    let mut request = Request::new(1, 0, "", &[]).info3(4);
    request.fields.truncate(2);
    let ids: Vec<u8> = (0..4096u16).flat_map(u16::to_le_bytes).collect();
    request.field(7, &task.to_be_bytes()).field(22, &range("n", first, last)).field(11, &ids)
}

/// Digest and index value of every record, and the code of the last message.
fn rows(client: &mut Connection, request: &Request) -> (Vec<(Vec<u8>, i64)>, u8) {
    client.send(&request.frame());
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
            let value = message.fields.get(15).unwrap().try_into().unwrap();
            rows.push((message.fields.get(4).unwrap().to_vec(), i64::from_le_bytes(value)));
            rest = &rest[len.unwrap()..];
        }
    }
}

#[test]
fn an_index_is_created_listed_counted_and_deleted() {
    let (_server, mut client) = indexed();
    let row = "ns=test:indexname=by_n:set=s:bin=n:type=numeric:indextype=default:context=null:\
               exp=null:state=RW";
    assert_eq!(client.info("sindex-list:namespace=test"), row);
    assert_eq!(client.info("sindex"), row);
    assert_eq!(client.info("sindex-list:namespace=bar"), "");
    let stats = client.info("sindex/test/by_n");
    assert!(stats.starts_with(&format!("entries={RECORDS};used_bytes=")), "{stats}");
    assert!(stats.contains(";entries_per_bval=1;entries_per_rec=1;load_pct=100;"), "{stats}");
    let again = "sindex-create:namespace=test;set=s;indexname=by_n;bin=other;type=numeric";
    assert!(client.info(again).starts_with("ERROR:200:"));

    assert_eq!(rows(&mut client, &query(1, 10, 19)).0.len(), 10);
    assert_eq!(client.info("sindex-exists:ns=test;indexname=by_n"), "true");
    assert_eq!(client.info("sindex-delete:ns=test;indexname=by_n"), "ok");
    assert_eq!(client.info("sindex-exists:namespace=test;indexname=by_n"), "false");
    assert_eq!(rows(&mut client, &query(2, 10, 19)), (Vec::new(), 201));
}

#[test]
fn pages_by_value_and_digest_give_every_match_once() {
    let (_server, mut client) = indexed();
    let (whole, code) = rows(&mut client, &query(1, 100, 399));
    assert_eq!((whole.len(), code), (300, 0));
    let mut values: Vec<i64> = whole.iter().map(|row| row.1).collect();
    values.sort_unstable();
    assert!(values.into_iter().eq(100..400));

    // The partition of the first match, record by record.
    let partition = |digest: &[u8]| u16::from_le_bytes([digest[0], digest[1]]) & 0xfff;
    let id = partition(&whole[0].0);
    let mut expected: Vec<(i64, Vec<u8>)> = whole
        .iter()
        .filter(|(digest, _)| partition(digest) == id)
        .map(|(digest, value)| (*value, digest.clone()))
        .collect();
    expected.sort();
    let mut paged: Vec<(i64, Vec<u8>)> = Vec::new();
    loop {
        let mut page = query(2, 100, 399).field(13, &1u64.to_be_bytes());
        page.fields.retain(|(kind, _)| *kind != 11);
        let page = match paged.last() {
            None => page.field(11, &id.to_le_bytes()),
            Some((value, digest)) => page.field(12, digest).field(15, &value.to_le_bytes()),
        };
        let (found, code) = rows(&mut client, &page);
        assert_eq!(code, 0);
        let Some((digest, value)) = found.into_iter().next() else { break };
        paged.push((value, digest));
    }
    assert_eq!(paged, expected);
}

#[test]
fn a_background_query_changes_each_match_once_and_tells_its_progress() {
    let (_server, mut client) = indexed();
    let mut request = Request::new(0, 1, "", &[increment("n", 1)]);
    request.fields.truncate(2);
    // Each increment moves the record inside the range.
    let request = request.field(7, &77u64.to_be_bytes()).field(22, &range("n", 0, 1000));
    let answer = client.ask(&request.frame());
    assert_eq!((answer.code, answer.info3 & 1), (0, 1));
    let mut shown = String::new();
    wait_until(|| {
        shown = client.info("query-show:id=77");
        shown.contains("status=done(ok)")
    });
    assert!(shown.contains(&format!(":recs-succeeded={RECORDS}:recs-failed=0:")), "{shown}");
    assert!(shown.contains(":job-progress=100.00:"), "{shown}");
    let (all, _) = rows(&mut client, &query(78, 0, 1000));
    let mut values: Vec<i64> = all.iter().map(|row| row.1).collect();
    values.sort_unstable();
    assert!(values.into_iter().eq(1..=RECORDS), "each by one");
    assert_eq!(client.info("query-show:id=12345"), "ERROR:2:job not found");
}

#[test]
fn records_per_second_slow_a_query_down_and_a_task_id_in_use_is_refused() {
    let (server, mut client) = indexed();
    let slow = query(5, 0, RECORDS).field(10, &100u32.to_be_bytes());
    client.send(&slow.frame());
    let mut other = Connection::open(server.addr());
    wait_until(|| other.info("query-show").contains("trid=5:"));
    assert_eq!(rows(&mut other, &query(5, 0, 1)), (Vec::new(), 4), "the id is in use");
    // Others are served meanwhile.
    assert_eq!(rows(&mut other, &query(6, 0, 1)).0.len(), 2);
    assert_eq!(other.info("query-abort:id=5"), "ok");
    let (kind, _) = client.frame();
    assert_eq!(kind, FrameType::Message);
    wait_until(|| other.info("query-show:trid=5").contains("status=done(user-aborted)"));
    assert_eq!(other.info("query-abort:id=5"), "ERROR:2:id not active");

    let started = Instant::now();
    let paced = query(7, 0, 29).field(10, &100u32.to_be_bytes());
    let mut third = Connection::open(server.addr());
    assert_eq!(rows(&mut third, &paced).0.len(), 30);
    assert!(started.elapsed() >= Duration::from_millis(250), "{:?}", started.elapsed());
}

#[test]
fn settings_change_while_running() {
    let server = start();
    let mut client = Connection::open(server.addr());
    let set = "set-config:context=namespace;namespace=test";
    assert_eq!(client.info(&format!("{set};default-ttl=30d;nsup-period=60")), "ok");
    let shown = client.info("get-config:context=namespace;namespace=test");
    assert!(shown.contains("default-ttl=2592000;") && shown.contains("nsup-period=60;"), "{shown}");
    for bad in ["nope=1", "default-ttl=x", "default-read-touch-ttl-pct=101", "single-bin=true", ""]
    {
        let refused = client.info(&format!("{set};{bad}"));
        assert_eq!(refused, "ERROR:4:invalid set-config parameter", "{bad}");
    }
    assert_eq!(client.info("set-config:context=service;query-max-done=0"), "ok");
    assert!(client.info("get-config:context=service").contains("query-max-done=0"));
    assert_eq!(client.info("set-config:"), "ERROR:4:missing 'context'");
}

#[test]
fn a_set_index_serves_scans_of_its_set() {
    let (_server, mut client) = filled();
    create(&mut client, "sindex-create:namespace=test;set=s;indextype=set;indexname=members");
    let mut scan = Request::new(0x21, 0, "", &[]).info3(4);
    scan.fields.truncate(2);
    let ids: Vec<u8> = (0..4096u16).flat_map(u16::to_le_bytes).collect();
    client.send(&scan.field(7, &[1; 8]).field(11, &ids).frame());
    let mut count = 0;
    loop {
        let (_, body) = client.frame();
        let mut rest = &body[..];
        let mut last = false;
        while let Some((header, _)) = MessageHeader::split(rest) {
            last = header.info3 & 1 != 0;
            count += i64::from(!last);
            let len = (22..=rest.len()).find(|len| Message::parse(&rest[..*len]).is_some());
            rest = &rest[len.unwrap()..];
        }
        if last {
            break;
        }
    }
    assert_eq!(count, RECORDS);
    let listed = client.info("sindex-list:namespace=test");
    assert!(listed.contains("indexname=members:set=s:bin=null:"), "{listed}");
    assert!(listed.contains(":indextype=set:"), "{listed}");
}

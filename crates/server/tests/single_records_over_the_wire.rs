//! Commands on single records, byte for byte through a socket.

mod support;

use cairn_server::wire::Message;
use cairn_value::ParticleType;
use support::*;

#[test]
fn a_record_is_put_read_and_removed() {
    let server = start();
    let mut client = Connection::open(server.addr());
    assert_eq!(client.ask(&get("k")), Answer::refused(2));
    let answer = client.ask(&put("k", &[write_int("a", 7)]));
    assert_eq!(answer, Answer { code: 0, generation: 1, info3: 0, ops: vec![] });
    let answer = client.ask(&get("k"));
    assert_eq!((answer.code, answer.generation, int(&answer)), (0, 1, 7));
    let metadata = client.ask(&Request::new(0x21, 0, "k", &[]).frame());
    assert_eq!(metadata, Answer { code: 0, generation: 1, info3: 0, ops: vec![] });
    assert_eq!(client.ask(&remove("k")), Answer::refused(0));
    assert_eq!(client.ask(&remove("k")), Answer::refused(2));
}

#[test]
fn operations_run_in_order_and_answer_in_order() {
    let server = start();
    let mut client = Connection::open(server.addr());
    let ops = [write_int("n", 5), increment("n", 3), read("n"), read("missing")];
    let answer = client.ask(&Request::new(1, 1, "k", &ops).frame());
    assert_eq!((answer.code, int(&answer)), (0, 8));
    let answer = client.ask(&Request::new(1, 0x81, "k", &ops).frame());
    let names: Vec<_> = answer.ops.iter().map(|op| (op.0, op.1.as_str(), op.2)).collect();
    assert_eq!(names, [(2, "n", 0), (5, "n", 0), (1, "n", 1), (1, "missing", 0)]);
}

#[test]
fn refusals_carry_the_generation_once_the_record_was_looked_at() {
    let server = start();
    let mut client = Connection::open(server.addr());
    for _ in 0..3 {
        client.ask(&put("k", &[write_int("a", 1)]));
    }
    let refused = |client: &mut Connection, request: Request| {
        let answer = client.ask(&request.frame());
        (answer.code, answer.generation)
    };
    let write = |info2| Request::new(0, info2, "k", &[write_int("a", 2)]);
    assert_eq!(refused(&mut client, write(0x21)), (5, 3), "create only");
    assert_eq!(refused(&mut client, write(0x05).generation(9)), (3, 3), "generation");
    assert_eq!(refused(&mut client, write(0x25).info3(0x08)), (5, 3), "create and update only");
    let delete = Request::new(0, 0x07, "k", &[]).generation(9);
    assert_eq!(refused(&mut client, delete), (3, 0), "deletes never tell");
    let replace = Request::new(0, 1, "k", &[increment("a", 1)]).info3(0x10);
    assert_eq!(refused(&mut client, replace), (4, 0), "checked before the record");
    let string = (9, "a", ParticleType::String, b"x".to_vec());
    assert_eq!(refused(&mut client, Request::new(0, 1, "k", &[string])), (12, 3), "type");
    assert_eq!(int(&client.ask(&get("k"))), 1, "nothing has changed");
}

#[test]
fn what_a_message_lacks_is_told_in_order() {
    let server = start();
    let mut client = Connection::open(server.addr());
    let code = |client: &mut Connection, request: Request| client.ask(&request.frame()).code;
    let request = |fields: &[(u8, &[u8])]| {
        let mut request = Request::new(3, 0, "k", &[]);
        request.fields = fields.iter().map(|(kind, data)| (*kind, data.to_vec())).collect();
        request
    };
    assert_eq!(code(&mut client, request(&[])), 20, "no namespace");
    assert_eq!(code(&mut client, request(&[(0, b"nope"), (4, b"short")])), 20);
    assert_eq!(code(&mut client, request(&[(0, b"test"), (4, b"short")])), 4, "digest");
    assert_eq!(code(&mut client, request(&[(0, b"test")])), 16, "no digest");
    assert_eq!(code(&mut client, request(&[(0, b"test"), (2, b"\x03key")])), 16);
    let bad_key = Request::new(0, 1, "k", &[write_int("a", 1)]).field(2, &[1, 9]);
    assert_eq!(code(&mut client, bad_key), 16, "an integer key of one byte");
    assert_eq!(code(&mut client, Request::new(0, 0, "k", &[read("a")])), 4, "no purpose");
    let short = frame(cairn_server::wire::FrameType::Message, &[22, 1, 0, 0]);
    assert_eq!(client.ask(&short).code, 4, "a message shorter than its header");
}

#[test]
fn user_keys_are_compared_once_stored() {
    let server = start();
    let mut client = Connection::open(server.addr());
    let put = |key: &[u8]| Request::new(0, 1, "k", &[write_int("a", 1)]).field(2, key).frame();
    assert_eq!(client.ask(&put(b"\x03right")).code, 0);
    assert_eq!(client.ask(&put(b"\x03wrong")).code, 19);
    assert_eq!(client.ask(&put(b"\x03right")).code, 0);
    assert_eq!(client.ask(&get("k")).code, 0, "no key is fine");
}

#[test]
fn what_is_not_available_is_refused_with_its_code() {
    let server = start();
    let mut client = Connection::open(server.addr());
    let function =
        Request::new(0, 1, "k", &[]).field(30, b"module").field(31, b"function").field(32, &[0x90]);
    assert_eq!(client.ask(&function.frame()).code, 16);
    let transaction = Request::new(3, 0, "k", &[]).field(5, &[1; 8]);
    assert_eq!(client.ask(&transaction.frame()).code, 16);
    client.send(&frame(cairn_server::wire::FrameType::Admin, &[0; 16]));
    let (kind, body) = client.frame();
    assert_eq!(kind, cairn_server::wire::FrameType::Admin);
    assert_eq!(body[1], 52, "security is not enabled");
}

#[test]
fn a_refused_command_tells_why_when_it_is_asked() {
    let server = start();
    let mut client = Connection::open(server.addr());
    let mut request = Request::new(1, 0, "nobody", &[read("a")]);
    request.header.info4 = 0x40;
    client.send(&request.frame());
    let (_, body) = client.frame();
    let message = Message::parse(&body).unwrap();
    assert_eq!(message.header.result, 2);
    let details = message.fields.get(45).expect("a sentence");
    assert_eq!(details[..2], [0x81, 2]);
    request.header.info4 = 0;
    client.send(&request.frame());
    let (_, body) = client.frame();
    assert_eq!(Message::parse(&body).unwrap().fields.get(45), None, "not asked for");
}

#[test]
fn the_state_of_a_transaction_is_refused_like_the_transaction() {
    let server = start();
    let mut client = Connection::open(server.addr());
    let mut request = Request::new(0, 1, "k", &[write_int("id", 1)]);
    request.fields[1] = (1, b"<ERO~MRT".to_vec());
    assert_eq!(client.ask(&request.frame()).code, 16);
}

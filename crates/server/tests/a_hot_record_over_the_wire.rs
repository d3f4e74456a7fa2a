//! `transaction-pending-limit` as a client sees it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::sync::{Arc, mpsc};

use cairn_engine::{Change, Engine, Failure, NamespaceConfig, Target, WritePolicy};
use cairn_server::Limits;
use cairn_value::{Digest, ParticleType, ResultCode};
use support::*;

fn update(engine: &Engine, inside: impl FnOnce()) -> Result<(), Failure> {
    let digest = Digest::of(b"s", ParticleType::String, b"hot");
    let target = Target { digest, set: b"s", key: None };
    let updated = engine.namespaces()[0].update(&target, &WritePolicy::default(), |_| {
        inside();
        Ok((Change::Touch, ()))
    });
    updated.map(|_| ())
}

#[test]
fn a_client_beyond_the_pending_limit_gets_code_14() {
    let config = NamespaceConfig { transaction_pending_limit: 1, ..NamespaceConfig::new("test") };
    let engine = Arc::new(Engine::in_memory([config]).unwrap());
    let server = start_on(engine.clone(), Limits::default());
    let mut client = Connection::open(server.addr());
    assert_eq!(client.ask(&put("hot", &[write_int("n", 1)])).code, 0);

    let (working, is_working) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let (refuse, refused) = mpsc::channel();
    std::thread::scope(|scope| {
        let engine = &engine;
        // One command works on the record.
        scope.spawn(move || {
            update(engine, || {
                working.send(()).unwrap();
                released.recv().unwrap();
            })
            .unwrap();
        });
        is_working.recv().unwrap();
        // Of two more, one waits; the refusal of the other tells that it does.
        for _ in 0..2 {
            let refuse = refuse.clone();
            scope.spawn(move || {
                if let Err(failure) = update(engine, || {}) {
                    refuse.send(failure.error.code).unwrap();
                }
            });
        }
        assert_eq!(refused.recv().unwrap(), ResultCode::KeyBusy);
        // The client comes third.
        let increment = Request::new(0, 1, "hot", &[increment("n", 1)]).frame();
        assert_eq!(client.ask(&increment).code, 14);
        release.send(()).unwrap();
    });
    let increment = Request::new(1, 1, "hot", &[increment("n", 1), read("n")]).frame();
    assert_eq!(int(&client.ask(&increment)), 2, "the refused increment did not count");
}

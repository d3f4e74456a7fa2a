//! The binary itself: ready file, first answer, signals, refusals.
#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn cairn(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A server on free ports, and its ready file's text.
fn serve(test: &str) -> (Child, String) {
    let file: PathBuf = std::env::temp_dir().join(format!("cairn-{test}-{}", std::process::id()));
    let file = file.to_str().unwrap();
    let child = cairn(&["serve", "--memory", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"])
        .args(["--ready-file", file])
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    let text = loop {
        match std::fs::read_to_string(file) {
            Ok(text) => break text,
            Err(_) => assert!(Instant::now() < deadline, "no ready file"),
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    std::fs::remove_file(file).unwrap();
    (child, text)
}

fn value<'a>(json: &'a str, key: &str) -> &'a str {
    let (_, rest) = json.split_once(&format!("\"{key}\": ")).unwrap();
    rest.split([',', '}']).next().unwrap().trim_matches('"')
}

fn info(addr: &str, command: &str) -> String {
    let mut stream = TcpStream::connect(addr).unwrap();
    let mut frame = (command.len() as u64).to_be_bytes();
    (frame[0], frame[1]) = (2, 1);
    stream.write_all(&[&frame[..], command.as_bytes()].concat()).unwrap();
    let mut header = [0; 8];
    stream.read_exact(&mut header).unwrap();
    let mut body = vec![0; u32::from_be_bytes(header[4..].try_into().unwrap()) as usize];
    stream.read_exact(&mut body).unwrap();
    String::from_utf8(body).unwrap()
}

#[test]
fn a_server_tells_where_it_is_and_stops_on_sigterm() {
    let (mut child, ready) = serve("sigterm");
    assert_eq!(value(&ready, "pid"), child.id().to_string());
    assert_eq!(info(value(&ready, "aerospike"), "namespaces"), "namespaces\ttest;app;iot\n");
    let mut http = TcpStream::connect(value(&ready, "http")).unwrap();
    http.write_all(b"GET /healthz HTTP/1.1\r\n\r\n").unwrap();
    let mut answer = String::new();
    http.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");

    let signalled = Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(signalled.success());
    let output = child.wait().unwrap();
    assert!(output.success(), "{output:?}");
    let mut screen = String::new();
    child.stdout.unwrap().read_to_string(&mut screen).unwrap();
    assert!(screen.contains(value(&ready, "aerospike")), "{screen}");
}

#[test]
fn what_cannot_be_served_is_refused_in_one_sentence() {
    let refused = |arguments: &[&str], part: &str| {
        let output = cairn(arguments).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(part), "{text}");
    };
    refused(&["serve", "--data", "somewhere"], "file storage is not available yet");
    refused(&["serve", "-o", "namespace.test.defualt-ttl=1"], "did you mean `default-ttl`");
    refused(&["serve", "--namespace", "a", "--namespace", "a"], "declared twice");
    refused(&["sevre"], "serve");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap().to_string();
    refused(&["serve", "--listen", &addr, "--http", "127.0.0.1:0"], &addr);
}

#[test]
fn version_and_help() {
    let output = cairn(&["--version"]).output().unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        format!("cairn {}\n", env!("CARGO_PKG_VERSION"))
    );
    let help = String::from_utf8(cairn(&["serve", "--help"]).output().unwrap().stdout).unwrap();
    for part in ["--listen", "--ready-file", "transaction-pending-limit", "storage.size"] {
        assert!(help.contains(part), "{part}");
    }
}

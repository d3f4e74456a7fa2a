//! What clients ask when they connect and every second after, and what tools ask.

mod support;

use cairn_server::wire::FrameType;
use support::*;

#[test]
fn the_login_of_every_client_is_answered_line_by_line() {
    let server = start();
    let mut client = Connection::open(server.addr());
    let commands = ["node", "partition-generation", "build", "features", "cluster-name"];
    client.send(&frame(FrameType::Info, (commands.join("\n") + "\n").as_bytes()));
    let (_, body) = client.frame();
    let text = String::from_utf8(body).unwrap();
    let lines: Vec<_> = text.lines().map(|line| line.split_once('\t').unwrap()).collect();
    assert!(lines.iter().map(|(name, _)| *name).eq(commands));
    let value = |name: &str| lines.iter().find(|line| line.0 == name).unwrap().1;
    assert_eq!(value("node").len(), 14);
    assert!(value("node").bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert_eq!(value("build").split('.').filter(|part| part.parse::<u32>().is_ok()).count(), 4);
    assert!(value("partition-generation").parse::<i32>().unwrap() >= 0);
    for feature in ["pscans", "query-show", "batch-any", "pquery"] {
        assert!(value("features").split(';').any(|one| one == feature), "{feature}");
    }
}

#[test]
fn one_node_holds_every_partition() {
    let server = start();
    let mut client = Connection::open(server.addr());
    assert_eq!(client.info("peers-clear-std"), "0,3000,[]");
    assert_eq!(client.info("service-clear-std"), server.addr().to_string());
    let replicas = client.info("replicas");
    let parts: Vec<_> = replicas.split(';').collect();
    assert_eq!(parts.len(), 2, "no trailing separator");
    for (part, name) in parts.iter().zip(["test", "bar"]) {
        let bitmap = part.strip_prefix(&format!("{name}:0,1,")).unwrap();
        assert_eq!(bitmap.len(), 684);
    }
}

#[test]
fn settings_that_suites_look_for_are_there() {
    let server = start();
    let mut client = Connection::open(server.addr());
    for command in [
        "namespace/test",
        "get-config:context=namespace;namespace=test",
        "get-config:context=namespace;id=test",
    ] {
        let text = client.info(command);
        let has = |pair: &str| text.split(';').any(|one| one == pair);
        assert!(has("nsup-period=120") && has("allow-ttl-without-nsup=true"), "{command}");
        assert!(has("strong-consistency=false") && has("default-ttl=0"), "{command}");
    }
    assert_eq!(client.info("namespaces"), "test;bar");
    assert_eq!(client.info("namespace/nope"), "type=unknown");
}

#[test]
fn records_are_counted_by_set_and_truncated() {
    let server = start();
    let mut client = Connection::open(server.addr());
    for key in ["a", "b", "c"] {
        client.ask(&put(key, &[write_int("x", 1)]));
    }
    assert!(client.info("sets/test").starts_with("ns=test:set=s:objects=3:"));
    assert!(client.info("sets/test/s").contains(":objects=3:"));
    assert_eq!(client.info("sets/test/none"), "");
    assert_eq!(client.info("objects"), "3");
    assert_eq!(client.info("truncate:namespace=test"), "ERROR:4:missing 'set'");
    assert_eq!(client.info("truncate:namespace=test;set=s;lut=1"), "ERROR:4:would truncate to 0");
    assert_eq!(client.info("truncate:namespace=test;set=s"), "ok");
    assert_eq!(client.ask(&get("a")), Answer { generation: 1, ..Answer::refused(2) });
}

#[test]
fn unknown_commands_are_errors_and_known_ones_take_either_separator() {
    let server = start();
    let mut client = Connection::open(server.addr());
    for unknown in ["abcd", "abcd:", "abcd/x", "BUILD", " build", "", "bins"] {
        assert_eq!(client.info(unknown), "ERROR:4:unrecognized command", "`{unknown}`");
    }
    let build = client.info("build");
    assert_eq!((client.info("build:"), client.info("build/")), (build.clone(), build));
    assert_eq!(client.info("get-config:context=nope"), "ERROR:4:invalid context");
    let missing = "ERROR:20:missing 'namespace'";
    assert_eq!(client.info("get-config:context=namespace"), missing);
}

#[test]
fn a_client_says_once_who_it_is() {
    let server = start();
    let mut client = Connection::open(server.addr());
    assert!(client.info("user-agent-set:value=!!").starts_with("ERROR:4:"));
    assert_eq!(client.info("user-agent-set:value=MSx4LTEsYQ=="), "ok");
    assert_eq!(client.info("user-agent-set:value=MSx4LTEsYQ=="), "ERROR:4:already set");
    let mut another = Connection::open(server.addr());
    assert_eq!(another.info("user-agent-set:value=MSx4LTEsYQ=="), "ok");
}

#[test]
fn modules_of_functions_are_kept_and_not_run() {
    let server = start();
    let mut client = Connection::open(server.addr());
    assert_eq!(client.info("udf-list"), "");
    let put = "udf-put:filename=m.lua;content=cmV0dXJuIDE=;content-len=12;udf-type=LUA;";
    assert_eq!(client.info(put), "ok");
    let listed = client.info("udf-list");
    assert!(listed.starts_with("filename=m.lua,hash=") && listed.ends_with(",type=LUA;"));
    assert!(client.info("udf-get:filename=m.lua").ends_with(";type=LUA;content=cmV0dXJuIDE=;"));
    assert_eq!(client.info("udf-put:filename=x.lua"), "error=invalid_content_len");
    let bad = client.info("udf-put:filename=x.lua;content-len=3;content=!!!");
    assert_eq!(bad, "error=invalid_base64_content");
    // Calling a function is refused.
    let call = Request::new(0, 1, "k", &[]).field(30, b"m").field(31, b"f").field(32, &[0x90]);
    assert_eq!(client.ask(&call.frame()).code, 16);
    assert_eq!(client.info("udf-remove:filename=m.lua"), "ok");
    assert_eq!(client.info("udf-get:filename=m.lua"), "error=not_found");
}

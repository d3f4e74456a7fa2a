//! `cairn model` as a person calls it: output of every command for every example, and exit codes.
//!
//! `CAIRN_WRITE_SNAPSHOTS=1 cargo test -p cairn-cli --test model_commands` writes the snapshots
//! anew; look at the difference before it is committed.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cairn_model::examples::EXAMPLES;

/// A directory of its own that goes with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let dir = std::env::temp_dir().join(format!("cairn-model-{name}-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        Scratch(dir)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
        command.arg("model").args(arguments).current_dir(&self.0).output().unwrap()
    }

    /// Exit code and standard output.
    fn answer(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.run(arguments);
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn compare(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    if std::env::var_os("CAIRN_WRITE_SNAPSHOTS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == text, "{name} changed; see the head of this file\n{text}");
}

#[test]
fn every_example_through_every_command() {
    let scratch = Scratch::new("examples");
    for example in EXAMPLES {
        let (code, text) = scratch.answer(&["init", "--example", example.name]);
        assert_eq!((code, text.as_str()), (0, example.text));
        scratch.write("model.yaml", &text);
        let (code, text) = scratch.answer(&["check", "model.yaml"]);
        assert_eq!(code, 0, "{text}");
        compare(&format!("{}.check.txt", example.name), &text);
        assert_eq!(scratch.answer(&["check", "model.yaml", "--json"]), (0, "[]\n".into()));
        for (arguments, name) in [
            (&["size", "model.yaml"][..], "size.txt"),
            (&["size", "model.yaml", "--json"], "size.json"),
            (&["plan", "model.yaml"], "plan.txt"),
            (&["plan", "model.yaml", "--json"], "plan.json"),
            (&["doc", "model.yaml"], "doc.md"),
        ] {
            let (code, text) = scratch.answer(arguments);
            assert_eq!(code, 0, "{text}");
            compare(&format!("{}.{name}", example.name), &text);
        }
        assert_eq!(scratch.answer(&["diff", "model.yaml", "model.yaml"]).0, 0);
    }
}

#[test]
fn a_first_contract_and_the_list_of_examples() {
    let scratch = Scratch::new("init");
    assert_eq!(scratch.answer(&["init"]), (0, EXAMPLES[0].text.into()));
    let (code, list) = scratch.answer(&["init", "--list"]);
    assert!(code == 0 && EXAMPLES.iter().all(|example| list.contains(example.name)));
    assert_eq!(scratch.answer(&["init", "-o", "model.yaml"]).0, 0);
    assert_eq!(scratch.answer(&["check", "model.yaml"]).0, 0);
    assert_eq!(scratch.answer(&["init", "-o", "model.yaml"]).0, 2, "nothing is overwritten");
    assert_eq!(scratch.answer(&["init", "--example", "nothing"]).0, 2);
}

#[test]
fn html_pages_load_nothing() {
    let scratch = Scratch::new("html");
    scratch.write("model.yaml", EXAMPLES[0].text);
    assert_eq!(scratch.answer(&["doc", "model.yaml", "--html", "doc.html"]).0, 0);
    assert_eq!(scratch.answer(&["size", "model.yaml", "--html", "size.html"]).0, 0);
    for page in ["doc.html", "size.html"] {
        let text = fs::read_to_string(scratch.0.join(page)).unwrap();
        assert!(text.starts_with("<!doctype html>") && text.contains("<svg"), "{page}");
        for outside in ["http://", "https://", "src=", "<script", "<link", "@import"] {
            assert!(!text.contains(outside), "{page} holds {outside}");
        }
    }
}

#[test]
fn exit_codes_of_check() {
    let scratch = Scratch::new("check");
    let bin = |bin: &str| {
        format!(
            "cairn: 1\nnamespaces: {{app: {{replication-factor: 1}}}}\nentities: {{e: {{namespace: app, set: s, bins: {{{bin}}}}}}}\n"
        )
    };
    scratch.write("question.yaml", &bin("name: {type: blob, size: 2KiB}"));
    scratch.write("finding.yaml", &bin("ts: {type: blob, size: 2KiB}"));
    scratch.write("broken.yaml", "cairn: 1\nentities: [");
    assert_eq!(scratch.answer(&["check", "question.yaml"]).0, 0);
    assert_eq!(scratch.answer(&["check", "question.yaml", "--fail-on", "question"]).0, 1);
    assert_eq!(scratch.answer(&["check", "finding.yaml"]).0, 1);
    assert_eq!(scratch.answer(&["check", "finding.yaml", "--fail-on", "error"]).0, 0);
    let (code, json) = scratch.answer(&["check", "broken.yaml", "--json"]);
    assert_eq!(code, 2);
    assert!(json.contains("\"rule\": \"unreadable\"") && json.contains("\"line\": "), "{json}");
    assert_eq!(scratch.answer(&["check", "nowhere.yaml"]).0, 2);
}

#[test]
fn diagnostics_have_the_agreed_fields() {
    let scratch = Scratch::new("fields");
    scratch.write(
        "m.yaml",
        "cairn: 1\nentities:\n  user:\n    namespace: app\n    bins: {notification_type: string}\n",
    );
    let (code, json) = scratch.answer(&["check", "m.yaml", "--json"]);
    assert_eq!(code, 1);
    for field in ["rule", "severity", "file", "line", "column", "entity", "bin", "message", "fix"] {
        assert!(json.contains(&format!("\"{field}\": ")), "{field}");
    }
    let (_, text) = scratch.answer(&["check", "m.yaml"]);
    compare("too-long.txt", &text);
}

#[test]
fn keys_and_identifiers() {
    let scratch = Scratch::new("keys");
    scratch.write("sensors.yaml", EXAMPLES[0].text);
    let key = ["key", "sensors.yaml", "reading-day", "sensor_id=4910", "day=2026-03-30", "--json"];
    let (code, json) = scratch.answer(&key);
    assert_eq!(code, 0);
    assert!(json.contains("\"key\": \"sensor:4910:2026-03-30\""), "{json}");
    // RIPEMD-160 of "sensors", the type byte of text, and the key.
    assert!(json.contains("\"digest\": \"afb4989f7e2e57a00c409c4dba455535fc4de5b3\""), "{json}");
    assert!(json.contains("\"partition\": 1199"), "{json}");
    let posts = EXAMPLES.iter().find(|example| example.name == "social-posts").unwrap();
    scratch.write("posts.yaml", posts.text);
    let id =
        ["id", "posts.yaml", "comment_id", "author=alice", "created_at_ms=1742468400000", "--json"];
    let (code, json) = scratch.answer(&id);
    assert_eq!(code, 0);
    assert!(json.contains("\"input\": \"alice-1742468400000\""), "{json}");
    assert!(json.contains("\"id\": \"e6afd686cc1d9323\""), "{json}");
    for wrong in [
        &["key", "sensors.yaml", "reading-dya", "sensor_id=1", "day=2026-03-30"][..],
        &["key", "sensors.yaml", "reading-day", "sensor_id=x", "day=2026-03-30"],
        &["key", "sensors.yaml", "reading-day", "sensor_id=1"],
        &["key", "sensors.yaml", "reading-day", "sensor=1", "day=2026-03-30"],
        &["id", "posts.yaml", "comment_id", "author"],
    ] {
        let output = scratch.run(wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(!output.stderr.is_empty());
    }
}

#[test]
fn exit_codes_of_diff_and_git_revisions() {
    let scratch = Scratch::new("diff");
    let text = "cairn: 1\nentities:\n  user:\n    namespace: app\n    bins:\n      name: string\n";
    scratch.write("old.yaml", text);
    scratch.write("more.yaml", &format!("{text}      email: string\n"));
    scratch.write("other.yaml", &text.replace("string", "int"));
    assert_eq!(scratch.answer(&["diff", "old.yaml", "old.yaml"]).0, 0);
    assert_eq!(scratch.answer(&["diff", "old.yaml", "more.yaml"]).0, 3);
    let (code, json) = scratch.answer(&["diff", "old.yaml", "other.yaml", "--json"]);
    assert_eq!(code, 4);
    assert!(json.contains("\"verdict\": \"breaking\""), "{json}");
    assert_eq!(scratch.answer(&["diff", "old.yaml", "nowhere.yaml"]).0, 2);
    let git = |arguments: &[&str]| {
        let all = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        let done = Command::new("git").args(all).args(arguments).current_dir(&scratch.0).output();
        done.is_ok_and(|output| output.status.success())
    };
    if git(&["init", "-q", "."]) && git(&["add", "old.yaml"]) && git(&["commit", "-qm", "x"]) {
        scratch.write("old.yaml", &format!("{text}      email: string\n"));
        assert_eq!(scratch.answer(&["diff", "HEAD", "old.yaml"]).0, 3);
        assert_eq!(scratch.answer(&["diff", "HEAD:old.yaml", "old.yaml"]).0, 3);
    }
}

#[test]
fn two_layouts_side_by_side() {
    let scratch = Scratch::new("compare");
    let layout = |records: &str, bytes: &str| {
        format!(
            "cairn: 1\nnamespaces: {{app: {{replication-factor: 1}}}}\nentities: {{e: {{namespace: app, records: {records}, bins: {{data: blob:{bytes}}}}}}}\n"
        )
    };
    scratch.write("single.yaml", &layout("10_000_000", "50"));
    scratch.write("together.yaml", &layout("100_000", "5000"));
    let (code, text) = scratch.answer(&["size", "--compare", "single.yaml", "together.yaml"]);
    assert_eq!(code, 0);
    compare("compare.txt", &text);
    assert!(
        text.contains("610.35 MiB") && text.contains("6.10 MiB") && text.contains("100x less"),
        "{text}"
    );
}

#[test]
fn rules_and_schema_are_json() {
    let scratch = Scratch::new("rules");
    let (code, json) = scratch.answer(&["rules", "--json"]);
    assert_eq!(code, 0);
    for rule in cairn_model::rules::RULES {
        assert!(json.contains(&format!("\"id\": \"{}\"", rule.id)), "{}", rule.id);
    }
    let (code, schema) = scratch.answer(&["schema"]);
    assert_eq!(code, 0);
    assert!(schema.contains("\"$schema\""));
    assert_eq!(scratch.answer(&["rules", "no-such-rule"]).0, 2);
}

#[test]
fn a_directory_is_a_contract_of_its_files() {
    let scratch = Scratch::new("directory");
    fs::create_dir_all(scratch.0.join("model")).unwrap();
    scratch
        .write("model/namespaces.yaml", "cairn: 1\nnamespaces: {app: {replication-factor: 2}}\n");
    scratch.write("model/users.yml", "cairn: 1\nentities: {user: {namespace: app, set: u, bins: {bio: {type: blob, size: 2KiB}}}}\n");
    assert_eq!(scratch.answer(&["check", "model"]).0, 0);
    assert_eq!(
        scratch.answer(&["check", "model/users.yml"]).0,
        1,
        "its namespace is in the other file"
    );
    assert_eq!(scratch.answer(&["check", "model/users.yml", "model/namespaces.yaml"]).0, 0);
}

#[test]
fn a_contract_is_never_written_over() {
    let scratch = Scratch::new("overwrite");
    let text = EXAMPLES[0].text;
    scratch.write("model.yaml", text);
    for arguments in [
        &["doc", "model.yaml", "-o", "model.yaml"][..],
        &["doc", "model.yaml", "--html", "./model.yaml"],
        &["size", "model.yaml", "--html", "model.yaml"],
        &["plan", ".", "--write", "model.yaml"],
    ] {
        let output = scratch.run(arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains("is the contract itself"), "{said}");
        assert_eq!(fs::read_to_string(scratch.0.join("model.yaml")).unwrap(), text);
    }
}

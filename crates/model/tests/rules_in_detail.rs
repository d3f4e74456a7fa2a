//! What the rules find and what they leave alone, beyond the fixtures.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use cairn_model::{Contract, Diagnostic, Severity, rules};

fn check(text: &str) -> Vec<Diagnostic> {
    let contract =
        Contract::parse([("m.yaml", text)]).unwrap_or_else(|bad| panic!("{:?}", bad.diagnostics));
    rules::check(&contract, None)
}

fn found<'a>(findings: &'a [Diagnostic], rule: &str) -> Vec<&'a Diagnostic> {
    assert!(rules::rule(rule).is_some(), "{rule}");
    findings.iter().filter(|finding| finding.rule == rule).collect()
}

fn bins(bins: &str) -> Vec<Diagnostic> {
    check(&format!(
        "cairn: 1\nnamespaces: {{app: {{replication-factor: 2}}}}\nentities: {{e: {{namespace: app, set: s, bins: {{{bins}}}}}}}"
    ))
}

fn names(findings: &[Diagnostic], rule: &str) -> Vec<String> {
    found(findings, rule).into_iter().filter_map(|finding| finding.bin.clone()).collect()
}

#[test]
fn a_name_that_fits_is_never_too_long() {
    let fine =
        "publish_date_ms: int, follower_count: int, updated_at_ms: int, fifteen_letters: int";
    assert!(names(&bins(fine), "bin-name-too-long").is_empty());
    let findings = bins("notification_type: string, last_modified_ms: int");
    let fixes: Vec<_> =
        found(&findings, "bin-name-too-long").iter().map(|f| f.fix.clone().unwrap()).collect();
    assert_eq!(fixes, ["call it `notif_type`", "call it `last_mod_ms`"]);
}

#[test]
fn names_that_say_nothing() {
    let findings =
        bins("t: int, ts: int, d: int, val: int, timestamp: int, x: int, total: int, id: int");
    assert_eq!(names(&findings, "bin-name-ambiguous"), ["t", "ts", "d", "val", "timestamp", "x"]);
}

#[test]
fn units_of_time_in_names() {
    let findings = bins(
        "a_at_us: {type: int, time: instant}, b_at_ns: {type: int, time: instant}, c_at_ms: {type: int, time: \
         instant}, wait_s: {type: int, time: duration}, d_at: {type: int, time: instant}, e_at: int, wait: {type: \
         int, time: duration}, format: {type: string, time: instant, format: \"%Y-%m-%d\"}",
    );
    assert_eq!(names(&findings, "time-unit-missing"), ["d_at", "e_at", "wait"]);
    let fix = found(&findings, "time-unit-missing")[0].fix.clone().unwrap();
    assert!(fix.contains("`d_at_ms`"), "{fix}");
}

#[test]
fn units_of_time_inside_collections() {
    let findings = bins(
        "comments: {type: list, element: {text: string:9, created_at: int, seen_at_ms: int}, count: 5}, log: {type: map, key: \
         string:3, value: {at: {type: int, time: instant}}, count: 5}",
    );
    let messages: Vec<_> =
        found(&findings, "time-unit-missing").iter().map(|f| f.message.clone()).collect();
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert!(messages[0].contains("`created_at`") && messages[1].contains("`at`"), "{messages:?}");
}

#[test]
fn ranges_of_time() {
    let findings = bins(
        "valid_from_ms: int, locked_until_ms: int, open_from_ms: int, open_to_ms: int, sale_from_ms: int, \
         sale_until_ms: int, from_city: string",
    );
    assert_eq!(names(&findings, "time-range-unpaired"), ["valid_from_ms"]);
    assert_eq!(
        found(&findings, "time-range-unpaired")[0].fix.as_deref(),
        Some("add `valid_to_ms`")
    );
}

#[test]
fn one_concept_in_two_formats() {
    let findings = bins("created_at_ms: int, created_at: {type: string, time: instant}");
    assert_eq!(names(&findings, "time-unit-mixed"), ["created_at"]);
    let findings = bins("created_at_ms: int, created_at_us: int");
    assert_eq!(names(&findings, "time-unit-mixed"), ["created_at_us"]);
    let findings = bins("created_at_ms: int, updated_at_us: int");
    assert!(names(&findings, "time-unit-mixed").is_empty(), "two concepts");
    let findings = bins("created_at_ms: {type: int, unit: s, time: instant}");
    assert_eq!(names(&findings, "time-unit-mixed"), ["created_at_ms"], "name and unit differ");
}

#[test]
fn severities_come_from_the_file() {
    let text = |rules: &str| {
        format!(
            "cairn: 1\nrules: {{{rules}}}\nentities: {{e: {{namespace: n, bins: {{ts: int}}}}}}"
        )
    };
    let severity = |rules: &str| {
        let findings = check(&text(rules));
        found(&findings, "bin-name-ambiguous").first().map(|finding| finding.severity)
    };
    assert_eq!(severity("hot-record: error"), Some(Severity::Warn));
    assert_eq!(severity("bin-name-ambiguous: error"), Some(Severity::Error));
    assert_eq!(severity("bin-name-ambiguous: off"), None);
    let findings = check(&text("bin-name-ambigous: error"));
    let fix = found(&findings, "ignore-without-reason")[0].fix.clone().unwrap();
    assert!(fix.contains("bin-name-ambiguous"), "{fix}");
}

#[test]
fn an_ignore_needs_a_reason_and_covers_what_it_names() {
    let text = |ignore: &str| {
        format!(
            "cairn: 1\nignore: [{{rule: bin-name-ambiguous{ignore}}}]\nentities:\n  a: {{namespace: n, set: a, bins: {{ts: int}}}}\n  b: \
             {{namespace: n, set: b, bins: {{ts: int, d: int}}}}\n"
        )
    };
    let left = |ignore: &str| found(&check(&text(ignore)), "bin-name-ambiguous").len();
    assert_eq!(left(""), 3, "without a reason nothing is ignored");
    assert_eq!(left(", reason: \"\""), 3, "an empty reason is none");
    assert_eq!(left(", reason: why"), 0);
    assert_eq!(left(", entity: b, reason: why"), 1);
    assert_eq!(left(", entity: b, bin: d, reason: why"), 2);
    assert_eq!(found(&check(&text("")), "ignore-without-reason").len(), 1);
}

#[test]
fn the_target_chooses_the_costs() {
    let text = |target: &str| {
        format!(
            "cairn: 1\ntarget: {target}\nnamespaces: {{app: {{replication-factor: 1}}}}\nentities: {{e: {{namespace: app, set: s, records: 1, bins: \
             {{hits: {{type: int, counter: true}}}}}}}}\naccess: [{{name: w, op: write, entity: e, rate: 400/s}}]\ntables: {{t: {{sharding-key: a, \
             sorting-key: {{name: b, type: int}}, distinct: 1M}}}}\n"
        )
    };
    let aerospike = check(&text("aerospike"));
    assert_eq!(found(&aerospike, "hot-record").len(), 1);
    assert_eq!(found(&aerospike, "hot-record")[0].severity, Severity::Advice);
    assert_eq!(found(&aerospike, "sorting-key-not-string").len(), 1);
    let cairn = check(&text("cairn"));
    assert!(found(&cairn, "hot-record").is_empty(), "one record takes the write rate of a core");
    assert!(found(&cairn, "sorting-key-not-string").is_empty(), "order follows the type");
}

#[test]
fn fifty_writes_a_second_are_not_hot_yet() {
    let hot = |rate: &str| {
        let findings = check(&format!(
            "cairn: 1\nentities: {{e: {{namespace: n, records: 1, bins: {{n: int}}}}}}\naccess: [{{name: w, op: write, entity: e, rate: {rate}}}]"
        ));
        found(&findings, "hot-record").len()
    };
    assert_eq!((hot("50/s"), hot("51/s"), hot("3000/min"), hot("3100/min")), (0, 1, 0, 1));
}

#[test]
fn the_fix_of_a_large_read_names_what_fits() {
    let fix = |read: &str| {
        let findings = check(&format!(
            "cairn: 1\nentities: {{e: {{namespace: n, bins: {{meta: string:100, big: {{type: map, key: string:8, value: string:100, count: {{p50: 1000, \
             max: 2000}}}}}}}}}}\naccess: [{{name: r, op: read, entity: e, {read}}}]"
        ));
        found(&findings, "read-amplification").first().and_then(|finding| finding.fix.clone())
    };
    assert!(fix("needs: [meta]").unwrap().contains("projection: bins"));
    assert!(fix("needs: [big], part: one").unwrap().contains("projection: operation"));
    assert!(fix("needs: [big], part: page, elements: 20").unwrap().contains("projection: page"));
    assert!(fix("size: 100, projection: none").unwrap().contains("split"));
    assert!(
        !fix("size: 100").unwrap().contains("so split"),
        "a split only where nothing else fits"
    );
    assert_eq!(fix("needs: [meta], projection: bins"), None);
    assert_eq!(fix("needs: [big]"), None, "it needs nearly all");
    assert_eq!(fix("rate: 5/s"), None, "nobody said what it needs");
}

#[test]
fn a_record_that_outgrows_gets_a_date() {
    let text = "cairn: 1\nentities: {e: {namespace: n, bins: {log: {type: blob, size: 10KiB, growth: 500B/day}}}}";
    let contract = Contract::parse([("m.yaml", text)]).unwrap();
    // 2026-01-01 is day 20,454.
    let findings = rules::check(&contract, Some(20_454));
    let message = &found(&findings, "record-outgrows")[0].message;
    assert!(message.contains("on day 242, 2026-08-31"), "{message}");
}

#[test]
fn entities_in_one_set() {
    let text = |kind: &str| {
        format!(
            "cairn: 1\nentities:\n  a: {{namespace: n, set: s, discriminator: {{bin: kind, value: a}}, bins: {{kind: string}}}}\n  b: {{namespace: n, set: \
             s, discriminator: {{bin: kind, value: {kind}}}, bins: {{kind: string}}}}\n"
        )
    };
    assert!(found(&check(&text("b")), "set-shared").is_empty());
    assert_eq!(
        found(&check(&text("a")), "set-shared").len(),
        1,
        "the same value tells nothing apart"
    );
}

#[test]
fn several_files_are_one_contract() {
    let files = [
        ("a.yaml", "cairn: 1\nnamespaces: {app: {replication-factor: 2}}"),
        ("b.yaml", "cairn: 1\nentities: {user: {namespace: app, bins: {ts: int}}}"),
    ];
    let contract = Contract::parse(files).unwrap();
    let findings = rules::check(&contract, None);
    let finding = found(&findings, "bin-name-ambiguous")[0];
    assert_eq!(contract.sources.name(finding.span), "b.yaml");
    assert!(found(&findings, "unknown-name").is_empty());
    let twice = Contract::parse([files[1], files[1]]).unwrap_err();
    assert!(twice.diagnostics[0].message.contains("another file"));
}

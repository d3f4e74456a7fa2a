//! The documents' worked figures, with the right value where a document is loose.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use cairn_model::contract::{Contract, Growth};
use cairn_model::json::Json;
use cairn_model::quantity::{Bytes, both_units};
use cairn_model::size::{Comparison, Sizes, sizes};

fn sized(text: &str) -> Sizes {
    sizes(&Contract::parse([("model.yaml", text)]).unwrap())
}

fn entities(replication: u32, entities: &str) -> String {
    format!(
        "cairn: 1\nnamespaces: {{app: {{replication-factor: {replication}}}}}\nentities:\n{entities}"
    )
}

fn entity(name: &str, records: &str, bins: &str) -> String {
    format!("  {name}: {{namespace: app, set: s, records: {records}, bins: {{{bins}}}}}\n")
}

/// The document says 12.8 GiB; it is 12.8 GB.
#[test]
fn index_of_100_million_records_with_two_copies() {
    let sizes = sized(&entities(2, &entity("e", "100_000_000", "payload: blob:50")));
    assert_eq!(sizes.total.index_64, 12.8e9);
    assert_eq!(both_units(sizes.total.index_64), "11.92 GiB (12.80 GB)");
    let sizes = sized(&entities(2, &entity("e", "1_000_000", "payload: blob:5KiB")));
    assert_eq!(both_units(sizes.total.index_64), "122.07 MiB (128.00 MB)");
}

/// The document says 640 MiB and 6.4 MiB; it is MB, with one copy.
#[test]
fn one_record_per_child_against_consolidated_records() {
    let text = entities(
        1,
        &(entity("single", "10_000_000", "payload: blob:50")
            + &entity("consolidated", "100_000", "payload: blob:5000")),
    );
    let sizes = sized(&text);
    let [single, consolidated] = [&sizes.entities[0].total, &sizes.entities[1].total];
    assert_eq!(Bytes(single.index_64).to_string(), "610.35 MiB");
    assert_eq!(Bytes(consolidated.index_64).to_string(), "6.10 MiB");
    assert_eq!(single.index_64 / consolidated.index_64, 100.0);
    let comparison = Comparison::of_entities(["single", "consolidated"], &sizes).unwrap();
    assert!(comparison.to_text().contains("100x less"), "{}", comparison.to_text());
    assert_eq!(comparison.to_json().get("index_ratio"), Some(&Json::Number(100.0)));
    // The data itself: 10 million x 50 B.
    assert_eq!(Bytes(10_000_000.0 * 50.0).to_string(), "476.84 MiB");
}

#[test]
fn a_growing_record_leaves_the_band_on_day_242() {
    let bins = "history: {type: blob, size: 10KiB, growth: 500B/day}";
    let sizes = sized(&entities(2, &entity("e", "1", bins)));
    assert_eq!(sizes.entities[0].limit_day, Some(242));
    assert_eq!(sizes.entities[0].limit, 131_072.0);
    assert!(sizes.to_text().contains("reaches 128.00 KiB on day 242"), "{}", sizes.to_text());
}

/// 1,440 readings with doubles are 18,336 bytes of elements; with small integers about 8 KiB.
#[test]
fn a_day_of_readings() {
    let list = |element: &str| {
        format!("readings: {{type: list, element: {element}, count: {{p50: 1440, max: 1440}}}}")
    };
    let bin = |element: &str| {
        sized(&entities(2, &entity("e", "1", &list(element)))).entities[0].bins[0].1
    };
    let overhead = 6.0 + "readings".len() as f64;
    let head = 3.0;
    assert_eq!((bin("[int, double]").p50 - overhead - head).round(), 18_336.0);
    assert_eq!((bin("[\"int:0..1439\", double]").p50 - overhead - head).round(), 18_336.0);
    let small = bin("[\"int:0..1439\", \"int:0..255\"]").p50 - overhead;
    assert!((7_000.0..9_000.0).contains(&small), "{small}");
}

#[test]
fn comments_on_a_post() {
    let text = format!(
        "{}relationships:\n  - {{name: comments, kind: \"1:N\", from: post, to: post, degree: {{p50: 12, p99: \
         500}}, child-size: {{avg: 400, p99: 2800, max: 2800}}, reads: parent}}\n",
        entities(2, &entity("post", "1", "body: string:280"))
    );
    let sizes = sized(&text);
    let comments = &sizes.relationships[0];
    assert_eq!((comments.typical, comments.worst), (200_000.0, 1_400_000.0));
    assert!(!comments.consolidates, "195 KiB is over 128 KiB");
    assert!(!comments.fits, "1.34 MiB is over the 1 MiB of the namespace");
}

/// 128 KiB or less consolidates: the limit itself does.
#[test]
fn exactly_128_kib_consolidates() {
    let text = |child: u32| {
        format!(
            "{}relationships:\n  - {{name: r, kind: \"1:N\", from: e, to: e, degree: 1024, child-size: {child}, \
             reads: parent}}\n",
            entities(2, &entity("e", "1", "body: string:280"))
        )
    };
    assert!(sized(&text(128)).relationships[0].consolidates);
    assert!(!sized(&text(129)).relationships[0].consolidates);
}

/// The document says 1.5 KiB; it is 1.5 KB.
#[test]
fn a_day_of_new_followers() {
    let Some(Growth::Elements(many)) = cairn_model::quantity::growth("100/day") else {
        panic!("elements");
    };
    assert_eq!(many * 15.0, 1_500.0);
}

#[test]
fn json_has_the_agreed_fields() {
    let json = sized(&entities(2, &entity("e", "10", "payload: blob:50"))).to_json();
    let Some(Json::Array(rows)) = json.get("entities") else { panic!("{json}") };
    for field in
        ["name", "record_bytes", "records", "index_bytes_64", "index_bytes_cairn", "limit_day"]
    {
        assert!(rows[0].get(field).is_some(), "{field}");
    }
    assert_eq!(rows[0].get("index_bytes_64"), Some(&Json::Int(1280)));
    assert_eq!(rows[0].get("limit_day"), Some(&Json::Null));
    let bytes = rows[0].get("record_bytes").unwrap();
    assert!(["p50", "p95", "p99"].iter().all(|name| bytes.get(name).is_some()));
}

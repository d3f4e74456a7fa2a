//! Each cell of the table "Choosing the right pattern", decided from numbers.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use cairn_model::contract::Contract;
use cairn_model::plan::{Contention, Decision, IndexCost, Inverse, Pattern, Plan, ShardKind, plan};

fn contract(relationship: &str) -> Contract {
    let text = format!(
        "cairn: 1\nnamespaces: {{app: {{replication-factor: 2}}, cold: {{storage: file, tier: archive, \
         replication-factor: 1}}}}\nentities:\n  parent: {{namespace: app, set: p, records: 1000, ttl: never, \
         bins: {{n: string:10}}}}\n  child: {{namespace: app, set: c, bins: {{n: string:10}}}}\n  session: \
         {{namespace: app, set: s, ttl: 30d, bins: {{n: string:10}}}}\n  archive: {{namespace: cold, set: p, \
         bins: {{n: string:10}}}}\nrelationships:\n  - {{name: r, from: parent, {relationship}}}\n"
    );
    Contract::parse([("m.yaml", text)]).unwrap_or_else(|bad| panic!("{:?}", bad.diagnostics))
}

fn planned(relationship: &str) -> Plan {
    plan(&contract(relationship))
}

fn decided(relationship: &str) -> Decision {
    let mut plan = planned(relationship);
    plan.decisions.pop().unwrap_or_else(|| panic!("{:?}", plan.questions))
}

/// A 1:N relationship that the parent reads.
fn one_to_many(degree: u64, child: u64, more: &str) -> Decision {
    decided(&format!(
        "to: child, kind: \"1:N\", degree: {{p50: 10, avg: 10, p99: {degree}}}, child-size: {child}, {more}"
    ))
}

fn key_list() -> Decision {
    one_to_many(100, 400, "reads: parent, lifecycle: independent")
}

fn consolidation() -> Decision {
    one_to_many(200, 20, "reads: parent")
}

fn child_reference() -> Decision {
    one_to_many(1_000_000, 400, "reads: inverse")
}

fn lists() -> Decision {
    decided("to: parent, kind: \"N:M\", degree: {p50: 80, p99: 600}, id-bytes: 15, reads: both")
}

mod child_count {
    use super::*;

    #[test]
    fn key_list_takes_tens_to_low_hundreds() {
        for degree in [10, 100, 300] {
            assert_eq!(
                one_to_many(degree, 4000, "reads: parent, lifecycle: independent").pattern,
                Pattern::KeyList
            );
        }
        assert_ne!(
            one_to_many(5_000, 4000, "reads: parent, lifecycle: independent").pattern,
            Pattern::KeyList
        );
    }

    #[test]
    fn consolidation_takes_p99_times_size_up_to_128_kib() {
        let whole = one_to_many(1024, 128, "reads: parent");
        assert_eq!((whole.pattern, whole.shards.is_none()), (Pattern::Consolidation, true));
        let over = one_to_many(1024, 129, "reads: parent");
        assert!(over.shards.is_some(), "over 128 KiB it overflows into companions");
    }

    #[test]
    fn child_reference_is_unbounded() {
        assert_eq!(one_to_many(100_000_000, 400, "reads: parent").pattern, Pattern::ChildReference);
    }

    #[test]
    fn lists_are_ordered_per_side() {
        let decision = lists();
        assert_eq!(decision.pattern, Pattern::BidirectionalLists);
        assert!(decision.needs.iter().any(|need| need.contains("ordered lists")));
    }
}

mod who_reads {
    use super::*;

    #[test]
    fn key_list_is_read_from_the_parent() {
        assert_eq!(key_list().pattern, Pattern::KeyList);
        let child_drives = one_to_many(100, 400, "reads: child, lifecycle: independent");
        assert_ne!(child_drives.pattern, Pattern::KeyList);
    }

    #[test]
    fn consolidation_is_read_from_the_parent() {
        assert_eq!(consolidation().pattern, Pattern::Consolidation);
        assert_ne!(one_to_many(200, 20, "reads: child").pattern, Pattern::Consolidation);
    }

    #[test]
    fn child_reference_is_read_from_the_child_or_inversely() {
        for reads in ["child", "inverse"] {
            let decision = one_to_many(200, 20, &format!("reads: {reads}"));
            assert_eq!(decision.pattern, Pattern::ChildReference);
        }
    }

    #[test]
    fn lists_are_read_from_both_sides() {
        assert!(lists().reason.contains("either direction"));
    }
}

mod inverse_access {
    use super::*;

    fn needs_infrastructure(decision: &Decision) -> bool {
        decision.needs.iter().any(|need| need.contains("inverse question"))
    }

    #[test]
    fn key_list_needs_separate_infrastructure() {
        let decision =
            one_to_many(100, 400, "reads: parent, lifecycle: independent, inverse: true");
        assert_eq!(decision.pattern, Pattern::KeyList);
        assert!(needs_infrastructure(&decision));
        assert_eq!(decision.pattern.facts().unwrap().inverse, Inverse::Separate);
        assert!(!needs_infrastructure(&key_list()), "only when it is asked for");
    }

    #[test]
    fn consolidation_needs_separate_infrastructure() {
        let decision = one_to_many(200, 20, "reads: parent, inverse: true");
        assert_eq!(decision.pattern, Pattern::Consolidation);
        assert!(needs_infrastructure(&decision));
        assert_eq!(decision.pattern.facts().unwrap().inverse, Inverse::Separate);
    }

    #[test]
    fn child_reference_answers_natively() {
        let decision = child_reference();
        assert!(!needs_infrastructure(&decision));
        assert!(
            decision
                .needs
                .iter()
                .any(|need| need.contains("secondary index on the bin of `child`"))
        );
        assert_eq!(decision.pattern.facts().unwrap().inverse, Inverse::Native);
    }

    #[test]
    fn lists_answer_natively() {
        assert!(!needs_infrastructure(&lists()));
        assert_eq!(lists().pattern.facts().unwrap().inverse, Inverse::Native);
    }
}

mod write_contention {
    use super::*;

    #[test]
    fn key_list_is_low() {
        let decision =
            one_to_many(100, 400, "reads: parent, lifecycle: independent, writes: 200/s");
        assert_eq!(decision.pattern.facts().unwrap().contention, Contention::Low);
        assert!(
            decision.shards.is_none(),
            "children are separate; the parent changes with new keys only"
        );
    }

    #[test]
    fn consolidation_is_at_risk() {
        let decision = one_to_many(200, 20, "reads: parent, writes: 200/s");
        assert_eq!(decision.pattern.facts().unwrap().contention, Contention::AtConcurrency);
        let shards = decision.shards.unwrap();
        assert_eq!((shards.kind, shards.count), (ShardKind::Hash, Some(5)));
        assert!(one_to_many(200, 20, "reads: parent, writes: 40/s").shards.is_none());
    }

    #[test]
    fn child_reference_is_low() {
        let decision = one_to_many(200, 20, "reads: inverse, writes: 200/s");
        assert_eq!(decision.pattern.facts().unwrap().contention, Contention::Low);
        assert!(decision.shards.is_none());
    }

    #[test]
    fn lists_are_moderate() {
        let hot = decided(
            "to: parent, kind: \"N:M\", degree: 600, id-bytes: 15, reads: both, writes: 120/s",
        );
        assert_eq!(hot.pattern.facts().unwrap().contention, Contention::Moderate);
        assert_eq!(hot.shards.unwrap().count, Some(4));
    }
}

/// 1,000 parents with 10 children each on average.
mod index_cost {
    use super::*;

    #[test]
    fn key_list_costs_an_entry_per_child() {
        assert_eq!(key_list().pattern.facts().unwrap().index_cost, IndexCost::PerChild);
        assert_eq!(key_list().index_entries, Some(11_000.0));
    }

    #[test]
    fn consolidation_costs_an_entry_per_parent() {
        assert_eq!(consolidation().pattern.facts().unwrap().index_cost, IndexCost::PerParent);
        assert_eq!(consolidation().index_entries, Some(1_000.0));
    }

    #[test]
    fn child_reference_costs_an_entry_per_child_and_in_the_secondary_index() {
        let facts = child_reference().pattern.facts().unwrap();
        assert_eq!(facts.index_cost, IndexCost::PerChildAndSecondary);
        assert_eq!(child_reference().index_entries, Some(11_000.0));
        assert!(child_reference().needs.iter().any(|need| need.contains("secondary index")));
    }

    #[test]
    fn lists_cost_an_entry_per_entity() {
        assert_eq!(lists().pattern.facts().unwrap().index_cost, IndexCost::PerEntity);
        assert_eq!(lists().index_entries, Some(1_000.0));
    }
}

#[test]
fn one_to_one_shares_a_record_unless_something_differs() {
    let pattern = |text: &str| decided(&format!("kind: \"1:1\", {text}")).pattern;
    assert_eq!(pattern("to: child"), Pattern::SameRecord);
    assert_eq!(pattern("to: session"), Pattern::SeparateRecords);
    assert_eq!(pattern("to: archive"), Pattern::SplitNamespaces);
    assert_eq!(
        pattern("to: child, parent-reads: 1000/s, child-reads: 1/s"),
        Pattern::SeparateRecords
    );
    assert_eq!(pattern("to: child, parent-reads: 1000/s, child-reads: 900/s"), Pattern::SameRecord);
}

#[test]
fn children_that_expire_on_their_own_are_not_consolidated() {
    let few = one_to_many(50, 20, "reads: parent, child-ttl: 30d");
    assert_eq!(few.pattern, Pattern::KeyList);
    let many = one_to_many(5_000, 20, "reads: parent, child-ttl: 30d");
    assert_eq!(many.pattern, Pattern::ChildReference);
}

#[test]
fn lives_and_rates_come_from_the_entities_too() {
    let parse = |more: &str| {
        let text = format!(
            "cairn: 1\nnamespaces: {{app: {{}}}}\nentities:\n  post: {{namespace: app, set: p, ttl: never, bins: \
             {{n: string:10}}}}\n  flash: {{namespace: app, set: f, ttl: 1d, bins: {{n: string:10}}}}\n  note: \
             {{namespace: app, set: n, ttl: never, bins: {{n: string:10}}}}\n{more}"
        );
        Contract::parse([("m.yaml", text)]).unwrap_or_else(|bad| panic!("{:?}", bad.diagnostics))
    };
    let rel = |to: &str| {
        format!(
            "relationships: [{{name: r, kind: \"1:N\", from: post, to: {to}, degree: 50, child-size: 20, reads: parent}}]\n"
        )
    };
    assert_eq!(plan(&parse(&rel("flash"))).decisions[0].pattern, Pattern::KeyList);
    assert_eq!(plan(&parse(&rel("note"))).decisions[0].pattern, Pattern::Consolidation);
    let reads = "access:\n  - {name: a, op: read, entity: post, rate: 1000/s}\n  - {name: b, op: read, entity: note, rate: 2/s}\n";
    let busy = parse(&(rel("note") + reads));
    assert_eq!(plan(&busy).decisions[0].pattern, Pattern::KeyList);
    let findings = cairn_model::rules::check(&busy, None);
    assert!(findings.iter().any(|finding| finding.rule == "parent-child-rates"));
}

#[test]
fn large_and_recent_is_sliced_by_time() {
    let decision = one_to_many(50_000, 15, "reads: parent, window: recent, growth: 100/day");
    assert_eq!(decision.pattern, Pattern::TimeSlices);
    let shards = decision.shards.unwrap();
    assert_eq!((shards.kind, shards.bytes_each), (ShardKind::Daily, 1_500.0));
}

#[test]
fn followers_go_into_36_shards() {
    let decision = decided(
        "to: parent, kind: \"N:M\", degree: {p50: 80, p99: 300000}, id-bytes: 15, reads: both",
    );
    let shards = decision.shards.unwrap();
    assert_eq!((shards.kind, shards.count, shards.even), (ShardKind::Hash, Some(36), Some(35)));
}

#[test]
fn what_comes_on_top_has_a_name() {
    assert_eq!(one_to_many(1024, 129, "reads: parent").measures, ["companion-overflow"]);
    assert_eq!(one_to_many(200, 20, "reads: parent, writes: 200/s").measures, ["hot-key-shards"]);
    assert_eq!(one_to_many(200, 20, "reads: parent, inverse: true").measures, ["secondary-index"]);
    assert_eq!(child_reference().measures, ["secondary-index"]);
    assert!(consolidation().measures.is_empty());
}

/// 117 KiB at p99 x average is in the band, 1.4 MiB at p99 x p99 does not fit a record.
#[test]
fn the_largest_records_must_fit_too() {
    let decision = decided(
        "to: child, kind: \"1:N\", degree: {p50: 10, p99: 300}, child-size: {avg: 400, p99: 5000}, reads: parent",
    );
    assert_eq!(decision.pattern, Pattern::Consolidation);
    assert_eq!(decision.shards.unwrap().count, Some(3));
}

#[test]
fn growth_is_asked_for_and_not_guessed() {
    let decision = one_to_many(50_000, 15, "reads: parent, window: recent");
    assert_eq!((decision.pattern, decision.shards), (Pattern::TimeSlices, None));
    assert!(decision.needs.iter().any(|need| need.contains("`growth`")));
}

#[test]
fn every_decision_says_why_and_why_not() {
    for decision in [key_list(), consolidation(), child_reference(), lists()] {
        assert!(!decision.reason.is_empty() && !decision.rejected.is_empty());
        assert!(
            decision
                .rejected
                .iter()
                .all(|(pattern, why)| *pattern != decision.pattern && !why.is_empty())
        );
    }
}

#[test]
fn what_is_not_known_is_asked() {
    let plan = planned("to: child, kind: \"1:N\", reads: parent");
    assert!(plan.decisions.is_empty());
    assert!(plan.questions[0].contains("how many children"), "{:?}", plan.questions);
}

#[test]
fn the_design_is_a_contract() {
    for relationship in [
        "to: child, kind: \"1:N\", degree: {p50: 10, p99: 100}, child-size: 400, reads: parent",
        "to: child, kind: \"1:N\", degree: {p50: 10, p99: 100}, child-size: 400, reads: inverse",
        "to: child, kind: \"1:N\", degree: {p50: 10, p99: 100}, child-size: 400, reads: parent, lifecycle: independent",
        "to: parent, kind: \"N:M\", degree: {p50: 80, p99: 300000}, id-bytes: 15, reads: both",
        "to: session, kind: \"1:1\"",
    ] {
        let before = contract(relationship);
        let decided = plan(&before);
        let text = cairn_model::plan::apply(&before, &decided);
        let after = Contract::parse([("planned.yaml", text.as_str())])
            .unwrap_or_else(|bad| panic!("{text}\n{:?}", bad.diagnostics));
        let chosen = after.relationships[0].pattern.as_deref();
        assert_eq!(chosen, Some(decided.decisions[0].pattern.name()));
        assert_eq!(
            plan(&after).decisions[0].pattern,
            decided.decisions[0].pattern,
            "planning again agrees"
        );
    }
}

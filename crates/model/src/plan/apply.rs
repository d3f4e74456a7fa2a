//! Writes the chosen design back as a contract.

use super::{Decision, Pattern, Plan, ShardPlan};
use crate::contract::{Contract, Relationship, Spread};
use crate::rules::abbreviate;
use crate::yaml::{self, Kind, Node};

/// The contract with the design in it: patterns, the bins that they need, shards. Relationships
/// that already name a pattern keep their bins. Comments are not kept.
pub fn apply(contract: &Contract, plan: &Plan) -> String {
    let mut root = merged(contract);
    for decision in &plan.decisions {
        let Some(rel) = contract.relationships.iter().find(|rel| rel.name == decision.relationship)
        else {
            continue;
        };
        if rel.pattern.is_some() {
            continue;
        }
        set_pattern(&mut root, decision);
        for (entity, bin, declared) in bins(rel, decision) {
            add_bin(&mut root, &entity, &bin, &declared);
        }
        if let Some(shards) = &decision.shards {
            add_shards(&mut root, &rel.from, shards, true);
        }
    }
    for measure in &plan.measures {
        if let Some(shards) = &measure.shards {
            add_shards(&mut root, &measure.entity, shards, measure.measure != "hot-key-shards");
        }
    }
    yaml::emit(&root)
}

/// All files as one tree: sections are joined, the first file wins elsewhere.
fn merged(contract: &Contract) -> Node {
    let mut root: Vec<(Node, Node)> = Vec::new();
    for (file, source) in contract.sources.iter() {
        let Ok(node) = yaml::parse(file, &source.text) else { continue };
        for (key, value) in node.pairs() {
            let known = root.iter_mut().find(|(other, _)| other.text() == key.text());
            match (known.map(|(_, value)| &mut value.kind), &value.kind) {
                (None, _) => root.push((key.clone(), value.clone())),
                (Some(Kind::Map(all)), Kind::Map(more)) => all.extend(more.iter().cloned()),
                (Some(Kind::List(all)), Kind::List(more)) => all.extend(more.iter().cloned()),
                _ => {}
            }
        }
    }
    Node { kind: Kind::Map(root), span: Default::default() }
}

/// The bins that a layout needs: entity, name, declaration.
fn bins(rel: &Relationship, decision: &Decision) -> Vec<(String, String, String)> {
    let id = rel
        .id_bytes
        .map_or("string".to_owned(), |bytes| format!("string:{:.0}", (bytes - 2.0).max(1.0)));
    // One record holds its share, with room for uneven hashing.
    let shards = decision.shards.as_ref().and_then(|shards| shards.count).unwrap_or(1) as f64;
    let share = |degree: Spread| {
        let cap = if shards > 1.0 { (degree.p99 / shards * 1.05).ceil() } else { f64::INFINITY };
        degree.map(|many| many.min(cap))
    };
    let count_of = |degree: Option<Spread>| {
        degree.map(share).map_or(String::new(), |degree| {
            let max = degree.max.unwrap_or(degree.p99);
            format!(
                ", count: {{p50: {:.0}, p95: {:.0}, p99: {:.0}, max: {max:.0}}}",
                degree.p50, degree.p95, degree.p99
            )
        })
    };
    let count = count_of(rel.degree);
    let inverse = count_of(rel.inverse_degree.or(rel.degree));
    let changing = "mutability: frequently-changing";
    let list = |flags: &str, count: &str| {
        format!("{{type: list, element: {id}, order: ordered, {flags}{changing}{count}}}")
    };
    let name = |text: &str| abbreviate(&text.replace(['-', ' '], "_"));
    match decision.pattern {
        Pattern::KeyList => {
            vec![(rel.from.clone(), name(&format!("{}_keys", rel.name)), list("", &count))]
        }
        Pattern::BidirectionalLists => {
            let unique = "flags: [add-unique, no-fail], persist-index: true, ";
            vec![
                (rel.from.clone(), name(&rel.name), list(unique, &count)),
                (rel.to.clone(), name(&format!("{}_of", rel.name)), list(unique, &inverse)),
            ]
        }
        Pattern::Consolidation | Pattern::TimeSlices => {
            let size =
                rel.child_size.map_or("string".into(), |size| format!("string:{:.0}", size.avg));
            let map = format!(
                "{{type: map, key: {id}, value: {size}, order: key-ordered, {changing}{count}}}"
            );
            vec![(rel.from.clone(), name(&rel.name), map)]
        }
        Pattern::ChildReference => {
            let declared = "{type: string, index: string, mutability: immutable}".to_owned();
            vec![(rel.to.clone(), name(&format!("{}_id", rel.from)), declared)]
        }
        Pattern::SameRecord | Pattern::SeparateRecords | Pattern::SplitNamespaces => Vec::new(),
    }
}

/// A piece of YAML that this file wrote itself.
fn node(text: &str) -> Node {
    yaml::parse(0, text).unwrap_or(Node { kind: Kind::Map(Vec::new()), span: Default::default() })
}

fn set_pattern(root: &mut Node, decision: &Decision) {
    let Some(Kind::List(all)) = root.get_mut("relationships").map(|node| &mut node.kind) else {
        return;
    };
    let wanted =
        |node: &&mut Node| node.get("name").and_then(Node::text) == Some(&decision.relationship);
    if let Some(rel) = all.iter_mut().find(wanted) {
        rel.insert("pattern", node(decision.pattern.name()));
    }
}

fn add_bin(root: &mut Node, entity: &str, bin: &str, declared: &str) {
    let bins = root
        .get_mut("entities")
        .and_then(|all| all.get_mut(entity))
        .and_then(|e| e.get_mut("bins"));
    if let Some(bins) = bins {
        bins.insert(bin, node(declared));
    }
}

fn add_shards(root: &mut Node, entity: &str, shards: &ShardPlan, on_demand: bool) {
    let count = shards.count.map_or(String::new(), |count| format!(", count: {count}"));
    let demand = if on_demand { ", on-demand: true" } else { "" };
    let text = format!("{{kind: {}{count}{demand}}}", shards.kind.name());
    if let Some(found) = root.get_mut("entities").and_then(|all| all.get_mut(entity)) {
        found.insert("shards", node(&text));
    }
    if on_demand {
        let subkeys = "{type: [\"string:11\", \"int:1..4096\"], mutability: slowly-changing}";
        add_bin(root, entity, "subkeys", subkeys);
    }
}

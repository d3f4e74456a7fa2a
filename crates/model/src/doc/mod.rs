//! The contract as a document for people: Markdown, or one HTML page.

mod blocks;
mod diagram;
mod sample;

use blocks::Block;

use crate::contract::{Access, Bin, By, Contract, Entity, Identifier};
use crate::diagnostic::{Diagnostic, Severity};
use crate::json::Json;
use crate::plan::{Plan, plan};
use crate::quantity::{Bytes, both_units, grouped, rate_text, span_text};
use crate::rules;
use crate::size::{EntitySize, Sizes, sizes};

/// The document as Markdown.
pub fn markdown(contract: &Contract) -> String {
    blocks::markdown(title(contract), &document(contract))
}

/// The document as one HTML page that loads nothing.
pub fn html(contract: &Contract) -> String {
    blocks::html(title(contract), &document(contract))
}

fn title(contract: &Contract) -> &str {
    contract.description.as_deref().unwrap_or("Data model")
}

fn document(contract: &Contract) -> Vec<Block> {
    let sizes = sizes(contract);
    let findings = rules::check(contract, None);
    let mut out = vec![Block::Text(overview(contract, &sizes))];
    if !contract.entities.is_empty() {
        out.push(Block::Drawing {
            mermaid: diagram::mermaid(contract),
            svg: diagram::svg(contract),
        });
    }
    namespaces(contract, &mut out);
    if !contract.entities.is_empty() {
        out.push(Block::Heading(2, "Entities".into()));
    }
    for (one, size) in contract.entities.iter().zip(&sizes.entities) {
        entity(contract, one, size, &mut out);
    }
    identifiers(contract, &mut out);
    tables(contract, &mut out);
    access(contract, &mut out);
    decisions(&plan(contract), &mut out);
    costs(&sizes, &mut out);
    open_points(contract, &findings, &mut out);
    out
}

fn overview(contract: &Contract, sizes: &Sizes) -> String {
    format!(
        "Entities: {}; namespaces: {}; target: {}. {} records with their copies, {} of storage, {} of index memory.",
        contract.entities.len(),
        contract.namespaces.len(),
        match contract.target {
            crate::Target::Aerospike => "Aerospike",
            crate::Target::Cairn => "Cairn",
        },
        grouped(sizes.total.copies),
        Bytes(sizes.total.storage),
        Bytes(match contract.target {
            crate::Target::Aerospike => sizes.total.index_64,
            crate::Target::Cairn => sizes.total.index_cairn,
        })
    )
}

fn dash(text: &Option<String>) -> String {
    text.clone().unwrap_or("-".into())
}

fn life(ttl: Option<f64>) -> String {
    match ttl {
        Some(ttl) if ttl.is_finite() => span_text(ttl),
        Some(_) => "never expires".into(),
        None => "-".into(),
    }
}

fn namespaces(contract: &Contract, out: &mut Vec<Block>) {
    if contract.namespaces.is_empty() {
        return;
    }
    let rows = contract.namespaces.iter().map(|namespace| {
        vec![
            format!("`{}`", namespace.name),
            dash(&namespace.storage),
            dash(&namespace.tier),
            namespace.replication.map_or("-".into(), grouped),
            Bytes(namespace.limit()).to_string(),
            life(namespace.retention_s),
        ]
    });
    out.push(Block::Heading(2, "Namespaces".into()));
    let head = vec!["namespace", "storage", "tier", "copies", "largest record", "retention"];
    out.push(Block::Table(head, rows.collect()));
}

fn entity(contract: &Contract, entity: &Entity, size: &EntitySize, out: &mut Vec<Block>) {
    out.push(Block::Heading(3, entity.name.clone()));
    out.extend(entity.description.clone().map(Block::Text));
    let mut facts = vec![format!("in namespace `{}`, set `{}`", entity.namespace, entity.set)];
    if let Some(key) = &entity.key {
        let parts: Vec<String> = key
            .components()
            .map(|(name, kind)| {
                format!("{name}: {}", kind.map_or("untyped".into(), |kind| kind.describe()))
            })
            .collect();
        facts.push(format!("key `{}` with {}", key.text(), parts.join(", ")));
    }
    let text = |json: &Json, field: &str| match json.get(field) {
        Some(Json::Text(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    if let Some(key) = sample::key(contract, entity) {
        facts.push(format!(
            "for example `{}`: digest `{}`, partition {}",
            text(&key, "key"),
            text(&key, "digest"),
            text(&key, "partition")
        ));
    }
    facts.push(match entity.records {
        Some(records) => format!("{} records, TTL {}", grouped(records), life(entity.ttl_s)),
        None => format!("TTL {}", life(entity.ttl_s)),
    });
    if let Some(shards) = &entity.shards {
        let count = shards.count.map_or(String::new(), |count| format!("{} ", grouped(count)));
        let demand = if shards.on_demand { ", once a record is split" } else { "" };
        facts.push(format!("{count}{} shards{demand}", shards.kind));
    }
    facts.push(format!(
        "a record takes {} at p50, {} at p95, {} at p99",
        Bytes(size.record.p50),
        Bytes(size.record.p95),
        Bytes(size.record.p99)
    ));
    out.push(Block::List(facts));
    let head = vec!["bin", "type", "meaning", "changes", "bytes at p99"];
    let bytes = |bin: &Bin| {
        let found = size.bins.iter().find(|(name, _)| *name == bin.name);
        found.map_or("-".into(), |(_, spread)| Bytes(spread.p99).to_string())
    };
    let rows = entity.bins.iter().map(|bin| {
        vec![
            format!("`{}`", bin.name),
            bin.value.as_ref().map_or("-".into(), |value| value.describe()),
            meaning(bin),
            bin.mutability.map_or("-".into(), |mutability| mutability.name().to_owned()),
            bytes(bin),
        ]
    });
    out.push(Block::Table(head, rows.collect()));
    out.push(Block::Code("json", sample::record(contract, entity).pretty()));
}

/// What a bin's value means, from everything that was declared.
fn meaning(bin: &Bin) -> String {
    let mut parts: Vec<String> = bin.description.iter().cloned().collect();
    match (crate::time::name_and_unit(&bin.name).1.or(bin.unit.as_deref()), bin.time.as_deref()) {
        (Some(unit), Some(kind)) => parts.push(format!("{kind} in {unit}")),
        (None, Some(kind)) => parts.push(kind.to_owned()),
        (Some(unit), None) => parts.push(format!("in {unit}")),
        (None, None) => {}
    }
    if let Some(count) = bin.value.as_ref().and_then(|value| value.count()) {
        let max = count.max.map_or(String::new(), |max| format!(", at most {}", grouped(max)));
        parts.push(format!("{} elements, {} at p99{max}", grouped(count.p50), grouped(count.p99)));
    }
    parts.extend(bin.index.as_ref().map(|kind| format!("secondary index ({kind})")));
    parts.extend(bin.counter.then(|| "counter".to_owned()));
    if let Some(source) = &bin.copy_of {
        let age =
            bin.staleness_s.map_or(String::new(), |age| format!(", up to {} old", span_text(age)));
        parts.push(format!("copy of `{source}`{age}"));
    }
    if parts.is_empty() { "-".into() } else { parts.join("; ") }
}

fn identifiers(contract: &Contract, out: &mut Vec<Block>) {
    if contract.identifiers.is_empty() {
        return;
    }
    let made = |id: &Identifier| {
        let template = id.recipe.input.as_ref().or(id.template.as_ref())?;
        let made = crate::name::id(contract, &id.name, &sample::values(template)).ok()?;
        Some(match made.get("id")? {
            Json::Text(text) => format!("`{text}`"),
            other => format!("`{other}`"),
        })
    };
    let recipe = |id: &Identifier| {
        let recipe = &id.recipe;
        let input = recipe
            .input
            .as_ref()
            .or(id.template.as_ref())
            .map_or("-".into(), |t| format!("`{}`", t.text()));
        match &recipe.algorithm {
            Some(algorithm) => format!(
                "{algorithm} of {input} in {}, seed {}, as {}; on collision: {}",
                if recipe.utf16 { "UTF-16LE" } else { "UTF-8" },
                recipe.seed.map_or("-".into(), |seed| seed.to_string()),
                dash(&recipe.output),
                dash(&recipe.on_collision)
            ),
            None => input,
        }
    };
    let rows = contract.identifiers.iter().map(|id| {
        vec![
            format!("`{}`", id.name),
            id.kind.name().to_owned(),
            recipe(id),
            made(id).unwrap_or("-".into()),
        ]
    });
    out.push(Block::Heading(2, "Identifiers".into()));
    out.push(Block::Table(vec!["identifier", "kind", "recipe", "example"], rows.collect()));
}

fn tables(contract: &Contract, out: &mut Vec<Block>) {
    if contract.tables.is_empty() {
        return;
    }
    let rows = contract.tables.iter().map(|table| {
        vec![
            format!("`{}`", table.name),
            format!("`{}`", table.sharding_key),
            table
                .sorting_key
                .as_ref()
                .map_or("-".into(), |key| format!("`{}` ({})", key.name, key.kind)),
            table.buckets.map_or("-".into(), grouped),
            table.items.map_or("-".into(), grouped),
        ]
    });
    out.push(Block::Heading(2, "Tables".into()));
    let head = vec!["table", "sharding key", "sorting key", "buckets", "items"];
    out.push(Block::Table(head, rows.collect()));
}

fn access(contract: &Contract, out: &mut Vec<Block>) {
    if contract.access.is_empty() {
        return;
    }
    let by = |access: &Access| match &access.by {
        By::Key => "key".to_owned(),
        By::Scan => "scan".to_owned(),
        By::Index => "secondary index".to_owned(),
        By::Bin(bin) => format!("index on `{bin}`"),
    };
    let rows = contract.access.iter().map(|access| {
        let needs = access.needs.iter().map(|need| format!("`{need}`")).collect::<Vec<_>>();
        vec![
            access.name.clone(),
            access.op.clone(),
            format!("`{}`", access.entity),
            by(access),
            access.rate.map_or("-".into(), rate_text),
            if needs.is_empty() { "-".into() } else { needs.join(", ") },
        ]
    });
    out.push(Block::Heading(2, "Access patterns".into()));
    let head = vec!["name", "does", "entity", "by", "rate", "needs"];
    out.push(Block::Table(head, rows.collect()));
}

fn decisions(plan: &Plan, out: &mut Vec<Block>) {
    if plan.decisions.is_empty() && plan.measures.is_empty() {
        return;
    }
    out.push(Block::Heading(2, "Decisions".into()));
    for decision in &plan.decisions {
        out.push(Block::Heading(3, format!("{} ({})", decision.relationship, decision.about)));
        let pattern = decision.pattern;
        let mut points = vec![format!("`{}`: {}", pattern.name(), pattern.about())];
        points.push(format!("because {}", decision.reason));
        points.extend(decision.shards.iter().map(|shards| shards.describe()));
        points.extend(decision.numbers.iter().map(|(name, text)| format!("{name}: {text}")));
        points.extend(decision.needs.iter().map(|need| format!("needs {need}")));
        points.extend(
            decision
                .rejected
                .iter()
                .map(|(pattern, why)| format!("not `{}`: {why}", pattern.name())),
        );
        out.push(Block::List(points));
    }
    let measures = plan.measures.iter().map(|measure| {
        format!("`{}`: {} because {}", measure.entity, measure.measure, measure.reason)
    });
    let measures: Vec<String> = measures.collect();
    if !measures.is_empty() {
        out.push(Block::List(measures));
    }
}

fn costs(sizes: &Sizes, out: &mut Vec<Block>) {
    let rows = sizes.entities.iter().map(|entity| {
        vec![
            format!("`{}`", entity.name),
            grouped(entity.records),
            Bytes(entity.record.p50).to_string(),
            Bytes(entity.record.p99).to_string(),
            Bytes(entity.total.storage).to_string(),
            Bytes(entity.total.index_64).to_string(),
            Bytes(entity.total.index_cairn).to_string(),
        ]
    });
    out.push(Block::Heading(2, "Sizes".into()));
    let head =
        vec!["entity", "records", "p50", "p99", "storage", "index at 64 B", "index in Cairn"];
    out.push(Block::Table(head, rows.collect()));
    out.push(Block::Text(format!(
        "In total {} of storage; index memory {} at 64 bytes per record, {} in Cairn.",
        both_units(sizes.total.storage),
        both_units(sizes.total.index_64),
        both_units(sizes.total.index_cairn)
    )));
}

fn open_points(contract: &Contract, findings: &[Diagnostic], out: &mut Vec<Block>) {
    let (questions, rest): (Vec<_>, Vec<_>) =
        findings.iter().partition(|finding| finding.severity == Severity::Question);
    let point = |finding: &&Diagnostic| match &finding.entity {
        Some(entity) => format!("`{entity}`: {} ({})", finding.message, finding.rule),
        None => format!("{} ({})", finding.message, finding.rule),
    };
    if !questions.is_empty() {
        out.push(Block::Heading(2, "Open questions".into()));
        out.push(Block::List(questions.iter().map(point).collect()));
    }
    if !rest.is_empty() {
        out.push(Block::Heading(2, "Findings".into()));
        out.push(Block::List(rest.iter().map(point).collect()));
    }
    let accepted = contract.ignores.iter().filter_map(|ignore| {
        let about =
            ignore.entity.as_ref().map_or(String::new(), |entity| format!(" for `{entity}`"));
        Some(format!("`{}`{about}: {}", ignore.rule, ignore.reason.as_ref()?))
    });
    let accepted: Vec<String> = accepted.collect();
    if !accepted.is_empty() {
        out.push(Block::Heading(2, "Accepted findings".into()));
        out.push(Block::List(accepted));
    }
}

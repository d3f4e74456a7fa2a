//! From a validated file to the types of [`super`].

use super::shape::Unit;
use super::template::{ComponentType, Template};
use super::types;
use super::{
    Access, Bin, By, Cardinality, Contract, Discriminator, Entity, Growth, HashRecipe, Identifier,
    IdentifierKind, Ignore, Mutability, Namespace, Place, Reads, Relationship, Shards, SortingKey,
    Table, Target,
};
use crate::quantity::{self, SPREAD_FIELDS, Spread};
use crate::yaml::Node;

fn text(node: &Node, field: &str) -> Option<String> {
    node.get(field).and_then(Node::text).map(str::to_owned)
}

fn number(node: &Node, field: &str, parse: fn(&str) -> Option<f64>) -> Option<f64> {
    node.get(field).and_then(Node::text).and_then(parse)
}

fn flag(node: &Node, field: &str) -> bool {
    node.get(field).and_then(Node::text) == Some("true")
}

fn texts(node: &Node, field: &str) -> Vec<String> {
    let items = node.get(field).map(Node::items).unwrap_or_default();
    items.iter().filter_map(Node::text).map(str::to_owned).collect()
}

fn growth(node: &Node, field: &str) -> Option<Growth> {
    node.get(field).and_then(Node::text).and_then(quantity::growth)
}

/// A span of time; `never` is endless.
fn span(node: &Node, field: &str) -> Option<f64> {
    match node.get(field).and_then(Node::text)? {
        "never" => Some(f64::INFINITY),
        text => quantity::duration(text),
    }
}

/// A distribution: one number or percentiles.
pub fn spread(node: &Node, unit: Unit) -> Option<Spread> {
    let parse = match unit {
        Unit::Count => quantity::count,
        Unit::Size => quantity::bytes,
    };
    match node.text() {
        Some(text) => parse(text).map(Spread::exactly),
        None => Spread::of(SPREAD_FIELDS.map(|name| number(node, name, parse))),
    }
}

/// A distribution in a field.
pub fn spread_field(node: &Node, field: &str, unit: Unit) -> Option<Spread> {
    node.get(field).and_then(|node| spread(node, unit))
}

/// A template with its components, from an object that has both.
pub fn template(node: &Node) -> Option<Template> {
    template_of(node, "template")
}

fn template_of(node: &Node, field: &str) -> Option<Template> {
    let text = node.get(field)?.text()?;
    let components = node.get("components");
    let kind_of = |name: &str| component(components.and_then(|node| node.get(name)));
    Template::parse(text, kind_of).ok()
}

/// Type of a component, and whether keys sort by it.
pub fn component(node: Option<&Node>) -> (Option<ComponentType>, bool) {
    let Some(node) = node else { return (None, false) };
    if let Some(text) = node.text() {
        return (ComponentType::parse(text, ""), false);
    }
    let kind = text(node, "type").and_then(|kind| {
        let full = text(node, "format").map_or(kind.clone(), |format| format!("{kind}:{format}"));
        ComponentType::parse(&full, &text(node, "excludes").unwrap_or_default())
    });
    (kind, flag(node, "sort"))
}

/// Adds what one file declares.
pub fn add_file(root: &Node, contract: &mut Contract) {
    if let Some(target) = text(root, "target") {
        contract.target = if target == "cairn" { Target::Cairn } else { Target::Aerospike };
    }
    contract.description = contract.description.take().or(text(root, "description"));
    let named = |section: &str| root.get(section).map(Node::pairs).unwrap_or_default();
    let listed = |section: &str| root.get(section).map(Node::items).unwrap_or_default();
    contract.namespaces.extend(named("namespaces").iter().map(|(k, v)| namespace(k, v)));
    contract.entities.extend(named("entities").iter().map(|(k, v)| entity(k, v)));
    contract.identifiers.extend(named("identifiers").iter().map(|(k, v)| identifier(k, v)));
    contract.tables.extend(named("tables").iter().map(|(k, v)| table(k, v)));
    contract.relationships.extend(listed("relationships").iter().map(relationship));
    contract.access.extend(listed("access").iter().map(access));
    contract.ignores.extend(listed("ignore").iter().map(ignore));
    contract.severities.extend(named("rules").iter().filter_map(|(key, value)| {
        let severity = crate::Severity::from_name(value.text()?)?;
        Some((key.text()?.to_owned(), severity, key.span))
    }));
}

fn place(name: &Node, node: &Node) -> Place {
    let fields = node.pairs().iter();
    let fields =
        fields.filter_map(|(key, value)| Some((key.text()?.to_owned(), key.span, value.span)));
    Place { name: name.span, fields: fields.collect() }
}

fn name_of(node: &Node) -> String {
    node.text().unwrap_or_default().to_owned()
}

/// The name of an element of a list stands in its `name` field.
fn listed_place(node: &Node) -> (String, Place) {
    let name = node.get("name").unwrap_or(node);
    (name_of(name), place(name, node))
}

fn namespace(key: &Node, node: &Node) -> Namespace {
    Namespace {
        name: name_of(key),
        place: place(key, node),
        storage: text(node, "storage"),
        tier: text(node, "tier"),
        replication: number(node, "replication-factor", quantity::count),
        max_record_size: number(node, "max-record-size", quantity::bytes),
        retention_s: span(node, "retention"),
    }
}

fn entity(key: &Node, node: &Node) -> Entity {
    let bins = node.get("bins").map(Node::pairs).unwrap_or_default();
    Entity {
        name: name_of(key),
        place: place(key, node),
        description: text(node, "description"),
        namespace: text(node, "namespace").unwrap_or_default(),
        set: text(node, "set").unwrap_or_default(),
        key: node.get("key").and_then(template),
        key_place: node.get("key").map_or(key.span, |key| key.get("template").unwrap_or(key).span),
        records: number(node, "records", quantity::count),
        records_growth: growth(node, "records-growth").map(|growth| match growth {
            Growth::Bytes(n) | Growth::Elements(n) => n,
        }),
        ttl_s: span(node, "ttl"),
        bins: bins.iter().map(|(key, node)| bin(key, node)).collect(),
        discriminator: node.get("discriminator").and_then(|node| {
            Some(Discriminator { bin: text(node, "bin")?, value: text(node, "value")? })
        }),
        shards: node.get("shards").map(|node| Shards {
            kind: text(node, "kind").unwrap_or_default(),
            count: number(node, "count", quantity::count),
            on_demand: flag(node, "on-demand"),
        }),
        store_key: flag(node, "store-key"),
        require_key: flag(node, "require-key"),
        mode: text(node, "mode"),
    }
}

fn bin(key: &Node, node: &Node) -> Bin {
    // `name: int` is short for `name: {type: int}`.
    let in_full = node.get("type").is_some();
    let value = if in_full { types::read_in_full(node) } else { types::read(node) };
    Bin {
        name: name_of(key),
        place: place(key, node),
        description: text(node, "description"),
        value,
        unit: text(node, "unit"),
        time: text(node, "time"),
        format: text(node, "format"),
        source: text(node, "source"),
        mutability: text(node, "mutability").and_then(|text| Mutability::from_name(&text)),
        required: flag(node, "required"),
        size: spread_field(node, "size", Unit::Size),
        growth: growth(node, "growth"),
        flags: texts(node, "flags"),
        persist_index: flag(node, "persist-index"),
        element_ttl_s: span(node, "element-ttl"),
        index: text(node, "index"),
        counter: flag(node, "counter"),
        copy_of: text(node, "copy-of"),
        staleness_s: span(node, "staleness"),
    }
}

fn identifier(key: &Node, node: &Node) -> Identifier {
    let kind = match text(node, "kind").as_deref() {
        Some("hash") => IdentifierKind::Hash,
        Some("uuid") => IdentifierKind::Uuid,
        _ => IdentifierKind::Cleartext,
    };
    Identifier {
        name: name_of(key),
        place: place(key, node),
        kind,
        template: template(node),
        recipe: HashRecipe {
            algorithm: text(node, "algorithm"),
            seed: text(node, "seed").and_then(|seed| seed.parse().ok()),
            input: template_of(node, "input"),
            utf16: text(node, "encoding").as_deref() == Some("utf-16le"),
            output: text(node, "output"),
            on_collision: text(node, "on-collision"),
        },
        repeated: number(node, "repeated", quantity::count),
        bytes: number(node, "bytes", quantity::bytes),
    }
}

fn relationship(node: &Node) -> Relationship {
    let (name, place) = listed_place(node);
    Relationship {
        name,
        place,
        description: text(node, "description"),
        kind: match text(node, "kind").as_deref() {
            Some("1:1") => Cardinality::OneToOne,
            Some("N:M") => Cardinality::ManyToMany,
            _ => Cardinality::OneToMany,
        },
        from: text(node, "from").unwrap_or_default(),
        to: text(node, "to").unwrap_or_default(),
        degree: spread_field(node, "degree", Unit::Count),
        inverse_degree: spread_field(node, "inverse-degree", Unit::Count),
        child_size: spread_field(node, "child-size", Unit::Size),
        id_bytes: number(node, "id-bytes", quantity::bytes),
        reads: text(node, "reads").map(|text| match text.as_str() {
            "child" => Reads::Child,
            "both" => Reads::Both,
            "inverse" => Reads::Inverse,
            _ => Reads::Parent,
        }),
        inverse: flag(node, "inverse"),
        recent: text(node, "window").as_deref() == Some("recent"),
        independent: text(node, "lifecycle").map(|text| text == "independent"),
        child_ttl_s: span(node, "child-ttl"),
        writes: number(node, "writes", quantity::rate),
        burst: number(node, "burst", quantity::rate),
        growth: growth(node, "growth"),
        parent_reads: number(node, "parent-reads", quantity::rate),
        child_reads: number(node, "child-reads", quantity::rate),
        parents: number(node, "parents", quantity::count),
        pattern: text(node, "pattern"),
    }
}

fn access(node: &Node) -> Access {
    let (name, place) = listed_place(node);
    Access {
        name,
        place,
        description: text(node, "description"),
        is_read: text(node, "op").as_deref() == Some("read"),
        op: text(node, "op").unwrap_or_default(),
        entity: text(node, "entity").unwrap_or_default(),
        by: match text(node, "by").as_deref() {
            None | Some("key") => By::Key,
            Some("scan") => By::Scan,
            Some("index") => By::Index,
            Some(bin) => By::Bin(bin.to_owned()),
        },
        given: node.get("given").map(|_| texts(node, "given")),
        rate: number(node, "rate", quantity::rate),
        per_record: number(node, "per-record", quantity::rate),
        needs: texts(node, "needs"),
        part: text(node, "part"),
        elements: number(node, "elements", quantity::count),
        projection: text(node, "projection"),
        size: number(node, "size", quantity::bytes),
    }
}

fn table(key: &Node, node: &Node) -> Table {
    let share = |text: String| text.trim_end_matches('%').trim().parse::<f64>().ok();
    Table {
        name: name_of(key),
        place: place(key, node),
        description: text(node, "description"),
        sharding_key: text(node, "sharding-key").unwrap_or_default(),
        sorting_key: node.get("sorting-key").map(|node| SortingKey {
            name: text(node, "name").unwrap_or_default(),
            kind: text(node, "type").unwrap_or_default(),
            format: text(node, "format"),
            span: node.get("type").unwrap_or(node).span,
        }),
        buckets: number(node, "buckets", quantity::count),
        slices: number(node, "slices", quantity::count),
        distinct: number(node, "distinct", quantity::count),
        top_share: text(node, "top-share").and_then(share).map(|percent| percent / 100.0),
        items: number(node, "items", quantity::count),
        range_scans: matches!(text(node, "scans").as_deref(), None | Some("range")),
    }
}

fn ignore(node: &Node) -> Ignore {
    Ignore {
        rule: text(node, "rule").unwrap_or_default(),
        entity: text(node, "entity"),
        bin: text(node, "bin"),
        reason: text(node, "reason").filter(|reason| !reason.trim().is_empty()),
        span: node.get("rule").unwrap_or(node).span,
    }
}

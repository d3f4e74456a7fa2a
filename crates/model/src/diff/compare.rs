//! The comparison itself, part by part.

use std::fmt::{Debug, Display};

use super::Breaks::{Readers, StoredData, Writers};
use super::{Breaks, Change};
use crate::contract::{
    Bin, ComponentType, Contract, Entity, Identifier, Mutability, Namespace, Spread, Table,
    Template, ValueType,
};
use crate::quantity::{Bytes, grouped, span_text};
use crate::yaml;

/// Collects the changes below one path.
struct Changes<'a> {
    path: String,
    all: &'a mut Vec<Change>,
}

impl Changes<'_> {
    fn add(&mut self, what: String, breaks: &[Breaks]) {
        self.all.push(Change { path: self.path.clone(), what, breaks: breaks.to_vec() });
    }

    /// Reports a field that is not the same.
    fn field<T: PartialEq + Debug>(
        &mut self,
        name: &str,
        [old, new]: [&T; 2],
        show: impl Fn(&T) -> String,
        breaks: &[Breaks],
    ) {
        if old != new {
            self.add(format!("{name} {} -> {}", show(old), show(new)), breaks);
        }
    }
}

fn shown<T: Display>(value: &Option<T>) -> String {
    value.as_ref().map_or("none".into(), |value| format!("{value}"))
}

/// All files as text in one form: what differs here differs somewhere.
pub fn canonical(contract: &Contract) -> Vec<String> {
    let trees =
        contract.sources.iter().filter_map(|(file, source)| yaml::parse(file, &source.text).ok());
    let mut sections: Vec<String> = Vec::new();
    for tree in trees {
        for (key, value) in tree.pairs() {
            match value.pairs() {
                [] => sections.push(format!("{}: {}", yaml::emit(key), yaml::emit(value))),
                pairs => sections.extend(pairs.iter().map(|(name, value)| {
                    format!("{}.{}: {}", yaml::emit(key), yaml::emit(name), yaml::emit(value))
                })),
            }
        }
    }
    sections.sort();
    sections
}

/// Pairs up what two contracts declare by name.
fn matched<T>([old, new]: [&[T]; 2], name: impl Fn(&T) -> &str) -> Vec<(&T, Option<&T>)> {
    let find = |wanted: &T| new.iter().find(|other| name(other) == name(wanted));
    old.iter().map(|old| (old, find(old))).collect()
}

fn removed_or<T>(
    pairs: Vec<(&T, Option<&T>)>,
    path: impl Fn(&T) -> String,
    all: &mut Vec<Change>,
    mut compare: impl FnMut(&T, &T, Changes<'_>),
) {
    for (old, new) in pairs {
        let mut changes = Changes { path: path(old), all };
        match new {
            None => changes.add("removed".into(), Breaks::ALL),
            Some(new) => compare(old, new, changes),
        }
    }
}

fn added<T>([old, new]: [&[T]; 2], name: impl Fn(&T) -> &str) -> impl Iterator<Item = &T> {
    new.iter().filter(move |new| !old.iter().any(|old| name(old) == name(new)))
}

/// All changes that matter.
pub fn contracts(old: &Contract, new: &Contract) -> Vec<Change> {
    let mut all = Vec::new();
    let mut root = Changes { path: "contract".into(), all: &mut all };
    root.field("target", [&old.target, &new.target], |target| target.name().into(), &[]);

    let sides = [&old.namespaces[..], &new.namespaces[..]];
    let path = |n: &Namespace| format!("namespace {}", n.name);
    removed_or(matched(sides, |n| &n.name), path, &mut all, namespace);
    let more = added(sides, |n| &n.name).map(path);
    all.extend(more.map(|path| Change { path, what: "added".into(), breaks: Vec::new() }));

    let sides = [&old.entities[..], &new.entities[..]];
    let path = |e: &Entity| e.name.clone();
    removed_or(matched(sides, |e| &e.name), path, &mut all, |a, b, changes| {
        entity([old, new], [a, b], changes);
    });
    let more = added(sides, |e| &e.name).map(path);
    all.extend(more.map(|path| Change { path, what: "added".into(), breaks: Vec::new() }));

    let sides = [&old.identifiers[..], &new.identifiers[..]];
    let path = |i: &Identifier| format!("identifier {}", i.name);
    removed_or(matched(sides, |i| &i.name), path, &mut all, identifier);
    let more = added(sides, |i| &i.name).map(path);
    all.extend(more.map(|path| Change { path, what: "added".into(), breaks: Vec::new() }));

    let sides = [&old.tables[..], &new.tables[..]];
    let path = |t: &Table| format!("table {}", t.name);
    removed_or(matched(sides, |t| &t.name), path, &mut all, table);
    let more = added(sides, |t| &t.name).map(path);
    all.extend(more.map(|path| Change { path, what: "added".into(), breaks: Vec::new() }));

    relationships(old, new, &mut all);
    all
}

fn relationships(old: &Contract, new: &Contract, all: &mut Vec<Change>) {
    let sides = [&old.relationships[..], &new.relationships[..]];
    for (old, new) in matched(sides, |rel| &rel.name) {
        let mut changes = Changes { path: format!("relationship {}", old.name), all };
        let Some(new) = new else {
            changes.add("removed".into(), &[]);
            continue;
        };
        // Another layout puts the data elsewhere; the first decision moves nothing.
        let breaks = if old.pattern.is_some() { Breaks::ALL } else { &[] };
        changes.field("pattern", [&old.pattern, &new.pattern], shown, breaks);
        changes.field("kind", [&old.kind, &new.kind], |kind| kind.name().into(), Breaks::ALL);
    }
    let more = added(sides, |rel| &rel.name).map(|rel| format!("relationship {}", rel.name));
    all.extend(more.map(|path| Change { path, what: "added".into(), breaks: Vec::new() }));
}

fn namespace(old: &Namespace, new: &Namespace, mut changes: Changes<'_>) {
    let smaller = new.limit() < old.limit();
    let size = |bytes: &f64| Bytes(*bytes).to_string();
    let breaks: &[Breaks] = if smaller { &[Writers, StoredData] } else { &[] };
    changes.field("max-record-size", [&old.limit(), &new.limit()], size, breaks);
    lifetime("retention", old.retention_s, new.retention_s, &mut changes);
    changes.field("replication-factor", [&old.replication, &new.replication], shown, &[]);
    changes.field("storage", [&old.storage, &new.storage], shown, &[]);
    changes.field("tier", [&old.tier, &new.tier], shown, &[]);
}

/// A shorter life takes records away earlier than readers expect.
fn lifetime(name: &str, old: Option<f64>, new: Option<f64>, changes: &mut Changes<'_>) {
    let endless = f64::INFINITY;
    let shorter = new.unwrap_or(endless) < old.unwrap_or(endless);
    let show = |ttl: &Option<f64>| match ttl {
        Some(ttl) if ttl.is_finite() => span_text(*ttl),
        Some(_) => "never".into(),
        None => "none".into(),
    };
    let breaks: &[Breaks] = if shorter { &[Readers, StoredData] } else { &[] };
    changes.field(name, [&old, &new], show, breaks);
}

fn template(template: &Option<Template>) -> String {
    template.as_ref().map_or("none".into(), |template| {
        let kind =
            |kind: Option<&ComponentType>| kind.map_or("untyped".into(), ComponentType::describe);
        let parts: Vec<String> =
            template.components().map(|(name, of)| format!("{name}: {}", kind(of))).collect();
        format!("\"{}\" ({})", template.text(), parts.join(", "))
    })
}

fn entity([old_all, new_all]: [&Contract; 2], [old, new]: [&Entity; 2], mut changes: Changes<'_>) {
    changes.field("namespace", [&old.namespace, &new.namespace], Clone::clone, Breaks::ALL);
    changes.field("set", [&old.set, &new.set], Clone::clone, Breaks::ALL);
    // Declaring a key that was not declared asks more of writers only where it is required.
    let breaks = match (&old.key, new.require_key) {
        (Some(_), _) => Breaks::ALL,
        (None, true) => &[Writers][..],
        (None, false) => &[],
    };
    changes.field("key", [&old.key, &new.key], template, breaks);
    lifetime("ttl", old.ttl_s, new.ttl_s, &mut changes);
    let breaks = if old.discriminator.is_some() { Breaks::ALL } else { &[Writers, StoredData] };
    let show = |value: &Option<_>| format!("{value:?}");
    changes.field("discriminator", [&old.discriminator, &new.discriminator], show, breaks);
    let show = |shards: &Option<crate::contract::Shards>| {
        shards.as_ref().map_or("none".into(), |s| format!("{} {}", shown(&s.count), s.kind))
    };
    changes.field("shards", [&old.shards, &new.shards], show, Breaks::ALL);
    let stricter = |is: bool| if is { &[Writers][..] } else { &[] };
    changes.field(
        "require-key",
        [&old.require_key, &new.require_key],
        bool::to_string,
        stricter(new.require_key),
    );
    let enforced = new.mode.as_deref().is_none_or(|mode| mode == "enforce");
    changes.field("mode", [&old.mode, &new.mode], shown, stricter(enforced));
    let numbers = [&old.records, &new.records];
    changes.field("records", numbers, |n| n.map_or("none".into(), grouped), &[]);
    let Changes { path, all } = changes;
    let sides = [&old.bins[..], &new.bins[..]];
    let name = |bin: &Bin| format!("{path}.{}", bin.name);
    removed_or(matched(sides, |bin| &bin.name), name, all, |a, b, changes| {
        let copied =
            [old_all, new_all].iter().any(|contract| is_copied(contract, &old.name, &a.name));
        bin(a, b, copied, changes);
    });
    for bin in added(sides, |bin| &bin.name) {
        let mut changes = Changes { path: format!("{path}.{}", bin.name), all };
        if bin.required {
            changes.add("added, and required".into(), &[Writers, StoredData]);
        } else {
            changes.add("added".into(), &[]);
        }
    }
}

fn is_copied(contract: &Contract, entity: &str, bin: &str) -> bool {
    let path = format!("{entity}.{bin}");
    let mut bins = contract.entities.iter().flat_map(|entity| &entity.bins);
    bins.any(|bin| bin.copy_of.as_ref() == Some(&path))
}

fn bin(old: &Bin, new: &Bin, copied: bool, mut changes: Changes<'_>) {
    value_type([old.value.as_ref(), new.value.as_ref()], &mut changes);
    changes.field(
        "unit",
        [&old.unit, &new.unit],
        shown,
        if old.unit.is_some() { Breaks::ALL } else { &[] },
    );
    changes.field(
        "time",
        [&old.time, &new.time],
        shown,
        if old.time.is_some() { Breaks::ALL } else { &[] },
    );
    let breaks = if old.format.is_some() { Breaks::ALL } else { &[Writers, StoredData] };
    changes.field("format", [&old.format, &new.format], shown, breaks);
    mutability([old.mutability, new.mutability], copied, &mut changes);
    let breaks: &[Breaks] = if new.required { &[Writers, StoredData] } else { &[Readers] };
    changes.field("required", [&old.required, &new.required], bool::to_string, breaks);
    capped("size", [old.size, new.size], &mut changes);
    let breaks: &[Breaks] = if old.index.is_some() { &[Readers] } else { &[] };
    changes.field("index", [&old.index, &new.index], shown, breaks);
    changes.field("copy-of", [&old.copy_of, &new.copy_of], shown, &[]);
    changes.field("flags", [&old.flags, &new.flags], |flags| format!("{flags:?}"), &[Writers]);
}

fn mutability([old, new]: [Option<Mutability>; 2], copied: bool, changes: &mut Changes<'_>) {
    let breaks: &[Breaks] = match (old, new) {
        (_, Some(Mutability::Immutable)) => &[Writers],
        (Some(Mutability::Immutable), _) if copied => &[Readers, StoredData],
        _ => &[],
    };
    let show = |m: &Option<Mutability>| m.map_or("none".into(), |m| m.name().to_owned());
    changes.field("mutability", [&old, &new], show, breaks);
}

/// A smaller cap refuses what was allowed.
fn capped(name: &str, [old, new]: [Option<Spread>; 2], changes: &mut Changes<'_>) {
    let cap = |spread: Option<Spread>| spread.and_then(|spread| spread.max);
    let smaller = cap(new).is_some_and(|new| cap(old).is_none_or(|old| new < old));
    let breaks: &[Breaks] = if smaller { &[Writers, StoredData] } else { &[] };
    let show = |spread: &Option<Spread>| {
        let Some(spread) = spread else { return "none".into() };
        let max = spread.max.map_or("none".into(), grouped);
        format!("p50 {} p99 {} max {max}", grouped(spread.p50), grouped(spread.p99))
    };
    changes.field(name, [&old, &new], show, breaks);
}

fn value_type([old, new]: [Option<&ValueType>; 2], changes: &mut Changes<'_>) {
    let (Some(old), Some(new)) = (old, new) else { return };
    match (old, new) {
        (ValueType::Int(a), ValueType::Int(b)) => {
            let narrower = match (a, b) {
                (Some((low, high)), Some((new_low, new_high))) => new_low > low || new_high < high,
                (None, Some(_)) => true,
                _ => false,
            };
            let show = |range: &Option<(i64, i64)>| {
                range.map_or("none".into(), |(a, b)| format!("{a}..{b}"))
            };
            let breaks: &[Breaks] = if narrower { &[Writers, StoredData] } else { &[] };
            changes.field("range", [a, b], show, breaks);
        }
        (ValueType::String(a), ValueType::String(b))
        | (ValueType::Blob(a), ValueType::Blob(b))
        | (ValueType::Geo(a), ValueType::Geo(b)) => capped("size", [*a, *b], changes),
        (ValueType::List(a), ValueType::List(b)) => {
            capped("count", [a.count, b.count], changes);
            changes.field(
                "ordered",
                [&a.ordered, &b.ordered],
                bool::to_string,
                &[Readers, StoredData],
            );
            value_type([a.element.as_ref(), b.element.as_ref()], changes);
        }
        (ValueType::Map(a), ValueType::Map(b)) => {
            capped("count", [a.count, b.count], changes);
            changes.field(
                "ordered",
                [&a.ordered, &b.ordered],
                bool::to_string,
                &[Readers, StoredData],
            );
            changes.field("key", [&a.template, &b.template], template, Breaks::ALL);
            value_type([a.key.as_ref(), b.key.as_ref()], changes);
            value_type([a.value.as_ref(), b.value.as_ref()], changes);
        }
        (ValueType::Struct(a), ValueType::Struct(b)) => fields(a, b, changes),
        // Whether an integer is a time is the field `time` of its bin.
        (ValueType::Int(_), ValueType::Instant) | (ValueType::Instant, ValueType::Int(_)) => {}
        _ if old == new => {}
        _ => {
            let what = format!("type {} -> {}", old.describe(), new.describe());
            changes.add(what, Breaks::ALL);
        }
    }
}

fn fields(old: &[(String, ValueType)], new: &[(String, ValueType)], changes: &mut Changes<'_>) {
    for (name, value) in old {
        match new.iter().find(|(other, _)| other == name) {
            None => changes.add(format!("field `{name}` removed"), Breaks::ALL),
            Some((_, new)) => value_type([Some(value), Some(new)], changes),
        }
    }
    for (name, _) in new.iter().filter(|(name, _)| !old.iter().any(|(other, _)| other == name)) {
        changes.add(format!("field `{name}` added"), &[]);
    }
}

fn identifier(old: &Identifier, new: &Identifier, mut changes: Changes<'_>) {
    let (a, b) = (&old.recipe, &new.recipe);
    changes.field("kind", [&old.kind, &new.kind], |kind| kind.name().into(), Breaks::ALL);
    changes.field("template", [&old.template, &new.template], template, Breaks::ALL);
    changes.field("algorithm", [&a.algorithm, &b.algorithm], shown, Breaks::ALL);
    changes.field("seed", [&a.seed, &b.seed], shown, Breaks::ALL);
    changes.field("input", [&a.input, &b.input], template, Breaks::ALL);
    changes.field("utf-16", [&a.utf16, &b.utf16], bool::to_string, Breaks::ALL);
    changes.field("output", [&a.output, &b.output], shown, Breaks::ALL);
    changes.field("on-collision", [&a.on_collision, &b.on_collision], shown, &[Writers]);
}

fn table(old: &Table, new: &Table, mut changes: Changes<'_>) {
    changes.field(
        "sharding-key",
        [&old.sharding_key, &new.sharding_key],
        Clone::clone,
        Breaks::ALL,
    );
    let sorting = |table: &Table| {
        let key = table.sorting_key.as_ref();
        key.map(|key| format!("{} {} {}", key.name, key.kind, shown(&key.format)))
    };
    changes.field("sorting-key", [&sorting(old), &sorting(new)], shown, Breaks::ALL);
    changes.field("buckets", [&old.buckets, &new.buckets], shown, Breaks::ALL);
}

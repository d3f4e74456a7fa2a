//! What a contract costs: record sizes, storage, index memory, growth.

mod compare;
pub mod encode;
mod html;
mod text;

pub use compare::Comparison;

use cairn_engine::index::Size;

use crate::contract::{Access, Cardinality, Contract, Entity, Growth, Relationship, Spread};
use crate::cost::{
    BAND_HIGH, INDEX_BYTES_AEROSPIKE, INDEX_BYTES_CAIRN, RECORD_CEILING, SECONDARY_ENTRY_BYTES,
};
use crate::json::Json;
use crate::quantity::{Bytes, grouped};
use encode::{Encoder, RECORD_HEADER};

/// Sizes of everything in a contract.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// One row per entity.
    pub entities: Vec<EntitySize>,
    /// One row per relationship that has numbers.
    pub relationships: Vec<RelationshipSize>,
    /// Sums over the entities.
    pub total: Totals,
}

/// Sizes of one entity.
#[derive(Clone, Debug)]
pub struct EntitySize {
    /// Its name.
    pub name: String,
    /// Stored bytes of a record, padding included.
    pub record: Spread,
    /// Stored bytes of a record with p99 elements of p99 size.
    pub worst: f64,
    /// Bytes of each bin, name included.
    pub bins: Vec<(String, Spread)>,
    /// Records, one copy.
    pub records: f64,
    /// Whether the contract says how many records there are.
    pub records_known: bool,
    /// Copies of each record.
    pub replication: f64,
    /// Largest record of its namespace.
    pub max_record_size: f64,
    /// Sums.
    pub total: Totals,
    /// Records that are added in a day, one copy.
    pub records_per_day: f64,
    /// Bytes that a record gains in a day.
    pub growth_per_day: f64,
    /// The limit that growth reaches first.
    pub limit: f64,
    /// The day on which it does.
    pub limit_day: Option<u64>,
    /// What had to be assumed.
    pub notes: Vec<String>,
}

/// Sums, replication included.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Records, all copies.
    pub copies: f64,
    /// Bytes on storage.
    pub storage: f64,
    /// Index memory at 64 bytes per record.
    pub index_64: f64,
    /// Index memory in Cairn.
    pub index_cairn: f64,
    /// Memory of secondary indexes.
    pub secondary: f64,
    /// Bytes written per second.
    pub written_per_s: f64,
}

impl Totals {
    fn plus(self, other: &Totals) -> Totals {
        Totals {
            copies: self.copies + other.copies,
            storage: self.storage + other.storage,
            index_64: self.index_64 + other.index_64,
            index_cairn: self.index_cairn + other.index_cairn,
            secondary: self.secondary + other.secondary,
            written_per_s: self.written_per_s + other.written_per_s,
        }
    }
}

/// The two products of a 1:N relationship, or of one side of an N:M relationship.
#[derive(Clone, Debug, PartialEq)]
pub struct RelationshipSize {
    /// Its name.
    pub name: String,
    /// p99 count x average size: decides consolidation.
    pub typical: f64,
    /// p99 count x p99 size: must stay under the namespace's limit.
    pub worst: f64,
    /// Largest record of the parent's namespace.
    pub limit: f64,
    /// Whether the first product is in the band.
    pub consolidates: bool,
    /// Records that share the children of one parent.
    pub shards: f64,
    /// Whether the second product, over the shards, is under the limit.
    pub fits: bool,
}

/// Computes all sizes.
pub fn sizes(contract: &Contract) -> Sizes {
    let entities: Vec<EntitySize> =
        contract.entities.iter().map(|entity| entity_size(contract, entity)).collect();
    let total = entities.iter().fold(Totals::default(), |sum, entity| sum.plus(&entity.total));
    let relationships = contract.relationships.iter();
    let relationships = relationships.filter_map(|rel| relationship_size(contract, rel)).collect();
    Sizes { entities, relationships, total }
}

/// Bytes that a record takes in storage: padded as the log pads.
pub fn stored(bytes: f64) -> f64 {
    if bytes > RECORD_CEILING {
        bytes.ceil()
    } else {
        Size::of(bytes.ceil() as usize).bytes() as f64
    }
}

/// Sizes of one entity.
pub fn entity_size(contract: &Contract, entity: &Entity) -> EntitySize {
    let encoder = Encoder::new(contract);
    let namespace = contract.namespace(&entity.namespace);
    let key = match &entity.key {
        Some(key) if entity.store_key => 1.0 + key.typical_len() as f64,
        _ => 0.0,
    };
    let mut record = Spread::exactly(RECORD_HEADER + entity.set.len() as f64 + key);
    let mut worst = record.p99;
    let mut capped = record.p99;
    let mut growth_per_day = 0.0;
    let mut bins = Vec::new();
    for bin in &entity.bins {
        let Some(value) = &bin.value else { continue };
        let bytes = encoder.bin(&bin.name, bin.size.unwrap_or_else(|| encoder.in_bin(value)));
        let overhead = bytes.p99 - bin.size.unwrap_or_else(|| encoder.in_bin(value)).p99;
        worst += overhead + bin.size.map_or_else(|| encoder.worst_in_bin(value), |size| size.p99);
        let gained = match bin.growth {
            None => 0.0,
            Some(Growth::Bytes(bytes)) => bytes,
            Some(Growth::Elements(many)) if value.is_collection() => many * encoder.element(value),
            Some(Growth::Elements(bytes)) => bytes,
        };
        growth_per_day += gained;
        let has_cap =
            bin.size.and(bytes.max).is_some() || value.count().is_some_and(|c| c.max.is_some());
        capped += match bytes.max {
            _ if gained == 0.0 => bytes.p99,
            Some(max) if has_cap && max > bytes.p50 => max,
            _ => f64::INFINITY,
        };
        record = record.plus(&bytes);
        bins.push((bin.name.clone(), bytes));
    }
    let record = record.map(stored);
    let limit_size = namespace.map_or(crate::quantity::MIB, |namespace| namespace.limit());
    let (limit, limit_day) = limit_day(record.p99, capped, growth_per_day, limit_size);
    EntitySize {
        name: entity.name.clone(),
        record,
        worst: stored(worst),
        bins,
        records: entity.records.unwrap_or(0.0),
        records_known: entity.records.is_some(),
        replication: namespace.and_then(|namespace| namespace.replication).unwrap_or(1.0),
        max_record_size: limit_size,
        total: totals(contract, entity, &record),
        records_per_day: entity.records_growth.unwrap_or(0.0) * standing_shards(entity),
        growth_per_day,
        limit,
        limit_day,
        notes: notes(entity),
    }
}

fn totals(contract: &Contract, entity: &Entity, record: &Spread) -> Totals {
    let namespace = contract.namespace(&entity.namespace);
    let copies = entity.records.unwrap_or(0.0)
        * standing_shards(entity)
        * namespace.and_then(|namespace| namespace.replication).unwrap_or(1.0);
    let indexes = entity.bins.iter().filter(|bin| bin.index.is_some());
    let entries: f64 = indexes
        .map(|bin| {
            bin.value.as_ref().and_then(|value| value.count()).map_or(1.0, |count| count.avg)
        })
        .sum();
    let writes =
        contract.access.iter().filter(|access| !access.is_read && access.entity == entity.name);
    let written_per_s = writes.map(|access| written(contract, access, record)).sum();
    Totals {
        copies,
        storage: copies * record.avg,
        index_64: copies * INDEX_BYTES_AEROSPIKE,
        index_cairn: copies * INDEX_BYTES_CAIRN,
        secondary: copies * entries * SECONDARY_ENTRY_BYTES,
        written_per_s,
    }
}

/// Records that one logical record always has; shards on demand are the exception, not the rule.
fn standing_shards(entity: &Entity) -> f64 {
    match &entity.shards {
        Some(shards) if shards.on_demand => 1.0,
        _ => entity.shard_count(),
    }
}

/// Bytes per second that an access writes: whole records where the target rewrites them.
fn written(contract: &Contract, access: &Access, record: &Spread) -> f64 {
    let changed = access.size.unwrap_or(record.avg).min(record.avg);
    let bytes = if contract.target.costs().rewrites_record { record.avg } else { changed };
    access.rate.unwrap_or(0.0) * bytes
}

/// The next limit above a record's size, and the day on which growth reaches it.
fn limit_day(now: f64, capped: f64, per_day: f64, max_record_size: f64) -> (f64, Option<u64>) {
    let band = BAND_HIGH.min(max_record_size);
    let limit = if now < band { band } else { max_record_size };
    if per_day <= 0.0 || now >= limit || capped < limit {
        return (limit, None);
    }
    (limit, Some(((limit - now) / per_day).ceil() as u64))
}

fn notes(entity: &Entity) -> Vec<String> {
    let mut notes = Vec::new();
    if entity.records.is_none() {
        notes.push("`records` is not declared: storage and index memory count as 0".to_owned());
    }
    for bin in &entity.bins {
        let Some(value) = &bin.value else { continue };
        if bin.size.is_none() && value.lacks_size() {
            notes.push(format!(
                "bin `{}`: texts without a size are taken as {} bytes",
                bin.name,
                encode::TEXT_ASSUMED
            ));
        }
        if bin.size.is_none() && value.is_collection() && value.count().is_none() {
            notes.push(format!("bin `{}`: without a `count` it is taken as empty", bin.name));
        }
        if let (Some(count), true) = (value.count(), has_counting_int(value)) {
            notes.push(format!(
                "bin `{}`: integers without a range are taken as 0..{}",
                bin.name,
                grouped((count.p99 - 1.0).max(0.0))
            ));
        }
    }
    notes
}

fn has_counting_int(value: &crate::contract::ValueType) -> bool {
    use crate::contract::ValueType;
    match value {
        ValueType::Int(range) => range.is_none(),
        ValueType::Tuple(types) => types.iter().any(has_counting_int),
        ValueType::Struct(fields) => fields.iter().any(|(_, inner)| has_counting_int(inner)),
        ValueType::List(list) => list.element.as_ref().is_some_and(has_counting_int),
        ValueType::Map(map) => [&map.key, &map.value].into_iter().flatten().any(has_counting_int),
        _ => false,
    }
}

/// The products of a relationship, when its degree and child size are known.
pub fn relationship_size(contract: &Contract, rel: &Relationship) -> Option<RelationshipSize> {
    let degree = rel.degree?;
    let child = match rel.kind {
        Cardinality::OneToOne => return None,
        Cardinality::ManyToMany => Spread::exactly(rel.id_bytes?),
        Cardinality::OneToMany => child_size(contract, rel)?,
    };
    let limit = contract
        .entity(&rel.from)
        .and_then(|entity| contract.namespace(&entity.namespace))
        .map_or(crate::quantity::MIB, |namespace| namespace.limit());
    let (typical, worst) = (degree.p99 * child.avg, degree.p99 * child.p99);
    let shards = contract.entity(&rel.from).map_or(1.0, Entity::shard_count);
    Some(RelationshipSize {
        name: rel.name.clone(),
        typical,
        worst,
        limit,
        consolidates: typical <= BAND_HIGH,
        shards,
        fits: worst / shards <= limit,
    })
}

/// Bytes of a child: declared, or the size of its entity's record.
pub fn child_size(contract: &Contract, rel: &Relationship) -> Option<Spread> {
    rel.child_size.or_else(|| {
        let child = contract.entity(&rel.to).filter(|_| rel.to != rel.from)?;
        let size = entity_size(contract, child);
        Some(size.record.map(|bytes| (bytes - RECORD_HEADER).max(1.0)))
    })
}

impl Sizes {
    /// As JSON.
    pub fn to_json(&self) -> Json {
        let whole = |bytes: f64| Json::from(bytes.round() as u64);
        let entities = self.entities.iter().map(|entity| {
            let percentiles = |spread: &Spread| {
                Json::object([
                    ("p50", whole(spread.p50)),
                    ("p95", whole(spread.p95)),
                    ("p99", whole(spread.p99)),
                ])
            };
            let bins = entity.bins.iter().map(|(name, spread)| (name.clone(), percentiles(spread)));
            Json::object([
                ("name", entity.name.as_str().into()),
                ("record_bytes", percentiles(&entity.record)),
                ("worst_bytes", whole(entity.worst)),
                ("records", whole(entity.records)),
                ("replication_factor", whole(entity.replication)),
                ("storage_bytes", whole(entity.total.storage)),
                ("index_bytes_64", whole(entity.total.index_64)),
                ("index_bytes_cairn", whole(entity.total.index_cairn)),
                ("secondary_index_bytes", whole(entity.total.secondary)),
                ("written_bytes_per_second", whole(entity.total.written_per_s)),
                ("records_per_day", whole(entity.records_per_day)),
                ("growth_bytes_per_day", whole(entity.growth_per_day)),
                ("limit_bytes", whole(entity.limit)),
                ("limit_day", entity.limit_day.into()),
                ("bins", Json::Object(bins.collect())),
                ("notes", Json::array(entity.notes.iter().map(String::as_str))),
            ])
        });
        let relationships = self.relationships.iter().map(|rel| {
            Json::object([
                ("name", rel.name.as_str().into()),
                ("p99_count_x_average_bytes", whole(rel.typical)),
                ("p99_count_x_p99_bytes", whole(rel.worst)),
                ("limit_bytes", whole(rel.limit)),
                ("shards", whole(rel.shards)),
                ("consolidates", rel.consolidates.into()),
                ("fits", rel.fits.into()),
            ])
        });
        Json::object([
            ("entities", Json::Array(entities.collect())),
            ("relationships", Json::Array(relationships.collect())),
            (
                "total",
                Json::object([
                    ("copies", whole(self.total.copies)),
                    ("storage_bytes", whole(self.total.storage)),
                    ("index_bytes_64", whole(self.total.index_64)),
                    ("index_bytes_cairn", whole(self.total.index_cairn)),
                    ("secondary_index_bytes", whole(self.total.secondary)),
                    ("written_bytes_per_second", whole(self.total.written_per_s)),
                ]),
            ),
        ])
    }

    /// As text for a terminal.
    pub fn to_text(&self) -> String {
        text::render(self)
    }

    /// As one HTML page.
    pub fn to_html(&self, title: &str) -> String {
        html::page(self, title)
    }
}

/// "p99 18.35 KiB", for messages.
pub fn p99_text(size: &EntitySize) -> String {
    format!("{} at p99", Bytes(size.record.p99))
}

//! The contract as types, read from one or more files.

mod load;
mod read;
pub mod shape;
pub mod template;
pub mod types;
pub mod validate;

pub use crate::quantity::{Growth, Spread};
pub use load::{UNREADABLE, Unusable};
pub use template::{ComponentType, Part, Template};
pub use types::{ListType, MapType, ValueType};

use crate::diagnostic::Severity;
use crate::source::{Sources, Span};

/// A data model, as declared.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct Contract {
    pub description: Option<String>,
    pub target: Target,
    pub namespaces: Vec<Namespace>,
    pub entities: Vec<Entity>,
    pub identifiers: Vec<Identifier>,
    pub relationships: Vec<Relationship>,
    pub access: Vec<Access>,
    pub tables: Vec<Table>,
    /// Severities that the file sets, by rule id.
    pub severities: Vec<(String, Severity, Span)>,
    pub ignores: Vec<Ignore>,
    pub sources: Sources,
}

/// The store whose costs are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// An Aerospike cluster.
    #[default]
    Aerospike,
    /// Cairn.
    Cairn,
}

/// Where a declaration and its fields stand.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// Its name.
    pub name: Span,
    /// Its fields: name, place of the name, place of the value.
    pub fields: Vec<(String, Span, Span)>,
}

impl Place {
    /// Where the value of a field stands; the name of the declaration when it has no such field.
    pub fn of(&self, field: &str) -> Span {
        let found = self.fields.iter().find(|(name, ..)| name == field);
        found.map_or(self.name, |(_, _, value)| *value)
    }

    /// Where the name of a field stands.
    pub fn key(&self, field: &str) -> Span {
        let found = self.fields.iter().find(|(name, ..)| name == field);
        found.map_or(self.name, |(_, key, _)| *key)
    }
}

/// A namespace.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Namespace {
    pub name: String,
    pub place: Place,
    pub storage: Option<String>,
    pub tier: Option<String>,
    pub replication: Option<f64>,
    pub max_record_size: Option<f64>,
    pub retention_s: Option<f64>,
}

impl Namespace {
    /// Largest record in bytes.
    pub fn limit(&self) -> f64 {
        self.max_record_size.unwrap_or(cairn_value::limits::RECORD_SIZE_DEFAULT as f64)
    }
}

/// A kind of record.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Entity {
    pub name: String,
    pub place: Place,
    pub description: Option<String>,
    pub namespace: String,
    pub set: String,
    pub key: Option<Template>,
    pub key_place: Span,
    pub records: Option<f64>,
    /// Records that are added in a day.
    pub records_growth: Option<f64>,
    /// Infinite for `never`.
    pub ttl_s: Option<f64>,
    pub bins: Vec<Bin>,
    pub discriminator: Option<Discriminator>,
    pub shards: Option<Shards>,
    pub store_key: bool,
    pub require_key: bool,
    pub mode: Option<String>,
}

impl Entity {
    /// The bin of this name.
    pub fn bin(&self, name: &str) -> Option<&Bin> {
        self.bins.iter().find(|bin| bin.name == name)
    }

    /// Sub-records that share the writes of one record.
    pub fn shard_count(&self) -> f64 {
        self.shards.as_ref().and_then(|shards| shards.count).unwrap_or(1.0).max(1.0)
    }
}

/// A bin whose value names the entity.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Discriminator {
    pub bin: String,
    pub value: String,
}

/// Sub-records of a record.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Shards {
    pub kind: String,
    pub count: Option<f64>,
    pub on_demand: bool,
}

/// A bin.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Bin {
    pub name: String,
    pub place: Place,
    pub description: Option<String>,
    pub value: Option<ValueType>,
    pub unit: Option<String>,
    pub time: Option<String>,
    pub format: Option<String>,
    pub source: Option<String>,
    pub mutability: Option<Mutability>,
    pub required: bool,
    /// Bytes of the whole value.
    pub size: Option<Spread>,
    pub growth: Option<Growth>,
    pub flags: Vec<String>,
    pub persist_index: bool,
    pub element_ttl_s: Option<f64>,
    pub index: Option<String>,
    pub counter: bool,
    pub copy_of: Option<String>,
    pub staleness_s: Option<f64>,
}

impl Bin {
    /// Whether the value is a time: declared, or said by the name of a scalar.
    pub fn is_time(&self) -> bool {
        let scalar = matches!(
            self.value,
            Some(ValueType::Int(_) | ValueType::Instant | ValueType::Double | ValueType::String(_))
        );
        self.time.is_some() || (scalar && crate::time::sounds_like_time(&self.name))
    }

    /// Whether it is a point in time, not a length of time.
    pub fn is_instant(&self) -> bool {
        self.is_time() && self.time.as_deref() != Some("duration")
    }
}

/// How often a value changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Mutability {
    Immutable,
    SlowlyChanging,
    FrequentlyChanging,
    ConsistencyCritical,
}

impl Mutability {
    const ALL: [Mutability; 4] = [
        Mutability::Immutable,
        Mutability::SlowlyChanging,
        Mutability::FrequentlyChanging,
        Mutability::ConsistencyCritical,
    ];

    /// Its name in a contract.
    pub fn name(self) -> &'static str {
        shape::MUTABILITIES[self as usize]
    }

    /// The mutability of a name.
    pub fn from_name(name: &str) -> Option<Mutability> {
        Mutability::ALL.into_iter().find(|mutability| mutability.name() == name)
    }
}

/// How an identifier is made.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Identifier {
    pub name: String,
    pub place: Place,
    pub kind: IdentifierKind,
    pub template: Option<Template>,
    pub recipe: HashRecipe,
    /// Records that hold it as a nested value.
    pub repeated: Option<f64>,
    pub bytes: Option<f64>,
}

/// Kinds of identifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum IdentifierKind {
    Cleartext,
    Uuid,
    Hash,
}

impl IdentifierKind {
    /// Its name in a contract.
    pub fn name(self) -> &'static str {
        ["cleartext", "uuid", "hash"][self as usize]
    }
}

/// Everything that every client must do alike to get the same hash.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct HashRecipe {
    pub algorithm: Option<String>,
    pub seed: Option<u64>,
    pub input: Option<Template>,
    pub utf16: bool,
    pub output: Option<String>,
    pub on_collision: Option<String>,
}

/// Cardinality of a relationship.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Cardinality {
    OneToOne,
    OneToMany,
    ManyToMany,
}

impl Cardinality {
    /// Its name in a contract.
    pub fn name(self) -> &'static str {
        ["1:1", "1:N", "N:M"][self as usize]
    }
}

/// Who drives the reads of a relationship.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Reads {
    Parent,
    Child,
    Both,
    Inverse,
}

/// How two entities relate.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Relationship {
    pub name: String,
    pub place: Place,
    pub description: Option<String>,
    pub kind: Cardinality,
    pub from: String,
    pub to: String,
    pub degree: Option<Spread>,
    pub inverse_degree: Option<Spread>,
    pub child_size: Option<Spread>,
    pub id_bytes: Option<f64>,
    pub reads: Option<Reads>,
    pub inverse: bool,
    /// The common read wants the recent children only.
    pub recent: bool,
    pub independent: Option<bool>,
    pub child_ttl_s: Option<f64>,
    pub writes: Option<f64>,
    pub burst: Option<f64>,
    pub growth: Option<Growth>,
    pub parent_reads: Option<f64>,
    pub child_reads: Option<f64>,
    pub parents: Option<f64>,
    pub pattern: Option<String>,
}

/// A read or write of the application.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Access {
    pub name: String,
    pub place: Place,
    pub description: Option<String>,
    pub is_read: bool,
    pub op: String,
    pub entity: String,
    pub by: By,
    pub given: Option<Vec<String>>,
    pub rate: Option<f64>,
    pub per_record: Option<f64>,
    pub needs: Vec<String>,
    pub part: Option<String>,
    pub elements: Option<f64>,
    pub projection: Option<String>,
    pub size: Option<f64>,
}

/// How an access finds its records.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum By {
    Key,
    Scan,
    Index,
    Bin(String),
}

/// An ordered table.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Table {
    pub name: String,
    pub place: Place,
    pub description: Option<String>,
    pub sharding_key: String,
    pub sorting_key: Option<SortingKey>,
    pub buckets: Option<f64>,
    pub slices: Option<f64>,
    pub distinct: Option<f64>,
    pub top_share: Option<f64>,
    pub items: Option<f64>,
    pub range_scans: bool,
}

/// What orders the items of a table.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct SortingKey {
    pub name: String,
    pub kind: String,
    pub format: Option<String>,
    pub span: Span,
}

/// A finding that was accepted.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Ignore {
    pub rule: String,
    pub entity: Option<String>,
    pub bin: Option<String>,
    pub reason: Option<String>,
    pub span: Span,
}

impl Contract {
    /// The namespace of this name.
    pub fn namespace(&self, name: &str) -> Option<&Namespace> {
        self.namespaces.iter().find(|namespace| namespace.name == name)
    }

    /// The entity of this name.
    pub fn entity(&self, name: &str) -> Option<&Entity> {
        self.entities.iter().find(|entity| entity.name == name)
    }

    /// The identifier of this name.
    pub fn identifier(&self, name: &str) -> Option<&Identifier> {
        self.identifiers.iter().find(|identifier| identifier.name == name)
    }

    /// Reads per second of an entity, all its access patterns together; nothing when none has a
    /// rate.
    pub fn read_rate(&self, entity: &str) -> Option<f64> {
        let reads = self.access.iter().filter(|access| access.is_read && access.entity == entity);
        let rates: Vec<f64> = reads.filter_map(|access| access.rate).collect();
        (!rates.is_empty()).then(|| rates.iter().sum())
    }

    /// Reads of parents and of children: declared with the relationship, or by their entities'
    /// access patterns.
    pub fn read_rates(&self, rel: &Relationship) -> Option<(f64, f64)> {
        let of = |entity: &str| self.read_rate(entity).filter(|_| rel.from != rel.to);
        Some((
            rel.parent_reads.or_else(|| of(&rel.from))?,
            rel.child_reads.or_else(|| of(&rel.to))?,
        ))
    }

    /// How long a child lives: declared with the relationship, or by its entity.
    pub fn child_ttl(&self, rel: &Relationship) -> Option<f64> {
        let own = || self.entity(&rel.to).filter(|_| rel.from != rel.to)?.ttl_s;
        rel.child_ttl_s.or_else(own)
    }

    /// The bin behind `entity.bin`.
    pub fn bin_at(&self, path: &str) -> Option<(&Entity, &Bin)> {
        let (entity, bin) = path.split_once('.')?;
        let entity = self.entity(entity)?;
        Some((entity, entity.bin(bin)?))
    }
}

//! The shape of a contract file: every field once, with its kind and a sentence.
//!
//! Reading, error messages, the JSON Schema and the reference page all come from these tables.

use super::shape::Shape::*;
use crate::diagnostic::Severity;

/// What may stand in a place.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Any text.
    Text,
    /// The number 1, the version of the format.
    Version,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// A number of things: `1000000`, `10k`.
    Count,
    /// A whole number of 64 bits.
    Whole,
    /// A size: `1MiB`.
    Size,
    /// A span of time: `30d`; `never` is one too.
    Span,
    /// Events per time: `100/s`.
    Rate,
    /// What accumulates: `500B/day`, `100/day`.
    Growth,
    /// One number or its percentiles.
    SpreadOf(Unit),
    /// Type of a value: a word, a tuple, or the fields of a struct.
    Type,
    /// Fields of an object.
    Object(&'static Object),
    /// Names with a value each.
    Named(&'static Shape),
    /// A list.
    List(&'static Shape),
    /// The first if it is one text, the second if it has fields.
    TextOr(&'static Shape, &'static Shape),
}

/// Unit of the numbers in a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// How many.
    Count,
    /// How many bytes.
    Size,
}

/// An object with its fields.
#[derive(Debug)]
pub struct Object {
    /// Name in the JSON Schema.
    pub name: &'static str,
    /// What it declares.
    pub doc: &'static str,
    /// Its fields.
    pub fields: &'static [Field],
}

/// One field of an object.
#[derive(Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What may stand there.
    pub shape: Shape,
    /// Whether it must be there.
    pub required: bool,
    /// What it means.
    pub doc: &'static str,
}

const fn field(name: &'static str, shape: Shape, doc: &'static str) -> Field {
    Field { name, shape, required: false, doc }
}

const fn required(name: &'static str, shape: Shape, doc: &'static str) -> Field {
    Field { name, shape, required: true, doc }
}

/// How often a value changes.
pub const MUTABILITIES: &[&str] =
    &["immutable", "slowly-changing", "frequently-changing", "consistency-critical"];
/// Orders of a collection.
pub const ORDERS: &[&str] = &["unordered", "ordered", "key-ordered", "key-value-ordered"];
/// Write flags of a collection.
pub const FLAGS: &[&str] =
    &["add-unique", "no-fail", "insert-bounded", "do-partial", "create-only", "update-only"];
/// What the server knows about a record beside its bins.
pub const METADATA: &[&str] = &["ttl", "last-update-time"];

/// The whole file.
pub static ROOT: Object = Object {
    name: "contract",
    doc: "A data model as Cairn checks, sizes, plans, documents and enforces it.",
    fields: &[
        required("cairn", Version, "Version of the format: 1."),
        field("description", Text, "What the model is about."),
        field(
            "target",
            OneOf(&["aerospike", "cairn"]),
            "The store whose costs the sizes and rules use; aerospike when absent.",
        ),
        field("namespaces", Named(&Object(&NAMESPACE)), "Namespaces by name."),
        field("entities", Named(&Object(&ENTITY)), "What is kept in records, by name."),
        field("identifiers", Named(&Object(&IDENTIFIER)), "How identifiers are made, by name."),
        field("relationships", List(&Object(&RELATIONSHIP)), "How entities relate."),
        field("access", List(&Object(&ACCESS)), "Reads and writes of the application."),
        field("tables", Named(&Object(&TABLE)), "Ordered tables by name."),
        field(
            "rules",
            Named(&OneOf(&Severity::NAMES)),
            "Severity of rules in this contract, by rule id.",
        ),
        field(
            "ignore",
            List(&Object(&IGNORE)),
            "Findings that were looked at and accepted, with the reason.",
        ),
    ],
};

static NAMESPACE: Object = Object {
    name: "namespace",
    doc: "Where records are stored and for how long.",
    fields: &[
        field("description", Text, "What it is for."),
        field("storage", OneOf(&["memory", "file", "device"]), "What the records lie on."),
        field("tier", Text, "Name of the hardware, as in nvme or archive."),
        field("replication-factor", Count, "Copies of each record."),
        field("max-record-size", Size, "Largest record; 1MiB when absent, 8MiB at most."),
        field("retention", Span, "How long records live unless an entity says otherwise."),
    ],
};

static ENTITY: Object = Object {
    name: "entity",
    doc: "A kind of record: key, bins, numbers.",
    fields: &[
        field("description", Text, "What it is."),
        required("namespace", Text, "The namespace that holds it."),
        field("set", Text, "The set that holds it."),
        field("key", Object(&KEY), "How its keys are built."),
        field("records", Count, "How many records there are."),
        field("records-growth", Growth, "How many records a day are added."),
        field("ttl", Span, "How long a record lives after its last write, or never."),
        required("bins", Named(&TextOr(&Type, &Object(&BIN))), "Bins by name."),
        field(
            "discriminator",
            Object(&DISCRIMINATOR),
            "Tells it from other entities in the same set.",
        ),
        field("shards", Object(&SHARDS), "Sub-records that share its load or its size."),
        field("store-key", Flag, "Whether the user key is stored with the record."),
        field("require-key", Flag, "Whether writes without the user key are refused."),
        field(
            "mode",
            OneOf(&["enforce", "warn", "off"]),
            "What a server does with writes that do not fit.",
        ),
    ],
};

static KEY: Object = Object {
    name: "key",
    doc: "The user key as a template.",
    fields: &[
        required("template", Text, "Text with {components}, as in sensor:{sensor_id}:{day}."),
        field(
            "components",
            Named(&TextOr(&Text, &Object(&COMPONENT))),
            "Type of each component: int, int:08 (zero-padded), word, string, string:16, uuid, hex:16, date:%Y-%m-%d.",
        ),
    ],
};

static COMPONENT: Object = Object {
    name: "component",
    doc: "A component of a template, in full.",
    fields: &[
        required("type", Text, "int, word, string, uuid, hex or date."),
        field("format", Text, "Width of a zero-padded int, length of a text, pattern of a date."),
        field("excludes", Text, "Characters that never occur in it."),
        field("sort", Flag, "Whether keys are sorted by it."),
    ],
};

static DISCRIMINATOR: Object = Object {
    name: "discriminator",
    doc: "A bin whose value names the entity.",
    fields: &[
        required("bin", Text, "The bin."),
        required("value", Text, "Its value in records of this entity."),
    ],
};

static SHARDS: Object = Object {
    name: "shards",
    doc: "Sub-records {key}:{shard} of one record.",
    fields: &[
        required("kind", OneOf(&["hash", "hourly", "daily"]), "What chooses the shard."),
        field("count", Count, "How many hash shards."),
        field(
            "on-demand",
            Flag,
            "Whether a record starts whole and gets a subkeys bin once it is split.",
        ),
    ],
};

static BIN: Object = Object {
    name: "bin",
    doc: "A named value of a record.",
    fields: &[
        field("description", Text, "What it is."),
        required(
            "type",
            Type,
            "int, int:0..1439, double, bool, string, string:24, blob, geo, hll, list, map, id:NAME.",
        ),
        field("unit", Text, "Unit of a number, as in ms, EUR, celsius."),
        field("time", OneOf(&["instant", "duration"]), "Marks a value that is a time."),
        field("format", Text, "How a time is written as text, as in %Y-%m-%d or iso-8601."),
        field("source", OneOf(METADATA), "Marks a value that is taken from the record's metadata."),
        field("mutability", OneOf(MUTABILITIES), "How often it changes."),
        field("required", Flag, "Whether every record has it."),
        field("size", SpreadOf(Unit::Size), "Bytes of a string or blob, or of a whole collection."),
        field("growth", Growth, "What it gains in a day: elements (100/day) or bytes (500B/day)."),
        field("element", Type, "Type of a list's elements."),
        field("key", TextOr(&Type, &Object(&MAP_KEY)), "Type of a map's keys, or their template."),
        field("value", Type, "Type of a map's values."),
        field("order", OneOf(ORDERS), "Order of a collection."),
        field("flags", List(&OneOf(FLAGS)), "Write flags of a collection."),
        field("persist-index", Flag, "Whether an ordered collection keeps its offset index."),
        field(
            "count",
            SpreadOf(Unit::Count),
            "How many elements: one number or p50, p95, p99 and max.",
        ),
        field(
            "element-ttl",
            Span,
            "How long one element lives, when that differs from the record.",
        ),
        field("index", OneOf(&["int", "string", "blob", "geo"]), "A secondary index on it."),
        field("counter", Flag, "Whether it is only added to."),
        field("copy-of", Text, "entity.bin that it is a copy of."),
        field("staleness", Span, "How old the copy may be."),
        field("range", Text, "LO..HI, smallest and largest value of a number."),
    ],
};

static MAP_KEY: Object = Object {
    name: "map-key",
    doc: "Keys of a map that are built from components.",
    fields: KEY.fields,
};

static IDENTIFIER: Object = Object {
    name: "identifier",
    doc: "How an identifier is made.",
    fields: &[
        field("description", Text, "What it identifies."),
        required(
            "kind",
            OneOf(&["cleartext", "uuid", "hash"]),
            "Readable composite, UUID, or hash.",
        ),
        field("template", Text, "A cleartext identifier, as in {author}-{created_at_ms}."),
        field("algorithm", OneOf(&["xxh32", "xxh64", "xxh3-64", "xxh3-128"]), "The hash."),
        field("seed", Whole, "Seed of the hash."),
        field("input", Text, "The exact text that is hashed, as a template."),
        field(
            "encoding",
            OneOf(&["utf-8", "utf-16le"]),
            "Encoding of that text; utf-8 when absent.",
        ),
        field("components", Named(&TextOr(&Text, &Object(&COMPONENT))), "Type of each component."),
        field("output", OneOf(&["hex8", "hex16", "hex32", "int"]), "How the hash is written."),
        field(
            "on-collision",
            OneOf(&["reject", "overwrite", "rehash", "accept"]),
            "What happens when two inputs have one hash.",
        ),
        field("repeated", Count, "In how many records it stands as a nested value."),
        field("bytes", Size, "Typical length of a cleartext identifier."),
    ],
};

static RELATIONSHIP: Object = Object {
    name: "relationship",
    doc: "How two entities relate, with the numbers that decide the layout.",
    fields: &[
        required("name", Text, "Its name."),
        field("description", Text, "What it is."),
        required("kind", OneOf(&["1:1", "1:N", "N:M"]), "Cardinality."),
        required("from", Text, "The entity that holds (the parent)."),
        required("to", Text, "The entity that is held (the child)."),
        field("degree", SpreadOf(Unit::Count), "Children of one parent."),
        field("inverse-degree", SpreadOf(Unit::Count), "Parents of one child."),
        field("child-size", SpreadOf(Unit::Size), "Bytes of one child."),
        field("id-bytes", Size, "Bytes of one reference."),
        field("reads", OneOf(&["parent", "child", "both", "inverse"]), "Who drives the reads."),
        field("inverse", Flag, "Whether the parents of a child must be found."),
        field(
            "window",
            OneOf(&["all", "recent"]),
            "What the common read wants: all children or the recent ones.",
        ),
        field(
            "lifecycle",
            OneOf(&["shared", "independent"]),
            "Whether children live and are read on their own.",
        ),
        field("child-ttl", Span, "How long one child lives, when that differs from the parent."),
        field("writes", Rate, "Writes to the children of one parent."),
        field("burst", Rate, "The same at the worst moment."),
        field("growth", Growth, "Children that one parent gains in a day."),
        field("parent-reads", Rate, "Reads of parents."),
        field("child-reads", Rate, "Reads of children without their parent."),
        field("parents", Count, "How many parents there are, when the entity does not say."),
        field(
            "pattern",
            OneOf(&[
                "same-record",
                "separate-records",
                "split-namespaces",
                "key-list",
                "consolidation",
                "child-reference",
                "bidirectional-lists",
                "time-slices",
            ]),
            "The layout that was chosen.",
        ),
    ],
};

static ACCESS: Object = Object {
    name: "access",
    doc: "A read or write of the application.",
    fields: &[
        required("name", Text, "Its name."),
        field("description", Text, "What it is for."),
        required("op", OneOf(&["read", "write", "delete"]), "What it does."),
        required("entity", Text, "The entity it touches."),
        field(
            "by",
            Text,
            "How records are found: key, scan, index, or the name of a bin; key when absent.",
        ),
        field("given", List(&Text), "Components and values that the caller has."),
        field("rate", Rate, "How often it happens, all records together."),
        field("per-record", Rate, "How often it hits the busiest record."),
        field("needs", List(&Text), "Bins it needs; ttl and last-update-time are metadata."),
        field("part", OneOf(&["all", "one", "some", "page"]), "How much of a collection it needs."),
        field("elements", Count, "How many elements it needs."),
        field(
            "projection",
            OneOf(&["none", "bins", "operation", "page"]),
            "How it avoids moving the rest.",
        ),
        field("size", Size, "Bytes it needs."),
    ],
};

static TABLE: Object = Object {
    name: "table",
    doc: "Records under sharding.sorting keys, kept in order.",
    fields: &[
        field("description", Text, "What it holds."),
        required("sharding-key", Text, "The attribute that chooses the slice."),
        field(
            "sorting-key",
            Object(&SORTING_KEY),
            "The attribute that orders items of one sharding key.",
        ),
        field("buckets", Count, "Suffixes that even distribution spreads one sharding key over."),
        field("slices", Count, "Slices of the store."),
        field("distinct", Count, "Distinct values of the sharding key."),
        field("top-share", Text, "Share of the busiest sharding key, as in 40%."),
        field("items", Count, "Items in the table."),
        field(
            "scans",
            OneOf(&["range", "item", "none"]),
            "How it is read by sorting key; range when absent.",
        ),
    ],
};

static SORTING_KEY: Object = Object {
    name: "sorting-key",
    doc: "The attribute that orders items.",
    fields: &[
        required("name", Text, "The attribute."),
        required("type", OneOf(&["string", "int", "double"]), "Its type."),
        field("format", Text, "How it is written, as in %Y%m%d."),
    ],
};

static IGNORE: Object = Object {
    name: "ignored-finding",
    doc: "A finding that was looked at and accepted.",
    fields: &[
        required("rule", Text, "Id of the rule."),
        field("entity", Text, "Only for this entity, relationship, table or identifier."),
        field("bin", Text, "Only for this bin."),
        field("reason", Text, "Why it is right here. Without a reason nothing is ignored."),
    ],
};

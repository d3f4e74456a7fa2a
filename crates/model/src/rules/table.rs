//! The table of rules.

use super::Document::{Contract, KeyDesign, Naming, PrimaryKeys, RecordSizing, Relationships};
use super::{
    Rule, collections, copies, identifiers, keys, load, naming, questions, reads, records,
    structure, tables, times,
};
use crate::diagnostic::Severity::{Advice, Error, Question, Warn};

macro_rules! rules {
    ($($id:literal $severity:ident $document:ident $check:path, $finds:literal, $reason:literal, $remedy:literal;)*) => {
        /// All rules, by document.
        pub static RULES: &[Rule] = &[$(Rule {
            id: $id,
            severity: $severity,
            document: $document,
            finds: $finds,
            reason: $reason,
            remedy: $remedy,
            check: $check,
        }),*];
    };
}

rules! {
    "bin-name-too-long" Error Naming naming::too_long,
        "Bin names of more than 15 bytes.",
        "the store refuses names of more than 15 bytes",
        "abbreviate the name; keep its suffix";
    "bin-name-ambiguous" Warn Naming naming::ambiguous,
        "Names that say nothing: single letters, `ts`, `val`, `timestamp`.",
        "a name should be understood in a log or a query without a lookup table",
        "say what the value is, and its unit";
    "time-unit-missing" Warn Naming times::unit_missing,
        "Time bins whose name does not end in a unit.",
        "nobody can tell seconds from milliseconds by looking at a number",
        "end the name in its unit: `_ms`, or `_us`, `_ns`, `_s`";
    "time-unit-mixed" Warn Naming times::mixed,
        "One concept of time kept in different units or formats.",
        "every reader must know which bin holds which format",
        "keep one unit per concept everywhere";
    "time-range-unpaired" Warn Naming times::unpaired,
        "A `_from_` bin without its `_to_` bin.",
        "a range needs both ends; a single upper bound is called `_until_`",
        "add the other end, or call a single upper bound `_until_`";
    "time-as-text" Warn Naming times::as_text,
        "Instants kept as text that does not sort.",
        "text sorts as time only in a fixed-width format from the year downwards",
        "keep epoch milliseconds as an int, or declare a sortable `format`";
    "metadata-as-time" Warn Naming times::metadata,
        "Last-update time or TTL used as a time of the application.",
        "the server sets them: every write moves the last-update time, and the TTL covers the whole record",
        "keep the application's own time in a bin";
    "hash-recipe-incomplete" Error Naming identifiers::recipe,
        "Hashed identifiers without algorithm, seed, canonical input, output or collision policy.",
        "clients that fill in the rest differently make different identifiers",
        "declare algorithm, seed, input, output and on-collision";
    "identifier-format" Advice KeyDesign identifiers::format,
        "Long readable identifiers that are repeated a lot, hashes that are not.",
        "repetition decides: a fixed-size hash saves space where it is repeated, a readable one is better where it is not",
        "choose the format per identifier by how often it is repeated";
    "key-collision" Error KeyDesign keys::collision,
        "Templates that make the same text from different values, or for different entities.",
        "two records under one key overwrite each other",
        "put a separator between components that none of them can hold: type them `word`, or declare `excludes`";
    "key-not-derivable" Error KeyDesign keys::not_derivable,
        "Reads by key whose caller lacks a component of the key.",
        "a key that the caller cannot build takes a lookup or a scan",
        "build the key from what the caller has, or read through an index";
    "key-sort-padding" Warn KeyDesign keys::padding,
        "Numbers that keys sort by, without zero-padding.",
        "as text, 9 sorts behind 10",
        "pad the number to a fixed width, as in `int:010`";
    "copy-too-fresh" Warn KeyDesign copies::too_fresh,
        "Copies that tolerate less than five minutes of staleness.",
        "if a copy that is five minutes old breaks something, it should not be a copy",
        "read the authoritative record; a batch read makes that cheap";
    "copy-of-critical" Warn KeyDesign copies::critical,
        "Copies of values that change often or must be right.",
        "a stale balance, stock or role makes the application act wrongly",
        "keep one authoritative record and read it";
    "collection-unbounded" Warn RecordSizing collections::unbounded,
        "Lists and maps without a largest count.",
        "a collection that only grows leaves the band, then the limit of a record",
        "declare `count: {p50, p95, p99, max}`, and split or cap what grows without end";
    "unique-on-unordered" Warn Relationships collections::unique_on_unordered,
        "Unordered lists with add-unique.",
        "on an unordered list every insert compares with every element; on an ordered one it is a binary search",
        "declare `order: ordered`";
    "persist-index-missing" Advice Relationships collections::persist_index,
        "Ordered lists of thousands of elements without a persisted index.",
        "without it a page and a unique insert walk the whole list first",
        "declare `persist-index: true`";
    "record-size-band" Advice RecordSizing records::band,
        "Records that are outside 1 to 128 KiB at p99.",
        "below, index memory outweighs the data; above, every read, write and defragmentation moves more",
        "consolidate small records, split large ones";
    "record-over-limit" Error RecordSizing records::over_limit,
        "Records that can exceed the largest size of their namespace.",
        "the write that crosses the limit fails",
        "split the collection into shards or time slices, or raise `max-record-size`";
    "record-outgrows" Warn KeyDesign records::outgrows,
        "Records whose growth takes them out of the band or over the limit.",
        "a record that fits today is a migration on the day it does not",
        "slice by time, shard, or cap what accumulates";
    "index-dominates" Advice RecordSizing records::index_dominates,
        "Records whose data is smaller than their index entry.",
        "memory goes into the index, not into data",
        "keep many of them in one record: by time slice or by parent";
    "write-amplification" Advice RecordSizing load::amplification,
        "Large records that are updated often.",
        "every update rewrites the whole record",
        "move what changes often into a smaller record, or slice it by time";
    "hot-record" Advice Relationships load::hot,
        "More than about 50 sustained writes per second to one record.",
        "writers of one record wait for each other, and some fail with KEY_BUSY",
        "measure contention; spread the writes over shards that readers combine";
    "read-amplification" Advice KeyDesign reads::amplification,
        "Reads that move far more than they need.",
        "the common path should transfer what it uses",
        "project bins, elements or a page";
    "parent-child-rates" Advice RecordSizing reads::rates,
        "Parent and child in one record although one is read far more often.",
        "the rarely read part travels, or is loaded, with every read of the other",
        "keep them in separate records under derivable keys";
    "scan-read" Warn KeyDesign reads::scan,
        "Reads that have to scan.",
        "a scan reads every record of the set to find a few",
        "derive the key, or declare a secondary index on the bin";
    "index-reads" Advice KeyDesign reads::index,
        "More than a few reads that go through a secondary index.",
        "such a query asks every node; the key should serve the common reads",
        "design keys for the common reads, keep indexes for the rare ones";
    "child-ttl" Warn RecordSizing reads::child_ttl,
        "Children inside a record that need a TTL of their own.",
        "the TTL belongs to the record; elements do not expire",
        "keep such children in records of their own, or remove them by their time value";
    "inverse-without-index" Warn Relationships reads::inverse,
        "Inverse reads that no index serves.",
        "finding all parents of a child without an index is a scan",
        "declare `index` on a bin that holds the reference, or on a bin with all references";
    "sorting-key-not-string" Warn PrimaryKeys tables::not_string,
        "Sorting keys that are no strings where order is lexicographic.",
        "the range of such a key is ignored, and the whole slice is scanned",
        "keep the sorting key as text that sorts, as in 20180602 or 000042";
    "sharding-key-few" Warn PrimaryKeys tables::few,
        "Sharding keys with too few values for the slices.",
        "all items of one value live on one slice; the other slices idle",
        "choose a key with more values, or spread each over `buckets`";
    "sharding-key-skewed" Warn PrimaryKeys tables::skewed,
        "Sharding keys of which one value has a large share.",
        "the slice of the busiest value carries the load",
        "spread it over `buckets`, or choose another key";
    "set-shared" Error Contract structure::shared_set,
        "Entities in one set that no bin tells apart.",
        "a record of the set could be either, and no check knows which",
        "give each a set of its own, or a `discriminator`";
    "unknown-name" Error Contract structure::unknown_names,
        "References to something that is not declared.",
        "a name without a declaration is a typing error or a missing part",
        "declare it or correct the name";
    "limits" Error Contract structure::limits,
        "Names and numbers that no store accepts.",
        "the store refuses them when it is too late",
        "stay within the limit";
    "ignore-without-reason" Error Contract structure::unreasoned,
        "Ignored findings without a reason, or of rules that do not exist.",
        "without the reason nobody can tell later whether it still holds",
        "add `reason`, or remove the entry";
    "mutability-unknown" Question Naming questions::mutability,
        "Bins without a mutability.",
        "it decides what may be copied and what must be guarded",
        "immutable, slowly-changing, frequently-changing or consistency-critical?";
    "unit-unknown" Question Naming questions::unit,
        "Numbers without a unit.",
        "a contract names the unit of every number",
        "what does the number count or measure? declare `unit`, `time`, `counter` or `range`";
    "component-untyped" Question Naming questions::components,
        "Components of a key without a type.",
        "every client must format the key alike",
        "which type has it? declare it in `components`";
    "records-unknown" Question RecordSizing questions::records,
        "Entities without a number of records.",
        "index memory is the number of records times a constant",
        "how many records will there be?";
    "size-unknown" Question RecordSizing questions::size,
        "Texts and blobs without a size.",
        "the size of a record is an assumption until this is known",
        "how long is it? declare it, as in `string:24` or `size: {p50: 200, p99: 2KiB}`";
    "replication-unknown" Question RecordSizing questions::replication,
        "Namespaces without a replication factor.",
        "every copy costs storage and index memory again",
        "how many copies of a record are kept?";
    "repetition-unknown" Question KeyDesign questions::repetition,
        "Identifiers that do not say how often they are repeated.",
        "repetition decides between a readable and a compact format",
        "in how many records does it stand as a nested value? declare `repeated`";
    "staleness-unknown" Question KeyDesign questions::staleness,
        "Copies that do not say how old they may be.",
        "a copy is right only within the staleness that its readers tolerate",
        "how old may the copy be? declare `staleness`";
    "degree-unknown" Question Relationships questions::degree,
        "Relationships without degree, child size or reader.",
        "the layout follows from how many, how large, and who reads",
        "declare `degree`, `child-size` (or `id-bytes`) and `reads`";
    "distinct-unknown" Question PrimaryKeys questions::distinct,
        "Tables that do not say how many sharding keys there are.",
        "too few values leave slices idle",
        "how many distinct sharding keys are there? declare `distinct`";
}

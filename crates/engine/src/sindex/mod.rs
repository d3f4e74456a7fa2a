//! Secondary indexes: from a value to the records that have it.
//!
//! An index is about a bin (its value, the elements of its list, the keys or values of its map, or
//! a value that a context leads to inside it), about what an expression yields, or about membership
//! of a set. See [`IndexDefinition`].
//!
//! # Shape
//!
//! Each partition has a sorted tree of 16-byte postings: 8 bytes of sort key and 8 of digest. An
//! integer is its own sort key, texts and bytes have a hash, a point its cell and a region the cells
//! that cover it. Leaves are about 90% full, so a posting takes about 18 bytes, slack included.
//!
//! # Truth is in the record
//!
//! A query reads each record it finds anyway, so it asks the record whether it matches, and whether
//! this is the first of its postings that the query meets. So hashes may collide, digests may start
//! alike, a posting may be left over, and a record with many matching values is told once, also by
//! a query that resumes. What must never happen is that a posting is missing: a record's
//! postings change with the record, under the lock of its partition.
//!
//! # Expiry and truncation
//!
//! A sweep removes expired records by the primary index alone, unless an index is about their set:
//! then it reads the record that goes, once, to take its postings out. Until the sweep comes,
//! queries pass over records that have expired or were truncated, as reads do.
//!
//! # Building
//!
//! A new index is built in steps, partition by partition and from the greatest digest down. A write
//! to a record that the build has not reached leaves the index alone: the build will come. Until it
//! is done, queries are refused.

pub(crate) mod catalogue;
mod definition;
mod extract;
mod filter;
mod index;
mod query;
mod registry;
mod tree;

pub use definition::{
    INDEX_NAME_MAX, IndexDefinition, IndexKind, IndexPart, IndexSource, check_context,
};
pub use extract::{Extractor, IndexValue, KeyExtractor};
pub use filter::IndexFilter;
pub use index::{IndexStats, SecondaryIndex};
pub(crate) use query::{Cursor, Lookup, members_below, start_alike};
pub use registry::INDEXES_MAX;
pub(crate) use registry::SecondaryIndexes;

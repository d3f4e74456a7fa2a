//! The primary index: where each record is, in about 23 bytes of memory per record.
//!
//! A namespace has 4,096 partitions, and each has one [`PartitionIndex`] behind a lock of its own:
//! reading takes `&self`, changing takes `&mut self`.
//!
//! # Shape
//!
//! Entries of 20 bytes lie in digest order in leaves of up to 128, and a directory holds the leaves
//! with a lower bound each. Digests are spread evenly, so a search guesses a leaf and a slot, and
//! looks around there; digests chosen to defeat the guess cost a binary search.
//!
//! A full leaf shares with its neighbours, and only when they are full too, five become six. That
//! keeps the leaves about 90% full. Nearly all have memory of the same size, so what one frees
//! another can take, and the heap does not fragment. Small neighbours merge.
//!
//! # Digests that share a prefix
//!
//! An entry keeps 52 digest bits beyond the partition's 12. Two digests may agree in all of them: by
//! chance never, but clients send digests raw and may choose them. So whoever asks for a digest
//! passes a function that reads the full digest in the header of the record at a [`Place`]. It is
//! called only for entries with the right prefix, and among those the entries are in the order
//! of their full digests. Hence finding, iterating and "resume after this digest" are exact, also
//! when somebody fills a partition with one prefix; a search then reads O(log n) headers.
//!
//! The function may fail (a disk can), and the index passes its error on, having changed nothing.
//!
//! # How to use it
//!
//! ```
//! use std::collections::HashMap;
//! use cairn_engine::index::{Entry, PartitionIndex, Place, Search, Size};
//! use cairn_value::{Digest, Error};
//!
//! // Stands for the log: the digests in the headers of the records.
//! let headers: HashMap<Place, Digest> =
//!     [(Place::new(0, 0).unwrap(), Digest([7; 20]))].into_iter().collect();
//! let full = |place: Place| -> Result<Digest, Error> { Ok(headers[&place]) };
//!
//! let mut index = PartitionIndex::new();
//! let entry = Entry {
//!     place: Place::new(0, 0).unwrap(),
//!     void_time: 0,
//!     set_id: 1,
//!     size: Size::of(100),
//!     flags: 0,
//! };
//! // Read, modify, write under one lock: search once, then insert, replace or remove there.
//! match index.search(&Digest([7; 20]), full)? {
//!     Search::Vacant(vacancy) => index.insert_at(vacancy, &entry),
//!     Search::Found(found) => {
//!         index.replace(found.position, &entry);
//!     }
//! }
//! assert_eq!(index.find(&Digest([7; 20]), full)?.unwrap().entry, entry);
//!
//! // A scan: take a batch under the lock, let go, resume after the last digest of the batch.
//! let batch: Vec<Entry> = index.iter_after(Some(&Digest::ZERO), full)?.take(100).collect();
//! assert_eq!(batch, [entry]);
//! // The same from the greatest digest down.
//! assert_eq!(index.iter_before(Some(&Digest([7; 20])), full)?.next(), None);
//! # Ok::<(), Error>(())
//! ```
//!
//! Background work goes in steps: [`PartitionIndex::for_each_expired`] and
//! [`PartitionIndex::walk`] visit a bounded number of entries, [`PartitionIndex::retain_step`] also
//! removes; each leaves a [`Walk`] from which the next step goes on.

mod balance;
mod entry;
mod leaf;
mod partition;
mod place;
mod search;
mod size;
#[cfg(test)]
mod tests;
mod walk;

pub(crate) use entry::PACKED_LEN;
pub use entry::{Entry, PREFIX_BITS};
pub use partition::{Found, PartitionIndex, Position, Search, Vacancy};
pub use place::{BLOCK_BITS, Place, UNIT_BITS, UNIT_BYTES};
pub use size::Size;
pub use walk::{Iter, IterDown, Progress, Walk};

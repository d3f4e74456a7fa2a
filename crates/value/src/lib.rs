//! Values, their packed form and total order, keys and digests.
//!
//! This crate does no I/O and keeps no state. A value lives in Cairn as the bytes that the client
//! sent: a [`Particle`] is a type byte and those bytes, and collections are MessagePack with the
//! conventions described in [`packed`]. [`Value`] is the tree form for people, tests and embedded
//! programs; nothing on the path of a request builds one.

pub mod collection;
pub mod edit;
pub mod error;
pub mod key;
pub mod limits;
pub mod order;
pub mod packed;
pub mod particle;
pub mod record;
pub mod suggest;
pub mod value;

pub use edit::{Edit, Edits};
pub use error::{Error, ResultCode};
pub use key::{Digest, Key, PartitionId, UserKey};
pub use particle::{Particle, ParticleType};
pub use record::{Bin, BinContent, Bins, Meta, NewBin, RecordView};
pub use value::Value;

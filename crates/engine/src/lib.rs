//! The store itself: namespaces, the index, the block log, expiry and truncation.
//!
//! [`Engine`] holds [`Namespace`]s. A record is read with [`Namespace::read`] and changed with
//! [`Namespace::update`], the one read-modify-write primitive. Background work is done by
//! [`Engine::step`]; [`Background`] is a thread that calls it.

mod background;
mod clock;
mod config;
pub mod disk;
mod engine;
mod guard;
pub mod index;
mod log;
mod namespace;
mod policy;
mod rng;
#[cfg(feature = "sabotage")]
pub mod sabotage;
#[cfg(not(feature = "sabotage"))]
mod sabotage;
mod seams;
mod sets;
mod sindex;

pub use background::Background;
pub use clock::{Clock, ManualClock, SystemClock, seconds_since_2010};
pub use config::{Durability, FileStorage, NamespaceConfig, Settings, Storage};
pub use engine::{Engine, NAMESPACES_MAX};
pub use guard::{Refusal, WriteGuard};
pub use log::entry::HEADER_LEN as RECORD_HEADER_LEN;
pub use log::{BLOCK_SIZE_DEFAULT, LogStats};
pub use namespace::{
    Budget, Namespace, NamespaceStats, Progress, Query, QueryEnd, QueryPlace, ScanEnd, Ticket,
};
pub use policy::{
    Change, Exists, Failure, GenerationCheck, ReadPolicy, ReadTouch, Slot, Target, Ttl,
    WritePolicy, Written,
};
pub use rng::{Rng, SystemRng};
pub use seams::{Recovery, Seams};
pub use sets::{SETS_MAX, SetStats};
pub use sindex::{
    Extractor, INDEX_NAME_MAX, INDEXES_MAX, IndexDefinition, IndexFilter, IndexKind, IndexPart,
    IndexSource, IndexStats, IndexValue, KeyExtractor, SecondaryIndex, check_context,
};

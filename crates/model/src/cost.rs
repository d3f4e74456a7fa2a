//! What the two stores cost: the numbers behind sizes and rules.

use crate::contract::Target;
use crate::quantity::KIB;

/// Index memory of a record in Aerospike.
pub const INDEX_BYTES_AEROSPIKE: f64 = 64.0;
/// Index memory of a record in Cairn, slack included: the ceiling that its index keeps.
pub const INDEX_BYTES_CAIRN: f64 = 32.0;
/// Smallest record of the band in which records do well.
pub const BAND_LOW: f64 = KIB;
/// Largest record of that band.
pub const BAND_HIGH: f64 = 128.0 * KIB;
/// Largest record that Aerospike stores at all.
pub const RECORD_CEILING: f64 = cairn_value::limits::RECORD_SIZE_CEILING as f64;
/// Sustained writes per second to one record from which contention deserves a look.
pub const HOT_WRITES: f64 = 50.0;
/// Memory of one secondary-index entry, about: value, digest and the tree around them.
pub const SECONDARY_ENTRY_BYTES: f64 = 32.0;

/// What a store costs and can do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// Index memory of a record.
    pub index_bytes: f64,
    /// Whether every write rewrites the whole record.
    pub rewrites_record: bool,
    /// Whether many writers of one record fail.
    pub contends: bool,
    /// Whether an ordered scan follows the type of the sorting key, not only its text.
    pub typed_order: bool,
}

impl Target {
    /// The costs of this target.
    pub fn costs(self) -> Costs {
        match self {
            Target::Aerospike => Costs {
                index_bytes: INDEX_BYTES_AEROSPIKE,
                rewrites_record: true,
                contends: true,
                typed_order: false,
            },
            Target::Cairn => Costs {
                index_bytes: INDEX_BYTES_CAIRN,
                rewrites_record: false,
                contends: false,
                typed_order: true,
            },
        }
    }

    /// Its name in a contract.
    pub fn name(self) -> &'static str {
        ["aerospike", "cairn"][self as usize]
    }
}

//! The table of settings.

use cairn_engine::{Durability, NamespaceConfig};

use super::value::{self, Kind};

/// One setting of a namespace.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Name behind `namespace.NAME.`.
    pub name: &'static str,
    /// Kind of its value.
    pub kind: Kind,
    /// Value when nothing is said.
    pub default: &'static str,
    /// What it does, for help.
    pub doc: &'static str,
    pub(super) set: fn(&mut NamespaceConfig, &str) -> Result<(), String>,
}

/// Every setting of a namespace.
pub const KEYS: &[Key] = &[
    Key {
        name: "default-ttl",
        kind: Kind::Seconds,
        default: "0",
        doc: "life of records that do not say, 0 is forever",
        set: |config, text| value::seconds(text).map(|value| config.default_ttl_s = value),
    },
    Key {
        name: "nsup-period",
        kind: Kind::Seconds,
        default: "120",
        doc: "time between sweeps of expired records, 0 is never",
        set: |config, text| value::seconds(text).map(|value| config.nsup_period_s = value),
    },
    Key {
        name: "allow-ttl-without-nsup",
        kind: Kind::Bool,
        default: "true",
        doc: "whether records may expire although nothing sweeps them",
        set: |config, text| value::boolean(text).map(|value| config.allow_ttl_without_nsup = value),
    },
    Key {
        name: "max-record-size",
        kind: Kind::Bytes,
        default: "1M",
        doc: "largest record, 8M at most",
        set: |config, text| {
            let bytes = value::bytes(text)?;
            config.max_record_size = usize::try_from(bytes).unwrap_or(usize::MAX);
            Ok(())
        },
    },
    Key {
        name: "durability",
        kind: Kind::Words("none; commit and interval come with file storage"),
        default: "none",
        doc: "what an acknowledged write promises",
        set: set_durability,
    },
    Key {
        name: "storage.size",
        kind: Kind::Bytes,
        default: "8G",
        doc: "records that the namespace may hold; it is not reserved, and 32M beside it serve defragmentation",
        set: |config, text| value::bytes(text).map(|value| config.storage_size = value),
    },
    Key {
        name: "storage.cache",
        kind: Kind::Bytes,
        default: "0",
        doc: "memory for reads from file storage; 0 in memory",
        set: set_cache,
    },
    Key {
        name: "transaction-pending-limit",
        kind: Kind::Count,
        default: "0",
        doc: "commands that may wait for one record, 0 is no limit",
        set: |config, text| {
            value::count(text).map(|value| config.transaction_pending_limit = value)
        },
    },
];

fn set_durability(config: &mut NamespaceConfig, text: &str) -> Result<(), String> {
    match text {
        "none" => {
            config.durability = Durability::None;
            Ok(())
        }
        "commit" | "interval" => {
            Err(format!("`{text}` needs file storage, records in memory have only `none`"))
        }
        _ => Err(format!("`{text}` is not none, commit or interval")),
    }
}

/// There is nothing to cache in memory.
fn set_cache(_: &mut NamespaceConfig, text: &str) -> Result<(), String> {
    match value::bytes(text)? {
        0 => Ok(()),
        _ => Err("a cache needs file storage, records in memory are their own cache".into()),
    }
}

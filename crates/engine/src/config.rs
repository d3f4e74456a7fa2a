//! What can be set about a namespace.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use cairn_value::key::check_namespace_name;
use cairn_value::limits::{RECORD_SIZE_CEILING, RECORD_SIZE_DEFAULT, TTL_MAX_S};
use cairn_value::{Error, ResultCode};

use crate::log::BLOCK_SIZE_DEFAULT;

/// Where a namespace keeps its records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Storage {
    /// In memory; gone when the process ends.
    #[default]
    Memory,
    /// In files.
    File(FileStorage),
}

/// Files of a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStorage {
    /// The files are in a directory of the namespace's name in here.
    pub directory: PathBuf,
    /// Bytes of the cache for records that are on disk.
    pub cache_bytes: u64,
}

impl FileStorage {
    /// Files below `directory`, with a cache of 1 GiB or a quarter of the machine's memory,
    /// whichever is less.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        let cache_bytes = memory_bytes().map_or(CACHE_DEFAULT_MAX, |all| all / 4);
        FileStorage { directory: directory.into(), cache_bytes: cache_bytes.min(CACHE_DEFAULT_MAX) }
    }
}

const CACHE_DEFAULT_MAX: u64 = 1 << 30;

/// The machine's memory, where the system tells it.
fn memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// What an acknowledged write promises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// On disk before the answer leaves.
    Commit,
    /// On disk within this many milliseconds.
    Interval(u32),
    /// Nothing beyond this process.
    #[default]
    None,
}

/// Configuration of one namespace.
///
/// ```
/// use cairn_engine::NamespaceConfig;
/// let config = NamespaceConfig { default_ttl_s: 86_400, ..NamespaceConfig::new("app") };
/// assert!(config.check().is_ok());
/// assert!(NamespaceConfig { max_record_size: 1 << 30, ..config }.check().is_err());
/// ```
#[derive(Clone, Debug)]
pub struct NamespaceConfig {
    /// Name, 31 bytes at most.
    pub name: String,
    /// Where records live.
    pub storage: Storage,
    /// What an acknowledged write promises.
    pub durability: Durability,
    /// Time to live of records that do not say, in seconds; 0 is forever.
    pub default_ttl_s: u32,
    /// Seconds between expiry sweeps; 0 switches them off.
    pub nsup_period_s: u32,
    /// Whether records may carry a TTL although sweeps are off.
    pub allow_ttl_without_nsup: bool,
    /// A read extends a record's life when less than this percentage of it is left; 0 is never.
    pub read_touch_ttl_percent: u32,
    /// Largest record in bytes, as stored.
    pub max_record_size: usize,
    /// Commands that may wait for one record; 0 is no limit.
    pub transaction_pending_limit: u32,
    /// Bytes of storage that the namespace may take.
    pub storage_size: u64,
    /// Writes are refused once live data takes this percentage of the storage.
    pub stop_writes_used_percent: u32,
    /// A block with less than this percentage of live data is rewritten.
    pub defrag_below_percent: u32,
    /// Bytes of a log block; records are at most half as large.
    pub block_size: usize,
}

/// Smallest storage a namespace can have: defragmentation needs room to move.
const BLOCKS_MIN: u64 = 4;

impl NamespaceConfig {
    /// The defaults, in memory.
    pub fn new(name: impl Into<String>) -> Self {
        NamespaceConfig {
            name: name.into(),
            storage: Storage::Memory,
            durability: Durability::None,
            default_ttl_s: 0,
            nsup_period_s: 120,
            allow_ttl_without_nsup: true,
            read_touch_ttl_percent: 0,
            max_record_size: RECORD_SIZE_DEFAULT,
            transaction_pending_limit: 0,
            storage_size: 8 << 30,
            stop_writes_used_percent: 90,
            defrag_below_percent: 50,
            block_size: BLOCK_SIZE_DEFAULT,
        }
    }

    /// The defaults, in files below `directory`: an acknowledged write is on disk.
    pub fn in_directory(name: impl Into<String>, directory: impl Into<PathBuf>) -> Self {
        NamespaceConfig {
            storage: Storage::File(FileStorage::new(directory)),
            durability: Durability::Commit,
            ..NamespaceConfig::new(name)
        }
    }

    /// Refuses values out of range, naming the value and the limit.
    pub fn check(&self) -> Result<(), Error> {
        check_namespace_name(self.name.as_bytes())?;
        let refuse = |what: &str, value: u64, limit: String| {
            let text = format!("namespace `{}`: {what} is {value}, it may be {limit}", self.name);
            Err(Error::new(ResultCode::Parameter, text))
        };
        if self.default_ttl_s > TTL_MAX_S {
            return refuse(
                "default-ttl",
                u64::from(self.default_ttl_s),
                format!("0 to {TTL_MAX_S}"),
            );
        }
        let largest = RECORD_SIZE_CEILING.min(self.block_size / 2);
        if !(256..=largest).contains(&self.max_record_size) {
            return refuse(
                "max-record-size",
                self.max_record_size as u64,
                format!("256 to {largest}"),
            );
        }
        if !self.block_size.is_power_of_two()
            || !(4096..=BLOCK_SIZE_DEFAULT).contains(&self.block_size)
        {
            return refuse(
                "block size",
                self.block_size as u64,
                format!("a power of two from 4096 to {BLOCK_SIZE_DEFAULT}"),
            );
        }
        // The name becomes that of a directory.
        if matches!(self.storage, Storage::File(_)) && !is_plain(&self.name) {
            let text = format!(
                "namespace `{}` cannot be stored in files: its name may have letters, digits, `_` \
                 and `-` only",
                self.name
            );
            return Err(Error::new(ResultCode::Parameter, text));
        }
        let smallest = BLOCKS_MIN * self.block_size as u64;
        if self.storage_size < smallest {
            return refuse("storage.size", self.storage_size, format!("{smallest} or more"));
        }
        for (what, percent) in [
            ("stop-writes-used-pct", self.stop_writes_used_percent),
            ("defrag-lwm-pct", self.defrag_below_percent),
            ("default-read-touch-ttl-pct", self.read_touch_ttl_percent),
        ] {
            if percent > 100 {
                return refuse(what, u64::from(percent), "0 to 100".into());
            }
        }
        Ok(())
    }
}

fn is_plain(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// The settings that can change while the namespace serves.
#[derive(Debug)]
pub struct Settings {
    default_ttl_s: AtomicU32,
    nsup_period_s: AtomicU32,
    allow_ttl_without_nsup: AtomicU32,
    read_touch_ttl_percent: AtomicU32,
    transaction_pending_limit: AtomicU32,
    stop_writes_used_percent: AtomicU32,
    defrag_below_percent: AtomicU32,
    max_record_size: AtomicU64,
}

macro_rules! setting {
    ($get:ident, $set:ident, $type:ty, $doc:literal) => {
        #[doc = $doc]
        pub fn $get(&self) -> $type {
            self.$get.load(Ordering::Relaxed) as $type
        }

        #[doc = concat!("Changes: ", $doc)]
        pub fn $set(&self, value: $type) {
            self.$get.store(value as _, Ordering::Relaxed);
        }
    };
}

impl Settings {
    pub(crate) fn new(config: &NamespaceConfig) -> Self {
        Settings {
            default_ttl_s: config.default_ttl_s.into(),
            nsup_period_s: config.nsup_period_s.into(),
            allow_ttl_without_nsup: u32::from(config.allow_ttl_without_nsup).into(),
            read_touch_ttl_percent: config.read_touch_ttl_percent.into(),
            transaction_pending_limit: config.transaction_pending_limit.into(),
            stop_writes_used_percent: config.stop_writes_used_percent.into(),
            defrag_below_percent: config.defrag_below_percent.into(),
            max_record_size: (config.max_record_size as u64).into(),
        }
    }

    setting!(default_ttl_s, set_default_ttl_s, u32, "time to live of records that do not say.");
    setting!(nsup_period_s, set_nsup_period_s, u32, "seconds between expiry sweeps, 0 is off.");
    setting!(
        read_touch_ttl_percent,
        set_read_touch_ttl_percent,
        u32,
        "percentage of life left below which a read extends it, 0 is never."
    );
    setting!(
        transaction_pending_limit,
        set_transaction_pending_limit,
        u32,
        "commands that may wait for one record, 0 is no limit."
    );
    setting!(
        stop_writes_used_percent,
        set_stop_writes_used_percent,
        u32,
        "percentage of storage at which writes are refused."
    );
    setting!(
        defrag_below_percent,
        set_defrag_below_percent,
        u32,
        "percentage of live data below which a block is rewritten."
    );
    setting!(max_record_size, set_max_record_size, usize, "largest record in bytes, as stored.");

    /// Whether records may carry a TTL although sweeps are off.
    pub fn allow_ttl_without_nsup(&self) -> bool {
        self.allow_ttl_without_nsup.load(Ordering::Relaxed) != 0
    }

    /// Changes: whether records may carry a TTL although sweeps are off.
    pub fn set_allow_ttl_without_nsup(&self, value: bool) {
        self.allow_ttl_without_nsup.store(u32::from(value), Ordering::Relaxed);
    }
}

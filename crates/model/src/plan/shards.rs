//! How many shards, and of which kind.

use crate::cost::BAND_HIGH;
use crate::quantity::Bytes;
use crate::size::encode::RECORD_HEADER;

/// Bytes of a shard that are no entries: header, set, bin name and list head, about.
const SHARD_OVERHEAD: f64 = RECORD_HEADER + 64.0;
/// Standard deviations above the average that a shard may reach: with these, fewer than one in
/// a hundred layouts of 300 shards has one that is too large.
const DEVIATIONS: f64 = 4.0;
/// More shards than this are a layout of another kind.
const COUNT_MAX: f64 = 4096.0;

/// Sub-records of one record.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardPlan {
    /// What chooses the shard.
    pub kind: ShardKind,
    /// How many, for hash shards.
    pub count: Option<u64>,
    /// How many there would be if hashing were even.
    pub even: Option<u64>,
    /// Bytes of one shard, on average.
    pub bytes_each: f64,
    /// Why they are there.
    pub why: &'static str,
}

/// What chooses a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardKind {
    /// The hash of the child's id.
    Hash,
    /// The hour.
    Hourly,
    /// The day.
    Daily,
}

impl ShardKind {
    /// Its name in a contract.
    pub fn name(self) -> &'static str {
        ["hash", "hourly", "daily"][self as usize]
    }

    /// The keys of the shards.
    pub fn key_pattern(self) -> &'static str {
        ["{key}:{hash(id) % count}", "{key}:{YYYY-MM-DD-HH}", "{key}:{YYYY-MM-DD}"][self as usize]
    }
}

impl ShardPlan {
    /// In a line.
    pub fn describe(&self) -> String {
        match (self.count, self.even) {
            (Some(count), Some(even)) if even < count => format!(
                "{count} {} shards of about {} ({even} if hashing were even)",
                self.kind.name(),
                Bytes(self.bytes_each)
            ),
            (Some(count), _) => {
                format!("{count} {} shards of about {}", self.kind.name(), Bytes(self.bytes_each))
            }
            (None, _) => format!("{} shards of about {}", self.kind.name(), Bytes(self.bytes_each)),
        }
    }
}

/// Hash shards so that every one stays in the band, although hashing is uneven: the fullest of
/// them is some standard deviations above the average.
pub fn hash_shards(entries: f64, entry_bytes: f64) -> Option<ShardPlan> {
    let total = entries * entry_bytes;
    let even = (total / BAND_HIGH).ceil().max(1.0);
    let capacity = (BAND_HIGH - SHARD_OVERHEAD) / entry_bytes.max(1.0);
    let holds = |count: f64| {
        let mean = entries / count;
        mean + DEVIATIONS * (mean * (1.0 - 1.0 / count)).sqrt() <= capacity
    };
    let mut count = even;
    while !holds(count) {
        count += 1.0;
        if count > COUNT_MAX {
            return None;
        }
    }
    Some(ShardPlan {
        kind: ShardKind::Hash,
        count: Some(count as u64),
        even: Some(even as u64),
        bytes_each: total / count,
        why: "the whole is larger than a record should be",
    })
}

/// Shards that keep the largest records under the limit of their namespace, with one to spare.
pub fn limit_shards(bytes: f64, limit: f64) -> ShardPlan {
    let even = (bytes / limit.max(1.0)).ceil().max(1.0);
    ShardPlan {
        kind: ShardKind::Hash,
        count: Some(even as u64 + 1),
        even: Some(even as u64),
        bytes_each: bytes / (even + 1.0),
        why: "the largest records would not fit the namespace",
    }
}

/// Shards by time: days if a day fits the band, else hours; nothing when not even an hour does.
pub fn time_shards(entries_per_day: f64, entry_bytes: f64) -> Option<ShardPlan> {
    let day = entries_per_day * entry_bytes;
    let (kind, bytes_each) = match day {
        day if day <= BAND_HIGH => (ShardKind::Daily, day),
        day if day / 24.0 <= BAND_HIGH => (ShardKind::Hourly, day / 24.0),
        _ => return None,
    };
    let why = "the common read wants a recent window";
    Some(ShardPlan { kind, count: None, even: None, bytes_each, why })
}

/// Shards that bring the writes of one record below a rate, with one to spare: hashing is uneven.
pub fn write_shards(writes: f64, rate_max: f64, bytes: f64) -> ShardPlan {
    let even = (writes / rate_max).ceil().max(1.0);
    ShardPlan {
        kind: ShardKind::Hash,
        count: Some(even as u64 + 1),
        even: Some(even as u64),
        bytes_each: bytes / (even + 1.0),
        why: "writers of one record would wait for each other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The document divides 4.5 MiB by 128 KiB and says 35. It is 4.5 MB, 34.3, so 35 if hashing
    /// were even; it is not, so 36.
    #[test]
    fn followers_of_a_celebrity() {
        let plan = hash_shards(300_000.0, 15.0).unwrap();
        assert_eq!((plan.even, plan.count), (Some(35), Some(36)));
    }

    #[test]
    fn a_day_of_followers_is_a_daily_shard() {
        let plan = time_shards(100.0, 15.0).unwrap();
        assert_eq!((plan.kind, plan.bytes_each), (ShardKind::Daily, 1500.0));
        let plan = time_shards(100_000.0, 15.0).unwrap();
        assert_eq!(plan.kind, ShardKind::Hourly);
        assert_eq!(time_shards(1e9, 15.0), None);
    }

    /// Real hashing of real ids: no shard of the plan leaves the band.
    #[test]
    fn hashed_ids_stay_in_the_band() {
        let count = hash_shards(300_000.0, 15.0).unwrap().count.unwrap();
        let mut sizes = vec![0u64; count as usize];
        for id in 0..300_000u64 {
            let hash = xxhash_rust::xxh64::xxh64(format!("user:{id:08}").as_bytes(), 0);
            sizes[(hash % count) as usize] += 15;
        }
        assert!(sizes.iter().all(|bytes| *bytes <= 131_072), "{sizes:?}");
    }

    proptest! {
        #[test]
        fn shards_hold_what_they_should(entries in 1f64..1e8, bytes in 1f64..4000.0) {
            if let Some(plan) = hash_shards(entries, bytes) {
                prop_assert!(plan.count >= plan.even);
                prop_assert!(plan.bytes_each <= BAND_HIGH);
            }
        }
    }
}

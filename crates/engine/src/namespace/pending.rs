//! How many commands wait for one record.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use cairn_value::{Digest, Error, ResultCode};
use parking_lot::Mutex;

const SHARDS: usize = 64;

/// Counts the commands on each record, when there is a limit to them.
#[derive(Debug)]
pub(super) struct Pending {
    shards: [Mutex<HashMap<Digest, u32>>; SHARDS],
}

/// One command's place in the count.
pub(super) struct Waiting<'a> {
    shard: &'a Mutex<HashMap<Digest, u32>>,
    digest: Digest,
}

impl Pending {
    pub fn new() -> Self {
        Pending { shards: std::array::from_fn(|_| Mutex::default()) }
    }

    /// Lets a command queue for a record, unless `limit` others wait already besides the one that
    /// works. Without a limit (0) nothing is counted.
    pub fn enter(&self, digest: &Digest, limit: u32) -> Result<Option<Waiting<'_>>, Error> {
        if limit == 0 {
            return Ok(None);
        }
        let shard = &self.shards[usize::from(digest.0[19]) % SHARDS];
        let mut counts = shard.lock();
        let count = counts.entry(*digest).or_insert(0);
        if *count > limit {
            return Err(Error::new(
                ResultCode::KeyBusy,
                format!(
                    "{limit} commands wait for record {digest} already, which is \
                     transaction-pending-limit; retry later, spread the writes over shards, or \
                     raise the limit (0 is none)"
                ),
            ));
        }
        *count += 1;
        drop(counts);
        Ok(Some(Waiting { shard, digest: *digest }))
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Entry::Occupied(mut count) = self.shard.lock().entry(self.digest) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

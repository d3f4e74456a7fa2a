//! The page cache of a file namespace.
//!
//! Pages hold parts of blocks that do not change any more. A block's slot counts its openings, and
//! the count is part of a page's name, so pages of an earlier use are never found; they age out.
//! Each page remembers which entries were verified since it was loaded, so that checksums are
//! computed once per load.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::RwLock;

use crate::index::UNIT_BYTES as UNIT;

/// Bytes of a page; blocks that are smaller have pages of their size.
pub const PAGE_SIZE_MAX: usize = 16 << 10;
const SHARDS_MAX: usize = 64;
/// A shard with fewer pages would evict what it just loaded.
const SHARD_PAGES_MIN: usize = 8;

/// Part of a block, as read from disk.
#[derive(Debug)]
pub struct Page {
    bytes: Box<[u8]>,
    /// A bit per unit: the entry that starts there was verified.
    verified: Box<[AtomicU64]>,
}

impl Page {
    fn new(bytes: Box<[u8]>) -> Page {
        let words = (bytes.len() / UNIT).div_ceil(64);
        Page { bytes, verified: (0..words).map(|_| AtomicU64::new(0)).collect() }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether the entry at this offset was verified since the page was loaded.
    pub fn is_verified(&self, offset: usize) -> bool {
        let unit = offset / UNIT;
        self.verified[unit / 64].load(Ordering::Relaxed) >> (unit % 64) & 1 == 1
    }

    pub fn set_verified(&self, offset: usize) {
        let unit = offset / UNIT;
        self.verified[unit / 64].fetch_or(1 << (unit % 64), Ordering::Relaxed);
    }
}

/// Names a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageName {
    pub block: u32,
    pub openings: u32,
    pub page: u32,
}

/// Recently read pages, a bounded number of them.
#[derive(Debug)]
pub struct PageCache {
    shards: Box<[RwLock<Shard>]>,
    page_size: usize,
}

/// Pages in a ring; the hand passes by those that were used since its last round.
#[derive(Debug)]
struct Shard {
    slots: Vec<Cached>,
    by_name: HashMap<PageName, u32, BuildHasherDefault<NameHasher>>,
    hand: usize,
    pages_max: usize,
}

#[derive(Debug)]
struct Cached {
    name: PageName,
    page: Arc<Page>,
    used: AtomicBool,
}

/// Mixes the two words of a name; its parts are small numbers that nobody outside chooses.
#[derive(Default)]
struct NameHasher(u64);

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32(u32::from(*byte)));
    }

    fn write_u32(&mut self, number: u32) {
        let mixed =
            (self.0.rotate_left(23) ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl PageCache {
    /// A cache of about `bytes` bytes for pages of blocks of this size.
    pub fn new(bytes: u64, block_size: usize) -> Self {
        let page_size = PAGE_SIZE_MAX.min(block_size);
        let pages = usize::try_from(bytes / page_size as u64).unwrap_or(usize::MAX);
        let shards = (pages / SHARD_PAGES_MIN).clamp(1, SHARDS_MAX);
        let pages_max = (pages / shards).max(1);
        let shard = || Shard { slots: Vec::new(), by_name: HashMap::default(), hand: 0, pages_max };
        PageCache { shards: (0..shards).map(|_| RwLock::new(shard())).collect(), page_size }
    }

    pub fn page_size(&self) -> usize {
        self.page_size
    }

    /// The page of this name, loaded by `read` when it is not here.
    pub fn page(
        &self,
        name: PageName,
        read: impl FnOnce(&mut [u8]) -> io::Result<()>,
    ) -> io::Result<Arc<Page>> {
        let mut hasher = NameHasher::default();
        std::hash::Hash::hash(&name, &mut hasher);
        // The map inside uses the low bits, the choice of the shard the high ones.
        let shard = &self.shards[(hasher.finish() >> 40) as usize % self.shards.len()];
        if let Some(page) = shard.read().get(&name) {
            return Ok(page);
        }
        let mut bytes = vec![0; self.page_size].into_boxed_slice();
        read(&mut bytes)?;
        let page = Arc::new(Page::new(bytes));
        shard.write().put(name, page.clone());
        Ok(page)
    }
}

impl Shard {
    fn get(&self, name: &PageName) -> Option<Arc<Page>> {
        let cached = &self.slots[*self.by_name.get(name)? as usize];
        if !cached.used.load(Ordering::Relaxed) {
            cached.used.store(true, Ordering::Relaxed);
        }
        Some(cached.page.clone())
    }

    fn put(&mut self, name: PageName, page: Arc<Page>) {
        if self.by_name.contains_key(&name) {
            return;
        }
        let new = Cached { name, page, used: AtomicBool::new(false) };
        if self.slots.len() < self.pages_max {
            self.by_name.insert(name, self.slots.len() as u32);
            self.slots.push(new);
            return;
        }
        while std::mem::take(self.slots[self.hand].used.get_mut()) {
            self.hand = (self.hand + 1) % self.slots.len();
        }
        self.by_name.remove(&self.slots[self.hand].name);
        self.by_name.insert(name, self.hand as u32);
        self.slots[self.hand] = new;
        self.hand = (self.hand + 1) % self.slots.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(page: u32) -> PageName {
        PageName { block: 1, openings: 1, page }
    }

    #[test]
    fn pages_in_use_stay_and_the_number_is_bounded() {
        let cache = PageCache::new(8 * 4096, 4096);
        let mut loads = 0;
        for round in 0..100 {
            for wanted in [0, round] {
                let page = cache.page(name(wanted), |bytes| {
                    loads += 1;
                    bytes.fill(wanted as u8);
                    Ok(())
                });
                assert_eq!(page.unwrap().bytes()[0], wanted as u8);
            }
        }
        assert_eq!(loads, 100, "page 0 was used all the time, so it stayed");
        assert!(cache.shards.iter().map(|shard| shard.read().slots.len()).sum::<usize>() <= 8);
    }

    #[test]
    fn a_page_forgets_what_was_verified_when_it_is_loaded_again() {
        let cache = PageCache::new(1, 4096);
        let load = |n| cache.page(name(n), |_| Ok(())).unwrap();
        load(0).set_verified(4080);
        assert!(load(0).is_verified(4080) && !load(0).is_verified(0));
        load(1);
        assert!(!load(0).is_verified(4080));
        assert!(cache.page(name(2), |_| Err(io::ErrorKind::Other.into())).is_err());
    }
}

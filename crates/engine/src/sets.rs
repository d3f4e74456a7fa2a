//! The sets of a namespace: their ids, counts and cut-off times.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use cairn_value::key::check_set_name;
use cairn_value::{Error, ResultCode};
use parking_lot::RwLock;

/// Id of a set in the index; 0 means "no set".
pub(crate) type SetId = u16;

/// Most sets that a namespace can have.
pub const SETS_MAX: usize = u16::MAX as usize;

/// What a namespace knows about its sets.
#[derive(Debug)]
pub(crate) struct Sets {
    inner: RwLock<Inner>,
}

#[derive(Debug)]
struct Inner {
    ids: HashMap<Box<[u8]>, SetId>,
    /// By id.
    sets: Vec<Set>,
}

/// Counters of one set.
#[derive(Debug, Default)]
pub(crate) struct Set {
    name: Box<[u8]>,
    objects: AtomicU64,
    bytes: AtomicU64,
    truncated_before_ns: AtomicU64,
}

/// Counts of one set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetStats {
    /// Name; empty for the records that have no set.
    pub name: Vec<u8>,
    /// Records.
    pub objects: u64,
    /// Bytes of the records in storage.
    pub bytes: u64,
    /// Records written before this time (nanoseconds since the Unix epoch) are gone; 0 when the
    /// set was never truncated.
    pub truncated_before_ns: u64,
}

impl Sets {
    pub fn new() -> Self {
        let no_set = Set::default();
        let ids = HashMap::from([(Box::from([]), 0)]);
        Sets { inner: RwLock::new(Inner { ids, sets: vec![no_set] }) }
    }

    /// The id of a set that exists.
    pub fn id(&self, name: &[u8]) -> Option<SetId> {
        self.inner.read().ids.get(name).copied()
    }

    /// The id of a set, which is created when it does not exist.
    pub fn id_or_create(&self, name: &[u8]) -> Result<SetId, Error> {
        if let Some(id) = self.id(name) {
            return Ok(id);
        }
        check_set_name(name)?;
        let mut inner = self.inner.write();
        if let Some(&id) = inner.ids.get(name) {
            return Ok(id);
        }
        if inner.sets.len() > SETS_MAX {
            return Err(Error::new(
                ResultCode::Parameter,
                format!(
                    "set `{}` would be one too many: a namespace has {SETS_MAX} sets at most",
                    String::from_utf8_lossy(name)
                ),
            ));
        }
        let id = inner.sets.len() as SetId;
        inner.ids.insert(name.into(), id);
        inner.sets.push(Set { name: name.into(), ..Set::default() });
        Ok(id)
    }

    pub fn with<R>(&self, id: SetId, f: impl FnOnce(&Set) -> R) -> R {
        f(&self.inner.read().sets[usize::from(id)])
    }

    /// Counts of all sets, the records without a set first.
    pub fn stats(&self) -> Vec<SetStats> {
        self.inner.read().sets.iter().map(Set::stats).collect()
    }
}

impl Set {
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    pub fn add(&self, bytes: u64) {
        self.objects.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub fn remove(&self, bytes: u64) {
        self.objects.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub fn resize(&self, old: u64, new: u64) {
        // Wrapping: between the two steps the sum may be off, but never for good.
        self.bytes.fetch_add(new, Ordering::Relaxed);
        self.bytes.fetch_sub(old, Ordering::Relaxed);
    }

    pub fn truncate_before(&self, time_ns: u64) {
        self.truncated_before_ns.fetch_max(time_ns, Ordering::SeqCst);
    }

    pub fn truncated_before_ns(&self) -> u64 {
        self.truncated_before_ns.load(Ordering::SeqCst)
    }

    fn stats(&self) -> SetStats {
        SetStats {
            name: self.name.to_vec(),
            objects: self.objects.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            truncated_before_ns: self.truncated_before_ns(),
        }
    }
}

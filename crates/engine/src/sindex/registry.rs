//! The indexes of a namespace.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cairn_value::{Error, RecordView, ResultCode};
use parking_lot::RwLock;

use super::definition::{INDEX_NAME_MAX, IndexDefinition};
use super::index::SecondaryIndex;

/// Most secondary indexes of a namespace.
pub const INDEXES_MAX: usize = 256;

/// The indexes of a namespace, in the order of their creation.
#[derive(Debug, Default)]
pub(crate) struct SecondaryIndexes {
    /// Whether there is any, so that writes of a namespace without indexes look no further.
    any: AtomicBool,
    list: RwLock<Vec<Arc<SecondaryIndex>>>,
}

impl SecondaryIndexes {
    /// False as long as there is none.
    pub fn any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// All of them.
    pub fn all(&self) -> Vec<Arc<SecondaryIndex>> {
        self.list.read().clone()
    }

    /// The first that `wanted` wants.
    pub fn find(&self, wanted: impl Fn(&SecondaryIndex) -> bool) -> Option<Arc<SecondaryIndex>> {
        self.list.read().iter().find(|index| wanted(index)).cloned()
    }

    /// Creates an index. One that is about the same only gets the new name; one of the same name
    /// about something else is in the way.
    pub fn create(
        &self,
        name: &str,
        definition: IndexDefinition,
        now_ns: u64,
    ) -> Result<Arc<SecondaryIndex>, Error> {
        check_name(name)?;
        let mut list = self.list.write();
        let same = list.iter().find(|index| *index.definition() == definition).cloned();
        if let Some(same) = &same
            && same.name() == name
        {
            return Ok(same.clone());
        }
        if list.iter().any(|index| index.name() == name) {
            let text = format!("index `{name}` exists already and is about something else");
            return Err(Error::new(ResultCode::IndexExists, text));
        }
        if let Some(same) = same {
            same.rename(name);
            return Ok(same);
        }
        if list.len() >= INDEXES_MAX {
            let text = format!("a namespace has {INDEXES_MAX} indexes at most; delete one first");
            return Err(Error::new(ResultCode::IndexTooMany, text));
        }
        let index = Arc::new(SecondaryIndex::new(name.into(), definition, now_ns)?);
        list.push(index.clone());
        self.any.store(true, Ordering::Release);
        Ok(index)
    }

    /// Forgets an index; false when there is none of this name. Queries that use it end by
    /// themselves.
    pub fn drop_named(&self, name: &str) -> bool {
        let mut list = self.list.write();
        let Some(at) = list.iter().position(|index| index.name() == name) else { return false };
        let gone = list.remove(at);
        self.any.store(!list.is_empty(), Ordering::Release);
        drop(list);
        drop(gone);
        true
    }

    /// Whether a record of this set may be in an index.
    pub fn cover_set(&self, set: &[u8]) -> bool {
        let about = |index: &Arc<SecondaryIndex>| {
            let own = &index.definition().set;
            own.is_empty() || own[..] == *set
        };
        self.any() && self.list.read().iter().any(about)
    }

    /// Moves a record's postings in all indexes. The caller holds the lock of its partition alone.
    pub fn change(&self, old: Option<RecordView<'_>>, new: Option<RecordView<'_>>) {
        for index in self.list.read().iter() {
            index.change(old.as_ref(), new.as_ref());
        }
    }

    /// Takes a swept record out of all indexes. The caller holds the lock of its partition alone.
    pub fn sweep(&self, old: RecordView<'_>) {
        for index in self.list.read().iter() {
            index.change(Some(&old), None);
            index.counters.swept.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn check_name(name: &str) -> Result<(), Error> {
    if name.is_empty() || name.len() > INDEX_NAME_MAX {
        let text = format!("an index name has 1 to {INDEX_NAME_MAX} bytes, not {}", name.len());
        return Err(Error::new(ResultCode::IndexNameTooLong, text));
    }
    Ok(())
}

//! Several records in one call, with an answer per key.

use cairn_value::RecordView;

use super::Namespace;
use crate::policy::{Failure, ReadPolicy, Target};

impl Namespace {
    /// Reads records one by one and shows `each` every answer under the position of its key: the
    /// record, or why there is none. One key's failure does not stop the others.
    pub fn read_batch<'t, 'q: 't>(
        &self,
        targets: impl IntoIterator<Item = &'t Target<'q>>,
        policy: &ReadPolicy,
        mut each: impl FnMut(usize, Result<&RecordView<'_>, Failure>),
    ) {
        for (position, target) in targets.into_iter().enumerate() {
            let read = self.read(target, policy, |record| {
                each(position, Ok(record));
                Ok(())
            });
            if let Err(failure) = read {
                each(position, Err(failure));
            }
        }
    }
}

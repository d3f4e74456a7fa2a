//! What a scan asks for, checked before the first record is looked at.

use cairn_value::key::check_set_name;
use cairn_value::limits::PARTITIONS;
use cairn_value::record::check_bin_name;
use cairn_value::{Digest, Error, PartitionId, ResultCode};

use super::check_filter;
use crate::wire::Message;
use crate::wire::field::kind;
use crate::wire::flags::{info2, info3};

/// Where a scan stands.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Partitions that are left, the next one last.
    pub partitions: Vec<Partition>,
    /// Records that may still be sent.
    pub left: u64,
}

/// A partition of a scan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Partition {
    pub id: PartitionId,
    /// Where to go on.
    pub after: Option<Digest>,
}

impl Plan {
    /// Reads a message that names no single record.
    pub fn of(message: &Message<'_>) -> Result<Plan, Error> {
        let fields = message.fields;
        refuse_unsupported(message)?;
        check_set_name(fields.get(kind::SET).unwrap_or_default())?;
        check_filter(message)?;
        for op in message.ops {
            check_bin_name(op.name)
                .map_err(|error| Error { code: ResultCode::Parameter, ..error })?;
        }
        let mut partitions = whole_partitions(fields.get(kind::PARTITIONS).unwrap_or_default())?;
        partitions.extend(resumed_partitions(fields.get(kind::DIGESTS).unwrap_or_default()));
        partitions.reverse();
        let max = fields.get(kind::MAX_RECORDS).and_then(|data| data.try_into().ok());
        let left = match max.map_or(0, u64::from_be_bytes) {
            0 => u64::MAX,
            max => max,
        };
        Ok(Plan { partitions, left })
    }

    /// Notes that the partition under way goes on after this digest.
    pub fn resume_after(&mut self, digest: Digest) {
        if let Some(partition) = self.partitions.last_mut() {
            partition.after = Some(digest);
        }
    }
}

fn refuse_unsupported(message: &Message<'_>) -> Result<(), Error> {
    let has = |kind| message.fields.get(kind).is_some();
    let refuse = |code, text| Err(Error::new(code, text));
    if !has(kind::PARTITIONS) && !has(kind::DIGESTS) {
        return refuse(ResultCode::Unsupported, "the message names no record and no partitions");
    }
    if message.header.info3 & info3::PARTITION_DONE == 0 {
        return refuse(ResultCode::Unsupported, "only scans by partition are available");
    }
    if message.header.info2 & info2::WRITE != 0 || has(kind::UDF_PACKAGE) {
        return refuse(ResultCode::Unsupported, "background scans and functions are not available");
    }
    if has(kind::INDEX_RANGE) || has(kind::INDEX_NAME) {
        return refuse(ResultCode::IndexNotFound, "there is no such index");
    }
    Ok(())
}

/// Partitions from their beginning; a byte too many is ignored.
fn whole_partitions(data: &[u8]) -> Result<Vec<Partition>, Error> {
    let (ids, _) = data.as_chunks::<2>();
    let partition = |id: &[u8; 2]| {
        let id = u16::from_le_bytes(*id);
        if usize::from(id) < PARTITIONS {
            return Ok(Partition { id: PartitionId(id), after: None });
        }
        let text = format!("there is no partition {id}, the last is {}", PARTITIONS - 1);
        Err(Error::new(ResultCode::Parameter, text))
    };
    ids.iter().map(partition).collect()
}

/// Partitions after a digest of theirs.
fn resumed_partitions(data: &[u8]) -> impl Iterator<Item = Partition> + '_ {
    let (digests, _) = data.as_chunks::<20>();
    digests.iter().map(|digest| {
        let digest = Digest(*digest);
        Partition { id: digest.partition(), after: Some(digest) }
    })
}

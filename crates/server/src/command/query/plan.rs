//! What a query asks for, checked before the first record is looked at.

use std::sync::Arc;

use cairn_engine::{IndexSource, Namespace, Query, QueryPlace, SecondaryIndex};
use cairn_ops::exp::Program;
use cairn_ops::operate;
use cairn_value::key::check_set_name;
use cairn_value::limits::PARTITIONS;
use cairn_value::record::check_bin_name;
use cairn_value::{Digest, Error, PartitionId, ResultCode};

use super::range;
use crate::command::policy;
use crate::wire::Message;
use crate::wire::field::{Fields, kind};
use crate::wire::flags::{info2, info3};

/// Where a query stands.
#[derive(Debug)]
pub(super) struct Plan {
    /// How records are found.
    pub way: Way,
    /// Partitions that are left, the next one last.
    pub partitions: Vec<Partition>,
    /// Records that may still be sent.
    pub left: u64,
    /// Records per second, 0 for no limit.
    pub records_per_second: u32,
}

/// How records are found.
#[derive(Debug)]
pub(super) enum Way {
    /// All records of the partitions are looked at.
    Scan,
    /// The members of the set, by an index on them.
    Members(Arc<SecondaryIndex>),
    /// Those that an index leads to.
    Index(Box<Query>),
}

/// A partition of a query, and where to go on in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Partition {
    pub id: PartitionId,
    /// Behind this record; the value counts for queries of an index only.
    pub after: Option<QueryPlace>,
}

impl Plan {
    /// Reads a message that names no single record.
    pub fn of(namespace: &Namespace, message: &Message<'_>) -> Result<Plan, Error> {
        let fields = message.fields;
        let background = is_background(message);
        refuse_unsupported(message, background)?;
        check_set_name(fields.get(kind::SET).unwrap_or_default())?;
        fields.get(kind::FILTER).map(Program::compile_filter).transpose()?;
        check_ops(message, background)?;
        let selection = range::selection(namespace, fields)?;
        let by_index = selection.is_some();
        let way = match selection {
            Some(found) => Way::Index(Box::new(Query::new(found.index, found.filter)?)),
            None => members(namespace, fields).map_or(Way::Scan, Way::Members),
        };
        let max = fields.get(kind::MAX_RECORDS).and_then(|data| data.try_into().ok());
        let left = match max.map_or(0, u64::from_be_bytes) {
            0 => u64::MAX,
            max => max,
        };
        let partitions = partitions(fields, background, by_index)?;
        Ok(Plan { way, partitions, left, records_per_second: number(fields, kind::RECORDS_PER_S) })
    }

    /// Name of the index that is asked.
    pub fn index_name(&self) -> Option<String> {
        match &self.way {
            Way::Index(query) => Some(query.index().name()),
            Way::Scan | Way::Members(_) => None,
        }
    }

    /// Notes that the partition under way goes on after this place.
    pub fn resume_after(&mut self, place: QueryPlace) {
        if let Some(partition) = self.partitions.last_mut() {
            partition.after = Some(place);
        }
    }
}

/// Whether a query changes records instead of sending them.
pub(super) fn is_background(message: &Message<'_>) -> bool {
    message.header.info2 & info2::WRITE != 0
}

/// A field of four bytes, 0 when it is absent or of another size.
pub(super) fn number(fields: Fields<'_>, kind: u8) -> u32 {
    fields.get(kind).and_then(|data| data.try_into().ok()).map_or(0, u32::from_be_bytes)
}

fn refuse_unsupported(message: &Message<'_>, background: bool) -> Result<(), Error> {
    let has = |kind| message.fields.get(kind).is_some();
    let refuse = |text| Err(Error::new(ResultCode::Unsupported, text));
    if has(kind::UDF_PACKAGE) {
        return refuse("user-defined functions are not available");
    }
    if background {
        // Names no partitions: all are meant. A task id tells it from a command without a key.
        return match has(kind::TASK_ID) || has(kind::PARTITIONS) || has(kind::DIGESTS) {
            true => Ok(()),
            false => refuse("the message names no record and no query"),
        };
    }
    if !has(kind::PARTITIONS) && !has(kind::DIGESTS) {
        return refuse("the message names no record and no partitions");
    }
    if message.header.info3 & info3::PARTITION_DONE == 0 {
        return refuse("only queries by partition are available");
    }
    Ok(())
}

fn check_ops(message: &Message<'_>, background: bool) -> Result<(), Error> {
    for op in message.ops {
        check_bin_name(op.name).map_err(|error| Error { code: ResultCode::Parameter, ..error })?;
    }
    if background {
        let ops: Vec<_> = message.ops.into_iter().collect();
        operate::check(&ops, policy::options(&message.header))?;
        if policy::write(&message.header).is_none() {
            let text = "records must be there and must not be there";
            return Err(Error::new(ResultCode::Parameter, text));
        }
    }
    Ok(())
}

/// The index on the members of the set, when there is one that is ready.
fn members(namespace: &Namespace, fields: Fields<'_>) -> Option<Arc<SecondaryIndex>> {
    let set = fields.get(kind::SET).filter(|set| !set.is_empty())?;
    namespace.find_index(|index| {
        let own = index.definition();
        own.source == IndexSource::Membership && own.set == set && index.is_ready()
    })
}

fn partitions(
    fields: Fields<'_>,
    background: bool,
    by_index: bool,
) -> Result<Vec<Partition>, Error> {
    let (ids, digests) = (fields.get(kind::PARTITIONS), fields.get(kind::DIGESTS));
    let mut partitions = match ids {
        Some(ids) => whole_partitions(ids)?,
        None if background && digests.is_none() => {
            let all = 0..PARTITIONS as u16;
            all.map(|id| Partition { id: PartitionId(id), after: None }).collect()
        }
        None => Vec::new(),
    };
    if digests.unwrap_or_default().len() > PARTITIONS * size_of::<Digest>() {
        return Err(too_many());
    }
    let values = fields.get(kind::INDEX_VALUES).unwrap_or_default();
    partitions.extend(resumed_partitions(digests.unwrap_or_default(), values, by_index)?);
    partitions.reverse();
    Ok(partitions)
}

/// Partitions from their beginning; a byte too many is ignored.
fn whole_partitions(data: &[u8]) -> Result<Vec<Partition>, Error> {
    let (ids, _) = data.as_chunks::<2>();
    if ids.len() > PARTITIONS {
        return Err(too_many());
    }
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

fn too_many() -> Error {
    let text = format!("a query names {PARTITIONS} partitions at most, there are no more");
    Error::new(ResultCode::Parameter, text)
}

/// Partitions after a record of theirs; a query of an index also says under which value.
fn resumed_partitions(
    digests: &[u8],
    values: &[u8],
    by_index: bool,
) -> Result<Vec<Partition>, Error> {
    let ((digests, _), (values, _)) = (digests.as_chunks::<20>(), values.as_chunks::<8>());
    if by_index && digests.len() != values.len() {
        let text = "a query of an index resumes at a value for every digest";
        return Err(Error::new(ResultCode::Parameter, text));
    }
    let partition = |(at, digest): (usize, &[u8; 20])| {
        let digest = Digest(*digest);
        let value = values.get(at).map_or(0, |value| u64::from_le_bytes(*value));
        Partition { id: digest.partition(), after: Some(QueryPlace { value, digest }) }
    };
    Ok(digests.iter().enumerate().map(partition).collect())
}

//! The messages that tell the records of a query.

use std::sync::atomic::Ordering;

use cairn_engine::Namespace;
use cairn_ops::{BinOp, Env, operate};
use cairn_value::{Digest, RecordView};

use crate::command::filter::Filter;
use crate::command::{policy, read};
use crate::queries::Tracked;
use crate::wire::field::kind;
use crate::wire::flags::info1;
use crate::wire::reply::MessageWriter;
use crate::wire::{Message, MessageHeader};

/// What records a query wants.
pub(super) struct Wanted<'a> {
    set: &'a [u8],
    filter: Filter<'a>,
    pub env: Env,
}

impl<'a> Wanted<'a> {
    pub fn new(namespace: &Namespace, message: &Message<'a>) -> Self {
        Wanted {
            set: message.fields.get(kind::SET).unwrap_or_default(),
            filter: Filter::compile(message.fields.get(kind::FILTER)),
            env: Env { now_ns: namespace.now_ns() },
        }
    }

    /// Whether a record is in the set and passes the filter; counts those that do not.
    pub fn wants(&self, record: &RecordView<'_>, tracked: &Tracked) -> bool {
        if !self.set.is_empty() && self.set != record.set {
            return false;
        }
        let passes = self.filter.check(record, self.env).is_ok();
        if !passes {
            let counter = match self.filter.needs_bins() {
                true => &tracked.filtered_bins,
                false => &tracked.filtered_meta,
            };
            counter.fetch_add(1, Ordering::Relaxed);
        }
        passes
    }
}

/// Writes the records that a query asks for.
pub(super) struct Rows<'a, 'o> {
    namespace: &'a Namespace,
    wanted: Wanted<'a>,
    ops: Vec<BinOp<'a>>,
    options: operate::Options,
    metadata_only: bool,
    pub out: &'o mut Vec<u8>,
}

impl<'a, 'o> Rows<'a, 'o> {
    pub fn new(namespace: &'a Namespace, message: &Message<'a>, out: &'o mut Vec<u8>) -> Self {
        Rows {
            namespace,
            wanted: Wanted::new(namespace, message),
            ops: message.ops.into_iter().collect(),
            options: policy::options(&message.header),
            metadata_only: message.header.info1 & info1::NO_BIN_DATA != 0,
            out,
        }
    }

    /// Appends a record, unless it is left out; with the value under which an index found it.
    pub fn add(&mut self, record: &RecordView<'_>, value: Option<u64>, tracked: &Tracked) -> bool {
        if !self.wanted.wants(record, tracked) {
            return false;
        }
        let start = self.out.len();
        let header = MessageHeader {
            info1: if self.metadata_only { info1::NO_BIN_DATA } else { 0 },
            generation: record.meta.generation.into(),
            record_ttl: record.meta.void_time,
            ..Default::default()
        };
        let mut message = MessageWriter::start(self.out, header);
        identify(&mut message, self.namespace, record);
        if let Some(value) = value {
            message.field(kind::INDEX_VALUES, &value.to_le_bytes());
        }
        let told = if self.metadata_only {
            true
        } else if self.ops.is_empty() {
            read::all_bins(record, &mut message);
            true
        } else {
            match operate::run(Some(record), &self.ops, &self.wanted.env, self.options) {
                Ok(outcome) => {
                    message.replies(&outcome.replies);
                    !outcome.replies.is_empty()
                }
                Err(_) => {
                    tracked.failed.fetch_add(1, Ordering::Relaxed);
                    false
                }
            }
        };
        message.finish();
        if told {
            tracked.succeeded.fetch_add(1, Ordering::Relaxed);
        } else {
            self.out.truncate(start);
        }
        told
    }
}

/// Says which record a message is about.
fn identify(message: &mut MessageWriter<'_>, namespace: &Namespace, record: &RecordView<'_>) {
    message.field(kind::NAMESPACE, namespace.name().as_bytes());
    let Digest(digest) = record.digest;
    message.field(kind::DIGEST, &digest);
    if !record.set.is_empty() {
        message.field(kind::SET, record.set);
    }
    if let Some(key) = record.key {
        message.field(kind::KEY, key);
    }
}

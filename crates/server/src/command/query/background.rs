//! Queries that change records in the background.
//!
//! The records of a partition are found first and changed afterwards, so that a record that moves
//! inside the index by its own change is not changed again.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use cairn_engine::{Engine, Namespace, Target, WritePolicy};
use cairn_ops::{BinOp, Env, operate};
use cairn_value::{Digest, Error, ResultCode};

use super::foreground::visit_all;
use super::plan::Plan;
use super::rows::Wanted;
use super::throttle::Throttle;
use crate::command::filter::Filter;
use crate::command::{policy, target, write};
use crate::queries::{BackgroundWork, Running};
use crate::wire::Message;
use crate::wire::field::kind;

/// A query that changes records.
#[derive(Debug)]
pub(super) struct BackgroundQuery {
    pub engine: Arc<Engine>,
    /// The request; it was parsed and checked before.
    pub body: Vec<u8>,
    pub plan: Plan,
    pub throttle: Throttle,
    pub running: Running,
}

impl BackgroundWork for BackgroundQuery {
    fn run(mut self: Box<Self>) {
        let engine = Arc::clone(&self.engine);
        let body = std::mem::take(&mut self.body);
        let Some(message) = Message::parse(&body) else { return };
        let Ok(namespace) = target::namespace(&engine, message.fields) else { return };
        let update = Update {
            ops: message.ops.into_iter().collect(),
            options: policy::options(&message.header),
            policy: policy::write(&message.header).unwrap_or_default(),
            filter: Filter::compile(message.fields.get(kind::FILTER)),
        };
        while let Some(partition) = self.plan.partitions.pop() {
            let mut found: Vec<(Digest, Vec<u8>)> = Vec::new();
            let wanted = Wanted::new(namespace, &message);
            let tracked = &self.running.tracked;
            let visited = visit_all(namespace, &mut self.plan.way, partition, |record| {
                if wanted.wants(record, tracked) {
                    found.push((record.digest, record.set.to_vec()));
                }
            });
            if visited.is_err() {
                tracked.failed.fetch_add(1, Ordering::Relaxed);
            }
            for (digest, set) in found {
                if self.running.tracked.is_aborted() {
                    return;
                }
                self.wait_for_turn();
                let target = Target { digest, set: &set, key: None };
                let tracked = &self.running.tracked;
                match update.apply(namespace, &target) {
                    Ok(()) => tracked.succeeded.fetch_add(1, Ordering::Relaxed),
                    Err(Outcome::Gone) => 0,
                    Err(Outcome::Failed) => tracked.failed.fetch_add(1, Ordering::Relaxed),
                };
            }
            self.running.tracked.partitions_done.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl BackgroundQuery {
    /// Sleeps until the next record may be changed.
    fn wait_for_turn(&mut self) {
        while let Err(later) = self.throttle.allowance(Instant::now()) {
            if self.running.tracked.is_aborted() {
                return;
            }
            self.running.tracked.throttled.fetch_add(1, Ordering::Relaxed);
            let pause = later.saturating_duration_since(Instant::now());
            std::thread::sleep(pause.min(std::time::Duration::from_millis(100)));
        }
        self.throttle.pass(1);
    }
}

/// Why a record was not changed.
enum Outcome {
    /// It is gone or does not pass the filter any more.
    Gone,
    /// An operation failed.
    Failed,
}

/// What is done to each record.
struct Update<'a> {
    ops: Vec<BinOp<'a>>,
    options: operate::Options,
    policy: WritePolicy,
    filter: Filter<'a>,
}

impl Update<'_> {
    /// Changes a record if it still is as the query wants it.
    fn apply(&self, namespace: &Namespace, target: &Target<'_>) -> Result<(), Outcome> {
        let changed = namespace.update(target, &self.policy, |slot| {
            let record = slot.record.ok_or(ResultCode::NotFound)?;
            let env = Env { now_ns: slot.now_ns };
            self.filter.check(&record, env)?;
            let outcome = operate::run(Some(&record), &self.ops, &env, self.options)?;
            Ok::<_, Error>((write::change(outcome.change), ()))
        });
        changed.map(drop).map_err(|failure| match failure.error.code {
            ResultCode::NotFound | ResultCode::FilteredOut => Outcome::Gone,
            _ => Outcome::Failed,
        })
    }
}

//! The settings of namespaces as tools read and change them: one table for `get-config`,
//! `namespace/NAME` and `set-config`.

use cairn_engine::Namespace;
use cairn_value::limits::{RECORD_SIZE_CEILING, TTL_MAX_S};
use cairn_value::{Error, ResultCode};

use super::Request;
use crate::config::value;

type Answer = Result<String, Error>;

/// One setting of a namespace.
struct Setting {
    name: &'static str,
    get: fn(&Namespace) -> String,
    /// Changes it while the namespace serves; `None` for what is fixed at start.
    set: Option<fn(&Namespace, &str) -> Option<()>>,
}

macro_rules! settings {
    ($($name:literal, $get:expr $(, $set:expr)?;)*) => {
        &[$(Setting { name: $name, get: $get, set: settings!(@set $($set)?) },)*]
    };
    (@set) => { None };
    (@set $set:expr) => { Some($set) };
}

static SETTINGS: &[Setting] = settings! {
    "allow-ttl-without-nsup",
        |ns| ns.settings().allow_ttl_without_nsup().to_string(),
        |ns, text| value::boolean(text).ok().map(|on| ns.settings().set_allow_ttl_without_nsup(on));
    "default-read-touch-ttl-pct",
        |ns| ns.settings().read_touch_ttl_percent().to_string(),
        |ns, text| percent(text).map(|value| ns.settings().set_read_touch_ttl_percent(value));
    "default-ttl",
        |ns| ns.settings().default_ttl_s().to_string(),
        |ns, text| seconds(text).map(|value| ns.settings().set_default_ttl_s(value));
    "max-record-size",
        |ns| ns.settings().max_record_size().to_string(),
        |ns, text| record_size(ns, text).map(|value| ns.settings().set_max_record_size(value));
    "nsup-period",
        |ns| ns.settings().nsup_period_s().to_string(),
        |ns, text| seconds(text).map(|value| ns.settings().set_nsup_period_s(value));
    "replication-factor", |_| "1".into();
    "single-bin", |_| "false".into();
    "strong-consistency", |_| "false".into();
    "transaction-pending-limit",
        |ns| ns.settings().transaction_pending_limit().to_string(),
        |ns, text| {
            text.parse().ok().map(|value| ns.settings().set_transaction_pending_limit(value))
        };
    "index-type", |_| "mem".into();
    "sindex-type", |_| "mem".into();
    "storage-engine", |_| "memory".into();
    "storage-engine.data-size", |ns| ns.config().storage_size.to_string();
    "storage-engine.defrag-lwm-pct",
        |ns| ns.settings().defrag_below_percent().to_string(),
        |ns, text| percent(text).map(|value| ns.settings().set_defrag_below_percent(value));
    "storage-engine.stop-writes-used-pct",
        |ns| ns.settings().stop_writes_used_percent().to_string(),
        |ns, text| percent(text).map(|value| ns.settings().set_stop_writes_used_percent(value));
};

/// The settings of a namespace as pairs; clients look for `nsup-period` and
/// `allow-ttl-without-nsup`, and for `strong-consistency` to tell whether transactions exist.
pub(super) fn of_namespace(namespace: &Namespace) -> String {
    let pairs = SETTINGS.iter().map(|row| format!("{}={}", row.name, (row.get)(namespace)));
    pairs.collect::<Vec<_>>().join(";")
}

/// Changes settings; what cannot be changed while running is refused.
pub(super) fn set(request: &mut Request<'_>) -> Answer {
    match request.arguments.get("context") {
        None => refuse("missing 'context'"),
        Some("service") => change(request, |request, name, text| match name {
            "query-max-done" => {
                text.parse().ok().map(|max| request.state.queries.set_done_max(max))
            }
            _ => None,
        }),
        Some("namespace") => {
            request.namespace()?;
            change(request, |request, name, text| {
                let own = |row: &&Setting| {
                    row.name == name || row.name.strip_prefix("storage-engine.") == Some(name)
                };
                let set = SETTINGS.iter().find(own)?.set?;
                set(request.namespace().ok()?, text)
            })
        }
        Some(_) => refuse("invalid context"),
    }
}

/// Gives every pair that is not an address to `set`; refused when there is none or one fails.
fn change(request: &Request<'_>, set: impl Fn(&Request<'_>, &str, &str) -> Option<()>) -> Answer {
    let address = ["context", "namespace", "ns", "id"];
    let mut changed = false;
    for (name, text) in request.arguments.pairs().filter(|(name, _)| !address.contains(name)) {
        if set(request, name, text).is_none() {
            return refuse("invalid set-config parameter");
        }
        changed = true;
    }
    if changed { Ok("ok".into()) } else { refuse("invalid set-config parameter") }
}

fn seconds(text: &str) -> Option<u32> {
    value::seconds(text).ok().filter(|seconds| *seconds <= TTL_MAX_S)
}

fn percent(text: &str) -> Option<u32> {
    text.parse().ok().filter(|percent| *percent <= 100)
}

fn record_size(namespace: &Namespace, text: &str) -> Option<usize> {
    let largest = RECORD_SIZE_CEILING.min(namespace.config().block_size / 2);
    let bytes = usize::try_from(value::bytes(text).ok()?).ok()?;
    (256..=largest).contains(&bytes).then_some(bytes)
}

fn refuse(text: &'static str) -> Answer {
    Err(Error::new(ResultCode::Parameter, text))
}

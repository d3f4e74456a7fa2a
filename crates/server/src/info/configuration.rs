//! Settings in force.

use cairn_engine::Namespace;
use cairn_value::{Error, ResultCode};

use super::Request;

type Answer = Result<String, Error>;

pub(super) fn get(request: &mut Request<'_>) -> Answer {
    match request.arguments.get("context") {
        None | Some("service") => Ok(service(request)),
        Some("network") => Ok(network(request)),
        Some("namespace") => request.namespace().map(namespace_settings),
        Some("security" | "xdr") => Ok(String::new()),
        Some(_) => Err(Error::new(ResultCode::Parameter, "invalid context")),
    }
}

fn service(request: &Request<'_>) -> String {
    let limits = &request.state.limits;
    let idle_ms = limits.idle_max.map_or(0, |idle| idle.as_millis());
    format!(
        "cluster-name=null;node-id={};proto-fd-idle-ms={idle_ms};proto-fd-max={};\
         frame-size-max={};disable-udf-execution=true",
        request.state.node,
        limits.connections_max,
        limits.frame_size(),
    )
}

fn network(request: &Request<'_>) -> String {
    let addr = request.state.addr;
    format!(
        "service.port={};service.address={};service.access-port=0;service.tls-port=0",
        addr.port(),
        addr.ip()
    )
}

/// The settings of a namespace as pairs; clients look for `nsup-period` and
/// `allow-ttl-without-nsup`, and for `strong-consistency` to tell whether transactions exist.
pub(super) fn namespace_settings(namespace: &Namespace) -> String {
    let (settings, config) = (namespace.settings(), namespace.config());
    format!(
        "allow-ttl-without-nsup={};default-read-touch-ttl-pct={};default-ttl={};\
         max-record-size={};nsup-period={};replication-factor=1;single-bin=false;\
         strong-consistency=false;transaction-pending-limit={};index-type=mem;sindex-type=mem;\
         storage-engine=memory;storage-engine.data-size={};storage-engine.defrag-lwm-pct={};\
         storage-engine.stop-writes-used-pct={}",
        settings.allow_ttl_without_nsup(),
        settings.read_touch_ttl_percent(),
        settings.default_ttl_s(),
        settings.max_record_size(),
        settings.nsup_period_s(),
        settings.transaction_pending_limit(),
        config.storage_size,
        settings.defrag_below_percent(),
        settings.stop_writes_used_percent(),
    )
}

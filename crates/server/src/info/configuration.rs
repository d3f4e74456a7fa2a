//! Settings in force.

use cairn_value::{Error, ResultCode};

use super::{Request, settings};

type Answer = Result<String, Error>;

pub(super) fn get(request: &mut Request<'_>) -> Answer {
    match request.arguments.get("context") {
        None | Some("service") => Ok(service(request)),
        Some("network") => Ok(network(request)),
        Some("namespace") => request.namespace().map(settings::of_namespace),
        Some("security" | "xdr") => Ok(String::new()),
        Some(_) => Err(Error::new(ResultCode::Parameter, "invalid context")),
    }
}

fn service(request: &Request<'_>) -> String {
    let limits = &request.state.limits;
    let idle_ms = limits.idle_max.map_or(0, |idle| idle.as_millis());
    format!(
        "cluster-name=null;node-id={};proto-fd-idle-ms={idle_ms};proto-fd-max={};\
         frame-size-max={};disable-udf-execution=true;query-max-done={}",
        request.state.node,
        limits.connections_max,
        limits.frame_size(),
        request.state.queries.done_max(),
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

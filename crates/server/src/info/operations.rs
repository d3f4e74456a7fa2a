//! How the server does.

use std::sync::atomic::Ordering;

use cairn_value::Error;

use super::Request;

type Answer = Result<String, Error>;

pub(super) fn statistics(request: &mut Request<'_>) -> Answer {
    let state = request.state;
    let objects: u64 = state.engine.namespaces().iter().map(|ns| ns.stats().objects).sum();
    Ok(format!(
        "failed_best_practices=false;cluster_size=1;cluster_generation=1;\
         cluster_principal={};cluster_integrity=true;cluster_is_member=true;\
         uptime={};objects={objects};tombstones=0;client_connections={};\
         migrate_allowed=true;migrate_partitions_remaining=0",
        state.node,
        state.started.elapsed().as_secs(),
        state.connections.load(Ordering::Relaxed),
    ))
}

pub(super) fn logs(_: &mut Request<'_>) -> Answer {
    Ok("0:stderr".into())
}

pub(super) fn best_practices(_: &mut Request<'_>) -> Answer {
    Ok("failed_best_practices=none".into())
}

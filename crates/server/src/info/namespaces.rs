//! Namespaces and sets: what they hold.

use std::fmt::Write;

use cairn_engine::{IndexSource, Namespace, SetStats, seconds_since_2010};
use cairn_value::Error;

use super::{Request, settings};

type Answer = Result<String, Error>;

pub(super) fn names(request: &mut Request<'_>) -> Answer {
    let namespaces = request.state.engine.namespaces();
    Ok(namespaces.iter().map(Namespace::name).collect::<Vec<_>>().join(";"))
}

pub(super) fn objects(request: &mut Request<'_>) -> Answer {
    let namespaces = request.state.engine.namespaces();
    Ok(namespaces.iter().map(|namespace| namespace.stats().objects).sum::<u64>().to_string())
}

pub(super) fn namespace(request: &mut Request<'_>) -> Answer {
    let name = request.arguments.path().map_or("", |(name, _)| name);
    match request.state.engine.namespace(name.as_bytes()) {
        Some(namespace) => Ok(statistics(namespace)),
        None => Ok("type=unknown".into()),
    }
}

fn statistics(namespace: &Namespace) -> String {
    let stats = namespace.stats();
    let objects = stats.objects;
    let total = namespace.config().storage_size;
    let used_pct = stats.log.live_bytes.saturating_mul(100) / total.max(1);
    let now = seconds_since_2010(namespace.now_ns());
    let mut text = format!(
        "ns_cluster_size=1;effective_replication_factor=1;objects={objects};tombstones=0;\
         master_objects={objects};master_tombstones=0;prole_objects=0;prole_tombstones=0;\
         non_replica_objects=0;non_replica_tombstones=0;unreplicated_records=0;dead_partitions=0;\
         unavailable_partitions=0;clock_skew_stop_writes=false;stop_writes={};hwm_breached=false;\
         current_time={now};expired_objects={};evicted_objects=0;truncated_objects={};\
         index_used_bytes={};set_index_used_bytes=0;sindex_used_bytes={};data_total_bytes={total};\
         data_used_bytes={};data_used_pct={used_pct};data_avail_pct={};\
         defrag_moved_bytes={};defrag_freed_blocks={};\
         migrate_tx_partitions_remaining=0;migrate_rx_partitions_remaining=0;",
        stats.stop_writes,
        stats.expired,
        stats.truncated,
        stats.index_bytes,
        stats.secondary_index_bytes,
        stats.log.live_bytes,
        100u64.saturating_sub(used_pct),
        stats.defrag_moved_bytes,
        stats.defrag_freed_blocks,
    );
    text.push_str(&settings::of_namespace(namespace));
    text
}

pub(super) fn sets(request: &mut Request<'_>) -> Answer {
    let Some((name, set)) = request.arguments.path() else {
        let all = request.state.engine.namespaces().iter().map(|ns| sets_of(ns, None));
        return Ok(all.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(";"));
    };
    match request.state.engine.namespace(name.as_bytes()) {
        Some(namespace) => Ok(sets_of(namespace, set)),
        None => Ok("ns_type=unknown".into()),
    }
}

fn sets_of(namespace: &Namespace, only: Option<&str>) -> String {
    let mut text = String::new();
    for set in namespace.set_stats() {
        // The records that have no set are not a set.
        if set.name.is_empty() || only.is_some_and(|only| only.as_bytes() != set.name) {
            continue;
        }
        if !text.is_empty() {
            text.push(';');
        }
        write_set(&mut text, namespace, &set);
    }
    text
}

fn write_set(text: &mut String, namespace: &Namespace, set: &SetStats) {
    let name = String::from_utf8_lossy(&set.name);
    let own: Vec<_> = namespace
        .indexes()
        .into_iter()
        .filter(|index| index.definition().set == set.name)
        .collect();
    let (members, values): (Vec<_>, Vec<_>) =
        own.iter().partition(|index| index.definition().source == IndexSource::Membership);
    let populating = members.iter().any(|index| !index.is_ready());
    let truncated = set.truncated_before_ns / 1_000_000;
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "ns={}:set={name}:objects={}:tombstones=0:data_used_bytes={}:\
         truncate_lut={truncated}:sindexes={}:index_populating={populating}:truncating=false:\
         default-read-touch-ttl-pct=0:default-ttl=0:disable-eviction=false:enable-index={}:\
         stop-writes-count=0:stop-writes-size=0",
        namespace.name(),
        set.objects,
        set.bytes,
        values.len(),
        !members.is_empty(),
    );
}

//! What a client's view of the cluster is made of: one node that holds every partition.

use std::net::{IpAddr, SocketAddr};

use cairn_value::limits::PARTITIONS;
use cairn_value::{Error, ResultCode};

use super::Request;

/// Key of the cluster; there is only ever one.
const CLUSTER_KEY: &str = "CA1A00000001";

type Answer = Result<String, Error>;

pub(super) fn nothing(_: &mut Request<'_>) -> Answer {
    Ok(String::new())
}

pub(super) fn name(_: &mut Request<'_>) -> Answer {
    Ok("null".into())
}

pub(super) fn generation(_: &mut Request<'_>) -> Answer {
    Ok("0".into())
}

pub(super) fn partitions(_: &mut Request<'_>) -> Answer {
    Ok(PARTITIONS.to_string())
}

pub(super) fn peers(_: &mut Request<'_>) -> Answer {
    Ok("0,3000,[]".into())
}

pub(super) fn stable(request: &mut Request<'_>) -> Answer {
    if request.arguments.get("namespace").is_some() {
        request.namespace()?;
    }
    match request.arguments.get("size") {
        None | Some("1") => Ok(CLUSTER_KEY.into()),
        Some(_) => Err(Error::new(ResultCode::ClusterKeyMismatch, "cluster not specified size")),
    }
}

/// Where clients connect: the address this connection reached when the server listens on all.
pub(super) fn service(request: &mut Request<'_>) -> Answer {
    let listen = request.state.addr;
    let addr = match request.client.local {
        Some(local) if listen.ip().is_unspecified() => SocketAddr::new(local.ip(), listen.port()),
        _ => listen,
    };
    Ok(match addr.ip() {
        // An IPv4 client of a socket that listens on both families wants its own form.
        IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() => {
            let v4 = v6.to_canonical();
            format!("{v4}:{}", addr.port())
        }
        _ => addr.to_string(),
    })
}

pub(super) fn replicas(request: &mut Request<'_>) -> Answer {
    per_namespace(request, "0,1,")
}

pub(super) fn replicas_master(request: &mut Request<'_>) -> Answer {
    per_namespace(request, "")
}

pub(super) fn replicas_all(request: &mut Request<'_>) -> Answer {
    per_namespace(request, "1,")
}

fn per_namespace(request: &mut Request<'_>, before: &str) -> Answer {
    let all = full_bitmap_base64();
    let namespaces = request.state.engine.namespaces();
    let parts: Vec<String> =
        namespaces.iter().map(|namespace| format!("{}:{before}{all}", namespace.name())).collect();
    Ok(parts.join(";"))
}

/// Base64 of a bitmap with a bit set for every partition.
fn full_bitmap_base64() -> String {
    const BYTES: usize = PARTITIONS / 8;
    const { assert!(BYTES % 3 == 2, "the last group below holds two bytes") };
    let mut text = "/".repeat(BYTES / 3 * 4 + 2);
    text.push_str("8=");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bitmap_has_the_length_that_clients_demand() {
        let text = full_bitmap_base64();
        assert_eq!(text.len(), 684);
        assert!(text.ends_with("///8=") && text.starts_with("////"));
    }
}

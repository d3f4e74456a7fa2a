//! The info protocol: text commands that clients and tools ask about the server itself.
//!
//! A request is a list of lines, the answer one line `command <tab> value` for each. A command is a
//! name, then arguments behind `:` (as `key=value;..`) or behind `/` (as a path). [`COMMANDS`] is
//! the one table that says which exist.

mod arguments;
mod base64;
mod cluster;
mod configuration;
mod functions;
mod identity;
mod indexes;
mod namespaces;
mod operations;
mod queries;
mod settings;
mod truncation;
mod unsupported;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Instant;

use cairn_engine::{Engine, Namespace};
use cairn_value::{Digest, Error, ParticleType, ResultCode};

use crate::limits::{INFO_ANSWER_MAX, Limits};
use crate::queries::Queries;
use crate::session::Client;

pub use arguments::Arguments;

/// One row of the table.
pub struct Command {
    /// Name, as clients send it.
    pub name: &'static str,
    /// What it answers, for people.
    pub doc: &'static str,
    /// Computes the answer.
    run: Handler,
}

type Handler = fn(&mut Request<'_>) -> Result<String, Error>;

/// A command with all that its answer may need.
pub(crate) struct Request<'a> {
    pub state: &'a State,
    pub client: &'a mut Client,
    pub arguments: Arguments<'a>,
}

/// What info commands know about the server.
#[derive(Debug)]
pub(crate) struct State {
    pub engine: Arc<Engine>,
    pub queries: Arc<Queries>,
    pub modules: functions::Modules,
    pub addr: SocketAddr,
    pub node: String,
    pub started: Instant,
    pub connections: Arc<AtomicUsize>,
    pub limits: Limits,
}

impl State {
    pub fn new(
        engine: Arc<Engine>,
        queries: Arc<Queries>,
        addr: SocketAddr,
        connections: Arc<AtomicUsize>,
        limits: Limits,
    ) -> Self {
        let node = node_id(addr);
        State {
            engine,
            queries,
            modules: Default::default(),
            addr,
            node,
            started: Instant::now(),
            connections,
            limits,
        }
    }
}

/// An id that stays the same from start to start, so that clients see one node come back.
fn node_id(addr: SocketAddr) -> String {
    let digest = Digest::of(b"cairn node", ParticleType::String, addr.to_string().as_bytes());
    let hex: String = digest.to_string().to_uppercase();
    format!("CA{}", &hex[..12])
}

impl Request<'_> {
    /// What the `namespace` (or the older `ns` or `id`) argument says.
    fn named_namespace(&self) -> Result<&str, Error> {
        ["namespace", "ns", "id"]
            .iter()
            .find_map(|key| self.arguments.get(key))
            .ok_or_else(|| Error::new(ResultCode::UnknownNamespace, "missing 'namespace'"))
    }

    /// The namespace that the argument names.
    fn namespace(&self) -> Result<&Namespace, Error> {
        let name = self.named_namespace()?;
        self.state
            .engine
            .namespace(name.as_bytes())
            .ok_or_else(|| Error::new(ResultCode::UnknownNamespace, "namespace not found on node"))
    }
}

macro_rules! commands {
    ($($name:literal, $run:expr, $doc:literal;)*) => {
        /// Every command, in the order that `help` lists them.
        pub static COMMANDS: &[Command] =
            &[$(Command { name: $name, doc: $doc, run: $run },)*];
    };
}

commands! {
    "build", identity::build, "protocol level that is served, four numbers";
    "edition", identity::edition, "what this server is";
    "version", identity::version, "what this server is, and its version";
    "release", identity::release, "edition, version and machine as pairs";
    "features", identity::features, "what clients may use";
    "node", identity::node, "id of this node";
    "name", identity::node, "id of this node";
    "status", identity::status, "`ok` when the server serves";
    "connection", identity::connection, "kind of this connection";
    "digests", identity::digests, "hash of user keys";
    "user-agent-set", identity::user_agent_set, "the client tells who it is";
    "user-agents", identity::user_agents, "who is connected here";
    "help", identity::help, "names of all commands";
    "namespaces", namespaces::names, "names of the namespaces";
    "namespace", namespaces::namespace, "statistics and settings of one namespace";
    "sets", namespaces::sets, "sets with their counts and sizes";
    "objects", namespaces::objects, "records in all namespaces";
    "statistics", operations::statistics, "statistics of the server";
    "get-config", configuration::get, "settings in force";
    "cluster-name", cluster::name, "name of the cluster";
    "cluster-stable", cluster::stable, "key of the cluster when it does not change";
    "partition-generation", cluster::generation, "changes when partitions move";
    "peers-generation", cluster::generation, "changes when peers come and go";
    "rebalance-generation", cluster::generation, "changes when racks change";
    "partitions", cluster::partitions, "partitions of a namespace";
    "replicas", cluster::replicas, "which partitions this node holds";
    "replicas-master", cluster::replicas_master, "which partitions this node leads";
    "replicas-all", cluster::replicas_all, "which partitions this node holds, older form";
    "peers-clear-std", cluster::peers, "the other nodes";
    "peers-clear-alt", cluster::peers, "the other nodes";
    "alumni-clear-std", cluster::peers, "nodes seen before";
    "services", cluster::nothing, "the other nodes, older form";
    "service-clear-std", cluster::service, "where clients connect";
    "service-clear-alt", cluster::nothing, "where clients connect from elsewhere";
    "service-tls-std", unsupported::tls, "where clients connect with TLS";
    "service-tls-alt", unsupported::tls, "where clients connect with TLS from elsewhere";
    "peers-tls-std", unsupported::tls, "the other nodes, with TLS";
    "peers-tls-alt", unsupported::tls, "the other nodes, with TLS";
    "rack-ids", unsupported::racks, "racks of the namespaces";
    "racks", unsupported::racks, "racks of the namespaces";
    "roster", unsupported::roster, "nodes of a consistent namespace";
    "logs", operations::logs, "log sinks";
    "health-outliers", cluster::nothing, "nodes that behave unlike the others";
    "best-practices", operations::best_practices, "advice that is not followed";
    "sindex", indexes::show, "secondary indexes";
    "sindex-list", indexes::list, "secondary indexes";
    "sindex-exists", indexes::exists, "whether an index exists";
    "sindex-stat", indexes::statistics, "statistics of an index";
    "sindex-create", indexes::create, "creates an index";
    "sindex-delete", indexes::delete, "deletes an index";
    "udf-list", functions::list, "user-defined functions";
    "udf-put", functions::put, "stores user-defined functions";
    "udf-get", functions::get, "a user-defined function";
    "udf-remove", functions::remove, "removes user-defined functions";
    "query-show", queries::show, "queries that run";
    "query-abort", queries::abort, "ends a query";
    "query-abort-all", queries::abort_all, "ends all queries";
    "set-config", settings::set, "changes a setting";
    "truncate", truncation::set, "deletes the records of a set";
    "truncate-namespace", truncation::namespace, "deletes the records of a namespace";
}

/// Appends the answers to all commands of a request.
pub(crate) fn answer(state: &State, client: &mut Client, request: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    let lines = request.strip_suffix(b"\n").unwrap_or(request);
    if request.is_empty() {
        return;
    }
    for line in lines.split(|&byte| byte == b'\n') {
        out.extend_from_slice(line);
        out.push(b'\t');
        let value = if out.len() - start > INFO_ANSWER_MAX {
            Err(Error::new(ResultCode::Parameter, "answer too long, ask in several requests"))
        } else {
            answer_line(state, client, line)
        };
        match value {
            Ok(value) => out.extend_from_slice(value.as_bytes()),
            Err(error) => out.extend_from_slice(error_text(&error).as_bytes()),
        }
        out.push(b'\n');
    }
}

fn answer_line(state: &State, client: &mut Client, line: &[u8]) -> Result<String, Error> {
    let unknown = || Error::new(ResultCode::Parameter, "unrecognized command");
    let line = std::str::from_utf8(line).map_err(|_| unknown())?;
    let (name, arguments) = Arguments::split(line);
    let command = COMMANDS.iter().find(|command| command.name == name).ok_or_else(unknown)?;
    (command.run)(&mut Request { state, client, arguments })
}

fn error_text(error: &Error) -> String {
    format!("ERROR:{}:{}", error.code.wire(), error.message)
}

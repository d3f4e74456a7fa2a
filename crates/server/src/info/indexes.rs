//! Secondary indexes: creation, deletion, lists and statistics.

use std::sync::Arc;

use cairn_engine::{
    INDEX_NAME_MAX, IndexDefinition, IndexKind, IndexPart, IndexSource, Namespace, SecondaryIndex,
};
use cairn_value::limits::{BIN_NAME_MAX, NAMESPACE_NAME_MAX, SET_NAME_MAX};
use cairn_value::{Error, ResultCode};

use super::{Request, base64};

type Answer = Result<String, Error>;

/// Records that creating an index puts into it at once, so that a small set has its index when the
/// answer leaves. The rest is built in the background.
const BUILD_AT_ONCE: usize = 1000;

/// Types of indexed values, as commands name them.
const KINDS: [(&str, IndexKind); 4] = [
    ("numeric", IndexKind::Integer),
    ("string", IndexKind::String),
    ("blob", IndexKind::Blob),
    ("geo2dsphere", IndexKind::Geo),
];

/// What inside a value is indexed, as commands name it.
const PARTS: [(&str, IndexPart); 4] = [
    ("default", IndexPart::Value),
    ("list", IndexPart::ListElements),
    ("mapkeys", IndexPart::MapKeys),
    ("mapvalues", IndexPart::MapValues),
];

/// How commands name an index on the members of a set.
const MEMBERSHIP: &str = "set";

pub(super) fn create(request: &mut Request<'_>) -> Answer {
    let name = request.arguments.get("indexname").ok_or_else(|| refused("missing 'indexname'"))?;
    if name.is_empty() || name.len() > INDEX_NAME_MAX {
        return refuse("'indexname' value too long");
    }
    if request.named_namespace()?.len() > NAMESPACE_NAME_MAX {
        return refuse("'namespace' value too long");
    }
    let definition = definition(request)?;
    // A namespace that does not exist has no records to index.
    if let Ok(namespace) = request.namespace() {
        namespace.create_index(name, definition)?;
        namespace.step_index_build(BUILD_AT_ONCE);
    }
    Ok("ok".into())
}

/// An index that does not exist is gone already.
pub(super) fn delete(request: &mut Request<'_>) -> Answer {
    request.named_namespace()?;
    let Some(name) = request.arguments.get("indexname") else {
        return refuse("missing 'indexname'");
    };
    if let Ok(namespace) = request.namespace() {
        namespace.drop_index(name);
    }
    Ok("ok".into())
}

pub(super) fn exists(request: &mut Request<'_>) -> Answer {
    let namespace = request.namespace()?;
    let Some(name) = request.arguments.get("indexname") else {
        return refuse("missing 'indexname'");
    };
    Ok(named(namespace, name).is_some().to_string())
}

pub(super) fn statistics(request: &mut Request<'_>) -> Answer {
    let namespace = request.namespace()?;
    let Some(name) = request.arguments.get("indexname") else {
        return refuse("missing 'indexname'");
    };
    statistics_of(namespace, name)
}

/// All indexes, those of a namespace.
pub(super) fn list(request: &mut Request<'_>) -> Answer {
    match request.named_namespace() {
        Err(_) => Ok(list_all(request)),
        Ok(_) => request.namespace().map(list_of),
    }
}

/// `sindex`, `sindex/namespace` or `sindex/namespace/index`.
pub(super) fn show(request: &mut Request<'_>) -> Answer {
    let Some((name, index)) = request.arguments.path() else { return list(request) };
    let namespace = request.state.engine.namespace(name.as_bytes());
    match (namespace, index) {
        (None, _) => Err(Error::new(ResultCode::UnknownNamespace, "namespace not found on node")),
        (Some(namespace), None) => Ok(list_of(namespace)),
        (Some(namespace), Some(index)) => statistics_of(namespace, index),
    }
}

fn list_all(request: &Request<'_>) -> String {
    let lists = request.state.engine.namespaces().iter().map(list_of);
    lists.filter(|list| !list.is_empty()).collect::<Vec<_>>().join(";")
}

fn list_of(namespace: &Namespace) -> String {
    let rows = namespace.indexes().into_iter().map(|index| row(namespace, &index));
    rows.collect::<Vec<_>>().join(";")
}

fn row(namespace: &Namespace, index: &SecondaryIndex) -> String {
    let IndexDefinition { set, source, kind, part } = index.definition();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let or_null = |text: String| if text.is_empty() { "null".to_owned() } else { text };
    let (bin, context, expression) = match source {
        IndexSource::Bin { name, context } => (text(name), base64::encode(context), String::new()),
        IndexSource::Expression(bytes) => (String::new(), String::new(), base64::encode(bytes)),
        IndexSource::Membership => Default::default(),
    };
    let (kind, part) = match source {
        IndexSource::Membership => ("null", MEMBERSHIP),
        _ => (name_of(&KINDS, *kind), name_of(&PARTS, *part)),
    };
    format!(
        "ns={}:indexname={}:set={}:bin={}:type={kind}:indextype={part}:context={}:exp={}:state={}",
        namespace.name(),
        index.name(),
        or_null(text(set)),
        or_null(bin),
        or_null(context),
        or_null(expression),
        if index.is_ready() { "RW" } else { "WO" },
    )
}

fn statistics_of(namespace: &Namespace, name: &str) -> Answer {
    let index = named(namespace, name);
    let index = index.ok_or_else(|| Error::new(ResultCode::IndexNotFound, "no index"))?;
    let stats = index.stats();
    Ok(format!(
        "entries={};used_bytes={};entries_per_bval={};entries_per_rec={};load_pct={};\
         load_time={};stat_gc_recs={}",
        stats.entries,
        stats.used_bytes,
        stats.entries_per_value,
        stats.entries_per_record,
        stats.load_percent,
        stats.load_time_s,
        stats.swept_records,
    ))
}

fn named(namespace: &Namespace, name: &str) -> Option<Arc<SecondaryIndex>> {
    namespace.find_index(|index| index.name() == name)
}

/// Reads what the index is about, in the newer or the older syntax.
fn definition(request: &Request<'_>) -> Result<IndexDefinition, Error> {
    let argument = |key| request.arguments.get(key);
    let set = argument("set").filter(|set| *set != "null").unwrap_or_default();
    if set.len() > SET_NAME_MAX {
        return refuse("'set' value too long");
    }
    let set = set.as_bytes().to_vec();
    let part = argument("indextype").unwrap_or("default");
    if part.eq_ignore_ascii_case(MEMBERSHIP) {
        if set.is_empty() {
            return refuse("missing 'set'");
        }
        let (source, kind) = (IndexSource::Membership, IndexKind::Integer);
        return Ok(IndexDefinition { set, source, kind, part: IndexPart::Value });
    }
    let old = argument("indexdata").map(|data| data.split_once(',').unwrap_or((data, "")));
    let Some(kind) = argument("type").or(old.map(|(_, kind)| kind)) else {
        return refuse("both 'indexdata' and 'type' are missing");
    };
    let kind = find(&KINDS, kind).ok_or_else(|| {
        refused("bad 'type' - must be one of 'numeric', 'string', 'blob', 'geo2dsphere'")
    })?;
    let part = find(&PARTS, part).ok_or_else(|| {
        refused("bad 'indextype' - must be one of 'default', 'list', 'mapkeys', 'mapvalues'")
    })?;
    let bin = argument("bin").or(old.map(|(bin, _)| bin));
    let source = source(argument("exp"), argument("context"), bin)?;
    Ok(IndexDefinition { set, source, kind, part })
}

fn source(
    expression: Option<&str>,
    context: Option<&str>,
    bin: Option<&str>,
) -> Result<IndexSource, Error> {
    if let Some(expression) = expression.filter(|text| *text != "null") {
        if bin.is_some() || context.is_some() {
            return refuse("'exp' excludes 'bin' and 'context'");
        }
        let bytes = base64::decode(expression).ok_or_else(|| refused("bad 'exp'"))?;
        cairn_ops::exp::Program::compile(&bytes).map_err(|_| refused("bad 'exp'"))?;
        return Ok(IndexSource::Expression(bytes));
    }
    let bin = bin.filter(|bin| !bin.is_empty()).ok_or_else(|| refused("missing 'bin'"))?;
    if bin.len() > BIN_NAME_MAX {
        return refuse("'bin' value too long");
    }
    let context = match context.filter(|text| *text != "null") {
        None => Vec::new(),
        Some(text) => {
            let bytes = base64::decode(text).ok_or_else(|| refused("'context' invalid base64"))?;
            cairn_engine::check_context(&bytes).map_err(|_| refused("bad 'context'"))?;
            bytes
        }
    };
    Ok(IndexSource::Bin { name: bin.into(), context })
}

fn find<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
}

fn name_of<T: PartialEq>(table: &[(&'static str, T)], value: T) -> &'static str {
    table.iter().find(|(_, known)| *known == value).map_or("", |(name, _)| name)
}

fn refused(text: &'static str) -> Error {
    Error::new(ResultCode::Parameter, text)
}

fn refuse<T>(text: &'static str) -> Result<T, Error> {
    Err(refused(text))
}

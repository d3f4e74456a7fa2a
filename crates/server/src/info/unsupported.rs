//! Commands of the protocol that this server does not carry out, each with its code and a
//! sentence.

use cairn_value::{Error, ResultCode};

use super::Request;

type Answer = Result<String, Error>;

fn refuse(code: ResultCode, text: &'static str) -> Answer {
    Err(Error::new(code, text))
}

pub(super) fn tls(_: &mut Request<'_>) -> Answer {
    refuse(ResultCode::EnterpriseOnly, "TLS is not available")
}

pub(super) fn racks(_: &mut Request<'_>) -> Answer {
    refuse(ResultCode::EnterpriseOnly, "racks are not available, this is a single node")
}

pub(super) fn roster(_: &mut Request<'_>) -> Answer {
    refuse(ResultCode::EnterpriseOnly, "strong consistency is not available")
}

pub(super) fn no_indexes(_: &mut Request<'_>) -> Answer {
    Ok(String::new())
}

pub(super) fn no_such_index(request: &mut Request<'_>) -> Answer {
    request.namespace()?;
    Ok("false".into())
}

pub(super) fn index_not_found(request: &mut Request<'_>) -> Answer {
    request.namespace()?;
    refuse(ResultCode::IndexNotFound, "no index")
}

pub(super) fn create_index(_: &mut Request<'_>) -> Answer {
    refuse(ResultCode::Unsupported, "secondary indexes are not available")
}

/// An index that does not exist is gone already.
pub(super) fn delete_index(request: &mut Request<'_>) -> Answer {
    request.named_namespace()?;
    match request.arguments.get("indexname") {
        Some(_) => Ok("ok".into()),
        None => refuse(ResultCode::Parameter, "missing 'indexname'"),
    }
}

pub(super) fn functions(_: &mut Request<'_>) -> Answer {
    refuse(ResultCode::Unsupported, "user-defined functions are not available")
}

/// Scans end with their answer, so there is none to show.
pub(super) fn show_queries(request: &mut Request<'_>) -> Answer {
    match query_id(request) {
        None => Ok(String::new()),
        Some(_) => refuse(ResultCode::NotFound, "job not found"),
    }
}

pub(super) fn abort_query(request: &mut Request<'_>) -> Answer {
    match query_id(request) {
        None => refuse(ResultCode::Parameter, "missing 'id'"),
        Some(_) => refuse(ResultCode::NotFound, "id not active"),
    }
}

fn query_id<'a>(request: &Request<'a>) -> Option<&'a str> {
    request.arguments.get("id").or_else(|| request.arguments.get("trid"))
}

pub(super) fn set_config(_: &mut Request<'_>) -> Answer {
    refuse(ResultCode::Unsupported, "settings are given at start, see `cairn serve --help`")
}

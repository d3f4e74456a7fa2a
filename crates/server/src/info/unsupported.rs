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

pub(super) fn index_management(_: &mut Request<'_>) -> Answer {
    refuse(ResultCode::Unsupported, "secondary indexes are not available")
}

pub(super) fn functions(_: &mut Request<'_>) -> Answer {
    refuse(ResultCode::Unsupported, "user-defined functions are not available")
}

pub(super) fn query_not_found(_: &mut Request<'_>) -> Answer {
    refuse(ResultCode::NotFound, "job not found")
}

pub(super) fn set_config(_: &mut Request<'_>) -> Answer {
    refuse(ResultCode::Unsupported, "settings are given at start, see `cairn serve --help`")
}

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

//! Queries that run and ran.

use cairn_value::{Error, ResultCode};

use super::Request;

type Answer = Result<String, Error>;

pub(super) fn show(request: &mut Request<'_>) -> Answer {
    let queries = &request.state.queries;
    match id(request) {
        None => Ok(queries.show_all()),
        Some(id) => id
            .and_then(|id| queries.show(id))
            .ok_or_else(|| Error::new(ResultCode::NotFound, "job not found")),
    }
}

pub(super) fn abort(request: &mut Request<'_>) -> Answer {
    match id(request) {
        None => Err(Error::new(ResultCode::Parameter, "missing 'id'")),
        Some(Some(id)) if request.state.queries.abort(id) => Ok("ok".into()),
        Some(_) => Err(Error::new(ResultCode::NotFound, "id not active")),
    }
}

pub(super) fn abort_all(request: &mut Request<'_>) -> Answer {
    Ok(format!("number-of-queries-killed:{}", request.state.queries.abort_all()))
}

/// The id that is asked for: none, or one that may not be a number.
fn id(request: &Request<'_>) -> Option<Option<u64>> {
    let text = request.arguments.get("id").or_else(|| request.arguments.get("trid"))?;
    Some(text.parse().ok().or_else(|| text.parse::<i64>().ok().map(|id| id as u64)))
}

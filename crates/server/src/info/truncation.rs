//! Truncation: all records of a set or a namespace go at once.

use cairn_value::limits::SET_NAME_MAX;
use cairn_value::record::EPOCH_2010_S;
use cairn_value::{Error, ResultCode};

use super::Request;

type Answer = Result<String, Error>;

pub(super) fn set(request: &mut Request<'_>) -> Answer {
    request.named_namespace()?;
    match request.arguments.get("set") {
        None => refuse("missing 'set'"),
        Some(set) if set.len() > SET_NAME_MAX => refuse("'set' value too long"),
        Some(set) => truncate(request, Some(set)),
    }
}

pub(super) fn namespace(request: &mut Request<'_>) -> Answer {
    request.named_namespace()?;
    truncate(request, None)
}

/// A namespace that does not exist is empty already.
fn truncate(request: &Request<'_>, set: Option<&str>) -> Answer {
    let before_ns = cut_off(request)?;
    if let Ok(namespace) = request.namespace() {
        namespace.truncate(set.map(str::as_bytes), before_ns)?;
    }
    Ok("ok".into())
}

/// The cut-off time, in nanoseconds since the Unix epoch; none is now, and so is 0.
fn cut_off(request: &Request<'_>) -> Result<Option<u64>, Error> {
    let Some(text) = request.arguments.get("lut") else { return Ok(None) };
    if text == "0" {
        return Ok(None);
    }
    let nanoseconds: u128 = text.parse().unwrap_or(0);
    let now_ns = request.state.engine.namespaces().first().map_or(0, |ns| ns.now_ns());
    if nanoseconds <= u128::from(EPOCH_2010_S) * 1_000_000_000 {
        return refuse("would truncate to 0");
    }
    match u64::try_from(nanoseconds) {
        Ok(nanoseconds) if nanoseconds <= now_ns => Ok(Some(nanoseconds)),
        _ => refuse("would truncate in the future"),
    }
}

fn refuse<T>(text: &'static str) -> Result<T, Error> {
    Err(Error::new(ResultCode::Parameter, text))
}

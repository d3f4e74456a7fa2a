//! Who this server is.

use cairn_value::{Error, ResultCode};

use super::{COMMANDS, Request};

/// Protocol level that is served. Clients switch features on by it.
pub const BUILD: &str = "8.1.2.0";
/// What the server calls itself.
pub const EDITION: &str = "Cairn";
/// Longest client description, base64 as sent.
const USER_AGENT_MAX: usize = 512;

/// What clients may use. Java and Go refuse a node without `pscans`.
const FEATURES: &str = "batch-any;batch-index;blob-bits;cdt-index;cdt-list;cdt-map;cluster-stable;\
    float;geo;peers;pipelining;pquery;pscans;query-show;replicas;replicas-all;replicas-master;\
    sindex-exists;truncate-namespace";

type Answer = Result<String, Error>;

pub(super) fn build(_: &mut Request<'_>) -> Answer {
    Ok(BUILD.into())
}

pub(super) fn edition(_: &mut Request<'_>) -> Answer {
    Ok(EDITION.into())
}

pub(super) fn version(_: &mut Request<'_>) -> Answer {
    Ok(format!("{EDITION} {} protocol {BUILD}", env!("CARGO_PKG_VERSION")))
}

pub(super) fn release(_: &mut Request<'_>) -> Answer {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    let cairn = env!("CARGO_PKG_VERSION");
    Ok(format!("edition={EDITION};version={BUILD};os={os};arch={arch};cairn={cairn}"))
}

pub(super) fn features(_: &mut Request<'_>) -> Answer {
    Ok(FEATURES.into())
}

pub(super) fn node(request: &mut Request<'_>) -> Answer {
    Ok(request.state.node.clone())
}

pub(super) fn status(_: &mut Request<'_>) -> Answer {
    Ok("ok".into())
}

pub(super) fn connection(_: &mut Request<'_>) -> Answer {
    Ok("admin=false".into())
}

pub(super) fn digests(_: &mut Request<'_>) -> Answer {
    Ok("RIPEMD160".into())
}

pub(super) fn user_agent_set(request: &mut Request<'_>) -> Answer {
    let refuse = |text: &'static str| Err(Error::new(ResultCode::Parameter, text));
    if request.client.user_agent.is_some() {
        return refuse("already set");
    }
    match request.arguments.get("value") {
        None => refuse("missing 'value'"),
        Some(value) if value.len() > USER_AGENT_MAX => refuse("'value' too long"),
        Some(value) if !is_base64(value) => refuse("'value' invalid base64"),
        Some(value) => {
            request.client.user_agent = Some(value.to_owned());
            Ok("ok".into())
        }
    }
}

pub(super) fn user_agents(_: &mut Request<'_>) -> Answer {
    Ok(String::new())
}

pub(super) fn help(_: &mut Request<'_>) -> Answer {
    Ok(COMMANDS.iter().map(|command| command.name).collect::<Vec<_>>().join(";"))
}

fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    text.len().is_multiple_of(4)
        && text.len() - digits.len() <= 2
        && digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_recognised() {
        assert!(is_base64("MSx4LTEsYQ==") && is_base64("") && is_base64("ab+/"));
        assert!(!is_base64("!!") && !is_base64("abc") && !is_base64("a==="));
    }
}

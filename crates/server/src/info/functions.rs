//! Modules of user-defined functions: kept, listed and given back, but not run. A command that calls
//! a function is refused.

use std::collections::BTreeMap;

use cairn_value::{Digest, Error, ParticleType};
use parking_lot::Mutex;

use super::{Request, base64};

type Answer = Result<String, Error>;

/// Most modules that are kept.
const MODULES_MAX: usize = 256;
/// Most bytes of all modules.
const BYTES_MAX: usize = 16 << 20;
/// Longest name of a module.
const NAME_MAX: usize = 127;

/// Modules by name.
#[derive(Debug, Default)]
pub(crate) struct Modules(Mutex<BTreeMap<String, Vec<u8>>>);

impl Modules {
    /// Keeps a module in the place of one of the same name; false when there is no room.
    fn put(&self, name: &str, content: Vec<u8>) -> bool {
        let mut modules = self.0.lock();
        let others = modules.iter().filter(|(other, _)| *other != name);
        let (count, bytes) =
            others.fold((0, 0), |(count, bytes), (_, held)| (count + 1, bytes + held.len()));
        if count >= MODULES_MAX || bytes + content.len() > BYTES_MAX {
            return false;
        }
        modules.insert(name.into(), content);
        true
    }
}

pub(super) fn put(request: &mut Request<'_>) -> Answer {
    let argument = |key| request.arguments.get(key);
    let refuse = |why: &str| Ok(format!("error={why}"));
    let Some(name) = argument("filename").filter(|name| (1..=NAME_MAX).contains(&name.len()))
    else {
        return refuse("invalid_filename");
    };
    if argument("content-len").and_then(|len| len.parse::<usize>().ok()).is_none() {
        return refuse("invalid_content_len");
    }
    if argument("udf-type").is_some_and(|kind| !kind.eq_ignore_ascii_case("lua")) {
        return refuse("invalid_udf_type");
    }
    let Some(content) = argument("content").and_then(base64::decode) else {
        return refuse("invalid_base64_content");
    };
    match request.state.modules.put(name, content) {
        true => Ok("ok".into()),
        false => refuse("too_many_modules"),
    }
}

/// A module that does not exist is gone already.
pub(super) fn remove(request: &mut Request<'_>) -> Answer {
    match request.arguments.get("filename") {
        None => Ok("error=invalid_filename".into()),
        Some(name) => {
            request.state.modules.0.lock().remove(name);
            Ok("ok".into())
        }
    }
}

pub(super) fn get(request: &mut Request<'_>) -> Answer {
    let modules = request.state.modules.0.lock();
    Ok(match request.arguments.get("filename").and_then(|name| modules.get(name)) {
        None => "error=not_found".into(),
        Some(content) => {
            format!("gen={};type=LUA;content={};", hash(content), base64::encode(content))
        }
    })
}

pub(super) fn list(request: &mut Request<'_>) -> Answer {
    let modules = request.state.modules.0.lock();
    let row = |(name, content): (&String, &Vec<u8>)| {
        format!("filename={name},hash={},type=LUA;", hash(content))
    };
    Ok(modules.iter().map(row).collect())
}

/// Tells versions of a module apart.
fn hash(content: &[u8]) -> String {
    Digest::of(b"module", ParticleType::Blob, content).to_string()
}

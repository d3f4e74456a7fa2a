//! Select by path.

use cairn_value::packed::write;
use cairn_value::{Error, Particle, ParticleType};

use super::pick::Collection;
use super::{Form, Path};
use crate::Reply;
use crate::exp::Scope;

/// The selection in the form that the path asks for.
pub(super) fn run<'a>(
    path: &'a Path<'_>,
    bin: Particle<'a>,
    scope: &'a Scope<'a>,
) -> Result<Reply, Error> {
    let mut bytes = Vec::new();
    if path.form == Form::Tree {
        tree(path, bin.bytes, 0, scope, &mut bytes)?;
        return Ok(Reply { kind: bin.kind, bytes });
    }
    let mut found = Found { count: 0, bytes: Vec::new() };
    flat(path, bin.bytes, 0, scope, &mut found)?;
    write::list_head(&mut bytes, found.count);
    bytes.extend_from_slice(&found.bytes);
    Ok(Reply { kind: ParticleType::List, bytes })
}

/// Elements of the list that is answered.
struct Found {
    count: u32,
    bytes: Vec<u8>,
}

impl Found {
    fn push(&mut self, packed: &[u8]) {
        self.count += 1;
        self.bytes.extend_from_slice(packed);
    }
}

fn flat<'a>(
    path: &'a Path<'_>,
    bytes: &'a [u8],
    level: usize,
    scope: &'a Scope<'a>,
    found: &mut Found,
) -> Result<(), Error> {
    let collection = Collection::read(bytes)?;
    path.pick(&collection, level, scope, |child| {
        if !path.is_last(level) {
            return match child.is_collection() {
                true => flat(path, child.value, level + 1, scope, found),
                false => Ok(()),
            };
        }
        if matches!(path.form, Form::Keys | Form::KeysAndValues)
            && let Some(key) = child.key
        {
            found.push(key);
        }
        if path.form != Form::Keys {
            found.push(child.value);
        }
        Ok(())
    })
}

/// Writes the collection with only what was selected in it. Its order flags stay behind: the
/// answer is a plain list or map.
fn tree<'a>(
    path: &'a Path<'_>,
    bytes: &'a [u8],
    level: usize,
    scope: &'a Scope<'a>,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let collection = Collection::read(bytes)?;
    let mut found = Found { count: 0, bytes: Vec::new() };
    path.pick(&collection, level, scope, |child| {
        found.count += 1;
        found.bytes.extend_from_slice(child.key.unwrap_or(&[]));
        if path.is_last(level) || !child.is_collection() {
            found.bytes.extend_from_slice(child.value);
            return Ok(());
        }
        tree(path, child.value, level + 1, scope, &mut found.bytes)
    })?;
    match collection.head.is_map {
        true => write::map_head(out, found.count),
        false => write::list_head(out, found.count),
    }
    out.extend_from_slice(&found.bytes);
    Ok(())
}

//! Which record a message is about.

use cairn_engine::{Engine, Namespace, Target};
use cairn_ops::BinOp;
use cairn_value::{Digest, Error, ParticleType, ResultCode};

use super::filter::Filter;
use crate::wire::field::kind;
use crate::wire::{Fields, MessageHeader};

/// A command on one record: a message, or a row of a batch.
pub(super) struct Single<'a, 'o> {
    pub header: MessageHeader,
    pub namespace: &'a Namespace,
    pub target: Target<'a>,
    pub filter: Filter<'o>,
    pub ops: &'o [BinOp<'a>],
}

/// The digest that the fields name; `None` when they name none, as those of queries do.
pub(super) fn digest(fields: Fields<'_>) -> Result<Option<Digest>, Error> {
    let Some(digest) = fields.get(kind::DIGEST) else { return Ok(None) };
    let digest = digest.try_into().map_err(|_| {
        let text = format!("a digest has 20 bytes, this one has {}", digest.len());
        Error::new(ResultCode::Parameter, text)
    })?;
    Ok(Some(Digest(digest)))
}

/// The record of a digest, with the set and key that the fields name.
pub(super) fn target(digest: Digest, fields: Fields<'_>) -> Result<Target<'_>, Error> {
    refuse_unsupported(fields)?;
    let set = fields.get(kind::SET).unwrap_or_default();
    let key = fields.get(kind::KEY).map(check_key).transpose()?;
    Ok(Target { digest, set, key })
}

/// The namespace that the fields name.
pub(super) fn namespace<'a>(
    engine: &'a Engine,
    fields: Fields<'_>,
) -> Result<&'a Namespace, Error> {
    let name = fields.get(kind::NAMESPACE).unwrap_or_default();
    engine.namespace(name).ok_or_else(|| {
        let shown = String::from_utf8_lossy(&name[..name.len().min(64)]).into_owned();
        Error::new(ResultCode::UnknownNamespace, format!("there is no namespace `{shown}`"))
    })
}

/// A user key is a type byte and bytes of any kind, only integers have a fixed length.
fn check_key(wire: &[u8]) -> Result<&[u8], Error> {
    let text = match wire.split_first() {
        None => "a key field needs a type byte",
        Some((&kind, bytes)) if kind == ParticleType::Integer.wire() && bytes.len() != 8 => {
            "an integer key has 8 bytes"
        }
        Some(_) => return Ok(wire),
    };
    Err(Error::new(ResultCode::Unsupported, text))
}

/// Set of the records in which clients keep the state of transactions.
const TRANSACTION_SET: &[u8] = b"<ERO~MRT";

/// Refuses what this server does not do.
fn refuse_unsupported(fields: Fields<'_>) -> Result<(), Error> {
    let refuse = |code, text| Err(Error::new(code, text));
    let has = |kind| fields.get(kind).is_some();
    if has(kind::UDF_PACKAGE) {
        return match has(kind::UDF_FUNCTION) && has(kind::UDF_ARGUMENTS) {
            true => refuse(ResultCode::Unsupported, "user-defined functions are not available"),
            false => refuse(ResultCode::Parameter, "a function needs a name and arguments"),
        };
    }
    // Clients keep the state of a transaction in records of a set of its own.
    if has(kind::TRANSACTION_ID) || fields.get(kind::SET) == Some(TRANSACTION_SET) {
        let text = "multi-record transactions are not available";
        return refuse(ResultCode::Unsupported, text);
    }
    Ok(())
}

//! Which record a message is about.

use cairn_engine::{Engine, Namespace, Target};
use cairn_ops::BinOp;
use cairn_value::{Digest, Error, ParticleType, ResultCode};

use crate::wire::field::kind;
use crate::wire::{Fields, Message, MessageHeader};

/// A command on one record: a message, or a row of a batch.
pub(super) struct Single<'a> {
    pub header: MessageHeader,
    pub namespace: &'a Namespace,
    pub target: Target<'a>,
    pub fields: Fields<'a>,
    pub ops: Vec<BinOp<'a>>,
}

/// Finds the record of a message; `None` when it names no record, as queries do.
pub(super) fn find<'a>(
    engine: &'a Engine,
    message: &Message<'a>,
) -> Result<Option<Single<'a>>, Error> {
    let namespace = namespace(engine, message.fields)?;
    let Some(digest) = message.fields.get(kind::DIGEST) else { return Ok(None) };
    let digest = Digest(digest.try_into().map_err(|_| {
        let text = format!("a digest has 20 bytes, this one has {}", digest.len());
        Error::new(ResultCode::Parameter, text)
    })?);
    let target = Target {
        digest,
        set: message.fields.get(kind::SET).unwrap_or_default(),
        key: message.fields.get(kind::KEY).map(check_key).transpose()?,
    };
    let (header, fields) = (message.header, message.fields);
    Ok(Some(Single { header, namespace, target, fields, ops: message.ops.into_iter().collect() }))
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

impl Single<'_> {
    /// Refuses what this server does not do.
    pub fn refuse_unsupported(&self) -> Result<(), Error> {
        let refuse = |code, text| Err(Error::new(code, text));
        let has = |kind| self.fields.get(kind).is_some();
        if has(kind::UDF_PACKAGE) {
            return match has(kind::UDF_FUNCTION) && has(kind::UDF_ARGUMENTS) {
                true => refuse(ResultCode::Unsupported, "user-defined functions are not available"),
                false => refuse(ResultCode::Parameter, "a function needs a name and arguments"),
            };
        }
        if has(kind::TRANSACTION_ID) {
            let text = "multi-record transactions are not available";
            return refuse(ResultCode::Unsupported, text);
        }
        if has(kind::FILTER) {
            return refuse(ResultCode::Unsupported, "filter expressions are not available");
        }
        Ok(())
    }
}

//! Keys, digests and partitions, byte for byte as every client computes them.

use std::fmt;

use ripemd::{Digest as _, Ripemd160};

use crate::error::{Error, ResultCode};
use crate::limits::{NAMESPACE_NAME_MAX, PARTITIONS, SET_NAME_MAX};
use crate::particle::ParticleType;

/// What a user calls a record inside its set.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UserKey {
    /// A 64-bit integer.
    Integer(i64),
    /// Text.
    String(String),
    /// Bytes.
    Blob(Vec<u8>),
}

impl UserKey {
    /// The particle type that is hashed in front of the key's bytes.
    pub fn kind(&self) -> ParticleType {
        match self {
            UserKey::Integer(_) => ParticleType::Integer,
            UserKey::String(_) => ParticleType::String,
            UserKey::Blob(_) => ParticleType::Blob,
        }
    }

    /// Calls `f` with the key's bytes as they are hashed, sent and stored.
    pub fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
        match self {
            UserKey::Integer(i) => f(&i.to_be_bytes()),
            UserKey::String(s) => f(s.as_bytes()),
            UserKey::Blob(b) => f(b),
        }
    }

    /// The wire form: a type byte and the key's bytes.
    pub fn to_wire(&self) -> Vec<u8> {
        self.with_bytes(|bytes| {
            let mut wire = vec![self.kind().wire()];
            wire.extend_from_slice(bytes);
            wire
        })
    }

    /// Reads the wire form.
    pub fn from_wire(wire: &[u8]) -> Result<Self, Error> {
        let bad = || Error::new(ResultCode::Parameter, "a key is an integer, a string or a blob");
        let (&kind, bytes) = wire.split_first().ok_or_else(bad)?;
        match ParticleType::from_wire(kind) {
            Some(ParticleType::Integer) => {
                Ok(UserKey::Integer(i64::from_be_bytes(bytes.try_into().map_err(|_| bad())?)))
            }
            Some(ParticleType::String) => {
                Ok(UserKey::String(String::from_utf8(bytes.to_vec()).map_err(|_| bad())?))
            }
            Some(ParticleType::Blob) => Ok(UserKey::Blob(bytes.to_vec())),
            _ => Err(bad()),
        }
    }
}

impl From<i64> for UserKey {
    fn from(value: i64) -> Self {
        UserKey::Integer(value)
    }
}

impl From<&str> for UserKey {
    fn from(value: &str) -> Self {
        UserKey::String(value.to_owned())
    }
}

impl From<&[u8]> for UserKey {
    fn from(value: &[u8]) -> Self {
        UserKey::Blob(value.to_vec())
    }
}

/// One of the 4,096 parts of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PartitionId(pub u16);

/// The 20-byte identity of a record: RIPEMD-160 of set name, key type and key bytes. The
/// namespace is not part of it, so one (set, key) has one digest in every namespace.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(pub [u8; 20]);

impl Digest {
    /// Smallest digest, before every record of partition 0.
    pub const ZERO: Digest = Digest([0; 20]);

    /// The digest of a set, key type byte and key bytes.
    ///
    /// ```
    /// use cairn_value::{Digest, ParticleType};
    /// let digest = Digest::of(b"users", ParticleType::String, b"user:alice");
    /// assert_eq!(digest.to_string().len(), 40);
    /// ```
    pub fn of(set: &[u8], kind: ParticleType, key: &[u8]) -> Digest {
        let mut hash = Ripemd160::new();
        hash.update(set);
        hash.update([kind.wire()]);
        hash.update(key);
        Digest(hash.finalize().into())
    }

    /// The partition that holds this digest: its first 12 bits, little-endian.
    pub fn partition(&self) -> PartitionId {
        let low = u16::from_le_bytes([self.0[0], self.0[1]]);
        PartitionId(low & (PARTITIONS as u16 - 1))
    }

    /// Reads 40 hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<Digest> {
        if text.len() != 40 || !text.is_ascii() {
            return None;
        }
        let mut bytes = [0; 20];
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(Digest(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// A record's full name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    namespace: String,
    set: String,
    user: UserKey,
    digest: Digest,
}

impl Key {
    /// A key in a namespace and set; an empty set name means "no set".
    pub fn new(
        namespace: impl Into<String>,
        set: impl Into<String>,
        user: impl Into<UserKey>,
    ) -> Result<Key, Error> {
        let (namespace, set, user) = (namespace.into(), set.into(), user.into());
        check_namespace_name(namespace.as_bytes())?;
        check_set_name(set.as_bytes())?;
        let digest = user.with_bytes(|bytes| Digest::of(set.as_bytes(), user.kind(), bytes));
        Ok(Key { namespace, set, user, digest })
    }

    /// Name of the namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Name of the set, empty when there is none.
    pub fn set(&self) -> &str {
        &self.set
    }

    /// What the user calls the record.
    pub fn user(&self) -> &UserKey {
        &self.user
    }

    /// The record's identity.
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

/// Refuses an empty or over-long namespace name, and one that lists and paths of names could not
/// hold.
pub fn check_namespace_name(name: &[u8]) -> Result<(), Error> {
    check_name("namespace", name, 1, NAMESPACE_NAME_MAX)?;
    let fits = |byte: &u8| byte.is_ascii_graphic() && !b";:,=/".contains(byte);
    if name.iter().all(fits) {
        return Ok(());
    }
    let shown = String::from_utf8_lossy(name).escape_debug().to_string();
    Err(Error::new(
        ResultCode::Parameter,
        format!("namespace name `{shown}` may hold printable ASCII other than `;:,=/` and spaces"),
    ))
}

/// Refuses an over-long set name and one with a zero byte; the empty name means "no set".
pub fn check_set_name(name: &[u8]) -> Result<(), Error> {
    check_name("set", name, 0, SET_NAME_MAX)
}

fn check_name(what: &str, name: &[u8], min: usize, max: usize) -> Result<(), Error> {
    let shown = || String::from_utf8_lossy(&name[..name.len().min(2 * max)]).into_owned();
    if name.contains(&0) {
        let text = format!("{what} name `{}` holds a zero byte", shown().escape_default());
        return Err(Error::new(ResultCode::Parameter, text));
    }
    if (min..=max).contains(&name.len()) {
        return Ok(());
    }
    Err(Error::new(
        ResultCode::Parameter,
        format!("{what} name `{}` has {} bytes; it may have {min} to {max}", shown(), name.len()),
    ))
}

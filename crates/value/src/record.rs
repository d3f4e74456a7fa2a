//! Records as the operations, the engine and the server see them: metadata and a run of bins,
//! all borrowed.
//!
//! The bins of a record are stored one behind the other, each as
//!
//! ```text
//! name length u8 | name | particle type u8 | value length u32 LE | value
//! ```

use std::borrow::Cow;

use crate::edit::Edits;
use crate::error::{Error, ResultCode};
use crate::key::Digest;
use crate::limits::BIN_NAME_MAX;
use crate::particle::{Particle, ParticleType};

/// Bytes that a bin takes beside its name and value.
pub const BIN_OVERHEAD: usize = 1 + 1 + 4;

/// Seconds between the Unix epoch and the protocol's epoch, 2010-01-01 UTC.
pub const EPOCH_2010_S: u64 = 1_262_304_000;

/// A record's metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Writes since creation, modulo 16 bits, never 0.
    pub generation: u16,
    /// When the record expires, in seconds since 2010-01-01 UTC; 0 is never.
    pub void_time: u32,
    /// When it was written last, in nanoseconds since the Unix epoch.
    pub last_update_ns: u64,
    /// Bytes that the record takes in storage.
    pub stored_size: u32,
}

/// A borrowed record.
#[derive(Clone, Copy, Debug)]
pub struct RecordView<'a> {
    /// Its identity.
    pub digest: Digest,
    /// Its metadata.
    pub meta: Meta,
    /// Name of its set, empty when it has none.
    pub set: &'a [u8],
    /// The user key in wire form (type byte and bytes), when it was stored.
    pub key: Option<&'a [u8]>,
    /// Its bins.
    pub bins: Bins<'a>,
}

/// The bins of a record, in stored order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bins<'a> {
    count: u16,
    packed: &'a [u8],
}

impl<'a> Bins<'a> {
    /// Bins from their stored form. Bytes that do not parse end the iteration early: storage has
    /// verified its checksum before it comes here.
    pub const fn new(count: u16, packed: &'a [u8]) -> Self {
        Bins { count, packed }
    }

    /// How many bins there are.
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// True for a record without bins.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The stored form.
    pub const fn packed(&self) -> &'a [u8] {
        self.packed
    }

    /// The bin of this name.
    pub fn get(&self, name: &[u8]) -> Option<Particle<'a>> {
        self.into_iter().find(|bin| bin.name == name).map(|bin| bin.particle)
    }
}

/// One bin of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bin<'a> {
    /// Name, 15 bytes at most.
    pub name: &'a [u8],
    /// Value.
    pub particle: Particle<'a>,
}

impl<'a> IntoIterator for Bins<'a> {
    type Item = Bin<'a>;
    type IntoIter = BinsIter<'a>;

    fn into_iter(self) -> BinsIter<'a> {
        BinsIter { rest: self.packed }
    }
}

/// Iterates over [`Bins`].
#[derive(Clone, Debug)]
pub struct BinsIter<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for BinsIter<'a> {
    type Item = Bin<'a>;

    fn next(&mut self) -> Option<Bin<'a>> {
        let (&name_len, rest) = self.rest.split_first()?;
        let (name, rest) = rest.split_at_checked(name_len as usize)?;
        let (&kind, rest) = rest.split_first()?;
        let (len, rest) = rest.split_first_chunk::<4>()?;
        let (bytes, rest) = rest.split_at_checked(u32::from_le_bytes(*len) as usize)?;
        self.rest = rest;
        Some(Bin { name, particle: Particle::new(ParticleType::from_wire(kind)?, bytes) })
    }
}

/// A bin of the record that a write leaves behind. What stays of the old record is borrowed from
/// it, so that a small change to a large value moves no more than it must.
#[derive(Clone, Debug)]
pub struct NewBin<'a> {
    /// Name, 15 bytes at most.
    pub name: &'a [u8],
    /// Value.
    pub content: BinContent<'a>,
}

/// Where a new bin's value comes from.
#[derive(Clone, Debug)]
pub enum BinContent<'a> {
    /// A value in one piece: unchanged from the old record, from the request, or built anew.
    Whole(ParticleType, Cow<'a, [u8]>),
    /// The old value with edits.
    Edited {
        /// Type of the new value.
        kind: ParticleType,
        /// Bytes of the old value.
        old: &'a [u8],
        /// What changes.
        edits: Edits,
    },
}

impl<'a> NewBin<'a> {
    /// A bin that stays as it is.
    pub fn kept(bin: Bin<'a>) -> Self {
        NewBin {
            name: bin.name,
            content: BinContent::Whole(bin.particle.kind, Cow::Borrowed(bin.particle.bytes)),
        }
    }

    /// Type of the value.
    pub fn kind(&self) -> ParticleType {
        match &self.content {
            BinContent::Whole(kind, _) | BinContent::Edited { kind, .. } => *kind,
        }
    }

    /// Bytes of the value.
    pub fn value_len(&self) -> usize {
        match &self.content {
            BinContent::Whole(_, bytes) => bytes.len(),
            BinContent::Edited { old, edits, .. } => edits.new_len(old.len()),
        }
    }

    /// Bytes of the stored form.
    pub fn stored_len(&self) -> usize {
        BIN_OVERHEAD + self.name.len() + self.value_len()
    }

    /// Hands the stored form to `put`, piece by piece.
    pub fn write_to(&self, mut put: impl FnMut(&[u8])) {
        put(&[self.name.len() as u8]);
        put(self.name);
        put(&[self.kind().wire()]);
        put(&(self.value_len() as u32).to_le_bytes());
        match &self.content {
            BinContent::Whole(_, bytes) => put(bytes),
            BinContent::Edited { old, edits, .. } => edits.write_to(old, put),
        }
    }
}

/// Refuses a bin name that is over-long or holds a zero byte.
pub fn check_bin_name(name: &[u8]) -> Result<(), Error> {
    let shown = || String::from_utf8_lossy(&name[..name.len().min(40)]).into_owned();
    if name.len() > BIN_NAME_MAX {
        return Err(Error::new(
            ResultCode::BinName,
            format!("bin `{}` is {} bytes, the limit is {BIN_NAME_MAX}", shown(), name.len()),
        ));
    }
    if name.contains(&0) {
        return Err(Error::new(
            ResultCode::BinName,
            format!("bin name `{}` holds a zero byte", shown().escape_default()),
        ));
    }
    Ok(())
}

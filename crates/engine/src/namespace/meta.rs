//! The file `meta`: what a namespace must know before it reads its log.
//!
//! ```text
//! offset size
//!      0    8  magic `CAIRNMTA`
//!      8    4  format version
//!     12    1  1 after a clean stop: `index` describes the log
//!     13    3  reserved, 0
//!     16    8  instance of the namespace
//!     24    8  cut-off of the namespace: records last written before it are gone
//!     32    4  number of cut-offs of sets
//!     36       for each: length of the name u8 | name | cut-off u64
//!          4  length of the definitions of secondary indexes
//!             definitions of secondary indexes
//!   last    4  CRC32C over all before it
//! ```

use cairn_value::{Error, ResultCode};

use crate::disk::{self, Disk};
use crate::log::format::{FORMAT_VERSION, check_version};

const NAME: &str = "meta";
const MAGIC: &[u8; 8] = b"CAIRNMTA";
/// Far beyond what 65,535 sets can need.
const LEN_MAX: u64 = 16 << 20;

/// Content of `meta`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Meta {
    pub clean: bool,
    pub instance: u64,
    pub truncated_before_ns: u64,
    pub sets: Vec<(Vec<u8>, u64)>,
    /// Definitions of secondary indexes, as [`Namespace::index_catalogue`] tells them.
    ///
    /// [`Namespace::index_catalogue`]: super::Namespace::index_catalogue
    pub indexes: Vec<u8>,
}

impl Meta {
    /// Reads the file; `None` when there is none.
    pub fn read(disk: &dyn Disk) -> Result<Option<Meta>, Error> {
        let cannot = |error: &dyn std::fmt::Display| {
            Error::new(ResultCode::ServerError, format!("`{NAME}` cannot be read: {error}"))
        };
        if !disk.exists(NAME).map_err(|error| cannot(&error))? {
            return Ok(None);
        }
        let bytes = disk::read_all(disk, NAME, LEN_MAX).map_err(|error| cannot(&error))?;
        if let Some(version) = bytes.get(8..12).filter(|_| bytes.starts_with(MAGIC)) {
            check_version(NAME, u32::from_le_bytes(std::array::from_fn(|i| version[i])))?;
        }
        match Meta::parse(&bytes) {
            Some(meta) => Ok(Some(meta)),
            None => Err(cannot(&"its checksum does not fit; restore it from a copy")),
        }
    }

    /// Puts the file in the place of the old one, durably.
    pub fn write(&self, disk: &dyn Disk) -> Result<(), Error> {
        disk::replace(disk, NAME, &self.to_bytes()).map_err(|error| {
            Error::new(ResultCode::ServerError, format!("`{NAME}` cannot be written: {error}"))
        })
    }

    /// Sets the cut-off of a set, or moves it.
    pub fn truncate_set(&mut self, name: &[u8], before_ns: u64) {
        match self.sets.iter_mut().find(|(set, _)| set == name) {
            Some((_, cut_off)) => *cut_off = (*cut_off).max(before_ns),
            None => self.sets.push((name.to_vec(), before_ns)),
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(FORMAT_VERSION.to_le_bytes());
        bytes.extend([u8::from(self.clean), 0, 0, 0]);
        bytes.extend(self.instance.to_le_bytes());
        bytes.extend(self.truncated_before_ns.to_le_bytes());
        bytes.extend((self.sets.len() as u32).to_le_bytes());
        for (name, cut_off) in &self.sets {
            bytes.push(name.len() as u8);
            bytes.extend(name);
            bytes.extend(cut_off.to_le_bytes());
        }
        bytes.extend((self.indexes.len() as u32).to_le_bytes());
        bytes.extend(&self.indexes);
        bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Meta> {
        let (content, crc) = bytes.split_last_chunk::<4>()?;
        if crc32c::crc32c(content).to_le_bytes() != *crc {
            return repaired(bytes).and_then(|bytes| Meta::parse(&bytes));
        }
        let rest = content.strip_prefix(MAGIC)?;
        let (_version, rest) = rest.split_first_chunk::<4>()?;
        let (flags, rest) = rest.split_first_chunk::<4>()?;
        let (instance, rest) = rest.split_first_chunk()?;
        let (truncated, rest) = rest.split_first_chunk()?;
        let (count, mut rest) = rest.split_first_chunk()?;
        let mut sets = Vec::new();
        for _ in 0..u32::from_le_bytes(*count) {
            let (&len, after) = rest.split_first()?;
            let (name, after) = after.split_at_checked(usize::from(len))?;
            let (cut_off, after) = after.split_first_chunk()?;
            sets.push((name.to_vec(), u64::from_le_bytes(*cut_off)));
            rest = after;
        }
        let (len, indexes) = rest.split_first_chunk()?;
        if u32::from_le_bytes(*len) as usize != indexes.len() {
            return None;
        }
        Some(Meta {
            clean: flags[0] == 1,
            instance: u64::from_le_bytes(*instance),
            truncated_before_ns: u64::from_le_bytes(*truncated),
            sets,
            indexes: indexes.to_vec(),
        })
    }
}

/// Puts a single flipped bit right.
fn repaired(bytes: &[u8]) -> Option<Vec<u8>> {
    const LEN_REPAIRED_MAX: usize = 4096;
    if bytes.len() > LEN_REPAIRED_MAX {
        return None;
    }
    let mut bytes = bytes.to_vec();
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        let (content, crc) = bytes.split_last_chunk::<4>()?;
        if crc32c::crc32c(content).to_le_bytes() == *crc {
            return Some(bytes);
        }
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meta_survives_the_round_trip_and_a_flipped_bit() {
        let mut meta = Meta {
            clean: true,
            instance: 7,
            truncated_before_ns: 9,
            indexes: b"definitions".to_vec(),
            ..Meta::default()
        };
        meta.truncate_set(b"a", 5);
        meta.truncate_set(b"b", 6);
        meta.truncate_set(b"a", 3);
        assert_eq!(meta.sets, [(b"a".to_vec(), 5), (b"b".to_vec(), 6)]);
        let bytes = meta.to_bytes();
        assert_eq!(Meta::parse(&bytes), Some(meta.clone()));
        for bit in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Meta::parse(&bytes), Some(meta.clone()));
        }
        assert_eq!(Meta::parse(&bytes[..bytes.len() - 1]), None);
        assert_eq!(Meta::parse(&[]), None);
    }
}

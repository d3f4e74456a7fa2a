//! One record in the log, byte by byte.
//!
//! ```text
//! offset size
//!      0    4  CRC32C over bytes 4..length
//!      4    4  length of the entry in bytes, padding not counted
//!      8    8  sequence number of the write; of two entries for one digest the larger counts
//!     16    8  last-update time, nanoseconds since the Unix epoch
//!     24    4  void time, seconds since 2010-01-01 UTC, 0 is never
//!     28    2  generation
//!     30    1  kind: 0 void, 1 record; 2 (tombstone) and 3 (patch) are kept for file storage
//!     31    1  format version, 1
//!     32   20  digest
//!     52    1  length of the set name
//!     53    1  reserved, 0
//!     54    2  number of bins
//!     56    4  length of the user key in wire form, 0 when it is not stored
//!     60       set name | user key | bins, each as `cairn_value::record` says
//! ```
//!
//! Numbers are little-endian. The next entry starts at the next [`Size`](crate::index::Size).

use cairn_value::{Bins, Digest, Meta, NewBin, RecordView};

use crate::index::Size;

/// Bytes in front of the set name.
pub const HEADER_LEN: usize = 60;
const VERSION: u8 = 1;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Room that was given up before it was filled.
    Void = 0,
    /// A whole record.
    Record = 1,
}

/// Length that an entry's header announces.
pub fn length(header: &[u8]) -> Option<usize> {
    Some(u32::from_le_bytes(*header.get(4..)?.first_chunk()?) as usize)
}

/// An entry as it stands in a block.
#[derive(Clone, Copy, Debug)]
pub struct EntryView<'a> {
    bytes: &'a [u8],
}

impl<'a> EntryView<'a> {
    /// The entry that starts `bytes`; `None` when its lengths do not fit each other.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let len = length(bytes)?;
        let entry = EntryView { bytes: bytes.get(..len)? };
        let fits = len >= HEADER_LEN && HEADER_LEN + entry.set_len() + entry.key_len() <= len;
        fits.then_some(entry)
    }

    fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut array = [0; N];
        array.copy_from_slice(&self.bytes[at..at + N]);
        array
    }

    /// Length in bytes, padding not counted.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// True for a record, false for a void.
    pub fn is_record(&self) -> bool {
        self.bytes[30] == Kind::Record as u8
    }

    /// All bytes of the entry.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The identity of the record.
    pub fn digest(&self) -> Digest {
        Digest(self.array(32))
    }

    /// Generation, times and size.
    pub fn meta(&self) -> Meta {
        Meta {
            generation: u16::from_le_bytes(self.array(28)),
            void_time: u32::from_le_bytes(self.array(24)),
            last_update_ns: u64::from_le_bytes(self.array(16)),
            stored_size: Size::of(self.len()).bytes() as u32,
        }
    }

    fn set_len(&self) -> usize {
        usize::from(self.bytes[52])
    }

    fn key_len(&self) -> usize {
        u32::from_le_bytes(self.array(56)) as usize
    }

    /// The whole record.
    pub fn record(&self) -> RecordView<'a> {
        let (set, rest) = self.bytes[HEADER_LEN..].split_at(self.set_len());
        let (key, bins) = rest.split_at(self.key_len());
        RecordView {
            digest: self.digest(),
            meta: self.meta(),
            set,
            key: (!key.is_empty()).then_some(key),
            bins: Bins::new(u16::from_le_bytes(self.array(54)), bins),
        }
    }

    /// Whether the checksum fits the bytes.
    pub fn is_intact(&self) -> bool {
        u32::from_le_bytes(self.array(0)) == crc32c::crc32c(&self.bytes[4..])
    }
}

/// A record that is about to be written.
#[derive(Debug)]
pub struct NewEntry<'a> {
    pub sequence: u64,
    pub digest: Digest,
    pub last_update_ns: u64,
    pub void_time: u32,
    pub generation: u16,
    pub set: &'a [u8],
    pub key: Option<&'a [u8]>,
    pub bins: NewBins<'a>,
}

/// Where the bins of a new entry come from.
#[derive(Debug)]
pub enum NewBins<'a> {
    /// From the change that an update returned.
    Changed(&'a [NewBin<'a>]),
    /// Unchanged from the old record.
    Kept(Bins<'a>),
}

impl NewEntry<'_> {
    /// Length in bytes, padding not counted.
    pub fn len(&self) -> usize {
        let bins: usize = match &self.bins {
            NewBins::Changed(bins) => bins.iter().map(NewBin::stored_len).sum(),
            NewBins::Kept(bins) => bins.packed().len(),
        };
        HEADER_LEN + self.set.len() + self.key.map_or(0, <[u8]>::len) + bins
    }

    /// Fills `out`, which has exactly [`len`](Self::len) bytes.
    pub fn write(&self, out: &mut [u8]) {
        let mut at = HEADER_LEN;
        let mut put = |piece: &[u8]| {
            out[at..at + piece.len()].copy_from_slice(piece);
            at += piece.len();
        };
        put(self.set);
        let key = self.key.unwrap_or_default();
        put(key);
        let bin_count = match &self.bins {
            NewBins::Changed(bins) => {
                bins.iter().for_each(|bin| bin.write_to(&mut put));
                bins.len()
            }
            NewBins::Kept(bins) => {
                put(bins.packed());
                bins.len()
            }
        };
        debug_assert_eq!(at, out.len());
        let len = out.len() as u32;
        out[4..8].copy_from_slice(&len.to_le_bytes());
        out[8..16].copy_from_slice(&self.sequence.to_le_bytes());
        out[16..24].copy_from_slice(&self.last_update_ns.to_le_bytes());
        out[24..28].copy_from_slice(&self.void_time.to_le_bytes());
        out[28..30].copy_from_slice(&self.generation.to_le_bytes());
        out[30] = Kind::Record as u8;
        out[31] = VERSION;
        out[32..52].copy_from_slice(&self.digest.0);
        out[52] = self.set.len() as u8;
        out[53] = 0;
        out[54..56].copy_from_slice(&(bin_count as u16).to_le_bytes());
        out[56..60].copy_from_slice(&(key.len() as u32).to_le_bytes());
        let crc = crc32c::crc32c(&out[4..]);
        out[..4].copy_from_slice(&crc.to_le_bytes());
    }
}

/// Turns room that was given up into an entry that walks over it.
pub fn write_void(out: &mut [u8], len: usize) {
    out[..HEADER_LEN].fill(0);
    out[4..8].copy_from_slice(&(len as u32).to_le_bytes());
    out[30] = Kind::Void as u8;
    out[31] = VERSION;
}

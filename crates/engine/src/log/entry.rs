//! One record in the log, byte by byte.
//!
//! ```text
//! offset size
//!      0    4  CRC32C over bytes 4..64, started from the seed of the block's opening
//!      4    4  CRC32C over the body, bytes 64..length; not used by a void
//!      8    4  length of the entry in bytes, padding not counted
//!     12    4  batch: low half of the number of the flush that writes the entry
//!     16    8  last-update time, nanoseconds since the Unix epoch
//!     24    4  void time, seconds since 2010-01-01 UTC, 0 is never
//!     28    2  generation
//!     30    2  number of bins
//!     32   20  digest
//!     52    7  sequence number of the write; of two entries for one digest the larger counts
//!     59    1  kind in the low half: 0 void, 1 record, 2 tombstone, 3 patch (reserved);
//!              flags in the high half: 0x10 older versions of the digest may be in the log
//!     60    1  length of the set name
//!     61    3  length of the user key in wire form, 0 when it is not stored
//!     64       body: set name | user key | bins, each as `cairn_value::record` says;
//!              of a tombstone: nothing, or the one block that holds what it deletes
//!              (block u32, zero u32, stamp u64)
//! ```
//!
//! Numbers are little-endian. The next entry starts at the next [`Size`](crate::index::Size).
//!
//! The header has a checksum of its own for two reasons. An entry whose body was damaged still
//! says which record it was, so that a restart does not show an older version instead. And the
//! seed (instance and stamp of the block) makes the header of an earlier use of the block, or one
//! that somebody stored inside a value, fail here without a look at the body.

use std::sync::OnceLock;

use cairn_value::{Bins, Digest, Meta, NewBin, RecordView};

use crate::index::Size;

/// Bytes in front of the body.
pub const HEADER_LEN: usize = 64;
/// Length of a tombstone that names the block it covers.
pub const TOMBSTONE_COVERING_LEN: usize = HEADER_LEN + 16;
const SUPERSEDES: u8 = 0x10;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Room that was given up before it was filled.
    Void = 0,
    /// A whole record.
    Record = 1,
    /// The deletion of a record.
    Tombstone = 2,
}

/// Length that an entry's header announces.
pub fn length(header: &[u8]) -> Option<usize> {
    Some(u32::from_le_bytes(*header.get(8..)?.first_chunk()?) as usize)
}

/// Whether these bytes start with the header of an entry of the block opening with this seed.
pub fn is_header(bytes: &[u8], seed: u32) -> bool {
    let Some(header) = bytes.first_chunk::<HEADER_LEN>() else { return false };
    let (crc, rest) = header.split_at(4);
    crc == crc32c::crc32c_append(seed, rest).to_le_bytes()
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

    /// A header alone, whose body must not be asked for.
    pub fn of_header(header: &'a [u8; HEADER_LEN]) -> Self {
        EntryView { bytes: header }
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

    /// What it is; `None` for a kind that this version does not know.
    pub fn kind(&self) -> Option<Kind> {
        [Kind::Void, Kind::Record, Kind::Tombstone].get(usize::from(self.bytes[59] & 0x0f)).copied()
    }

    /// True for a record.
    pub fn is_record(&self) -> bool {
        self.kind() == Some(Kind::Record)
    }

    /// Whether older versions of the digest may be in the log.
    pub fn supersedes(&self) -> bool {
        self.bytes[59] & SUPERSEDES != 0
    }

    /// All bytes of the entry.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The identity of the record.
    pub fn digest(&self) -> Digest {
        Digest(self.array(32))
    }

    /// The number of the write.
    pub fn sequence(&self) -> u64 {
        u64::from_le_bytes(self.array(52)) & ((1 << 56) - 1)
    }

    /// Low half of the number of the flush that wrote it.
    pub fn batch(&self) -> u32 {
        u32::from_le_bytes(self.array(12))
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
        usize::from(self.bytes[60])
    }

    fn key_len(&self) -> usize {
        u32::from_le_bytes(self.array(60)) as usize >> 8
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
            bins: Bins::new(u16::from_le_bytes(self.array(30)), bins),
        }
    }

    /// The block and its stamp that a tombstone covers, when it is a single one.
    pub fn covers(&self) -> Option<(u32, u64)> {
        let body = self.bytes[HEADER_LEN..].first_chunk::<16>()?;
        let (block, rest) = body.split_first_chunk::<4>()?;
        let stamp = rest.last_chunk::<8>()?;
        Some((u32::from_le_bytes(*block), u64::from_le_bytes(*stamp)))
    }

    /// Whether the body is what was written. The header has been checked before.
    pub fn has_intact_body(&self) -> bool {
        self.kind() == Some(Kind::Void)
            || u32::from_le_bytes(self.array(4)) == crc32c::crc32c(&self.bytes[HEADER_LEN..])
    }
}

/// What ties an entry to its place: it changes when the entry is copied elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    /// Seed of the block's opening.
    pub seed: u32,
    /// Low half of the number of the flush that writes the entry.
    pub batch: u32,
}

/// A record that is about to be written.
#[derive(Debug)]
pub struct NewEntry<'a> {
    pub sequence: u64,
    pub digest: Digest,
    pub last_update_ns: u64,
    pub void_time: u32,
    pub generation: u16,
    pub supersedes: bool,
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
    pub fn write(&self, out: &mut [u8], stamp: Stamp) {
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
        let crc = crc32c::crc32c(&out[HEADER_LEN..]);
        out[4..8].copy_from_slice(&crc.to_le_bytes());
        out[16..24].copy_from_slice(&self.last_update_ns.to_le_bytes());
        out[24..28].copy_from_slice(&self.void_time.to_le_bytes());
        out[28..30].copy_from_slice(&self.generation.to_le_bytes());
        out[30..32].copy_from_slice(&(bin_count as u16).to_le_bytes());
        out[60..64].copy_from_slice(&((key.len() as u32) << 8).to_le_bytes());
        out[60] = self.set.len() as u8;
        let flags = if self.supersedes { SUPERSEDES } else { 0 };
        identify(out, &self.digest, self.sequence, Kind::Record as u8 | flags);
        restamp(out, stamp);
    }
}

/// Writes a tombstone; `out` has room for what it covers when that is a single block.
pub fn write_tombstone(
    out: &mut [u8],
    digest: &Digest,
    sequence: u64,
    covers: Option<(u32, u64)>,
    stamp: Stamp,
) {
    out.fill(0);
    if let (Some((block, block_stamp)), Some(body)) = (covers, out.get_mut(HEADER_LEN..)) {
        body[..4].copy_from_slice(&block.to_le_bytes());
        body[8..16].copy_from_slice(&block_stamp.to_le_bytes());
    }
    let crc = crc32c::crc32c(&out[HEADER_LEN..]);
    out[4..8].copy_from_slice(&crc.to_le_bytes());
    identify(out, digest, sequence, Kind::Tombstone as u8);
    restamp(out, stamp);
}

/// Turns room that was given up into an entry that walks over it.
pub fn write_void(out: &mut [u8], stamp: Stamp) {
    out[..HEADER_LEN].fill(0);
    restamp(out, stamp);
}

fn identify(out: &mut [u8], digest: &Digest, sequence: u64, kind_and_flags: u8) {
    out[32..52].copy_from_slice(&digest.0);
    out[52..60].copy_from_slice(&sequence.to_le_bytes());
    out[59] = kind_and_flags;
}

/// Makes a copy of an entry a version of its own, newer than the one it was copied from, which may
/// outlive it on disk. [`restamp`] comes after.
pub fn supersede(entry: &mut [u8], sequence: u64) {
    entry[52..59].copy_from_slice(&sequence.to_le_bytes()[..7]);
    entry[59] |= SUPERSEDES;
}

/// Ties an entry to its place. The body's checksum stays, so that damage is never sealed.
pub fn restamp(entry: &mut [u8], stamp: Stamp) {
    let len = entry.len() as u32;
    entry[8..12].copy_from_slice(&len.to_le_bytes());
    entry[12..16].copy_from_slice(&stamp.batch.to_le_bytes());
    let crc = crc32c::crc32c_append(stamp.seed, &entry[4..HEADER_LEN]);
    entry[..4].copy_from_slice(&crc.to_le_bytes());
}

/// Puts a header right that has one or two wrong bits. Headers that fit their checksums differ in
/// six bits or more, so no other one is that near. (A checksum is linear: flipping a bit changes it
/// by a pattern that depends on the bit alone, so the right bits are found by their patterns.)
pub fn repaired_header(header: &[u8; HEADER_LEN], seed: u32) -> Option<[u8; HEADER_LEN]> {
    static PATTERNS: OnceLock<Vec<(u32, usize)>> = OnceLock::new();
    let patterns = PATTERNS.get_or_init(bit_patterns);
    let bit_of = |pattern: u32| {
        let at = patterns.binary_search_by_key(&pattern, |(pattern, _)| *pattern).ok()?;
        Some(patterns[at].1)
    };
    let stored = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
    let wrong = stored ^ crc32c::crc32c_append(seed, &header[4..]);
    let bits = match bit_of(wrong) {
        Some(bit) => (bit, None),
        None => patterns
            .iter()
            .find_map(|(pattern, bit)| Some((*bit, Some(bit_of(wrong ^ pattern)?))))?,
    };
    let mut header = *header;
    for bit in [Some(bits.0), bits.1].into_iter().flatten() {
        header[bit / 8] ^= 1 << (bit % 8);
    }
    is_header(&header, seed).then_some(header)
}

/// How each bit of a header changes the difference of its checksums, sorted.
fn bit_patterns() -> Vec<(u32, usize)> {
    let zeros = crc32c::crc32c(&[0; HEADER_LEN - 4]);
    let mut patterns: Vec<(u32, usize)> = (0..HEADER_LEN * 8)
        .map(|bit| {
            let mut header = [0; HEADER_LEN];
            header[bit / 8] ^= 1 << (bit % 8);
            let stored = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
            (stored ^ crc32c::crc32c(&header[4..]) ^ zeros, bit)
        })
        .collect();
    patterns.sort_unstable();
    patterns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn up_to_two_wrong_bits_of_a_header_are_put_right() {
        let mut entry = vec![0; 80];
        let stamp = Stamp { seed: 0x1234_5678, batch: 9 };
        write_tombstone(&mut entry, &Digest([7; 20]), 99, Some((3, 4)), stamp);
        let good: [u8; HEADER_LEN] = *entry.first_chunk().unwrap();
        for first in 0..HEADER_LEN * 8 {
            for second in (first..HEADER_LEN * 8).step_by(7) {
                let mut bad = good;
                bad[first / 8] ^= 1 << (first % 8);
                if second != first {
                    bad[second / 8] ^= 1 << (second % 8);
                }
                assert_eq!(repaired_header(&bad, stamp.seed), Some(good), "{first} and {second}");
            }
        }
        let mut hopeless = good;
        hopeless[20..30].fill(0xa5);
        assert_eq!(repaired_header(&hopeless, stamp.seed), None);
    }
}

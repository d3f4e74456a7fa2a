//! What the index knows about one record, and its 20-byte form.

use cairn_value::Digest;

use super::{Place, Size};

/// Digest bits that an entry keeps beyond the 12 bits of its partition.
pub const PREFIX_BITS: u32 = 52;

/// The digest bits of an entry, in the order of the digests: the high half of byte 1, then bytes 2
/// to 7. Byte 0 and the low half of byte 1 name the partition and are the same for all its records,
/// so among them this prefix sorts as the digest's bytes do.
pub(super) fn prefix_of(digest: &Digest) -> u64 {
    let [_, b1, b2, b3, b4, b5, b6, b7, ..] = digest.0;
    u64::from_be_bytes([0, b1 >> 4, b2, b3, b4, b5, b6, b7])
}

/// What the index knows about one record beside its digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// Where the record lies in the log.
    pub place: Place,
    /// When the record expires, in seconds since 2010-01-01 UTC; 0 means never.
    pub void_time: u32,
    /// The set that holds the record; 0 means none.
    pub set_id: u16,
    /// The record's size in the log.
    pub size: Size,
    /// Two bits that belong to the caller.
    pub flags: u8,
}

impl Entry {
    /// Whether the record's life is over at `now`, in seconds since 2010.
    pub const fn is_expired(&self, now: u32) -> bool {
        self.void_time != 0 && self.void_time <= now
    }
}

/// An entry in memory: 52 bits of digest, 44 of place, 32 of void time, 16 of set, 14 of size
/// and 2 of flags. Words of 32 bits, so that no padding follows the 20 bytes.
///
/// ```text
/// word 0  prefix, high 32 bits
/// word 1  prefix, low 20 bits       place, high 12 bits
/// word 2  place, low 32 bits
/// word 3  void time
/// word 4  set (16)   size (14)   flags (2)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct PackedEntry([u32; 5]);

const _: () = assert!(size_of::<PackedEntry>() == 20 && align_of::<PackedEntry>() == 4);
const _: () = assert!(PREFIX_BITS + Place::BITS == 96);

/// Bytes of an entry in a snapshot.
pub(crate) const PACKED_LEN: usize = 20;

impl PackedEntry {
    /// Fills buffers.
    pub const ZERO: PackedEntry = PackedEntry([0; 5]);

    /// The words in little-endian order, for a snapshot.
    pub fn to_bytes(self) -> [u8; PACKED_LEN] {
        let mut bytes = [0; PACKED_LEN];
        for (out, word) in bytes.chunks_exact_mut(4).zip(self.0) {
            out.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    pub fn from_bytes(bytes: &[u8; PACKED_LEN]) -> PackedEntry {
        PackedEntry(std::array::from_fn(|word| {
            u32::from_le_bytes(std::array::from_fn(|i| bytes[word * 4 + i]))
        }))
    }

    pub fn new(prefix: u64, entry: &Entry) -> PackedEntry {
        debug_assert!(prefix >> PREFIX_BITS == 0);
        let place = entry.place.to_u64();
        PackedEntry([
            (prefix >> 20) as u32,
            (prefix << 12) as u32 | (place >> 32) as u32,
            place as u32,
            entry.void_time,
            u32::from(entry.set_id) << 16
                | u32::from(entry.size.code()) << 2
                | u32::from(entry.flags & 3),
        ])
    }

    pub fn prefix(&self) -> u64 {
        (u64::from(self.0[0]) << 32 | u64::from(self.0[1])) >> 12
    }

    pub fn place(&self) -> Place {
        Place::from_low_bits(u64::from(self.0[1]) << 32 | u64::from(self.0[2]))
    }

    pub fn unpack(&self) -> Entry {
        let [.., void_time, rest] = self.0;
        Entry {
            place: self.place(),
            void_time,
            set_id: (rest >> 16) as u16,
            size: Size::from_code((rest >> 2) as u16),
            flags: (rest & 3) as u8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn packing_keeps_every_field(
            prefix in 0u64..1 << PREFIX_BITS,
            place in 0u64..1 << Place::BITS,
            void_time: u32,
            set_id: u16,
            size in 0u16..1 << 14,
            flags in 0u8..4,
        ) {
            let entry = Entry {
                place: Place::from_u64(place).unwrap(),
                void_time,
                set_id,
                size: Size::from_code(size),
                flags,
            };
            let packed = PackedEntry::new(prefix, &entry);
            prop_assert_eq!(packed.prefix(), prefix);
            prop_assert_eq!(packed.unpack(), entry);
        }

        #[test]
        fn prefixes_sort_as_digests_of_one_partition(a: [u8; 20], b: [u8; 20]) {
            let mut b = b;
            b[0] = a[0];
            b[1] = (b[1] & 0xf0) | (a[1] & 0x0f);
            let (a, b) = (Digest(a), Digest(b));
            prop_assert_eq!(a.partition(), b.partition());
            prop_assume!(prefix_of(&a) != prefix_of(&b));
            prop_assert_eq!(prefix_of(&a).cmp(&prefix_of(&b)), a.cmp(&b));
        }
    }

    #[test]
    fn expiry_is_at_its_second_and_never_for_zero() {
        let mut entry = PackedEntry([0; 5]).unpack();
        assert!(!entry.is_expired(u32::MAX));
        entry.void_time = 10;
        assert!(!entry.is_expired(9));
        assert!(entry.is_expired(10));
    }
}

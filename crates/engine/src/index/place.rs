//! Where a record lies in the log.

/// Bits of a block's number.
pub const BLOCK_BITS: u32 = 24;
/// Bits of a record's offset in its block, counted in [`UNIT_BYTES`].
pub const UNIT_BITS: u32 = 20;
/// Records start at multiples of this many bytes.
pub const UNIT_BYTES: usize = 16;

const UNIT_MASK: u64 = (1 << UNIT_BITS) - 1;

/// The place of a record: a block of the log and an offset in it, in units of 16 bytes.
///
/// 44 bits reach 2^24 blocks of up to 16 MiB: 256 TiB in one namespace.
///
/// ```
/// use cairn_engine::index::Place;
/// let place = Place::new(7, 3).unwrap();
/// assert_eq!((place.block(), place.unit(), place.byte_offset()), (7, 3, 48));
/// assert_eq!(Place::from_u64(place.to_u64()), Some(place));
/// assert_eq!(Place::new(1 << 24, 0), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place(u64);

impl Place {
    /// Bits that a place needs.
    pub const BITS: u32 = BLOCK_BITS + UNIT_BITS;
    /// The highest block number.
    pub const BLOCK_MAX: u32 = (1 << BLOCK_BITS) - 1;
    /// The highest offset, in units of 16 bytes.
    pub const UNIT_MAX: u32 = (1 << UNIT_BITS) - 1;

    /// The place in `block`, `unit` units of 16 bytes from its start; `None` beyond
    /// [`BLOCK_MAX`](Self::BLOCK_MAX) or [`UNIT_MAX`](Self::UNIT_MAX).
    pub const fn new(block: u32, unit: u32) -> Option<Place> {
        if block > Self::BLOCK_MAX || unit > Self::UNIT_MAX {
            return None;
        }
        Some(Place((block as u64) << UNIT_BITS | unit as u64))
    }

    /// The number of the block.
    pub const fn block(self) -> u32 {
        (self.0 >> UNIT_BITS) as u32
    }

    /// The offset in the block, in units of 16 bytes.
    pub const fn unit(self) -> u32 {
        (self.0 & UNIT_MASK) as u32
    }

    /// The offset in the block, in bytes.
    pub const fn byte_offset(self) -> usize {
        self.unit() as usize * UNIT_BYTES
    }

    /// The place as a number below 2^44; its order is the order of the log's addresses.
    pub const fn to_u64(self) -> u64 {
        self.0
    }

    /// Reads what [`to_u64`](Self::to_u64) wrote; `None` at 2^44 and beyond.
    pub const fn from_u64(number: u64) -> Option<Place> {
        if number >> Self::BITS != 0 { None } else { Some(Place(number)) }
    }

    /// The lowest 44 bits of a number.
    pub(super) const fn from_low_bits(number: u64) -> Place {
        Place(number & ((1 << Self::BITS) - 1))
    }
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Place({}:{})", self.block(), self.byte_offset())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_survive_the_round_trip() {
        for block in [0, 1, Place::BLOCK_MAX - 1, Place::BLOCK_MAX] {
            for unit in [0, 1, Place::UNIT_MAX - 1, Place::UNIT_MAX] {
                let place = Place::new(block, unit).unwrap();
                assert_eq!((place.block(), place.unit()), (block, unit));
                assert_eq!(Place::from_u64(place.to_u64()), Some(place));
            }
        }
        assert_eq!(Place::new(0, Place::UNIT_MAX + 1), None);
        assert_eq!(Place::new(Place::BLOCK_MAX + 1, 0), None);
        assert_eq!(Place::from_u64(1 << 44), None);
    }
}

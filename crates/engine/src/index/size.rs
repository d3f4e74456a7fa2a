//! Sizes of records in the log, as the index keeps them.
//!
//! The index says exactly how much room an entry takes in the log, in 14 bits: entries are padded
//! to the next size that the code can say. Up to 128 KiB that is the next multiple of 16 bytes,
//! above at most 0.1% more than needed.

use super::UNIT_BYTES as UNIT;

const EXACT: u32 = 1 << 13;
const MANTISSA_BITS: u32 = 10;

/// Room that a record takes in the log.
///
/// ```
/// use cairn_engine::index::Size;
/// assert_eq!(Size::of(100).bytes(), 112);
/// assert_eq!(Size::of(1 << 20).bytes(), 1 << 20);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Size(u16);

impl Size {
    /// The smallest size that holds `len` bytes, which are at most 16 MiB.
    pub fn of(len: usize) -> Size {
        let units = len.div_ceil(UNIT) as u32;
        if units < EXACT {
            return Size(units as u16);
        }
        // units = (8192 + 8 * mantissa) << exponent, rounded up.
        let mut exponent = 0;
        while units > (EXACT + 8 * ((1 << MANTISSA_BITS) - 1)) << exponent {
            exponent += 1;
        }
        let mantissa = (units.div_ceil(8 << exponent)) - EXACT / 8;
        Size((EXACT + (exponent << MANTISSA_BITS) + mantissa) as u16)
    }

    /// The size that a code of the index names.
    pub const fn from_code(code: u16) -> Size {
        Size(code & 0x3fff)
    }

    /// The code for the index, 14 bits.
    pub const fn code(self) -> u16 {
        self.0
    }

    /// Size in units.
    pub const fn units(self) -> u32 {
        let code = self.0 as u32;
        if code < EXACT {
            return code;
        }
        let above = code - EXACT;
        let (exponent, mantissa) = (above >> MANTISSA_BITS, above & ((1 << MANTISSA_BITS) - 1));
        (EXACT + 8 * mantissa) << exponent
    }

    /// Size in bytes.
    pub const fn bytes(self) -> usize {
        self.units() as usize * UNIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_holds_its_length_and_wastes_little() {
        let edges = [1, 15, 16, 17, 131_071, 131_072, 131_073, 262_016, 262_017, 1 << 23, 1 << 24];
        let steps = (1..(16 << 20)).step_by(997);
        for len in edges.into_iter().chain(steps) {
            let size = Size::of(len);
            assert!(size.bytes() >= len, "{len}");
            assert!(size.bytes() - len < UNIT.max(len / 500), "{len} takes {}", size.bytes());
            assert_eq!(Size::from_code(size.code()), size);
            assert_eq!(Size::of(size.bytes()), size, "padded entries keep their size");
        }
    }
}

//! A record's size in one byte.

use super::place::UNIT_BYTES;

/// Mantissa bits: eight steps per power of two, so rounding up costs less than 12.5%.
const STEP_BITS: u32 = 3;
const STEPS: u64 = 1 << STEP_BITS;

/// The size of a record in the log, rounded up to one of 255 steps.
///
/// A size counts in units of 16 bytes, which is how the log pads records. Up to 16 units a class is
/// exact; beyond, it is a power of two and three bits behind the leading one, rounded up. So one
/// read of [`bytes`](Self::bytes) bytes always holds the record and is less than 12.5% too long.
///
/// ```
/// use cairn_engine::index::SizeClass;
/// assert_eq!(SizeClass::of_bytes(100).bytes(), 112);
/// assert_eq!(SizeClass::of_bytes(1 << 20).bytes(), 1 << 20);
/// assert_eq!(SizeClass::of_bytes((1 << 20) + 1).bytes(), (1 << 20) + (1 << 17));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SizeClass(u8);

impl SizeClass {
    /// The smallest class that holds `bytes`. Everything up to 240 GiB has one; more gets the
    /// highest.
    pub fn of_bytes(bytes: usize) -> SizeClass {
        let units = bytes.div_ceil(UNIT_BYTES) as u64;
        if units < STEPS {
            return SizeClass(units as u8);
        }
        let exponent = units.ilog2() - STEP_BITS;
        // Rounding up may carry into the next power of two; the sum below then names that class.
        let mantissa = units.div_ceil(1 << exponent);
        let class = u64::from(exponent) * STEPS + mantissa;
        SizeClass(u8::try_from(class).unwrap_or(u8::MAX))
    }

    /// The most bytes that a record of this class has.
    pub fn bytes(self) -> usize {
        let class = u64::from(self.0);
        let units = if class < STEPS {
            class
        } else {
            let exponent = class / STEPS - 1;
            (class % STEPS + STEPS) << exponent
        };
        usize::try_from(units).unwrap_or(usize::MAX).saturating_mul(UNIT_BYTES)
    }

    /// The class as it is stored.
    pub const fn to_u8(self) -> u8 {
        self.0
    }

    /// Reads what [`to_u8`](Self::to_u8) wrote.
    pub const fn from_u8(class: u8) -> SizeClass {
        SizeClass(class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_names_itself() {
        for class in 0..=u8::MAX {
            let class = SizeClass::from_u8(class);
            assert_eq!(SizeClass::of_bytes(class.bytes()), class);
        }
    }

    #[test]
    fn rounding_up_stays_below_an_eighth() {
        let sizes = (0..=24).flat_map(|power| {
            let base = 1usize << power;
            [base - 1, base, base + 1, base + base / 3, base + base / 8 + 1]
        });
        for size in sizes {
            let padded = size.div_ceil(UNIT_BYTES) * UNIT_BYTES;
            let rounded = SizeClass::of_bytes(size).bytes();
            assert!(rounded >= padded, "{size} became {rounded}");
            assert!((rounded - padded) * 8 <= padded, "{size} became {rounded}");
        }
    }

    #[test]
    fn small_sizes_are_exact() {
        for units in 0..=16 {
            assert_eq!(SizeClass::of_bytes(units * 16).bytes(), units * 16);
        }
    }
}

//! The bytes of a sketch: `flags u8, index bits u8, minhash bits u8, cached count u64 LE`, then
//! 2^index_bits registers of 6 + minhash_bits bits each, most significant bit first.
//!
//! A register holds a rank (6 bits) and behind it a minhash; the larger number wins. A cached count
//! of 0 means that nobody has counted yet.

use cairn_value::{Edits, Error, ResultCode};

use super::murmur;
use crate::field::{get, mask, put};

/// Bytes in front of the registers.
const HEAD_LEN: usize = 11;
/// Where the cached count stands.
const COUNT_AT: usize = 3;
/// Bits of the rank in a register.
const RANK_BITS: usize = 6;
/// Highest rank a register can hold.
const RANK_MAX: u32 = (1 << RANK_BITS) - 1;

/// Sizes of a sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// 2 to this power is the number of registers.
    pub index_bits: u8,
    /// Bits of minhash in a register, 0 in a plain HyperLogLog.
    pub minhash_bits: u8,
}

impl Shape {
    /// A shape with legal sizes.
    pub fn new(index_bits: u8, minhash_bits: u8) -> Option<Shape> {
        let legal = (4..=16).contains(&index_bits)
            && (minhash_bits == 0 || (4..=51).contains(&minhash_bits))
            && index_bits + minhash_bits <= 64;
        legal.then_some(Shape { index_bits, minhash_bits })
    }

    /// How many registers there are.
    pub fn registers(self) -> usize {
        1 << self.index_bits
    }

    fn register_bits(self) -> usize {
        RANK_BITS + usize::from(self.minhash_bits)
    }

    /// Length of a sketch in bytes.
    pub fn len(self) -> usize {
        HEAD_LEN + (self.registers() * self.register_bits()).div_ceil(8)
    }

    /// Register and number that an element (in packed form) stands for.
    pub fn place(self, element: &[u8]) -> (usize, u64) {
        let (h1, h2) = murmur::hash(element);
        let index = h1 & mask(usize::from(self.index_bits));
        let minhash = h1 >> self.index_bits & mask(usize::from(self.minhash_bits));
        let rank = (h2.trailing_zeros() + 1).min(RANK_MAX);
        (index as usize, u64::from(rank) << self.minhash_bits | minhash)
    }

    /// The largest shape to which all of `shapes` can be brought: the fewest index bits, and minhash
    /// only if all agree, because a minhash belongs to its number of index bits.
    pub fn common(mut shapes: impl Iterator<Item = Shape>) -> Option<Shape> {
        let first = shapes.next()?;
        Some(shapes.fold(first, |common, shape| {
            if shape == common {
                return common;
            }
            let index_bits = common.index_bits.min(shape.index_bits);
            Shape { index_bits, minhash_bits: 0 }
        }))
    }
}

/// A sketch, borrowed from its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sketch<'a> {
    pub shape: Shape,
    /// The cached count, 0 when there is none.
    pub cached: u64,
    registers: &'a [u8],
}

impl<'a> Sketch<'a> {
    /// Reads a sketch; the bytes must be exactly one.
    pub fn parse(bytes: &'a [u8]) -> Result<Sketch<'a>, Error> {
        Sketch::try_parse(bytes).ok_or_else(|| {
            Error::new(
                ResultCode::Parameter,
                format!("{} bytes are not a HyperLogLog sketch", bytes.len()),
            )
        })
    }

    fn try_parse(bytes: &'a [u8]) -> Option<Sketch<'a>> {
        let (head, registers) = bytes.split_at_checked(HEAD_LEN)?;
        let shape = Shape::new(*head.get(1)?, *head.get(2)?)?;
        let cached = u64::from_le_bytes(head.get(COUNT_AT..)?.try_into().ok()?);
        (bytes.len() == shape.len()).then_some(Sketch { shape, cached, registers })
    }

    /// The number in a register.
    pub fn register(&self, index: usize) -> u64 {
        let bits = self.shape.register_bits();
        get(self.registers, index * bits, bits)
    }

    /// The registers in order.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        (0..self.shape.registers()).map(|index| self.register(index))
    }

    /// The edits that put `changes` (ascending register numbers with their new content) into this
    /// sketch and drop its cached count.
    pub fn edit(&self, changes: &[(usize, u64)]) -> Edits {
        let mut edits = Edits::none();
        if changes.is_empty() {
            return edits;
        }
        edits.push(COUNT_AT, 8, vec![0; 8]);
        let bits = self.shape.register_bits();
        let bytes_of = |index: usize| (index * bits / 8, ((index + 1) * bits).div_ceil(8));
        let mut rest = changes;
        while let [(first, _), ..] = rest {
            let (start, mut end) = bytes_of(*first);
            // Registers that share a byte belong to one edit.
            let mut together = 0;
            while let Some((from, to)) = rest.get(together).map(|(index, _)| bytes_of(*index))
                && (together == 0 || from <= end)
            {
                end = to;
                together += 1;
            }
            let mut bytes = self.registers.get(start..end).unwrap_or_default().to_vec();
            let (now, later) = rest.split_at(together);
            for (index, content) in now {
                put(&mut bytes, index * bits - start * 8, bits, *content);
            }
            edits.push(HEAD_LEN + start, end - start, bytes);
            rest = later;
        }
        edits
    }

    /// The edit that stores a cached count.
    pub fn edit_count(&self, count: u64) -> Edits {
        let mut edits = Edits::none();
        edits.push(COUNT_AT, 8, count.to_le_bytes().to_vec());
        edits
    }
}

/// Registers taken out of their bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Registers {
    pub shape: Shape,
    pub list: Vec<u64>,
}

impl Registers {
    /// No element.
    pub fn empty(shape: Shape) -> Registers {
        Registers { shape, list: vec![0; shape.registers()] }
    }

    /// The union of sketches, in their common shape; `None` when there is no sketch.
    pub fn union<'s>(sketches: impl Iterator<Item = Sketch<'s>> + Clone) -> Option<Registers> {
        let shape = Shape::common(sketches.clone().map(|sketch| sketch.shape))?;
        Some(Registers::union_as(shape, sketches))
    }

    /// The union of sketches, brought to `shape`.
    pub fn union_as<'s>(shape: Shape, sketches: impl Iterator<Item = Sketch<'s>>) -> Registers {
        let mut union = Registers::empty(shape);
        for sketch in sketches {
            let drop =
                sketch.shape.minhash_bits - shape.minhash_bits.min(sketch.shape.minhash_bits);
            for (index, content) in sketch.iter().enumerate() {
                let register = &mut union.list[index & (shape.registers() - 1)];
                *register = (*register).max(content >> drop);
            }
        }
        union
    }

    /// The bytes of a sketch with these registers and no cached count.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.shape.len()];
        bytes[1] = self.shape.index_bits;
        bytes[2] = self.shape.minhash_bits;
        let bits = self.shape.register_bits();
        for (index, content) in self.list.iter().enumerate() {
            put(&mut bytes[HEAD_LEN..], index * bits, bits, *content);
        }
        bytes
    }

    /// How many registers hold each rank.
    pub fn histogram(&self) -> [u32; RANK_MAX as usize + 1] {
        let mut histogram = [0; RANK_MAX as usize + 1];
        for content in &self.list {
            histogram[(content >> self.shape.minhash_bits) as usize & RANK_MAX as usize] += 1;
        }
        histogram
    }
}

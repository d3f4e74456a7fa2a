//! From registers to numbers: how many elements, how many in common.
//!
//! Counts follow Ertl ("New cardinality estimation algorithms for HyperLogLog sketches", 2017): the
//! registers that are empty and those that are full enter with the corrections sigma and tau, which
//! makes the estimate good from empty to huge without a table. The constant in front is the one of
//! the first HyperLogLog paper, which depends on the number of registers.

use super::sketch::{Registers, Sketch};

/// Estimates how many different elements went into a sketch.
pub(super) fn count(registers: &Registers) -> u64 {
    let size = registers.shape.registers() as f64;
    let histogram = registers.histogram();
    let (empty, full) = (f64::from(histogram[0]), f64::from(histogram[histogram.len() - 1]));
    let mut sum = size * tau(1.0 - full / size);
    for held in histogram[1..histogram.len() - 1].iter().rev() {
        sum = 0.5 * (sum + f64::from(*held));
    }
    sum += size * sigma(empty / size);
    (alpha(registers.shape.index_bits) * size * size / sum).round() as u64
}

/// The count of one sketch: the cached one, or an estimate.
pub(super) fn count_of(sketch: &Sketch<'_>) -> u64 {
    match sketch.cached {
        0 => count(&Registers::union_as(sketch.shape, std::iter::once(*sketch))),
        cached => cached,
    }
}

fn alpha(index_bits: u8) -> f64 {
    match index_bits {
        4 => 0.673,
        5 => 0.697,
        6 => 0.709,
        _ => 0.7213 / (1.0 + 1.079 / f64::from(1u32 << index_bits)),
    }
}

/// x + sum of x^(2^k) 2^(k-1), for the share of empty registers.
fn sigma(mut x: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    let (mut weight, mut sum) = (1.0, x);
    loop {
        x *= x;
        let before = sum;
        sum += x * weight;
        weight += weight;
        if sum == before {
            return sum;
        }
    }
}

/// (1 - x - sum of (1 - x^(2^-k))^2 2^-k) / 3, for the share of registers that are not full.
fn tau(mut x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut weight, mut sum) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = sum;
        weight *= 0.5;
        sum -= (1.0 - x).powi(2) * weight;
        if sum == before {
            return sum / 3.0;
        }
    }
}

/// What several sketches have in common.
pub(super) struct Overlap {
    /// Estimated size of the intersection.
    pub count: u64,
    /// Intersection over union; not a number when all sketches are empty.
    pub similarity: f64,
}

/// Most sketches whose intersection can be told without minhashes.
pub(super) const PLAIN_SKETCHES_MAX: usize = 3;

/// Estimates the intersection of sketches; `None` when there are too many (or none) for sketches
/// that share no minhash.
pub(super) fn overlap(sketches: &[Sketch<'_>]) -> Option<Overlap> {
    let union = Registers::union(sketches.iter().copied())?;
    let union_count = count(&union);
    if union.shape.minhash_bits > 0 && sketches.len() > 1 {
        return Some(overlap_by_minhash(sketches, &union, union_count));
    }
    let common = match sketches {
        [one] => count_of(one),
        [a, b] => pair(a, b),
        [a, b, c] => {
            let pairs = [pair(a, b), pair(a, c), pair(b, c)];
            let singles = [count_of(a), count_of(b), count_of(c)];
            // Cached counts come from outside, so the sums saturate.
            let more = pairs.into_iter().fold(union_count, u64::saturating_add);
            more.saturating_sub(singles.into_iter().fold(0, u64::saturating_add))
        }
        _ => return None,
    };
    Some(Overlap { count: common, similarity: ratio(common, union_count) })
}

/// Size of the intersection of two sketches: what their sizes count twice.
fn pair(a: &Sketch<'_>, b: &Sketch<'_>) -> u64 {
    let union = Registers::union([*a, *b].into_iter()).map_or(0, |union| count(&union));
    count_of(a).saturating_add(count_of(b)).saturating_sub(union)
}

/// HyperMinHash: registers that agree in all sketches, among those that hold anything, estimate the
/// similarity; the intersection is that share of the union.
fn overlap_by_minhash(sketches: &[Sketch<'_>], union: &Registers, union_count: u64) -> Overlap {
    let used = union.list.iter().filter(|&&content| content != 0).count() as u64;
    let agree = (0..union.list.len())
        .filter(|&index| {
            let content = union.list[index];
            content != 0 && sketches.iter().all(|sketch| sketch.register(index) == content)
        })
        .count() as u64;
    let similarity = ratio(agree, used);
    let count = if used == 0 { 0 } else { (similarity * union_count as f64).round() as u64 };
    Overlap { count, similarity }
}

/// A share; of nothing it is the NaN that a division by zero gives on the wire.
fn ratio(part: u64, whole: u64) -> f64 {
    match whole {
        0 => f64::from_bits(0xfff8_0000_0000_0000),
        _ => part as f64 / whole as f64,
    }
}

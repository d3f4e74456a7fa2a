//! Searching sorted things by index.

use std::cmp::Ordering;
use std::ops::Range;

/// Binary search by a comparison that may fail, of the element at an index with what is sought.
/// Answers where it is, or where it belongs.
pub(super) fn binary_search<E>(
    range: Range<usize>,
    mut compare: impl FnMut(usize) -> Result<Ordering, E>,
) -> Result<Result<usize, usize>, E> {
    let Range { mut start, mut end } = range;
    while start < end {
        let middle = start + (end - start) / 2;
        match compare(middle)? {
            Ordering::Less => start = middle + 1,
            Ordering::Equal => return Ok(Ok(middle)),
            Ordering::Greater => end = middle,
        }
    }
    Ok(Err(start))
}

/// Where `prefix` should be among `len` sorted ones that are spread evenly from `low` to `high`.
pub(super) fn interpolate(prefix: u64, low: u64, high: u64, len: usize) -> usize {
    // 20 bits are precise enough, and leave the product room for any length.
    let shift = (high - low).checked_ilog2().unwrap_or(0).saturating_sub(20);
    let part = (prefix.clamp(low, high) - low) >> shift;
    let whole = ((high - low) >> shift).max(1);
    (part * len as u64 / whole) as usize
}

/// How many of `len` elements, all in front of the others, are `before` what is sought. Looks near
/// `guess` first: digests are spread evenly, so the answer is a few elements away, and one or two
/// cache lines are read instead of one for each halving. A bad guess costs a factor of two.
pub(super) fn partition_point_near(
    guess: usize,
    len: usize,
    before: impl Fn(usize) -> bool,
) -> usize {
    let (mut start, mut end) = (0, len);
    let mut stride = 1;
    let mut probe = guess.min(len.saturating_sub(1));
    while start < end {
        if before(probe) {
            start = probe + 1;
            if end < len || probe + stride >= end {
                break;
            }
            probe += stride;
        } else {
            end = probe;
            if start > 0 || probe < start + stride {
                break;
            }
            probe -= stride;
        }
        stride *= 2;
    }
    while start < end {
        let middle = start + (end - start) / 2;
        if before(middle) { start = middle + 1 } else { end = middle }
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_guess_leads_to_the_partition_point(
            len in 0usize..200,
            point in 0usize..200,
            guess in 0usize..300,
        ) {
            let point = point.min(len);
            prop_assert_eq!(partition_point_near(guess, len, |index| index < point), point);
        }

        #[test]
        fn a_good_guess_needs_few_looks(
            point in 0usize..100_000,
            away in 0usize..4,
            below: bool,
        ) {
            let guess = if below { point.saturating_sub(away) } else { point + away };
            let looks = std::cell::Cell::new(0);
            let found = partition_point_near(guess, 200_000, |index| {
                looks.set(looks.get() + 1);
                index < point
            });
            prop_assert_eq!(found, point);
            prop_assert!(looks.get() <= 6, "{} looks", looks.get());
        }

        #[test]
        fn guesses_are_in_range_and_close_for_even_spacing(
            low in 0u64..1 << 51,
            step in 1u64..1 << 40,
            len in 1usize..1000,
            nth in 0usize..1000,
        ) {
            let nth = nth % len;
            let guess = interpolate(low + step * nth as u64, low, low + step * len as u64, len);
            prop_assert!(guess <= len);
            prop_assert!(guess.abs_diff(nth) <= 1, "{} for {}", guess, nth);
        }
    }

    #[test]
    fn guesses_bear_empty_ranges_and_strangers() {
        assert_eq!(interpolate(5, 5, 5, 0), 0);
        assert!(interpolate(0, 5, 5, 10) <= 10);
        assert!(interpolate(u64::MAX >> 12, 3, 4, 10) <= 10);
        assert_eq!(interpolate(0, 3, 4, 10), 0);
    }
}

//! Sorting by packed value.

use std::cmp::Ordering;

use cairn_value::order::compare;
use cairn_value::packed::Malformed;

/// Sorts things by the packed value that `value` gives for each; equal ones keep their order.
///
/// A merge sort of our own: stored values may hold wildcards, under which the order is not total,
/// and the standard library's sort may panic on such input.
pub(super) fn sort_by_value<T: Clone>(
    things: &mut Vec<T>,
    value: impl for<'t> Fn(&'t T) -> &'t [u8],
) -> Result<(), Malformed> {
    let mut width = 1;
    while width < things.len() {
        let mut merged = Vec::with_capacity(things.len());
        for run in things.chunks(2 * width) {
            let (mut left, mut right) = run.split_at(width.min(run.len()));
            while let (Some((a, left_rest)), Some((b, right_rest))) =
                (left.split_first(), right.split_first())
            {
                if compare(value(b), value(a))? == Ordering::Less {
                    merged.push(b.clone());
                    right = right_rest;
                } else {
                    merged.push(a.clone());
                    left = left_rest;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        *things = merged;
        width *= 2;
    }
    Ok(())
}

//! The form in which values are stored inside collections, and sorting by value.

use std::borrow::Cow;
use std::cmp::Ordering;

use cairn_value::collection;
use cairn_value::packed::{Malformed, Reader};
use cairn_value::{Error, ResultCode};

use super::seq::compare;

/// True for a value that may be a map's key: integer, text or bytes.
pub fn is_key(value: &[u8]) -> bool {
    Reader::new(value).token().is_ok_and(|token| collection::is_key(&token))
}

/// Checks a value that is to be stored in a collection and gives its stored form, see
/// [`collection`].
pub fn element(value: &[u8]) -> Result<Cow<'_, [u8]>, Error> {
    collection::element_form(value).map_err(|refused| {
        Error::new(ResultCode::Parameter, format!("the element cannot be stored: {refused}"))
    })
}

/// The order in which packed values sort, as their places; equal ones keep their order.
///
/// A merge sort of our own: values from outside may hold wildcards, under which the order is not
/// total, and the standard library's sort may panic on such input.
pub fn sorted_order<V: AsRef<[u8]>>(values: &[V]) -> Result<Vec<usize>, Malformed> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    let mut merged = Vec::with_capacity(order.len());
    let mut width = 1;
    while width < order.len() {
        merged.clear();
        for run in order.chunks(2 * width) {
            let (mut left, mut right) = run.split_at(width.min(run.len()));
            while let (Some((&a, left_rest)), Some((&b, right_rest))) =
                (left.split_first(), right.split_first())
            {
                if compare(values[b].as_ref(), values[a].as_ref())? == Ordering::Less {
                    merged.push(b);
                    right = right_rest;
                } else {
                    merged.push(a);
                    left = left_rest;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        std::mem::swap(&mut order, &mut merged);
        width *= 2;
    }
    Ok(order)
}

/// Sorts things by the packed value that `value` gives for each; equal ones keep their order.
pub fn sort_by_value<T>(
    things: &mut Vec<T>,
    value: impl for<'t> Fn(&'t T) -> &'t [u8],
) -> Result<(), Malformed> {
    let values: Vec<&[u8]> = things.iter().map(value).collect();
    let order = sorted_order(&values)?;
    let mut slots: Vec<Option<T>> = things.drain(..).map(Some).collect();
    things.extend(order.into_iter().filter_map(|at| slots[at].take()));
    Ok(())
}

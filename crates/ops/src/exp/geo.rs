//! GeoJSON inside expressions: a thin layer over [`crate::geo`].

use cairn_value::Error;

use super::val::{Geo, Val};
use crate::geo::{self, Shape};

/// Refuses a literal that is no GeoJSON.
pub(super) fn check(text: &[u8]) -> Result<(), Error> {
    geo::parse(text).map(|_| ()).map_err(|error| super::compile::refusal(error.message))
}

/// A bin's value of this text, with its cells. A text that is no GeoJSON, which only a collection
/// can hold, has no cells.
pub(super) fn particle(text: &[u8]) -> Vec<u8> {
    geo::particle_bytes(text).unwrap_or_else(|_| [&[0, 0, 0], text].concat())
}

/// Whether one of two shapes is a point inside the other.
pub(super) fn apply<'a>(left: &Val<'_>, right: &Val<'_>) -> Val<'a> {
    match (shape(left), shape(right)) {
        (Some(left), Some(right)) => Val::Bool(left.compares(&right)),
        _ => Val::Unknown,
    }
}

fn shape(value: &Val<'_>) -> Option<Shape> {
    match value {
        Val::Geo(geo @ (Geo::Particle(_) | Geo::Text(_))) => geo::parse(geo.text()).ok(),
        _ => None,
    }
}

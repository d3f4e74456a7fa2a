//! GeoJSON inside expressions: a thin layer over [`crate::geo`].

use std::borrow::Cow;

use cairn_value::Error;

use super::compile::refusal;
use super::eval::Eval;
use super::program::Op;
use super::val::Val;
use crate::geo::{self, Shape};

/// The shape of a literal; one that is no GeoJSON is refused.
pub(super) fn literal(text: &[u8]) -> Result<Shape, Error> {
    geo::parse(text).map_err(|error| refusal(error.message))
}

/// A bin's value of this text, with its cells. A text that is no GeoJSON, which only a collection
/// can hold, has no cells.
pub(super) fn particle(text: &[u8]) -> Vec<u8> {
    geo::particle_bytes(text).unwrap_or_else(|_| [&[0, 0, 0], text].concat())
}

impl<'a> Eval<'a> {
    /// Whether one of two shapes is a point inside the other.
    pub(super) fn compare_shapes(&mut self, at: usize) -> Val<'a> {
        let (left, right) = (self.shape(at + 1), self.shape(self.skip(at + 1)));
        match (left, right) {
            (Some(left), Some(right)) => Val::Bool(left.compares(&right)),
            _ => Val::Unknown,
        }
    }

    /// The shape that a node yields. Those of literals were parsed with the program.
    fn shape(&mut self, at: usize) -> Option<Cow<'a, Shape>> {
        let program = self.program;
        if let Op::Geo(_, place) = program.nodes.get(at)?.op {
            return program.shapes.get(place as usize).map(Cow::Borrowed);
        }
        match self.eval(at) {
            Val::Geo(geo) => geo::parse(geo.text()).ok().map(Cow::Owned),
            _ => None,
        }
    }
}

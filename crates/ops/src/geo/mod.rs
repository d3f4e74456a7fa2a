//! GeoJSON: points and regions on the sphere.
//!
//! A geo value is a particle `flags u8, cells u16 BE, cell ids u64 BE each, GeoJSON text`. The text is
//! what the client sent; the cells are S2 cells (see `cell.rs`): the leaf cell of a point, or a few
//! cells that together cover a region. They are what an index holds; whether a point really lies in
//! a region is asked of the [`Shape`].
//!
//! Edges of polygons are great-circle arcs, circles are caps of a sphere of radius
//! [`EARTH_RADIUS_M`], and boundaries belong to their regions.

pub mod cell;
mod cover;
mod parse;
mod sphere;

#[cfg(test)]
mod tests;

use cairn_value::{Error, Particle, ParticleType, ResultCode};

use cell::Cell;
pub use parse::parse;
pub use sphere::{EARTH_RADIUS_M, Loop, Point, Polygon};
use sphere::{Relation, circle_and_cell};

/// Cells that a stored region is covered with, at most.
pub const CELLS_MAX: usize = 12;

/// Flag of a geo particle: the value is a region.
pub const FLAG_REGION: u8 = 1;

/// A point or a region.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A point.
    Point(Point),
    /// All points of one or more polygons.
    Polygons(Vec<Polygon>),
    /// All points within a radius, given as an angle in radians, around a centre.
    Circle(Point, f64),
}

impl Shape {
    /// True for polygons and circles.
    pub fn is_region(&self) -> bool {
        !matches!(self, Shape::Point(_))
    }

    /// Whether a region contains a point. A point contains nothing, not even itself.
    pub fn contains_point(&self, point: &Point) -> bool {
        match self {
            Shape::Point(_) => false,
            Shape::Polygons(polygons) => polygons.iter().any(|polygon| polygon.contains(point)),
            Shape::Circle(centre, radius) => centre.angle_to(point) <= *radius,
        }
    }

    /// Whether one of the two is a point and the other a region that contains it.
    pub fn compares(&self, other: &Shape) -> bool {
        match (self, other) {
            (Shape::Point(point), region) | (region, Shape::Point(point)) => {
                region.contains_point(point)
            }
            _ => false,
        }
    }

    /// S2 cells that together cover this shape, `cells_max` at most (but never fewer than the faces
    /// that a large region touches), in ascending order.
    pub fn cover(&self, cells_max: usize) -> Vec<u64> {
        match self {
            Shape::Point(point) => vec![cell::leaf(point)],
            region => cover::cover(region, cells_max),
        }
    }

    /// How this shape and a cell lie to each other.
    fn and_cell(&self, cell: &Cell) -> Relation {
        let (middle, radius) = cell.middle_and_radius();
        if self.distance(&middle) > radius * 1.000_001 {
            return Relation::Apart;
        }
        let outline = Loop::around(cell.corners());
        match self {
            Shape::Point(point) => circle_and_cell(point, 0.0, &outline),
            Shape::Circle(centre, radius) => circle_and_cell(centre, *radius, &outline),
            Shape::Polygons(polygons) => {
                let relations = polygons.iter().map(|polygon| polygon.and_cell(&outline));
                relations.fold(Relation::Apart, |most, relation| match (most, relation) {
                    (Relation::Covers, _) | (_, Relation::Covers) => Relation::Covers,
                    (Relation::Meets, _) | (_, Relation::Meets) => Relation::Meets,
                    _ => Relation::Apart,
                })
            }
        }
    }

    /// Angle between a point and the nearest point of this shape, 0 inside.
    fn distance(&self, point: &Point) -> f64 {
        match self {
            Shape::Point(own) => own.angle_to(point),
            Shape::Circle(centre, radius) => (centre.angle_to(point) - radius).max(0.0),
            Shape::Polygons(polygons) => {
                polygons.iter().map(|polygon| polygon.distance(point)).fold(f64::INFINITY, f64::min)
            }
        }
    }
}

/// The bytes of a geo particle with this text; invalid GeoJSON is refused.
///
/// ```
/// use cairn_ops::geo;
/// let text = br#"{"type":"Point","coordinates":[-122.0,37.5]}"#;
/// let bytes = geo::particle_bytes(text)?;
/// assert_eq!(bytes[..3], [0, 0, 1]); // a point, one cell
/// assert_eq!(&bytes[11..], text);
/// # Ok::<(), cairn_value::Error>(())
/// ```
pub fn particle_bytes(text: &[u8]) -> Result<Vec<u8>, Error> {
    let shape = parse(text)?;
    let cells = shape.cover(CELLS_MAX);
    let mut bytes = Vec::with_capacity(3 + 8 * cells.len() + text.len());
    bytes.push(if shape.is_region() { FLAG_REGION } else { 0 });
    bytes.extend_from_slice(&(cells.len() as u16).to_be_bytes());
    for cell in cells {
        bytes.extend_from_slice(&cell.to_be_bytes());
    }
    bytes.extend_from_slice(text);
    Ok(bytes)
}

/// The particle to store for one that came over the wire, whose cells are not trusted.
pub fn stored_bytes(sent: &[u8]) -> Result<Vec<u8>, Error> {
    let text = Particle::new(ParticleType::GeoJson, sent).geo_text();
    particle_bytes(text.ok_or_else(|| invalid("the value is too short for its cells"))?)
}

/// The shape of a stored geo particle.
pub fn shape_of(particle: Particle<'_>) -> Result<Shape, Error> {
    parse(particle.geo_text().ok_or_else(|| invalid("the value is not GeoJSON"))?)
}

fn invalid(why: impl std::fmt::Display) -> Error {
    Error::new(ResultCode::InvalidGeoJson, format!("invalid GeoJSON: {why}"))
}

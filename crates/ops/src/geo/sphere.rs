//! Points, arcs and polygons on the unit sphere.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Radius of the sphere that radii in metres refer to.
pub const EARTH_RADIUS_M: f64 = 6_371_000.0;

/// Angles below this (a micrometre on the ground) are taken for nothing, so that boundaries belong
/// to their regions in spite of rounding.
const ON_BOUNDARY: f64 = 1e-13;

/// A point on the sphere, as a unit vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) z: f64,
}

impl Point {
    /// The point at a longitude and latitude in degrees; `None` outside [-180, 180] and [-90, 90].
    pub fn from_degrees(longitude: f64, latitude: f64) -> Option<Point> {
        if !(-180.0..=180.0).contains(&longitude) || !(-90.0..=90.0).contains(&latitude) {
            return None;
        }
        let (theta, phi) = (longitude.to_radians(), latitude.to_radians());
        let around = phi.cos();
        Some(Point { x: theta.cos() * around, y: theta.sin() * around, z: phi.sin() })
    }

    /// The point in the direction of a vector.
    pub(super) fn toward(x: f64, y: f64, z: f64) -> Point {
        let length = (x * x + y * y + z * z).sqrt();
        Point { x: x / length, y: y / length, z: z / length }
    }

    pub(super) fn dot(&self, other: &Point) -> f64 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    fn cross(&self, other: &Point) -> Point {
        Point {
            x: self.y * other.z - self.z * other.y,
            y: self.z * other.x - self.x * other.z,
            z: self.x * other.y - self.y * other.x,
        }
    }

    fn length(&self) -> f64 {
        self.dot(self).sqrt()
    }

    /// The angle between two points, in radians. Good for tiny angles too.
    pub fn angle_to(&self, other: &Point) -> f64 {
        self.cross(other).length().atan2(self.dot(other))
    }

    /// The angle at this point by which one turns left when looking from `a` to `b`.
    fn turn(&self, a: &Point, b: &Point) -> f64 {
        let sine = self.dot(&a.cross(b));
        let cosine = a.dot(b) - a.dot(self) * b.dot(self);
        sine.atan2(cosine)
    }

    /// The angle to the nearest point of the arc from `a` to `b`.
    fn angle_to_arc(&self, a: &Point, b: &Point) -> f64 {
        let normal = a.cross(b);
        let length = normal.length();
        let ends = self.angle_to(a).min(self.angle_to(b));
        // The foot of the perpendicular lies on the arc if this point is between the two planes
        // that stand on the ends of the arc.
        let between = normal.cross(a).dot(self) > 0.0 && b.cross(&normal).dot(self) > 0.0;
        if length == 0.0 || !between {
            return ends;
        }
        (self.dot(&normal) / length).clamp(-1.0, 1.0).asin().abs()
    }
}

/// True when the arcs `a`-`b` and `c`-`d` cross or touch.
fn arcs_meet(a: &Point, b: &Point, c: &Point, d: &Point) -> bool {
    let (over, along) = (a.cross(b), c.cross(d));
    let sides = [along.dot(a), -along.dot(b), -over.dot(c), over.dot(d)];
    // They cross when each arc has its ends on both sides of the other, on the same hemisphere.
    if sides.iter().all(|&side| side > 0.0) || sides.iter().all(|&side| side < 0.0) {
        return true;
    }
    // Otherwise they can only touch, at an end of one of them.
    [(a, c, d, sides[0], &along), (b, c, d, sides[1], &along)]
        .into_iter()
        .chain([(c, a, b, sides[2], &over), (d, a, b, sides[3], &over)])
        .any(|(end, from, to, side, normal)| {
            side.abs() <= ON_BOUNDARY * normal.length() && end.angle_to_arc(from, to) <= ON_BOUNDARY
        })
}

/// How a region and a cell lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// They have nothing in common.
    Apart,
    /// They have something in common.
    Meets,
    /// The region holds all of the cell.
    Covers,
}

/// How a circle and a cell lie to each other.
pub(super) fn circle_and_cell(centre: &Point, radius: f64, cell: &Loop) -> Relation {
    let within = |point: &Point| centre.angle_to(point) <= radius;
    // A circle up to a hemisphere is convex, so it holds what its corners span.
    if radius <= FRAC_PI_2 && cell.vertices.iter().all(within) {
        Relation::Covers
    } else if cell.winds_around(centre) || cell.distance_to_boundary(centre) <= radius {
        Relation::Meets
    } else {
        Relation::Apart
    }
}

/// A closed chain of arcs, counter-clockwise around the smaller of the two parts it makes.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    vertices: Vec<Point>,
}

impl Loop {
    /// A loop through vertices, the first of which is not repeated; `None` when two neighbours are
    /// the same, or the loop encloses nothing.
    pub fn new(mut vertices: Vec<Point>) -> Option<Loop> {
        if vertices.len() < 3 {
            return None;
        }
        let mut fresh = Loop { vertices: vertices.clone() };
        if fresh.arcs().any(|(a, b)| a == b) {
            return None;
        }
        let area = fresh.signed_area();
        if area.abs() < ON_BOUNDARY * ON_BOUNDARY {
            return None;
        }
        if area < 0.0 {
            vertices.reverse();
            fresh.vertices = vertices;
        }
        Some(fresh)
    }

    /// The outline of a cell, whose corners come counter-clockwise.
    pub(super) fn around(corners: [Point; 4]) -> Loop {
        Loop { vertices: corners.to_vec() }
    }

    fn meets(&self, other: &Loop) -> bool {
        self.arcs().any(|(a, b)| other.arcs().any(|(c, d)| arcs_meet(a, b, c, d)))
    }

    fn arcs(&self) -> impl Iterator<Item = (&Point, &Point)> {
        let next = self.vertices.iter().cycle().skip(1);
        self.vertices.iter().zip(next)
    }

    /// Sum of the signed areas of the triangles that the arcs form with the first vertex.
    fn signed_area(&self) -> f64 {
        let Some(first) = self.vertices.first() else { return 0.0 };
        let sum: f64 = self
            .arcs()
            .map(|(a, b)| {
                let volume = first.dot(&a.cross(b));
                2.0 * volume.atan2(1.0 + first.dot(a) + a.dot(b) + b.dot(first))
            })
            .sum();
        // More than half of the sphere on the left is less than half of it on the right.
        if sum > TAU {
            sum - 2.0 * TAU
        } else if sum < -TAU {
            sum + 2.0 * TAU
        } else {
            sum
        }
    }

    fn distance_to_boundary(&self, point: &Point) -> f64 {
        self.arcs().map(|(a, b)| point.angle_to_arc(a, b)).fold(f64::INFINITY, f64::min)
    }

    /// Whether the loop runs once around a point that is not on it.
    fn winds_around(&self, point: &Point) -> bool {
        // Around a point inside, the turns add up to a full turn to the left; around the antipode
        // of one, to the right; around any other point to nothing.
        self.arcs().map(|(a, b)| point.turn(a, b)).sum::<f64>() > PI
    }
}

/// A loop with holes.
#[derive(Clone, Debug, PartialEq)]
pub struct Polygon {
    /// The outer boundary.
    pub outer: Loop,
    /// Loops whose insides do not belong to the polygon; their boundaries do.
    pub holes: Vec<Loop>,
}

impl Polygon {
    fn loops(&self) -> impl Iterator<Item = &Loop> {
        std::iter::once(&self.outer).chain(&self.holes)
    }

    fn distance_to_boundary(&self, point: &Point) -> f64 {
        self.loops().map(|ring| ring.distance_to_boundary(point)).fold(f64::INFINITY, f64::min)
    }

    fn covers(&self, point: &Point) -> bool {
        self.outer.winds_around(point) && !self.holes.iter().any(|hole| hole.winds_around(point))
    }

    /// Whether a point lies inside or on the boundary.
    pub fn contains(&self, point: &Point) -> bool {
        self.covers(point) || self.distance_to_boundary(point) < ON_BOUNDARY
    }

    /// How the polygon and a cell lie to each other.
    pub(super) fn and_cell(&self, cell: &Loop) -> Relation {
        let inside = |ring: &Loop| ring.vertices.first().is_some_and(|at| cell.winds_around(at));
        if self.loops().any(|ring| ring.meets(cell) || inside(ring)) {
            return Relation::Meets;
        }
        match cell.vertices.first() {
            Some(corner) if self.covers(corner) => Relation::Covers,
            _ => Relation::Apart,
        }
    }

    /// Angle to the nearest point of the polygon, 0 inside.
    pub(super) fn distance(&self, point: &Point) -> f64 {
        if self.covers(point) { 0.0 } else { self.distance_to_boundary(point) }
    }
}

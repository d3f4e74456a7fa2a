//! S2 cells: the sphere projected on the six faces of a cube, each face quartered again and again,
//! and the cells numbered along a space-filling curve.
//!
//! A cell id has three bits for the face, two for each level (which quarter, in the order of the
//! curve), then a 1 and zeros. So the ids of all cells inside a cell form a range around its id.

use super::sphere::Point;

/// Level of the smallest cells.
pub const LEVEL_MAX: u8 = 30;

/// Order of the four quarters along the curve, for each of its four orientations: the bits are the
/// halves in i and j.
const QUARTERS: [[u8; 4]; 4] = [[0, 1, 3, 2], [0, 2, 3, 1], [3, 2, 0, 1], [3, 1, 0, 2]];
/// How the orientation changes in each quarter of the order: bit 0 swaps the axes, bit 1 inverts.
const TURNS: [u8; 4] = [1, 0, 0, 3];

/// The leaf cell that holds a point.
pub fn leaf(point: &Point) -> u64 {
    let (face, u, v) = project(point);
    let coordinate = |x: f64| {
        let scaled = (unit(x) * f64::from(1u32 << LEVEL_MAX)).floor();
        scaled.clamp(0.0, f64::from((1u32 << LEVEL_MAX) - 1)) as u32
    };
    Cell { face, level: LEVEL_MAX, i: coordinate(u), j: coordinate(v) }.id()
}

/// First and last id of the cells inside a cell.
pub fn range(id: u64) -> (u64, u64) {
    let below = (id & id.wrapping_neg()).saturating_sub(1);
    (id.saturating_sub(below), id.saturating_add(below))
}

/// The cell that a cell is a quarter of; a face is nobody's quarter.
pub fn parent(id: u64) -> Option<u64> {
    let last = id & id.wrapping_neg();
    let above = last.checked_shl(2).filter(|&above| above > last && above < 1 << 61)?;
    Some(id & above.wrapping_neg() | above)
}

/// A square of a face: the `i`-th column and `j`-th row of the 2^level squares of a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub face: u8,
    pub level: u8,
    pub i: u32,
    pub j: u32,
}

impl Cell {
    /// The six cells of level 0.
    pub fn faces() -> impl Iterator<Item = Cell> {
        (0..6).map(|face| Cell { face, level: 0, i: 0, j: 0 })
    }

    /// The id.
    pub fn id(&self) -> u64 {
        let mut id = u64::from(self.face);
        let mut orientation = self.face & 1;
        for bit in (0..self.level).rev() {
            let quarter = ((self.i >> bit & 1) << 1 | self.j >> bit & 1) as u8;
            let order = &QUARTERS[usize::from(orientation & 3)];
            let at = order.iter().position(|&held| held == quarter).unwrap_or(0);
            id = id << 2 | at as u64;
            orientation ^= TURNS[at & 3];
        }
        (id << 1 | 1) << (2 * (LEVEL_MAX - self.level))
    }

    /// The four quarters.
    pub fn children(&self) -> [Cell; 4] {
        [0, 1, 2, 3].map(|quarter| Cell {
            face: self.face,
            level: self.level + 1,
            i: self.i << 1 | quarter >> 1,
            j: self.j << 1 | quarter & 1,
        })
    }

    /// The middle, and the largest angle from it to a point of the cell.
    pub fn middle_and_radius(&self) -> (Point, f64) {
        let middle = self.at(0.5, 0.5);
        let angles = self.corners().map(|corner| middle.angle_to(&corner));
        (middle, angles.into_iter().fold(0.0, f64::max))
    }

    /// The corners, counter-clockwise.
    pub fn corners(&self) -> [Point; 4] {
        [self.at(0.0, 0.0), self.at(1.0, 0.0), self.at(1.0, 1.0), self.at(0.0, 1.0)]
    }

    /// A point of the cell, by the shares of its sides.
    fn at(&self, di: f64, dj: f64) -> Point {
        let side = f64::from(1u32 << self.level);
        let (s, t) = ((f64::from(self.i) + di) / side, (f64::from(self.j) + dj) / side);
        unproject(self.face, un_unit(s), un_unit(t))
    }
}

/// The face that a point is projected on, and where.
fn project(point: &Point) -> (u8, f64, f64) {
    let Point { x, y, z } = *point;
    let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
    if ax >= ay && ax >= az {
        if x >= 0.0 { (0, y / x, z / x) } else { (3, z / x, y / x) }
    } else if ay >= az {
        if y >= 0.0 { (1, -x / y, z / y) } else { (4, z / y, -x / y) }
    } else if z >= 0.0 {
        (2, -x / z, -y / z)
    } else {
        (5, -y / z, -x / z)
    }
}

/// The point that is projected on a place of a face.
fn unproject(face: u8, u: f64, v: f64) -> Point {
    match face {
        0 => Point::toward(1.0, u, v),
        1 => Point::toward(-u, 1.0, v),
        2 => Point::toward(-u, -v, 1.0),
        3 => Point::toward(-1.0, -v, -u),
        4 => Point::toward(v, -1.0, -u),
        _ => Point::toward(v, u, -1.0),
    }
}

/// From [-1, 1] on a face to [0, 1], bent so that cells of a level have about the same area.
fn unit(u: f64) -> f64 {
    if u >= 0.0 { 0.5 * (1.0 + 3.0 * u).sqrt() } else { 1.0 - 0.5 * (1.0 - 3.0 * u).sqrt() }
}

/// The inverse of [`unit`].
fn un_unit(s: f64) -> f64 {
    if s >= 0.5 { (4.0 * s * s - 1.0) / 3.0 } else { (1.0 - 4.0 * (1.0 - s) * (1.0 - s)) / 3.0 }
}

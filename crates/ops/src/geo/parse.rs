//! GeoJSON text to shapes: Point, Polygon (with holes), MultiPolygon, AeroCircle, and Features that
//! wrap one of them.

use cairn_value::Error;
use serde_json::{Map, Value};

use super::sphere::{EARTH_RADIUS_M, Loop, Point, Polygon};
use super::{Shape, invalid};

/// Reads a shape; anything else is refused with the code for invalid GeoJSON.
pub fn parse(text: &[u8]) -> Result<Shape, Error> {
    let json: Value = serde_json::from_slice(text).map_err(invalid)?;
    let object = json.as_object().ok_or_else(|| invalid("the text is not a JSON object"))?;
    if kind(object)? == "Feature" {
        let geometry = object.get("geometry").and_then(Value::as_object);
        return geometry_of(geometry.ok_or_else(|| invalid("a Feature needs a geometry"))?);
    }
    geometry_of(object)
}

fn kind(object: &Map<String, Value>) -> Result<&str, Error> {
    object.get("type").and_then(Value::as_str).ok_or_else(|| invalid("there is no type"))
}

fn geometry_of(object: &Map<String, Value>) -> Result<Shape, Error> {
    let kind = kind(object)?;
    let coordinates =
        object.get("coordinates").ok_or_else(|| invalid(format!("a {kind} needs coordinates")))?;
    Ok(match kind {
        "Point" => Shape::Point(point(coordinates)?),
        "Polygon" => Shape::Polygons(vec![polygon(coordinates)?]),
        "MultiPolygon" => {
            Shape::Polygons(some(coordinates)?.iter().map(polygon).collect::<Result<_, _>>()?)
        }
        "AeroCircle" => circle(coordinates)?,
        _ => {
            return Err(invalid(format!(
                "type {kind} is not one of Point, Polygon, MultiPolygon, AeroCircle, Feature"
            )));
        }
    })
}

/// An array with one element at least.
fn some(json: &Value) -> Result<&Vec<Value>, Error> {
    json.as_array()
        .filter(|array| !array.is_empty())
        .ok_or_else(|| invalid("coordinates are not an array, or an empty one"))
}

fn point(json: &Value) -> Result<Point, Error> {
    // A third number would be the altitude, which means nothing here.
    let ([longitude, latitude] | [longitude, latitude, _]) = some(json)?.as_slice() else {
        return Err(invalid("a position is a longitude and a latitude"));
    };
    let (Some(longitude), Some(latitude)) = (longitude.as_f64(), latitude.as_f64()) else {
        return Err(invalid("a position needs numbers"));
    };
    Point::from_degrees(longitude, latitude).ok_or_else(|| {
        invalid(format!(
            "position [{longitude}, {latitude}] is off: longitude is -180 to 180, latitude -90 to 90"
        ))
    })
}

fn polygon(json: &Value) -> Result<Polygon, Error> {
    let mut rings = some(json)?.iter().map(ring);
    let outer = rings.next().ok_or_else(|| invalid("a polygon needs a ring"))??;
    Ok(Polygon { outer, holes: rings.collect::<Result<_, _>>()? })
}

fn ring(json: &Value) -> Result<Loop, Error> {
    let mut points = some(json)?.iter().map(point).collect::<Result<Vec<_>, _>>()?;
    if points.len() < 4 {
        return Err(invalid(
            "a ring needs 4 positions at least, the first one repeated at the end",
        ));
    }
    if points.first() != points.last() {
        return Err(invalid("a ring must end where it starts"));
    }
    points.pop();
    Loop::new(points).ok_or_else(|| invalid("a ring repeats a position or encloses nothing"))
}

fn circle(json: &Value) -> Result<Shape, Error> {
    let [centre, radius] = some(json)?.as_slice() else {
        return Err(invalid("an AeroCircle is a position and a radius in metres"));
    };
    match radius.as_f64() {
        Some(radius) if radius >= 0.0 && radius.is_finite() => {
            let angle = (radius / EARTH_RADIUS_M).min(std::f64::consts::PI);
            Ok(Shape::Circle(point(centre)?, angle))
        }
        _ => Err(invalid("the radius of an AeroCircle is a number of metres, not below 0")),
    }
}

use cairn_value::{Particle, ParticleType, ResultCode};
use proptest::prelude::*;

use super::{CELLS_MAX, EARTH_RADIUS_M, Point, Shape, cell, parse, particle_bytes, stored_bytes};

fn at(longitude: f64, latitude: f64) -> Point {
    Point::from_degrees(longitude, latitude).unwrap()
}

fn shape(text: &str) -> Shape {
    parse(text.as_bytes()).unwrap()
}

fn square(west: f64, south: f64, side: f64) -> String {
    let (east, north) = (west + side, south + side);
    format!(
        "[[{west},{south}],[{east},{south}],[{east},{north}],[{west},{north}],[{west},{south}]]"
    )
}

fn polygon(rings: &[String]) -> Shape {
    shape(&format!(r#"{{"type":"Polygon","coordinates":[{}]}}"#, rings.join(",")))
}

#[test]
fn leaf_cells_are_those_of_s2() {
    for (longitude, latitude, id) in [
        (-122.0, 37.5, 0x808f_b8a2_4795_4393_u64),
        (0.0, 0.0, 0x1000_0000_0000_0001),
        (0.75, 0.5, 0x1000_fb33_b409_15d5),
        (21.75, 14.5, 0x1134_5a25_5667_330b),
        (1.0, 2.0, 0x1003_6e17_ca9f_b709),
    ] {
        assert_eq!(cell::leaf(&at(longitude, latitude)), id, "[{longitude}, {latitude}]");
    }
}

#[test]
fn polygons_include_their_boundary_and_exclude_their_holes() {
    let region = polygon(&[square(0.0, 0.0, 10.0), square(4.0, 4.0, 2.0)]);
    for inside in [(5.0, 3.0), (0.0, 0.0), (10.0, 10.0), (5.0, 0.0), (4.0, 4.0), (3.999, 5.0)] {
        assert!(region.contains_point(&at(inside.0, inside.1)), "{inside:?}");
    }
    for outside in [(5.0, 5.0), (11.0, 5.0), (-0.001, 5.0), (-175.0, -5.0), (180.0, 0.0)] {
        assert!(!region.contains_point(&at(outside.0, outside.1)), "{outside:?}");
    }
}

#[test]
fn the_direction_of_a_ring_does_not_matter() {
    let clockwise = "[[0,0],[0,10],[10,10],[10,0],[0,0]]".to_owned();
    for ring in [clockwise, square(0.0, 0.0, 10.0)] {
        let region = polygon(&[ring]);
        assert!(region.contains_point(&at(5.0, 5.0)));
        assert!(!region.contains_point(&at(15.0, 5.0)));
    }
}

#[test]
fn polygons_cross_the_date_line_and_hold_the_pole() {
    let pacific = polygon(&["[[170,-10],[-170,-10],[-170,10],[170,10],[170,-10]]".to_owned()]);
    assert!(pacific.contains_point(&at(180.0, 0.0)) && pacific.contains_point(&at(-179.0, 5.0)));
    assert!(!pacific.contains_point(&at(0.0, 0.0)) && !pacific.contains_point(&at(160.0, 0.0)));
    let arctic = polygon(&["[[0,70],[90,70],[180,70],[-90,70],[0,70]]".to_owned()]);
    assert!(arctic.contains_point(&at(33.0, 89.0)) && !arctic.contains_point(&at(33.0, 50.0)));
}

#[test]
fn circles_reach_as_far_as_their_radius() {
    let circle = shape(r#"{"type":"AeroCircle","coordinates":[[5,5],200000]}"#);
    assert!(circle.contains_point(&at(5.25, 3.5)) && circle.contains_point(&at(5.0, 5.0)));
    assert!(!circle.contains_point(&at(4.5, 3.0)));
    let whole = shape(r#"{"type":"AeroCircle","coordinates":[[5,5],1e12]}"#);
    assert!(whole.contains_point(&at(-175.0, -5.0)));
}

#[test]
fn a_point_and_a_region_compare_either_way_round() {
    let (point, region) =
        (shape(r#"{"type":"Point","coordinates":[5,5]}"#), polygon(&[square(0.0, 0.0, 9.0)]));
    assert!(point.compares(&region) && region.compares(&point));
    assert!(!point.compares(&point) && !region.compares(&region));
}

#[test]
fn features_and_multi_polygons_are_read() {
    let feature = shape(
        r#"{"type":"Feature","properties":{"a":[1]},"geometry":{"type":"Point","coordinates":[1,2]}}"#,
    );
    assert_eq!(feature, Shape::Point(at(1.0, 2.0)));
    let rings = (square(0.0, 0.0, 1.0), square(5.0, 5.0, 1.0));
    let two =
        shape(&format!(r#"{{"type":"MultiPolygon","coordinates":[[{}],[{}]]}}"#, rings.0, rings.1));
    assert!(two.contains_point(&at(0.5, 0.5)) && two.contains_point(&at(5.5, 5.5)));
    assert!(!two.contains_point(&at(3.0, 3.0)));
}

#[test]
fn what_is_not_geojson_is_refused() {
    for text in [
        "",
        "{}",
        "[]",
        r#"{"type":"bad"}"#,
        r#"{"type":"Point"}"#,
        r#"{"type":"Point","coordinates":[]}"#,
        r#"{"type":"Point","coordinates":[1]}"#,
        r#"{"type":"Point","coordinates":["1",2]}"#,
        r#"{"type":"Point","coordinates":[181,0]}"#,
        r#"{"type":"Point","coordinates":[0,-91]}"#,
        r#"{"type":"Point","coordinates":[0,1]} x"#,
        r#"{"type":"LineString","coordinates":[[0,1],[2,3]]}"#,
        r#"{"type":"Polygon","coordinates":[]}"#,
        r#"{"type":"Polygon","coordinates":[[]]}"#,
        r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[0,0]]]}"#,
        r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1]]]}"#,
        r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,0],[0,0]]]}"#,
        r#"{"type":"AeroCircle","coordinates":[[0,0]]}"#,
        r#"{"type":"AeroCircle","coordinates":[[0,0],-1]}"#,
        r#"{"type":"Feature"}"#,
    ] {
        let error = particle_bytes(text.as_bytes()).unwrap_err();
        assert_eq!(error.code, ResultCode::InvalidGeoJson, "{text}");
    }
    let deep = "[".repeat(100_000);
    assert!(parse(deep.as_bytes()).is_err());
    assert!(stored_bytes(&[0, 0]).is_err() && stored_bytes(&[0, 0, 9, 1]).is_err());
}

#[test]
fn stored_cells_replace_those_that_came() {
    let text = br#"{"type":"AeroCircle","coordinates":[[-122.0,37.5],250.2]}"#;
    let sent = [&[7, 0, 1][..], &[0xee; 8], text].concat();
    let stored = stored_bytes(&sent).unwrap();
    assert_eq!(stored[0], super::FLAG_REGION);
    assert!((1..=CELLS_MAX).contains(&usize::from(stored[2])));
    assert_eq!(Particle::new(ParticleType::GeoJson, &stored).geo_text(), Some(&text[..]));
}

#[test]
fn coverings_are_those_of_the_wire() {
    let region = polygon(&[square(0.0, 0.0, 10.0)]);
    assert_eq!(
        region.cover(CELLS_MAX),
        [
            0x0555_5555_5555_5555_u64, // the leaf that touches the corner
            0x0fd0_0000_0000_0000,
            0x0fe4_0000_0000_0000,
            0x0ffc_0000_0000_0000,
            0x1040_0000_0000_0000,
            0x1a84_0000_0000_0000,
            0x1a9c_0000_0000_0000,
            0x1aa4_0000_0000_0000,
            0x1aac_0000_0000_0000,
        ]
    );
    let circle = shape(r#"{"type":"AeroCircle","coordinates":[[-122.0,37.5],250.2]}"#);
    let cells: Vec<u64> = circle.cover(CELLS_MAX).iter().map(|id| id >> 28).collect();
    assert_eq!(
        cells,
        [
            0x0008_08fb_8989,
            0x0008_08fb_898b,
            0x0008_08fb_89f5,
            0x0008_08fb_8a17,
            0x0008_08fb_8a19,
            0x0008_08fb_8a1f,
            0x0008_08fb_8a24,
            0x0008_08fb_8a2c,
            0x0008_08fb_8a31,
            0x0008_08fb_8a33,
            0x0008_08fb_8a37,
            0x0008_08fb_8a3c
        ]
    );
}

#[test]
fn a_small_circle_is_covered_by_small_cells() {
    let radius = 250.0 / EARTH_RADIUS_M;
    let cells = Shape::Circle(at(-122.0, 37.5), radius).cover(CELLS_MAX);
    // A cell of level 12 is about 2 km wide; all of these lie below one of level 10.
    let (first, last) = (cells[0], cells[cells.len() - 1]);
    assert_eq!(first >> 40, last >> 40, "{cells:x?}");
}

proptest! {
    #[test]
    fn every_point_of_a_region_lies_in_a_covering_cell(
        west in -180.0..150.0, south in -80.0..50.0, side in 0.001..29.0,
        fraction in (0.0..1.0, 0.0..1.0), cells_max in 1usize..20,
    ) {
        let region = polygon(&[square(west, south, side)]);
        let point = at(west + side * fraction.0, south + side * fraction.1);
        let cells = region.cover(cells_max);
        prop_assert!(cells.is_sorted() && cells.len() <= cells_max.max(6));
        if region.contains_point(&point) {
            let leaf = cell::leaf(&point);
            let covered = cells.iter().any(|&id| {
                let (first, last) = cell::range(id);
                (first..=last).contains(&leaf)
            });
            prop_assert!(covered);
        }
    }

    #[test]
    fn small_squares_agree_with_plane_geometry(
        west in -170.0..170.0, south in -1.0..0.5, x in -0.5..1.5, y in -0.5..1.5,
    ) {
        // Near the equator a small square on the sphere is one on the plane, but for its rim.
        let side = 0.5;
        let region = polygon(&[square(west, south, side)]);
        let near_rim = [x, y].iter().any(|c: &f64| c.abs() < 1e-3 || (c - 1.0).abs() < 1e-3);
        let inside = (0.0..=1.0).contains(&x) && (0.0..=1.0).contains(&y);
        let point = at(west + side * x, south + side * y);
        prop_assert!(near_rim || region.contains_point(&point) == inside);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[\\[\\]{}\",:0-9a-zA-Z. -]{0,80}") {
        let _ = parse(text.as_bytes());
    }
}

//! The entity diagram: as SVG and as mermaid.

use std::fmt::Write;

use crate::contract::{Contract, Entity};
use crate::html::escape;

const BOX_W: f64 = 250.0;
const ROW_H: f64 = 17.0;
const GAP_X: f64 = 120.0;
const GAP_Y: f64 = 70.0;
const PER_ROW: usize = 3;
/// Characters that fit a box.
const TEXT_MAX: usize = 34;
/// Bins that a box shows.
const BINS_MAX: usize = 8;

/// Where a box stands.
#[derive(Clone, Copy)]
struct Area {
    x: f64,
    y: f64,
    h: f64,
}

impl Area {
    fn centre(&self) -> (f64, f64) {
        (self.x + BOX_W / 2.0, self.y + self.h / 2.0)
    }

    /// Where the line towards a point leaves the box.
    fn edge(&self, (tx, ty): (f64, f64)) -> (f64, f64) {
        let (cx, cy) = self.centre();
        let (dx, dy) = (tx - cx, ty - cy);
        let along = |half: f64, d: f64| if d == 0.0 { f64::INFINITY } else { half / d.abs() };
        let t = along(BOX_W / 2.0, dx).min(along(self.h / 2.0, dy)).min(1.0);
        (cx + dx * t, cy + dy * t)
    }
}

fn lines(entity: &Entity) -> Vec<String> {
    let mut lines: Vec<String> = entity
        .bins
        .iter()
        .take(BINS_MAX)
        .map(|bin| {
            let kind = bin.value.as_ref().map_or("?", |value| value.name());
            let index = if bin.index.is_some() { " (indexed)" } else { "" };
            format!("{}: {kind}{index}", bin.name)
        })
        .collect();
    if entity.bins.len() > BINS_MAX {
        lines.push(format!("… {} more", entity.bins.len() - BINS_MAX));
    }
    lines
}

/// Entities with their partners next to them, so that few lines pass other boxes.
fn neighbours(contract: &Contract) -> Vec<&Entity> {
    let mut order: Vec<&Entity> = Vec::new();
    let is_new = |order: &[&Entity], name: &str| !order.iter().any(|entity| entity.name == name);
    for start in &contract.entities {
        if !is_new(&order, &start.name) {
            continue;
        }
        let mut at = order.len();
        order.push(start);
        while let Some(name) = order.get(at).map(|entity| entity.name.as_str()) {
            for rel in &contract.relationships {
                let other = match name {
                    name if name == rel.from => &rel.to,
                    name if name == rel.to => &rel.from,
                    _ => continue,
                };
                if is_new(&order, other) {
                    order.extend(contract.entity(other));
                }
            }
            at += 1;
        }
    }
    order
}

/// Text that fits a box.
fn cut(text: &str) -> String {
    match text.char_indices().nth(TEXT_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn areas(entities: &[&Entity]) -> (Vec<Area>, f64) {
    let mut areas = Vec::new();
    let mut y = 10.0;
    for row in entities.chunks(PER_ROW) {
        let heights: Vec<f64> =
            row.iter().map(|entity| 75.0 + ROW_H * lines(entity).len() as f64).collect();
        for (column, h) in heights.iter().enumerate() {
            areas.push(Area { x: 10.0 + column as f64 * (BOX_W + GAP_X), y, h: *h });
        }
        y += heights.iter().copied().fold(0.0, f64::max) + GAP_Y;
    }
    (areas, y - GAP_Y + 40.0)
}

/// The diagram as SVG.
pub fn svg(contract: &Contract) -> String {
    let entities = neighbours(contract);
    let (areas, height) = areas(&entities);
    let columns = contract.entities.len().clamp(1, PER_ROW) as f64;
    let width = (columns * (BOX_W + GAP_X) + 20.0).max(400.0);
    let mut out = format!(
        "<svg viewBox=\"0 0 {width:.0} {height:.0}\" style=\"max-width:{width:.0}px\" role=\"img\" \
         aria-label=\"entity diagram\"><defs><marker id=\"tip\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" \
         markerWidth=\"8\" markerHeight=\"8\" orient=\"auto-start-reverse\"><path d=\"M0 0L10 5L0 10\" \
         class=\"edge\"/></marker></defs>"
    );
    let place = |name: &str| {
        let at = entities.iter().position(|entity| entity.name == name)?;
        areas.get(at)
    };
    for rel in &contract.relationships {
        let (Some(from), Some(to)) = (place(&rel.from), place(&rel.to)) else { continue };
        let label = format!("{} {}", rel.name, rel.kind.name());
        draw_edge(&mut out, from, to, rel.from == rel.to, &label);
    }
    // Boxes lie over the lines.
    for (entity, area) in entities.iter().zip(&areas) {
        draw_box(&mut out, entity, area);
    }
    out.push_str("</svg>");
    out
}

fn draw_box(out: &mut String, entity: &Entity, area: &Area) {
    let Area { x, y, h } = area;
    let key = entity.key.as_ref().map_or("no key declared", |key| key.text());
    let set = if entity.set.is_empty() { "(no set)" } else { &entity.set };
    let _ = write!(
        out,
        "<rect class=box x=\"{x:.0}\" y=\"{y:.0}\" width=\"{BOX_W}\" height=\"{h:.0}\" rx=\"8\"/>"
    );
    let place = format!("{} / {set}", entity.namespace);
    for (class, down, text) in
        [("title", 21.0, &entity.name), ("soft", 38.0, &place), ("soft", 54.0, &key.to_owned())]
    {
        let _ = write!(
            out,
            "<text class={class} x=\"{:.0}\" y=\"{:.0}\">{}</text>",
            x + 12.0,
            y + down,
            escape(&cut(text))
        );
    }
    for (at, line) in lines(entity).iter().enumerate() {
        let _ = write!(
            out,
            "<text x=\"{:.0}\" y=\"{:.0}\">{}</text>",
            x + 12.0,
            y + 77.0 + ROW_H * at as f64,
            escape(&cut(line))
        );
    }
}

fn draw_edge(out: &mut String, from: &Area, to: &Area, own: bool, label: &str) {
    if own {
        // A loop at the right side of the box.
        let (x, y) = (from.x + BOX_W, from.y + 30.0);
        let _ = write!(
            out,
            "<path class=edge marker-end=\"url(#tip)\" d=\"M{x:.0} {y:.0}c46 0 46 44 3 44\"/><text class=soft \
             x=\"{:.0}\" y=\"{:.0}\">{}</text>",
            x + 6.0,
            y - 8.0,
            escape(label)
        );
        return;
    }
    let ((x1, y1), (x2, y2)) = (from.edge(to.centre()), to.edge(from.centre()));
    let _ = write!(
        out,
        "<line class=edge marker-end=\"url(#tip)\" x1=\"{x1:.0}\" y1=\"{y1:.0}\" x2=\"{x2:.0}\" \
         y2=\"{y2:.0}\"/><text class=soft text-anchor=\"middle\" x=\"{:.0}\" y=\"{:.0}\">{}</text>",
        (x1 + x2) / 2.0,
        (y1 + y2) / 2.0 - 6.0,
        escape(label)
    );
}

/// The diagram as mermaid, which Markdown viewers draw.
pub fn mermaid(contract: &Contract) -> String {
    let word = |text: &str| -> String {
        text.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).collect()
    };
    let mut out = String::from("erDiagram\n");
    for entity in &contract.entities {
        let _ = writeln!(out, "  {} {{", word(&entity.name));
        for bin in &entity.bins {
            let kind = bin.value.as_ref().map_or("unknown", |value| value.name());
            let _ = writeln!(out, "    {kind} {}", word(&bin.name));
        }
        out.push_str("  }\n");
    }
    for rel in &contract.relationships {
        let arrow = match rel.kind {
            crate::contract::Cardinality::OneToOne => "||--||",
            crate::contract::Cardinality::OneToMany => "||--o{",
            crate::contract::Cardinality::ManyToMany => "}o--o{",
        };
        let _ = writeln!(
            out,
            "  {} {arrow} {} : \"{}\"",
            word(&rel.from),
            word(&rel.to),
            word(&rel.name)
        );
    }
    out
}

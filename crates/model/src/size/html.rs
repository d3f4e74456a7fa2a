//! Sizes as one HTML page with plots.

use std::fmt::Write;

use super::{EntitySize, Sizes};
use crate::cost::{BAND_HIGH, BAND_LOW};
use crate::html::{escape, page as html_page};
use crate::quantity::{Bytes, both_units, grouped};

/// The page.
pub fn page(sizes: &Sizes, title: &str) -> String {
    let mut body = String::new();
    body.push_str(
        "<h2>Record sizes</h2><p>From the median to the 99th percentile; the shaded band \
                   is 1 to 128 KiB.</p>",
    );
    body.push_str(&plot(sizes));
    body.push_str("<h2>Entities</h2>");
    body.push_str(&table(sizes));
    let growing = sizes.entities.iter().filter(|entity| entity.growth_per_day > 0.0);
    let growing: String = growing.map(growth_plot).collect();
    if !growing.is_empty() {
        let _ = write!(body, "<h2>Growth of one record</h2>{growing}");
    }
    let total = &sizes.total;
    let _ = write!(
        body,
        "<h2>In total</h2><table><tr><th>storage</th><td class=n>{}</td></tr><tr><th>index at 64 \
         bytes</th><td class=n>{}</td></tr><tr><th>index in Cairn</th><td class=n>{}</td></tr>\
         </table>",
        both_units(total.storage),
        both_units(total.index_64),
        both_units(total.index_cairn)
    );
    html_page(&format!("Sizes of {title}"), &body)
}

/// Horizontal place of a size, on a logarithmic scale from 16 B to 16 MiB.
fn x(bytes: f64) -> f64 {
    160.0 + ((bytes.max(16.0).log2() - 4.0) / 20.0).clamp(0.0, 1.0) * 600.0
}

/// Bars of all entities on one scale.
pub fn plot(sizes: &Sizes) -> String {
    let height = 40 + 26 * sizes.entities.len();
    let mut svg =
        format!("<svg viewBox=\"0 0 800 {height}\" role=\"img\" aria-label=\"record sizes\">");
    let _ = write!(
        svg,
        "<rect class=band x=\"{:.1}\" y=\"0\" width=\"{:.1}\" height=\"{}\"/>",
        x(BAND_LOW),
        x(BAND_HIGH) - x(BAND_LOW),
        height - 22
    );
    for (bytes, label) in
        [(16.0, "16 B"), (BAND_LOW, "1 KiB"), (BAND_HIGH, "128 KiB"), (8e6, "8 MiB")]
    {
        let _ = write!(
            svg,
            "<text class=tick x=\"{:.1}\" y=\"{}\">{label}</text>",
            x(bytes),
            height - 6
        );
    }
    for (row, entity) in sizes.entities.iter().enumerate() {
        let y = 8 + 26 * row;
        let (from, to) = (x(entity.record.p50), x(entity.record.p99));
        let _ = write!(
            svg,
            "<text class=name x=\"150\" y=\"{}\">{}</text><rect class=bar x=\"{:.1}\" y=\"{y}\" \
             width=\"{:.1}\" height=\"14\" rx=\"3\"><title>p50 {}, p99 {}</title></rect>",
            y + 12,
            escape(&entity.name),
            from - 2.0,
            (to - from).max(4.0),
            Bytes(entity.record.p50),
            Bytes(entity.record.p99)
        );
    }
    svg.push_str("</svg>");
    svg
}

/// The numbers.
pub fn table(sizes: &Sizes) -> String {
    let mut out = String::from(
        "<table><tr><th>entity<th>records<th>p50<th>p95<th>p99<th>storage<th>index at 64 B<th>index \
         in Cairn</tr>",
    );
    for entity in &sizes.entities {
        let _ = write!(
            out,
            "<tr><td>{}<td class=n>{}<td class=n>{}<td class=n>{}<td class=n>{}<td class=n>{}<td \
             class=n>{}<td class=n>{}</tr>",
            escape(&entity.name),
            grouped(entity.records),
            Bytes(entity.record.p50),
            Bytes(entity.record.p95),
            Bytes(entity.record.p99),
            Bytes(entity.total.storage),
            Bytes(entity.total.index_64),
            Bytes(entity.total.index_cairn)
        );
    }
    out.push_str("</table>");
    out
}

fn growth_plot(entity: &EntitySize) -> String {
    let days = entity.limit_day.unwrap_or(365).max(1) as f64;
    let last = entity.record.p99 + entity.growth_per_day * days;
    let top = last.max(entity.limit) * 1.05;
    let y = |bytes: f64| 110.0 - bytes / top * 100.0;
    let limit_y = y(entity.limit);
    let caption = match entity.limit_day {
        Some(day) => format!("reaches {} on day {}", Bytes(entity.limit), grouped(day as f64)),
        None => "stays below its limits".to_owned(),
    };
    format!(
        "<svg viewBox=\"0 0 800 130\" role=\"img\"><line class=limit x1=\"160\" x2=\"760\" \
         y1=\"{limit_y:.1}\" y2=\"{limit_y:.1}\"/><polyline class=line points=\"160,{:.1} \
         760,{:.1}\"/><text class=name x=\"150\" y=\"60\">{}</text><text class=tick x=\"160\" \
         y=\"126\">today</text><text class=tick x=\"700\" y=\"126\">day {days}</text><text \
         class=tick x=\"300\" y=\"126\">{caption}</text></svg>",
        y(entity.record.p99),
        y(last),
        escape(&entity.name)
    )
}

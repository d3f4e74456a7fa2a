//! Sizes as text with small charts.

use std::fmt::Write;

use super::{EntitySize, Sizes};
use crate::cost::{BAND_HIGH, BAND_LOW, INDEX_BYTES_AEROSPIKE};
use crate::quantity::{Bytes, KIB, both_units, grouped};
use crate::table::Table;

/// Width of a chart in characters.
const CHART: usize = 40;
/// Sizes at the ends of the chart, as powers of two: 16 B to 16 MiB.
const CHART_BITS: (f64, f64) = (4.0, 24.0);

/// The whole report.
pub fn render(sizes: &Sizes) -> String {
    let mut out = String::new();
    out.push_str(&entities(sizes));
    out.push('\n');
    out.push_str(&charts(sizes));
    out.push_str(&growth(sizes));
    out.push_str(&relationships(sizes));
    out.push_str(&totals(sizes));
    for entity in &sizes.entities {
        for note in &entity.notes {
            let _ = writeln!(out, "note: {}: {note}", entity.name);
        }
    }
    out
}

fn entities(sizes: &Sizes) -> String {
    let mut table = Table::new([
        "entity",
        "records",
        "copies",
        "p50",
        "p95",
        "p99",
        "storage",
        "index at 64 B",
        "index in Cairn",
        "secondary",
        "written/s",
    ]);
    for entity in &sizes.entities {
        let total = &entity.total;
        let known = |text: String| if entity.records_known { text } else { "?".into() };
        let or_dash = |bytes: f64| if bytes > 0.0 { Bytes(bytes).to_string() } else { "-".into() };
        table.row([
            entity.name.clone(),
            known(grouped(entity.records)),
            known(format!("x{}", grouped(entity.replication))),
            Bytes(entity.record.p50).to_string(),
            Bytes(entity.record.p95).to_string(),
            Bytes(entity.record.p99).to_string(),
            known(Bytes(total.storage).to_string()),
            known(Bytes(total.index_64).to_string()),
            known(Bytes(total.index_cairn).to_string()),
            or_dash(total.secondary),
            or_dash(total.written_per_s),
        ]);
    }
    table.render()
}

/// Where a size stands on the chart.
pub fn position(bytes: f64, width: usize) -> usize {
    let (low, high) = CHART_BITS;
    let share = (bytes.max(1.0).log2() - low) / (high - low);
    (share.clamp(0.0, 1.0) * (width - 1) as f64).round() as usize
}

fn charts(sizes: &Sizes) -> String {
    let width = sizes.entities.iter().map(|entity| entity.name.chars().count()).max().unwrap_or(0);
    let mut ruler = vec![' '; CHART + 8];
    for (bytes, label) in
        [(16.0, "16 B"), (KIB, "1 KiB"), (BAND_HIGH, "128 KiB"), (8.0 * 1024.0 * KIB, "8 MiB")]
    {
        let at = position(bytes, CHART);
        label.chars().enumerate().for_each(|(i, c)| ruler[at + i] = c);
    }
    let ruler: String = ruler.into_iter().collect();
    let mut out = format!("{:width$}  {}\n", "", ruler.trim_end());
    for entity in &sizes.entities {
        let _ = writeln!(out, "{:width$}  {}  {}", entity.name, chart(entity), verdict(entity));
    }
    out
}

fn chart(entity: &EntitySize) -> String {
    let (low, high) = (position(BAND_LOW, CHART), position(BAND_HIGH, CHART));
    let (from, to) = (position(entity.record.p50, CHART), position(entity.record.p99, CHART));
    let cell = |at: usize| match at {
        at if (from..=to).contains(&at) => '█',
        at if (low..=high).contains(&at) => '░',
        _ => '·',
    };
    (0..CHART).map(cell).collect()
}

fn verdict(entity: &EntitySize) -> &'static str {
    match entity.record.p99 {
        p99 if p99 > entity.max_record_size => "over the namespace's limit",
        p99 if p99 > BAND_HIGH => "above the 1-128 KiB band",
        p99 if p99 < BAND_LOW => "below the 1-128 KiB band",
        _ => "in the band",
    }
}

/// Eight levels of a small chart.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

fn growth(sizes: &Sizes) -> String {
    let mut out = String::new();
    for entity in sizes.entities.iter().filter(|entity| entity.growth_per_day > 0.0) {
        let days = entity.limit_day.unwrap_or(365).max(1) as f64;
        let at =
            |step: usize| entity.record.p99 + entity.growth_per_day * days * step as f64 / 23.0;
        let top = at(23);
        let line: String = (0..24)
            .map(|step| LEVELS[((at(step) / top) * 7.0).round().clamp(0.0, 7.0) as usize])
            .collect();
        let end = match entity.limit_day {
            Some(day) => format!("reaches {} on day {}", Bytes(entity.limit), grouped(day as f64)),
            None => "stays below its limits: its collections are capped".to_owned(),
        };
        let _ = writeln!(
            out,
            "{}  {} now  {line}  {}/day, {end}",
            entity.name,
            Bytes(entity.record.p99),
            Bytes(entity.growth_per_day)
        );
    }
    if !out.is_empty() {
        out.insert_str(0, "\ngrowth of one record\n");
    }
    out + &more_records(sizes)
}

/// What new records cost: index memory now and in a year.
fn more_records(sizes: &Sizes) -> String {
    let mut out = String::new();
    for entity in sizes.entities.iter().filter(|entity| entity.records_per_day > 0.0) {
        let copies = entity.records_per_day * entity.replication;
        let in_a_year = entity.total.index_64 + 365.0 * copies * INDEX_BYTES_AEROSPIKE;
        let _ = writeln!(
            out,
            "{}  {} more a day: {} of storage and {} of index at 64 B a day, {} of index in a year",
            entity.name,
            grouped(entity.records_per_day),
            Bytes(copies * entity.record.avg),
            Bytes(copies * INDEX_BYTES_AEROSPIKE),
            Bytes(in_a_year)
        );
    }
    if out.is_empty() { out } else { format!("\ngrowth in records\n{out}") }
}

fn relationships(sizes: &Sizes) -> String {
    if sizes.relationships.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["relationship", "p99 x average", "", "p99 x p99", ""]);
    for rel in &sizes.relationships {
        let keep =
            if rel.consolidates { "128 KiB or less: keep together" } else { "over 128 KiB: split" };
        let shards =
            if rel.shards > 1.0 { format!("in {} shards, ", rel.shards) } else { String::new() };
        let fit = if rel.fits { "under the limit of" } else { "OVER the limit of" };
        table.row([
            rel.name.clone(),
            Bytes(rel.typical).to_string(),
            keep.into(),
            Bytes(rel.worst).to_string(),
            format!("{shards}{fit} {}", Bytes(rel.limit)),
        ]);
    }
    format!("\n{}", table.render())
}

fn totals(sizes: &Sizes) -> String {
    let total = &sizes.total;
    let saved =
        if total.index_64 > 0.0 { total.index_64 / total.index_cairn.max(1.0) } else { 0.0 };
    let mut out = format!(
        "\nin total\n  records          {} with their copies\n  storage          {}\n  index at 64 B    {}\n  \
         index in Cairn   {} ({saved:.0}x less)\n",
        grouped(total.copies),
        both_units(total.storage),
        both_units(total.index_64),
        both_units(total.index_cairn),
    );
    if total.secondary > 0.0 {
        let _ = writeln!(out, "  secondary        {}", both_units(total.secondary));
    }
    if total.written_per_s > 0.0 {
        let _ = writeln!(out, "  written          {}/s", both_units(total.written_per_s));
    }
    out
}

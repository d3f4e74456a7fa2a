//! Sizes of records.

use super::Findings;
use crate::contract::Target;
use crate::cost::{BAND_HIGH, BAND_LOW};
use crate::quantity::{Bytes, both_units, grouped};
use crate::size::encode::RECORD_HEADER;
use crate::time::civil;

pub(super) fn band(findings: &mut Findings<'_>) {
    for (entity, size) in findings.entities() {
        let p99 = size.record.p99;
        let (message, fix) = if p99 < BAND_LOW {
            let message = format!("a record is {} at p99, below 1 KiB", Bytes(p99));
            (message, "keep many of them in one record, by time slice or by parent")
        } else if p99 > BAND_HIGH && p99 <= size.max_record_size {
            let message = format!("a record is {} at p99, above 128 KiB", Bytes(p99));
            (message, "split it into several medium records: shards or time slices")
        } else {
            continue;
        };
        findings.report(entity.place.name, &entity.name, message, Some(fix.to_owned()));
    }
}

pub(super) fn over_limit(findings: &mut Findings<'_>) {
    for (entity, size) in findings.entities() {
        let (bytes, when) = if size.record.p99 > size.max_record_size {
            (size.record.p99, "at p99")
        } else if size.worst > size.max_record_size {
            (size.worst, "with p99 elements of p99 size")
        } else {
            continue;
        };
        let message = format!(
            "a record is {} {when}, the limit of namespace `{}` is {}",
            Bytes(bytes),
            entity.namespace,
            Bytes(size.max_record_size)
        );
        findings.report(entity.place.name, &entity.name, message, None);
    }
}

pub(super) fn outgrows(findings: &mut Findings<'_>) {
    for (entity, size) in findings.entities() {
        let Some(day) = size.limit_day else { continue };
        let date = findings.today.map_or(String::new(), |today| {
            let (year, month, day) = civil(today.saturating_add(day.min(3_650_000) as i64));
            format!(", {year}-{month:02}-{day:02}")
        });
        let message = format!(
            "a record of {} gains {} a day and reaches {} on day {}{date}",
            Bytes(size.record.p99),
            Bytes(size.growth_per_day),
            Bytes(size.limit),
            grouped(day as f64)
        );
        let growing = entity.bins.iter().find(|bin| bin.growth.is_some());
        let span = growing.map_or(entity.place.name, |bin| bin.place.of("growth"));
        let bin = growing.map(|bin| bin.name.as_str());
        findings.push(span, Some(&entity.name), bin, message, None);
    }
}

pub(super) fn index_dominates(findings: &mut Findings<'_>) {
    let index = findings.contract.target.costs().index_bytes;
    for (entity, size) in findings.entities() {
        let data: f64 =
            size.bins.iter().map(|(name, spread)| spread.p50 - 6.0 - name.len() as f64).sum();
        if data > index || size.record.p50 > RECORD_HEADER + 256.0 {
            continue;
        }
        let memory = match findings.contract.target {
            Target::Aerospike => size.total.index_64,
            Target::Cairn => size.total.index_cairn,
        };
        let cost = if size.records_known {
            format!(": {} of index memory in total", both_units(memory))
        } else {
            String::new()
        };
        let message =
            format!("a record holds {data:.0} bytes of data and takes {index:.0} of index{cost}");
        findings.report(entity.place.name, &entity.name, message, None);
    }
}

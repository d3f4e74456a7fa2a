//! Numbers as people write them: `1MiB`, `30d`, `100/s`, `500B/day`, and distributions of them.

use std::fmt;

/// Nothing in a contract is larger than this; it keeps products finite and exact enough.
const NUMBER_MAX: f64 = 1e15;

/// A kilobyte of the binary kind.
pub const KIB: f64 = 1024.0;
/// A megabyte of the binary kind.
pub const MIB: f64 = 1024.0 * KIB;
/// Seconds in a day.
pub const DAY_S: f64 = 86_400.0;

const BYTE_UNITS: &[(&str, f64)] = &[
    ("B", 1.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", KIB),
    ("MiB", MIB),
    ("GiB", KIB * MIB),
    ("TiB", MIB * MIB),
];

const TIME_UNITS: &[(&str, f64)] = &[
    ("ms", 1e-3),
    ("s", 1.0),
    ("sec", 1.0),
    ("second", 1.0),
    ("m", 60.0),
    ("min", 60.0),
    ("minute", 60.0),
    ("h", 3600.0),
    ("hour", 3600.0),
    ("d", DAY_S),
    ("day", DAY_S),
    ("w", 7.0 * DAY_S),
    ("week", 7.0 * DAY_S),
    ("month", 30.0 * DAY_S),
    ("y", 365.0 * DAY_S),
    ("year", 365.0 * DAY_S),
];

const COUNT_UNITS: &[(&str, f64)] = &[("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9)];

/// Splits `12.5 MiB` into its number and its unit.
fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text
        .char_indices()
        .find(|(_, c)| !(c.is_ascii_digit() || matches!(c, '.' | '_')))
        .map_or(text.len(), |(at, _)| at);
    let (digits, unit) = text.split_at(end);
    let number: f64 = digits.replace('_', "").parse().ok()?;
    (0.0..=NUMBER_MAX).contains(&number).then_some((number, unit.trim()))
}

fn scaled(text: &str, units: &[(&str, f64)], plain: f64) -> Option<f64> {
    let (number, unit) = number_and_unit(text)?;
    let factor = match unit {
        "" => plain,
        unit => units.iter().find(|(name, _)| *name == unit)?.1,
    };
    Some(number * factor).filter(|value| *value <= NUMBER_MAX)
}

/// `1000000`, `1_000_000`, `10k`, `1.5M`.
pub fn count(text: &str) -> Option<f64> {
    scaled(text, COUNT_UNITS, 1.0)
}

/// `400`, `400B`, `1MiB`, `4.5 MB`.
pub fn bytes(text: &str) -> Option<f64> {
    scaled(text, BYTE_UNITS, 1.0)
}

/// `30d`, `5m`, `90` (seconds), in seconds.
pub fn duration(text: &str) -> Option<f64> {
    scaled(text, TIME_UNITS, 1.0)
}

/// `100/s`, `3/day`, `100` (per second), in events per second.
pub fn rate(text: &str) -> Option<f64> {
    let (number, per) = text.split_once('/').unwrap_or((text, "s"));
    Some(count(number)? / period(per)?)
}

fn period(text: &str) -> Option<f64> {
    let text = text.trim();
    TIME_UNITS.iter().find(|(name, _)| *name == text).map(|(_, seconds)| *seconds)
}

/// What accumulates in a day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Growth {
    /// So many bytes a day.
    Bytes(f64),
    /// So many elements (or records) a day.
    Elements(f64),
}

/// `500B/day`, `100/day`, `2 KiB/h`; without a period it is a day's.
pub fn growth(text: &str) -> Option<Growth> {
    let (amount, per) = text.split_once('/').unwrap_or((text, "day"));
    let per_day = DAY_S / period(per)?;
    Some(match count(amount) {
        Some(elements) => Growth::Elements(elements * per_day),
        None => Growth::Bytes(bytes(amount)? * per_day),
    })
}

/// A distribution by its percentiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Average, where it is known; otherwise the median.
    pub avg: f64,
    /// Half are below.
    pub p50: f64,
    /// 95 of 100 are below.
    pub p95: f64,
    /// 99 of 100 are below.
    pub p99: f64,
    /// The cap, when there is one.
    pub max: Option<f64>,
}

/// Names of the percentiles in a contract.
pub const SPREAD_FIELDS: [&str; 5] = ["avg", "p50", "p95", "p99", "max"];

impl Spread {
    /// The same value everywhere.
    pub const fn exactly(value: f64) -> Spread {
        Spread { avg: value, p50: value, p95: value, p99: value, max: Some(value) }
    }

    /// From what was declared, in the order of [`SPREAD_FIELDS`]. What is missing is taken from
    /// the next percentile that is there: upwards first, because planning for less is the error
    /// that hurts.
    pub fn of([avg, p50, p95, p99, max]: [Option<f64>; 5]) -> Option<Spread> {
        let p99_or = p99.or(max).or(p95).or(p50).or(avg)?;
        let p50_or = p50.or(avg).or(p95).unwrap_or(p99_or);
        Some(Spread {
            avg: avg.unwrap_or(p50_or),
            p50: p50_or,
            p95: p95.unwrap_or(p99_or),
            p99: p99_or,
            max,
        })
    }

    /// Whether the percentiles rise.
    pub fn is_rising(&self) -> bool {
        self.p50 <= self.p95
            && self.p95 <= self.p99
            && self.max.is_none_or(|max| self.p99 <= max && self.avg <= max)
    }

    /// p50, p95 and p99 changed by a function.
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Spread {
        Spread {
            avg: f(self.avg),
            p50: f(self.p50),
            p95: f(self.p95),
            p99: f(self.p99),
            max: self.max.map(f),
        }
    }

    /// Sum, percentile by percentile: all parts are large in the same records.
    pub fn plus(&self, other: &Spread) -> Spread {
        Spread {
            avg: self.avg + other.avg,
            p50: self.p50 + other.p50,
            p95: self.p95 + other.p95,
            p99: self.p99 + other.p99,
            max: self.max.zip(other.max).map(|(a, b)| a + b),
        }
    }
}

/// A size with a binary unit, as in `128.0 KiB`.
pub struct Bytes(pub f64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("TiB", MIB * MIB), ("GiB", KIB * MIB), ("MiB", MIB), ("KiB", KIB)];
        let text = match units.iter().find(|(_, size)| self.0 >= *size) {
            Some((unit, size)) => format!("{:.2} {unit}", self.0 / size),
            None => format!("{:.0} B", self.0),
        };
        f.pad(&text)
    }
}

/// A size in both kinds of units, as in `11.92 GiB (12.80 GB)`.
pub fn both_units(bytes: f64) -> String {
    let units = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    match units.iter().find(|(_, size)| bytes >= *size) {
        Some((unit, size)) => format!("{} ({:.2} {unit})", Bytes(bytes), bytes / size),
        None => Bytes(bytes).to_string(),
    }
}

/// A number with commas, as in `1,000,000`.
pub fn grouped(number: f64) -> String {
    let digits = format!("{:.0}", number.abs());
    let mut out = String::from(if number < -0.5 { "-" } else { "" });
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A span of time, as in `30 d`.
pub fn span_text(seconds: f64) -> String {
    let units = [("d", DAY_S), ("h", 3600.0), ("min", 60.0), ("s", 1.0)];
    match units.iter().find(|(_, size)| seconds >= *size) {
        Some((unit, size)) => format!("{} {unit}", trimmed(seconds / size)),
        None => format!("{} ms", trimmed(seconds * 1e3)),
    }
}

/// A rate, as in `100/s` or `3/day`.
pub fn rate_text(per_second: f64) -> String {
    let units = [("s", 1.0), ("min", 60.0), ("h", 3600.0)];
    match units.iter().find(|(_, seconds)| per_second * seconds >= 1.0) {
        Some((unit, seconds)) => format!("{}/{unit}", trimmed(per_second * seconds)),
        None => format!("{}/day", trimmed(per_second * DAY_S)),
    }
}

fn trimmed(number: f64) -> String {
    if number >= 1000.0 {
        return grouped(number);
    }
    let text = format!("{number:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write() {
        assert_eq!(count("1_000_000"), Some(1e6));
        assert_eq!(count("1.5M"), Some(1.5e6));
        assert_eq!(bytes("1MiB"), Some(MIB));
        assert_eq!(bytes("128 KiB"), Some(131_072.0));
        assert_eq!(bytes("400"), Some(400.0));
        assert_eq!(duration("30d"), Some(30.0 * DAY_S));
        assert_eq!(duration("5m"), Some(300.0));
        assert_eq!(rate("100/s"), Some(100.0));
        assert_eq!(rate("60/min"), Some(1.0));
        assert_eq!(growth("500B/day"), Some(Growth::Bytes(500.0)));
        assert_eq!(growth("100/day"), Some(Growth::Elements(100.0)));
        assert_eq!(growth("1KiB/h"), Some(Growth::Bytes(24.0 * KIB)));
    }

    #[test]
    fn what_they_should_not() {
        for text in ["", "x", "-1", "1e400", "1 parsec", "1..2", "99999999999999999999", "/s"] {
            assert_eq!(count(text), None, "{text}");
            assert_eq!(bytes(text), None, "{text}");
            assert_eq!(rate(text), None, "{text}");
        }
    }

    #[test]
    fn missing_percentiles_come_from_above() {
        let spread = Spread::of([None, Some(80.0), None, Some(300_000.0), None]).unwrap();
        assert_eq!((spread.avg, spread.p95, spread.max), (80.0, 300_000.0, None));
        assert_eq!(Spread::of([None; 5]), None);
    }

    #[test]
    fn both_kinds_of_units_are_shown() {
        assert_eq!(both_units(12.8e9), "11.92 GiB (12.80 GB)");
        assert_eq!(both_units(640e6), "610.35 MiB (640.00 MB)");
        assert_eq!(grouped(1234567.0), "1,234,567");
        assert_eq!(rate_text(0.5), "30/min");
    }
}

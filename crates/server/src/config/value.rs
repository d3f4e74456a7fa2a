//! Values of settings: how each kind is written and read.

/// Kinds of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Seconds, or with a unit: `90`, `15m`, `12h`, `30d`.
    Seconds,
    /// Bytes, or with a unit: `1048576`, `512K`, `8M`, `4G`.
    Bytes,
    /// A number.
    Count,
    /// `true` or `false`.
    Bool,
    /// One of some words.
    Words(&'static str),
}

impl Kind {
    /// How a value of this kind is written, for help and errors.
    pub const fn describe(self) -> &'static str {
        match self {
            Kind::Seconds => "seconds, or 15m, 12h, 30d",
            Kind::Bytes => "bytes, or 512K, 8M, 4G",
            Kind::Count => "a number",
            Kind::Bool => "true or false",
            Kind::Words(words) => words,
        }
    }
}

fn expected(kind: Kind, text: &str) -> String {
    format!("`{text}` is not {}", kind.describe())
}

pub(crate) fn seconds(text: &str) -> Result<u32, String> {
    const UNITS: &[(&str, u64)] = &[("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)];
    let value = with_unit(text, UNITS).and_then(|value| u32::try_from(value).ok());
    value.ok_or_else(|| expected(Kind::Seconds, text))
}

pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    const UNITS: &[(&str, u64)] = &[
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("K", 1 << 10),
        ("M", 1 << 20),
        ("G", 1 << 30),
        ("T", 1 << 40),
    ];
    with_unit(text, UNITS).ok_or_else(|| expected(Kind::Bytes, text))
}

pub(super) fn count(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| expected(Kind::Count, text))
}

pub(crate) fn boolean(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| expected(Kind::Bool, text))
}

fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (number, factor) = units
        .iter()
        .find_map(|&(unit, factor)| Some((text.strip_suffix(unit)?, factor)))
        .unwrap_or((text, 1));
    number.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_multiply_and_overflow_is_refused() {
        assert_eq!(seconds("90"), Ok(90));
        assert_eq!(seconds("2h"), Ok(7200));
        assert_eq!(bytes("3K"), Ok(3072));
        assert_eq!(bytes("3KiB"), Ok(3072));
        assert_eq!(bytes("16777216T"), Err("`16777216T` is not bytes, or 512K, 8M, 4G".into()));
        assert!(seconds("4294967296").is_err() && seconds("-1").is_err() && seconds("").is_err());
        assert!(count("1.5").is_err() && boolean("1").is_err());
    }
}

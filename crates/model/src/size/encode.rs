//! How many bytes values take, in the store's own encoding.
//!
//! Lengths are averages, so they are fractions: a list of 1,440 integers from 0 to 1,439 has
//! elements of one, two and three bytes.

use cairn_value::record::BIN_OVERHEAD;

use crate::contract::{Contract, IdentifierKind, ListType, MapType, ValueType};
use crate::quantity::Spread;

/// Bytes in front of a record's set name: checksum, length, times, digest and counts.
pub const RECORD_HEADER: f64 = cairn_engine::RECORD_HEADER_LEN as f64;
/// Bytes that a text is taken to have when nobody said.
pub const TEXT_ASSUMED: f64 = 16.0;
/// Bytes of the extension that marks a collection as ordered.
const ORDER_MARK: f64 = 3.0;
/// Bytes of a HyperLogLog sketch with 12 index bits and no minhash.
const HLL_ASSUMED: f64 = 3084.0;
/// Bytes in front of the text of a geo value.
const GEO_PREFIX: f64 = 3.0;

/// Which of a value's sizes is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// The average.
    Average,
    /// What 99 of 100 stay below.
    P99,
}

/// Computes sizes in a contract.
#[derive(Clone, Copy, Debug)]
pub struct Encoder<'a> {
    contract: &'a Contract,
}

impl<'a> Encoder<'a> {
    /// An encoder that knows the identifiers of a contract.
    pub fn new(contract: &'a Contract) -> Self {
        Encoder { contract }
    }

    /// Bytes of a whole bin, name included.
    pub fn bin(&self, name: &str, value: Spread) -> Spread {
        value.map(|bytes| BIN_OVERHEAD as f64 + name.len() as f64 + bytes)
    }

    /// Bytes of a value as it stands in a bin.
    pub fn in_bin(&self, value: &ValueType) -> Spread {
        match value {
            ValueType::Int(_) | ValueType::Instant | ValueType::Double => Spread::exactly(8.0),
            ValueType::Bool => Spread::exactly(1.0),
            ValueType::String(size) | ValueType::Blob(size) => text_size(*size),
            ValueType::Geo(size) => text_size(*size).map(|bytes| GEO_PREFIX + bytes),
            ValueType::Hll(size) => size.unwrap_or(Spread::exactly(HLL_ASSUMED)),
            ValueType::Id(name) => Spread::exactly(self.identifier(name)),
            ValueType::Tuple(_) | ValueType::Struct(_) => Spread {
                max: None,
                p99: self.packed(value, At::P99, 1.0),
                ..Spread::exactly(self.packed(value, At::Average, 1.0))
            },
            ValueType::List(list) => {
                self.counts(list.count).map(|count| self.list(list, count, At::Average))
            }
            ValueType::Map(map) => {
                self.counts(map.count).map(|count| self.map(map, count, At::Average))
            }
        }
    }

    /// Bytes of a value when there are as many elements as in 99 of 100 records and each is as
    /// large as 99 of 100 are.
    pub fn worst_in_bin(&self, value: &ValueType) -> f64 {
        match value {
            ValueType::List(list) => self.list(list, self.counts(list.count).p99, At::P99),
            ValueType::Map(map) => self.map(map, self.counts(map.count).p99, At::P99),
            other => self.in_bin(other).p99,
        }
    }

    /// Bytes of one element of a collection, on average.
    pub fn element(&self, value: &ValueType) -> f64 {
        match value {
            ValueType::List(list) => {
                let siblings = self.counts(list.count).p50;
                self.inner(list.element.as_ref(), At::Average, siblings)
            }
            ValueType::Map(map) => self.pair(map, At::Average, self.counts(map.count).p50),
            _ => 0.0,
        }
    }

    fn counts(&self, count: Option<Spread>) -> Spread {
        count.unwrap_or(Spread::exactly(0.0))
    }

    fn list(&self, list: &ListType, count: f64, at: At) -> f64 {
        let mark = if list.ordered { ORDER_MARK } else { 0.0 };
        let element = self.inner(list.element.as_ref(), at, count);
        head(count + f64::from(u8::from(list.ordered))) + mark + count * element
    }

    fn map(&self, map: &MapType, count: f64, at: At) -> f64 {
        // The mark of a map is a key and has nil as its value.
        let mark = if map.ordered { ORDER_MARK + 1.0 } else { 0.0 };
        head(count + f64::from(u8::from(map.ordered))) + mark + count * self.pair(map, at, count)
    }

    fn pair(&self, map: &MapType, at: At, siblings: f64) -> f64 {
        let key = match &map.template {
            Some(template) => text(template.typical_len() as f64),
            None => self.inner(map.key.as_ref(), at, siblings),
        };
        key + self.inner(map.value.as_ref(), at, siblings)
    }

    fn inner(&self, value: Option<&ValueType>, at: At, siblings: f64) -> f64 {
        match value {
            Some(value) => self.packed(value, at, siblings),
            None => text(TEXT_ASSUMED),
        }
    }

    /// Bytes of a value inside a collection of so many siblings.
    pub fn packed(&self, value: &ValueType, at: At, siblings: f64) -> f64 {
        let pick = |spread: Spread| if at == At::Average { spread.avg } else { spread.p99 };
        match value {
            ValueType::Int(range) => {
                // Without a range the numbers of a collection are taken to count its elements, as
                // minutes of a day do.
                let last = (siblings.min(9e15) as i64 - 1).max(0);
                let (low, high) = range.unwrap_or((0, last));
                average_int(low, high)
            }
            // Instants are past the 32-bit numbers in any unit from milliseconds on.
            ValueType::Double | ValueType::Instant => 9.0,
            ValueType::Bool => 1.0,
            ValueType::String(size) | ValueType::Blob(size) | ValueType::Geo(size) => {
                text(pick(text_size(*size)))
            }
            ValueType::Hll(size) => text(pick(size.unwrap_or(Spread::exactly(HLL_ASSUMED)))),
            ValueType::Id(name) => text(self.identifier(name)),
            ValueType::Tuple(types) => {
                let inner: f64 = types.iter().map(|inner| self.packed(inner, at, siblings)).sum();
                head(types.len() as f64) + inner
            }
            ValueType::Struct(fields) => {
                let pair = |(name, inner): &(String, ValueType)| {
                    text(name.len() as f64) + self.packed(inner, at, siblings)
                };
                head(fields.len() as f64) + fields.iter().map(pair).sum::<f64>()
            }
            ValueType::List(list) => self.list(list, pick(self.counts(list.count)), at),
            ValueType::Map(map) => self.map(map, pick(self.counts(map.count)), at),
        }
    }

    fn identifier(&self, name: &str) -> f64 {
        let Some(id) = self.contract.identifier(name) else { return TEXT_ASSUMED };
        let templated = || id.template.as_ref().map(|template| template.typical_len() as f64);
        match id.kind {
            IdentifierKind::Uuid => 36.0,
            IdentifierKind::Cleartext => id.bytes.or_else(templated).unwrap_or(TEXT_ASSUMED),
            IdentifierKind::Hash => match id.recipe.output.as_deref() {
                Some("hex8") | Some("int") => 8.0,
                Some("hex32") => 32.0,
                _ => 16.0,
            },
        }
    }
}

fn text_size(size: Option<Spread>) -> Spread {
    size.unwrap_or(Spread::exactly(TEXT_ASSUMED))
}

/// Bytes in front of the elements of a collection.
fn head(count: f64) -> f64 {
    match count {
        ..16.0 => 1.0,
        ..65_536.0 => 3.0,
        _ => 5.0,
    }
}

/// Bytes of a text inside a collection: head, type byte, text.
fn text(bytes: f64) -> f64 {
    let len = bytes + 1.0;
    len + match len {
        ..32.0 => 1.0,
        ..256.0 => 2.0,
        ..65_536.0 => 3.0,
        _ => 5.0,
    }
}

/// Ranges of integers that take the same number of bytes.
const INT_BANDS: [(i64, i64, f64); 9] = [
    (i64::MIN, -0x8000_0001, 9.0),
    (-0x8000_0000, -0x8001, 5.0),
    (-0x8000, -0x81, 3.0),
    (-0x80, -33, 2.0),
    (-32, 0x7f, 1.0),
    (0x80, 0xff, 2.0),
    (0x100, 0xffff, 3.0),
    (0x1_0000, 0xffff_ffff, 5.0),
    (0x1_0000_0000, i64::MAX, 9.0),
];

/// Average bytes of the integers from `low` to `high`, all equally likely.
fn average_int(low: i64, high: i64) -> f64 {
    let many = |low: i64, high: i64| (high as f64 - low as f64 + 1.0).max(0.0);
    let bytes: f64 = INT_BANDS
        .iter()
        .map(|(from, to, bytes)| {
            let (from, to) = (low.max(*from), high.min(*to));
            if from <= to { many(from, to) * bytes } else { 0.0 }
        })
        .sum();
    bytes / many(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_value::Value;
    use proptest::prelude::*;

    fn encoder_size(value: &ValueType) -> f64 {
        let contract = Contract::default();
        Encoder::new(&contract).packed(value, At::Average, 1.0)
    }

    #[test]
    fn a_day_of_readings_takes_what_the_store_takes() {
        let contract = Contract::default();
        let list = ValueType::List(Box::new(ListType {
            element: Some(ValueType::Tuple(vec![ValueType::Int(None), ValueType::Double])),
            count: Some(Spread::exactly(1440.0)),
            ordered: false,
        }));
        let real =
            Value::list((0..1440).map(|m| Value::list([Value::Int(m), Value::Double(22.5)])));
        let computed = Encoder::new(&contract).in_bin(&list).p50.round();
        assert_eq!(computed, real.to_packed().len() as f64);
        // 18,336 bytes of elements behind a head of 3.
        assert_eq!(computed, 18_336.0 + 3.0);
    }

    proptest! {
        #[test]
        fn texts_take_what_the_store_takes(bytes in 0usize..70_000) {
            let real = Value::String("x".repeat(bytes)).to_packed().len();
            let computed = encoder_size(&ValueType::String(Some(Spread::exactly(bytes as f64))));
            prop_assert_eq!(computed, real as f64);
        }

        #[test]
        fn integers_take_what_the_store_takes(number: i64) {
            let real = Value::Int(number).to_packed().len();
            prop_assert_eq!(encoder_size(&ValueType::Int(Some((number, number)))), real as f64);
        }

        #[test]
        fn averages_of_ranges_are_averages(low in -70_000i64..70_000, many in 1i64..2_000) {
            let high = low + many - 1;
            let real: usize = (low..=high).map(|n| Value::Int(n).to_packed().len()).sum();
            let computed = encoder_size(&ValueType::Int(Some((low, high)))) * many as f64;
            prop_assert!((computed - real as f64).abs() < 1e-6);
        }

        #[test]
        fn collections_take_what_the_store_takes(count in 0usize..20_000, ordered: bool) {
            let real = Value::List { items: vec![Value::Bool(true); count], ordered };
            let computed = ValueType::List(Box::new(ListType {
                element: Some(ValueType::Bool),
                count: Some(Spread::exactly(count as f64)),
                ordered,
            }));
            let contract = Contract::default();
            let computed = Encoder::new(&contract).in_bin(&computed).p99;
            prop_assert_eq!(computed, real.to_packed().len() as f64);
        }

        #[test]
        fn maps_take_what_the_store_takes(count in 0usize..5_000, ordered: bool) {
            let pairs = (0..count).map(|n| (Value::String(format!("k{n:07}")), Value::Double(1.0)));
            let real = Value::Map { pairs: pairs.collect(), ordered };
            let computed = ValueType::Map(Box::new(MapType {
                key: Some(ValueType::String(Some(Spread::exactly(8.0)))),
                template: None,
                value: Some(ValueType::Double),
                count: Some(Spread::exactly(count as f64)),
                ordered,
            }));
            let contract = Contract::default();
            let computed = Encoder::new(&contract).in_bin(&computed).p99;
            prop_assert_eq!(computed, real.to_packed().len() as f64);
        }
    }
}

//! Two layouts side by side.

use super::{Sizes, Totals};
use crate::json::Json;
use crate::quantity::{Bytes, both_units, grouped};
use crate::table::Table;

/// Two layouts of the same data.
#[derive(Clone, Debug)]
pub struct Comparison {
    names: [String; 2],
    totals: [Totals; 2],
    record_p99: [f64; 2],
}

impl Comparison {
    /// Compares all of two contracts.
    pub fn of_contracts(names: [&str; 2], sizes: [&Sizes; 2]) -> Comparison {
        let largest =
            |sizes: &Sizes| sizes.entities.iter().map(|e| e.record.p99).fold(0.0, f64::max);
        Comparison {
            names: names.map(str::to_owned),
            totals: sizes.map(|sizes| sizes.total),
            record_p99: sizes.map(largest),
        }
    }

    /// Compares two entities of one contract; nothing when one of them is not there.
    pub fn of_entities(names: [&str; 2], sizes: &Sizes) -> Option<Comparison> {
        let find = |name: &str| sizes.entities.iter().find(|entity| entity.name == name);
        let [a, b] = [find(names[0])?, find(names[1])?];
        Some(Comparison {
            names: names.map(str::to_owned),
            totals: [a.total, b.total],
            record_p99: [a.record.p99, b.record.p99],
        })
    }

    fn rows(&self) -> [(&'static str, [f64; 2], bool); 7] {
        let of = |pick: fn(&Totals) -> f64| [pick(&self.totals[0]), pick(&self.totals[1])];
        [
            ("records with copies", of(|t| t.copies), false),
            ("largest record at p99", self.record_p99, true),
            ("storage", of(|t| t.storage), true),
            ("index at 64 B", of(|t| t.index_64), true),
            ("index in Cairn", of(|t| t.index_cairn), true),
            ("secondary indexes", of(|t| t.secondary), true),
            ("written per second", of(|t| t.written_per_s), true),
        ]
    }

    /// As text.
    pub fn to_text(&self) -> String {
        let mut table = Table::new(["", &self.names[0], &self.names[1], "difference"]);
        for (what, [a, b], is_bytes) in self.rows() {
            if a == 0.0 && b == 0.0 {
                continue;
            }
            let show = |n: f64| if is_bytes { both_units(n) } else { grouped(n) };
            table.row([what.to_owned(), show(a), show(b), difference(a, b)]);
        }
        let per_record = self.totals.map(|total| Bytes(total.storage / total.copies.max(1.0)));
        let note = format!(
            "\naverage record: {} against {}; index memory is records x 64 bytes x copies\n",
            per_record[0], per_record[1]
        );
        table.render() + &note
    }

    /// As JSON.
    pub fn to_json(&self) -> Json {
        let side = |at: usize| {
            let mut fields = vec![("name".to_owned(), Json::from(self.names[at].as_str()))];
            fields.extend(self.rows().map(|(what, values, _)| {
                let name = what.replace(' ', "_").to_lowercase();
                (name, Json::from(values[at].round() as u64))
            }));
            Json::Object(fields)
        };
        let ratio = self.totals[0].index_64 / self.totals[1].index_64.max(1.0);
        Json::object([("a", side(0)), ("b", side(1)), ("index_ratio", ratio.into())])
    }
}

fn difference(a: f64, b: f64) -> String {
    match (a, b) {
        (a, b) if a == b => "same".into(),
        (a, b) if a > b && b > 0.0 => format!("{}x less", times(a / b)),
        (a, b) if b > a && a > 0.0 => format!("{}x more", times(b / a)),
        _ => "".into(),
    }
}

fn times(ratio: f64) -> String {
    if ratio >= 10.0 { grouped(ratio) } else { format!("{ratio:.1}") }
}

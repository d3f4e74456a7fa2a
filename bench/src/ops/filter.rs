//! Filter expressions over many records.

use std::hint::black_box;

use cairn_ops::Env;
use cairn_ops::exp::{Program, Scope, Verdict};
use cairn_value::packed::write;
use cairn_value::{BinContent, Bins, Digest, Meta, NewBin, RecordView, Value};

use super::contest::{Contest, Side};

const ENV: Env = Env { now_ns: 0 };
/// How many records a filter looks at.
pub const RECORDS: u32 = 10_000;
/// Bins of a record: an integer, a text, a list, and a text that no filter asks for.
const BINS: u16 = 4;
const TAGS: i64 = 8;
/// Codes of expressions.
const EQ: i64 = 1;
const GT: i64 = 3;
const BIN: i64 = 81;
const CALL: i64 = 127;
/// Types of expressions.
const INT: i64 = 2;
const STRING: i64 = 3;
const LIST: i64 = 4;

/// What the filters compare.
pub const SUBJECTS: [&str; 3] = ["integer", "string", "list call"];

/// A filter as the twin has it: a condition on a record's tree.
type Condition = fn(&[(String, Value)]) -> bool;

/// A filter over records.
pub struct FilterContest {
    program: Vec<u8>,
    naive: Condition,
    records: Vec<Vec<u8>>,
}

impl FilterContest {
    /// The filter at this place of [`SUBJECTS`].
    pub fn new(subject: usize) -> Self {
        let records = (0..i64::from(RECORDS)).map(record).collect();
        let (program, naive): (Vec<u8>, Condition) = match subject {
            0 => (compare(GT, bin(INT, "age"), Value::Int(50)), is_older),
            1 => (compare(EQ, bin(STRING, "city"), "city-7".into()), is_in_city),
            _ => (compare(GT, count_of_tag("tag-3"), Value::Int(0)), is_tagged),
        };
        FilterContest { program, naive, records }
    }

    /// Which records pass. The program is compiled once for all of them.
    fn cairn(&self) -> Result<Vec<bool>, String> {
        let program = Program::compile_filter(&self.program).map_err(|error| error.to_string())?;
        let meta = Meta { generation: 1, void_time: 0, last_update_ns: 0, stored_size: 0 };
        let passes = |bytes: &Vec<u8>| {
            let bins = Bins::new(BINS, bytes);
            let record = RecordView { digest: Digest([0; 20]), meta, set: b"s", key: None, bins };
            program.filter(&Scope::of_record(&record, ENV)) == Verdict::True
        };
        Ok(self.records.iter().map(passes).collect())
    }

    /// Decodes every record into a tree and looks at that.
    fn naive(&self) -> Vec<bool> {
        let passes = |bytes: &Vec<u8>| {
            let mut bins = Vec::with_capacity(usize::from(BINS));
            for bin in Bins::new(BINS, bytes) {
                let name = String::from_utf8_lossy(bin.name).into_owned();
                bins.push((name, Value::from_particle(bin.particle).unwrap_or(Value::Nil)));
            }
            (self.naive)(&bins)
        };
        self.records.iter().map(passes).collect()
    }
}

impl Contest for FilterContest {
    fn check(&self) -> Result<(), String> {
        let cairn = self.cairn()?;
        if cairn != self.naive() {
            return Err("the filter and the twin pick different records".to_owned());
        }
        let some = cairn.iter().any(|&passes| passes) && !cairn.iter().all(|&passes| passes);
        if some { Ok(()) } else { Err("the filter tells no records apart".to_owned()) }
    }

    fn run(&self, side: Side) {
        match side {
            Side::Cairn | Side::Whole => {
                let _ = black_box(self.cairn());
            }
            Side::Naive => {
                black_box(self.naive());
            }
        }
    }

    fn operations(&self) -> u64 {
        u64::from(RECORDS)
    }

    fn writes(&self) -> bool {
        false
    }
}

/// The bins of the n-th record.
fn record(n: i64) -> Vec<u8> {
    let tags = (0..TAGS).map(|tag| Value::String(format!("tag-{}", (n * 7 + tag * 3) % 40)));
    let bins: [(&[u8], Value); BINS as usize] = [
        (b"name", Value::String(format!("member number {n}"))),
        (b"age", Value::Int(n * 37 % 100)),
        (b"city", Value::String(format!("city-{}", n % 20))),
        (b"tags", Value::list(tags)),
    ];
    let mut packed = Vec::new();
    for (name, value) in bins {
        let content = BinContent::Whole(value.kind(), value.to_particle_bytes().into());
        NewBin { name, content }.write_to(|piece| packed.extend_from_slice(piece));
    }
    packed
}

fn value_of<'b>(bins: &'b [(String, Value)], name: &str) -> Option<&'b Value> {
    bins.iter().find(|bin| bin.0 == name).map(|bin| &bin.1)
}

fn is_older(bins: &[(String, Value)]) -> bool {
    matches!(value_of(bins, "age"), Some(Value::Int(age)) if *age > 50)
}

fn is_in_city(bins: &[(String, Value)]) -> bool {
    matches!(value_of(bins, "city"), Some(Value::String(city)) if city == "city-7")
}

fn is_tagged(bins: &[(String, Value)]) -> bool {
    let is_tag = |tag: &Value| matches!(tag, Value::String(tag) if tag == "tag-3");
    matches!(value_of(bins, "tags"), Some(Value::List { items, .. }) if items.iter().any(is_tag))
}

fn list_of(parts: &[Vec<u8>]) -> Vec<u8> {
    let mut packed = Vec::new();
    write::list_head(&mut packed, parts.len() as u32);
    parts.iter().for_each(|part| packed.extend_from_slice(part));
    packed
}

fn compare(code: i64, subject: Vec<u8>, with: Value) -> Vec<u8> {
    list_of(&[Value::Int(code).to_packed(), subject, with.to_packed()])
}

fn bin(kind: i64, name: &str) -> Vec<u8> {
    // Names of bins stand without a type byte.
    let mut packed_name = vec![0xa0 | name.len() as u8];
    packed_name.extend_from_slice(name.as_bytes());
    list_of(&[Value::Int(BIN).to_packed(), Value::Int(kind).to_packed(), packed_name])
}

/// How often a tag stands in the list, as an operation of lists finds it.
fn count_of_tag(tag: &str) -> Vec<u8> {
    let (get_all_by_value, count) = (Value::Int(22), Value::Int(5));
    let operation = Value::list([get_all_by_value, count, tag.into()]).to_packed();
    let lists_and_maps = Value::Int(0).to_packed();
    let head = [Value::Int(CALL).to_packed(), Value::Int(INT).to_packed(), lists_and_maps];
    list_of(&[head.to_vec(), vec![operation, bin(LIST, "tags")]].concat())
}

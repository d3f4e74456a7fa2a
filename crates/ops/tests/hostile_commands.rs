//! Random and damaged operations of every type on one record: no panic, and what they leave behind
//! is a record as the store demands it. `CAIRN_FUZZ_SECONDS` makes it run longer.
#![allow(clippy::unwrap_used)]

use std::borrow::Cow;
use std::time::{Duration, Instant};

use cairn_ops::operate::{Change, Options, check, run};
use cairn_ops::table::{self, Run};
use cairn_ops::{BinOp, Env, op};
use cairn_value::collection::stored_form;
use cairn_value::limits::BIN_NAME_MAX;
use cairn_value::{BinContent, Bins, Digest, Meta, NewBin, ParticleType, RecordView, Value};

/// Xorshift: good enough to make nonsense, and repeatable.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % sides.max(1)
    }

    fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.roll(choices.len())]
    }

    fn int(&mut self) -> i64 {
        match self.roll(5) {
            0 => *self.pick(&[i64::MIN, i64::MAX, -1, 0xff, 0xfe, 65_536, 1 << 40]),
            _ => self.roll(12) as i64 - 3,
        }
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.roll(if depth == 0 { 7 } else { 10 }) {
            0 => Value::Nil,
            1 => Value::Bool(self.roll(2) == 0),
            2..4 => Value::Int(self.int()),
            4 => Value::Double(self.int() as f64 / 4.0),
            5 => Value::from(*self.pick(&["", "a", "b", "long text"])),
            6 => Value::Blob(vec![self.roll(256) as u8; self.roll(4)]),
            7..9 => {
                let items = (0..self.roll(5)).map(|_| self.value(depth - 1)).collect();
                Value::List { items, ordered: self.roll(4) == 0 }
            }
            _ => {
                let key = |dice: &mut Dice| match dice.roll(8) {
                    0 => dice.value(1),
                    1..4 => Value::Int(dice.int()),
                    _ => Value::from(*dice.pick(&["a", "b", "c"])),
                };
                let pairs = (0..self.roll(5)).map(|_| (key(self), self.value(depth - 1))).collect();
                Value::Map { pairs, ordered: self.roll(2) == 0 }
            }
        }
    }

    /// A call that has a chance: a code of the family in front of arguments that may fit it,
    /// sometimes inside a context.
    fn call(&mut self, op: u8, name: &str) -> Vec<u8> {
        let is_map = matches!(name, "m" | "k");
        let (codes, patterns): (_, &[&str]) = match (op, is_map) {
            (op::CDT_READ, false) => (16..31, &["", "i", "ri", "rii", "rv", "rvv", "rl", "rvii"]),
            (op::CDT_READ, true) => (96..111, &["", "rv", "ri", "rii", "rl", "rvv", "rvii"]),
            (op::CDT_MODIFY, false) => {
                let patterns = &["", "v", "l", "iv", "il", "i", "ii", "ri", "rii", "rv", "rl"];
                (if self.roll(2) == 0 { 0..14 } else { 32..41 }, patterns)
            }
            (op::CDT_MODIFY, true) => {
                let patterns = &["", "i", "vv", "vvii", "m", "mii", "vi", "rv", "ri", "rii", "rl"];
                (64..91, patterns)
            }
            (op::BIT_READ, _) => (50..55, &["ii", "iii"]),
            (op::BIT_MODIFY, _) => (0..14, &["iii", "ivi", "iibi", "iiii", "iiiiii"]),
            (op::HLL_READ, _) => (50..57, &["", "l"]),
            (op::HLL_MODIFY, _) => (0..5, &["iii", "liii", "li", "ii", "i"]),
            _ => (0..130, &["vv", "v", "vvv", ""]),
        };
        let code = Value::Int((codes.start + self.roll(codes.len())) as i64);
        let pattern = *self.pick(patterns);
        let arguments = pattern.bytes().map(|kind| self.argument(kind)).collect::<Vec<_>>();
        let call = Value::list(std::iter::once(code).chain(arguments));
        match self.roll(8) {
            0 => {
                let level = [0x10, 0x11, 0x21, 0x22, 0x13, 0x23, 4, 0x40, 0x80];
                let context = (0..self.roll(3))
                    .flat_map(|_| [Value::Int(*self.pick(&level)), self.value(1)])
                    .collect::<Vec<_>>();
                let code = Value::Int(0xff - self.roll(2) as i64);
                Value::list([code, Value::list(context), call]).to_packed()
            }
            // An expression stands in front of its flags.
            _ if matches!(op, op::EXP_READ | op::EXP_MODIFY) => {
                Value::list([call, Value::Int(self.roll(17) as i64)]).to_packed()
            }
            _ => call.to_packed(),
        }
    }

    fn argument(&mut self, kind: u8) -> Value {
        match kind {
            b'i' => Value::Int(self.int()),
            b'r' => Value::Int(self.roll(14) as i64 | [0, 0x1_0000][self.roll(2)]),
            b'b' => Value::Blob(vec![self.roll(256) as u8; self.roll(4)]),
            b'l' => Value::list((0..self.roll(4)).map(|_| self.value(1)).collect::<Vec<_>>()),
            b'm' => Value::map((0..self.roll(4)).map(|i| (Value::Int(i as i64), self.value(1)))),
            _ => self.value(2),
        }
    }

    fn damage(&mut self, bytes: &mut Vec<u8>) {
        let at = self.roll(bytes.len() + 1);
        match self.roll(12) {
            0 if at < bytes.len() => bytes[at] = self.roll(256) as u8,
            1 => bytes.insert(at, self.roll(256) as u8),
            2 => bytes.truncate(at),
            _ => {}
        }
    }

    fn operation(&mut self) -> Operation {
        let row = self.pick(table::TABLE);
        let names = ["i", "f", "s", "b", "l", "o", "m", "k", "h", "new", "", "sixteen.bytes.xx"];
        let fitting: &[&str] = match row.code {
            op::CDT_READ | op::CDT_MODIFY if self.roll(6) > 0 => &["l", "o", "m", "k", "new"],
            op::BIT_READ | op::BIT_MODIFY if self.roll(6) > 0 => &["b", "new"],
            op::HLL_READ | op::HLL_MODIFY if self.roll(6) > 0 => &["h"],
            _ => &names,
        };
        let name: &&str = self.pick(fitting);
        let plain = matches!(row.run, Run::Write | Run::Increment | Run::Append | Run::Prepend);
        let (kind, mut value) = if plain || self.roll(20) == 0 {
            let tree = self.value(3);
            (tree.kind().wire(), tree.to_particle_bytes())
        } else {
            (ParticleType::Blob.wire(), self.call(row.code, name))
        };
        self.damage(&mut value);
        let kind = if self.roll(20) == 0 { self.roll(256) as u8 } else { kind };
        Operation { op: row.code, kind, name, value }
    }
}

#[derive(Debug)]
struct Operation {
    op: u8,
    kind: u8,
    name: &'static str,
    value: Vec<u8>,
}

fn pack(bins: &[NewBin<'_>]) -> Vec<u8> {
    let mut packed = Vec::new();
    bins.iter().for_each(|bin| bin.write_to(|piece| packed.extend_from_slice(piece)));
    packed
}

/// One bin of each type.
fn first_record() -> (u16, Vec<u8>) {
    let numbers = || (1..5).map(Value::Int);
    let values = [
        ("i", Value::Int(5)),
        ("f", Value::Double(2.5)),
        ("s", Value::from("abc")),
        ("b", Value::Blob(vec![1, 2, 3])),
        ("l", Value::list(numbers().chain([Value::list(numbers())]))),
        ("o", Value::List { items: numbers().collect(), ordered: true }),
        ("m", Value::Map { pairs: vec![("a".into(), 1.into())], ordered: false }),
        ("k", Value::map(["a", "b"].map(|key| (key.into(), Value::list(numbers()))))),
    ];
    let bins = values.each_ref().map(|(name, value)| NewBin {
        name: name.as_bytes(),
        content: BinContent::Whole(value.kind(), Cow::Owned(value.to_particle_bytes())),
    });
    (bins.len() as u16, pack(&bins))
}

/// What the store may rely on.
fn inspect(count: u16, packed: &[u8], operations: &[Operation]) {
    let bins: Vec<_> = Bins::new(count, packed).into_iter().collect();
    assert_eq!(bins.len(), usize::from(count), "{operations:?}");
    for bin in bins {
        assert!(bin.name.len() <= BIN_NAME_MAX);
        let (kind, bytes) = (bin.particle.kind, bin.particle.bytes);
        if matches!(kind, ParticleType::List | ParticleType::Map) && bytes.first() != Some(&0xdd) {
            let stored = stored_form(kind, bytes).map_err(|why| why.to_string());
            let visible = cairn_value::collection::reply_form(kind, bytes);
            let again = stored_form(kind, &visible).map_err(|why| why.to_string());
            assert!(stored.is_ok(), "{stored:?}: {bytes:02x?} after {operations:?}");
            assert_eq!(again.as_deref(), Ok(&*visible), "after {operations:?}");
        }
    }
}

/// Runs one command and returns the record that it leaves.
fn command(
    (count, packed): (u16, Vec<u8>),
    operations: &[Operation],
    options: Options,
) -> Option<(u16, Vec<u8>)> {
    let ops: Vec<_> = operations
        .iter()
        .map(|o| BinOp { op: o.op, kind: o.kind, name: o.name.as_bytes(), value: &o.value })
        .collect();
    let meta = Meta { generation: 1, void_time: 0, last_update_ns: 0, stored_size: 0 };
    let bins = Bins::new(count, &packed);
    let view = RecordView { digest: Digest::ZERO, meta, set: b"", key: None, bins };
    if check(&ops, options).is_err() {
        return Some((count, packed));
    }
    match run((count > 0).then_some(&view), &ops, &Env { now_ns: 0 }, options) {
        Err(_) => Some((count, packed)),
        Ok(outcome) => match outcome.change {
            Change::None | Change::Touch => Some((count, packed)),
            Change::Delete => None,
            Change::Bins(bins) => Some((bins.len() as u16, pack(&bins))),
        },
    }
}

#[test]
fn fuzz_hostile_commands_leave_sound_records() {
    let seconds = std::env::var("CAIRN_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok());
    let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(2));
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut record = first_record();
    let mut rounds = 0u64;
    while Instant::now() < end || rounds < 1000 {
        let operations: Vec<_> = (0..=dice.roll(3)).map(|_| dice.operation()).collect();
        let writes = dice.roll(4) > 0;
        let options =
            Options { reads: true, writes, respond_all: dice.roll(2) == 0, ..Options::default() };
        record = command(record, &operations, options).unwrap_or_else(first_record);
        inspect(record.0, &record.1, &operations);
        if rounds.is_multiple_of(64) || record.1.len() > 100_000 {
            record = first_record();
        }
        rounds += 1;
    }
}

//! Scalar operations against a naive twin: a list of named value trees.

#![allow(clippy::unwrap_used)]

use cairn_ops::operate::{Change, Options, check, run};
use cairn_ops::{BinOp, Env, op};
use cairn_value::{Bins, Digest, Meta, Particle, RecordView, ResultCode, Value};
use proptest::collection::vec;
use proptest::prelude::*;

/// One operation with its value as a tree.
#[derive(Clone, Debug)]
struct Step {
    op: u8,
    name: String,
    value: Value,
}

/// A command: its operations and whether all of them answer.
#[derive(Clone, Debug)]
struct Command {
    steps: Vec<Step>,
    respond_all: bool,
    replace: bool,
}

type Answers = Vec<(u8, String, Value)>;

/// The twin: bins in order, cloned before each command and put back when it fails.
#[derive(Clone, Debug, Default, PartialEq)]
struct Twin {
    bins: Vec<(String, Value)>,
}

impl Twin {
    fn command(&mut self, command: &Command) -> Result<Answers, ResultCode> {
        for step in &command.steps {
            let plain = step.op == op::READ || step.op == op::WRITE && step.value != Value::Nil;
            if command.replace && !plain {
                return Err(ResultCode::Parameter);
            }
        }
        let before = self.clone();
        if command.replace {
            self.bins.clear();
        }
        let mut answers = Vec::new();
        for step in &command.steps {
            match self.step(step) {
                Ok(Some(value)) => answers.push((step.op, step.name.clone(), value)),
                Ok(None) if command.respond_all && step.op != op::TOUCH => {
                    answers.push((step.op, step.name.clone(), Value::Nil));
                }
                Ok(None) => {}
                Err(code) => {
                    *self = before;
                    return Err(code);
                }
            }
        }
        if self.bins.is_empty() && before.bins.is_empty() {
            return Err(ResultCode::NotFound);
        }
        Ok(answers)
    }

    fn step(&mut self, step: &Step) -> Result<Option<Value>, ResultCode> {
        let place = self.bins.iter().position(|(name, _)| *name == step.name);
        let old = place.map(|place| self.bins[place].1.clone());
        match (step.op, old, step.value.clone()) {
            (op::READ, old, _) => return Ok(old),
            (op::TOUCH, ..) => {}
            (op::DELETE, ..) => self.bins.clear(),
            (op::WRITE, _, Value::Nil) => {
                if let Some(place) = place {
                    let last = self.bins.pop().unwrap();
                    if place < self.bins.len() {
                        self.bins[place] = last;
                    }
                }
            }
            (op::WRITE, _, value) => self.put(place, &step.name, value),
            (_, None, Value::Nil) => {}
            (_, None, value) => self.put(place, &step.name, value),
            (_, Some(Value::Geo(_)), _) => return Err(ResultCode::ServerError),
            (op::INCREMENT, Some(Value::Int(a)), Value::Int(b)) => {
                self.put(place, &step.name, Value::Int(a.wrapping_add(b)));
            }
            (op::INCREMENT, Some(Value::Double(a)), Value::Double(b)) => {
                self.put(place, &step.name, Value::Double(a + b));
            }
            (op::APPEND, Some(Value::String(a)), Value::String(b)) => {
                self.put(place, &step.name, Value::String(a + &b));
            }
            (op::PREPEND, Some(Value::String(a)), Value::String(b)) => {
                self.put(place, &step.name, Value::String(b + &a));
            }
            (op::APPEND, Some(Value::Blob(a)), Value::Blob(b)) => {
                self.put(place, &step.name, Value::Blob([a, b].concat()));
            }
            (op::PREPEND, Some(Value::Blob(a)), Value::Blob(b)) => {
                self.put(place, &step.name, Value::Blob([b, a].concat()));
            }
            _ => return Err(ResultCode::BinType),
        }
        Ok(None)
    }

    fn put(&mut self, place: Option<usize>, name: &str, value: Value) {
        match place {
            Some(place) => self.bins[place].1 = value,
            None => self.bins.push((name.to_owned(), value)),
        }
    }
}

/// The real thing, with the record in stored form between commands.
#[derive(Default)]
struct Store {
    count: u16,
    packed: Vec<u8>,
}

impl Store {
    fn bins(&self) -> Vec<(String, Value)> {
        let text = |name: &[u8]| String::from_utf8(name.to_vec()).unwrap();
        let tree = |particle| Value::from_particle(particle).unwrap();
        let bins = Bins::new(self.count, &self.packed).into_iter();
        bins.map(|bin| (text(bin.name), tree(bin.particle))).collect()
    }

    fn command(&mut self, command: &Command) -> Result<Answers, ResultCode> {
        let values: Vec<_> = command.steps.iter().map(|s| s.value.to_particle_bytes()).collect();
        let ops: Vec<_> = command.steps.iter().zip(&values).map(bin_op).collect();
        let options = Options {
            reads: true,
            all_bins: false,
            writes: true,
            respond_all: command.respond_all,
            replace: command.replace,
        };
        check(&ops, options).map_err(|error| error.code)?;
        let meta = Meta { generation: 1, void_time: 0, last_update_ns: 0, stored_size: 0 };
        let bins = Bins::new(self.count, &self.packed);
        let view = RecordView { digest: Digest::ZERO, meta, set: b"", key: None, bins };
        let record = (self.count > 0).then_some(&view);
        let outcome = run(record, &ops, &Env { now_ns: 0 }, options).map_err(|error| error.code)?;
        let answers = outcome.replies.iter().map(|reply| {
            let name = String::from_utf8(reply.name.to_vec()).unwrap();
            let value = Value::from_particle(Particle::new(reply.kind, &reply.bytes)).unwrap();
            (reply.op, name, value)
        });
        let answers = answers.collect();
        let (mut count, mut packed) = (self.count, self.packed.clone());
        match outcome.change {
            Change::None | Change::Touch => {}
            Change::Delete => (count, packed) = (0, Vec::new()),
            Change::Bins(bins) => {
                (count, packed) = (bins.len() as u16, Vec::new());
                for bin in &bins {
                    let start = packed.len();
                    bin.write_to(|piece| packed.extend_from_slice(piece));
                    assert_eq!(packed.len() - start, bin.stored_len());
                }
            }
        }
        (self.count, self.packed) = (count, packed);
        Ok(answers)
    }
}

fn bin_op<'a>((step, value): (&'a Step, &'a Vec<u8>)) -> BinOp<'a> {
    BinOp { op: step.op, kind: step.value.kind().wire(), name: step.name.as_bytes(), value }
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        2 => Just(Value::Nil),
        4 => prop_oneof![Just(i64::MAX), Just(i64::MIN), any::<i64>(), -9..9i64].prop_map(Value::Int),
        2 => (-1e9..1e9f64).prop_map(Value::Double),
        4 => "[a-z]{0,3}".prop_map(Value::String),
        3 => vec(any::<u8>(), 0..3).prop_map(Value::Blob),
        1 => any::<bool>().prop_map(Value::Bool),
        1 => vec(any::<i64>().prop_map(Value::Int), 0..3).prop_map(Value::list),
    ]
}

fn step(names: usize) -> impl Strategy<Value = Step> {
    let op = prop_oneof![
        5 => Just(op::READ),
        6 => Just(op::WRITE),
        4 => Just(op::INCREMENT),
        4 => Just(op::APPEND),
        4 => Just(op::PREPEND),
        1 => Just(op::TOUCH),
        1 => Just(op::DELETE),
    ];
    (op, 0..names, value()).prop_map(|(op, name, value)| Step {
        op,
        name: format!("b{name}"),
        value,
    })
}

fn command(names: usize) -> impl Strategy<Value = Command> {
    let steps = vec(step(names), 1..12);
    (steps, any::<bool>(), proptest::bool::weighted(0.1))
        .prop_map(|(steps, respond_all, replace)| Command { steps, respond_all, replace })
}

fn compare(commands: Vec<Command>) -> Result<(), TestCaseError> {
    let (mut twin, mut store) = (Twin::default(), Store::default());
    for command in commands {
        prop_assert_eq!(store.command(&command), twin.command(&command));
        prop_assert_eq!(store.bins(), twin.bins.clone());
    }
    Ok(())
}

/// Writes many bins, so that the lookup by name takes its other form.
fn many_bins() -> Command {
    let step = |i| Step { op: op::WRITE, name: format!("b{i}"), value: Value::Int(i) };
    Command { steps: (0..45).map(step).collect(), respond_all: false, replace: false }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn few_bins_behave_like_the_twin(commands in vec(command(4), 1..12)) {
        compare(commands)?;
    }

    #[test]
    fn many_bins_behave_like_the_twin(mut commands in vec(command(50), 1..20)) {
        commands.insert(0, many_bins());
        compare(commands)?;
    }
}

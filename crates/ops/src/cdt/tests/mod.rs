//! Tests of the collection operations.

mod contexts;
mod edits;
mod growth;
mod hostile_calls;
mod list_cases;
mod list_twin;
mod twin;
mod value_order;

use cairn_value::{Error, Particle, ParticleType, Value, collection};

use crate::{Effect, Env, Mode, Reply, cdt};

pub(super) const ENV: Env = Env { now_ns: 0 };

/// Packs `[code, arguments..]`.
pub(super) fn call(code: i64, arguments: &[Value]) -> Vec<u8> {
    let mut all = vec![Value::Int(code)];
    all.extend_from_slice(arguments);
    Value::list(all).to_packed()
}

/// Wraps a call in a context.
pub(super) fn in_context(steps: &[(i64, Value)], call: &[u8]) -> Vec<u8> {
    let steps = steps.iter().flat_map(|(kind, value)| [Value::Int(*kind), value.clone()]);
    let mut packed = vec![0x93, 0xcc, 0xff];
    Value::list(steps).pack(&mut packed);
    packed.extend_from_slice(call);
    packed
}

pub(super) fn ints(numbers: impl IntoIterator<Item = i64>) -> Value {
    Value::list(numbers.into_iter().map(Value::Int))
}

/// A bin that operations change one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Bin {
    pub kind: Option<ParticleType>,
    pub bytes: Vec<u8>,
}

impl Bin {
    pub fn of(value: &Value) -> Bin {
        Bin { kind: Some(value.kind()), bytes: value.to_particle_bytes() }
    }

    pub fn particle(&self) -> Option<Particle<'_>> {
        self.kind.map(|kind| Particle::new(kind, &self.bytes))
    }

    /// Runs a call; an error leaves the bin alone.
    pub fn run(&mut self, call: &[u8], mode: Mode) -> Result<Option<Reply>, Error> {
        let applied = cdt::apply(call, self.particle(), mode, &ENV)?;
        match applied.effect {
            Effect::None => {}
            Effect::Edit { kind, edits } => {
                self.kind = Some(kind);
                self.bytes = edits.apply(&self.bytes);
            }
            Effect::Whole(kind, bytes) => *self = Bin { kind: Some(kind), bytes },
            Effect::Remove => *self = Bin::default(),
        }
        Ok(applied.reply)
    }

    pub fn modify(&mut self, call: &[u8]) -> Result<Option<Reply>, Error> {
        self.run(call, Mode::Modify)
    }

    pub fn read(&mut self, call: &[u8]) -> Result<Option<Reply>, Error> {
        self.run(call, Mode::Read)
    }

    /// What a client sees of the bin.
    pub fn seen(&self) -> Value {
        let kind = self.kind.unwrap_or(ParticleType::Nil);
        let bytes = collection::reply_form(kind, &self.bytes);
        Value::from_particle(Particle::new(kind, &bytes)).unwrap()
    }
}

/// A reply as a tree.
pub(super) fn seen(reply: Option<Reply>) -> Option<Value> {
    reply.map(|reply| Value::from_particle(Particle::new(reply.kind, &reply.bytes)).unwrap())
}

//! The contract as a guard of writes: a compiled form that checks a record as it would become.
//!
//! [`Guard::new`] compiles the entities of one namespace; [`Namespace::set_guard`] wires it in. A
//! write that breaks the contract is refused before anything changes, with the rule, the bin and
//! what would be right.
//!
//! [`Namespace::set_guard`]: cairn_engine::Namespace::set_guard

mod key;
mod values;

use std::sync::atomic::{AtomicU64, Ordering};

use cairn_engine::{Refusal, WriteGuard};
use cairn_value::limits::BIN_NAME_MAX;
use cairn_value::record::{BinsIter, EPOCH_2010_S};
use cairn_value::{Bins, Meta, Particle, ParticleType, RecordView};

use crate::contract::{Bin, Contract, Entity, Mutability, Template, ValueType};
use crate::quantity::span_text;
use crate::time::name_and_unit;

/// The bin that a record gets when it is split; it belongs to every entity with shards.
const SUBKEYS: &[u8] = b"subkeys";

/// Checks writes to one namespace.
#[derive(Debug)]
pub struct Guard {
    entities: Vec<CompiledEntity>,
    warnings: AtomicU64,
}

/// What happens to a write that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Enforce,
    Warn,
    Off,
}

#[derive(Debug)]
struct CompiledEntity {
    name: String,
    set: Vec<u8>,
    mode: Mode,
    /// Bin and value that tell it from others in its set.
    discriminator: Option<(Vec<u8>, Vec<u8>)>,
    key: Option<Template>,
    require_key: bool,
    has_shards: bool,
    ttl_s: Option<f64>,
    /// Sorted by [`number`] of the name.
    bins: Vec<CompiledBin>,
    /// The numbers of their names: comparing these is one instruction or two.
    numbers: Vec<u128>,
    /// Places of those that are required or immutable.
    kept: Vec<usize>,
}

/// Declared bins that a record has: a bit for each of the first 64.
#[derive(Default)]
struct Seen {
    bits: u64,
}

impl Seen {
    fn add(&mut self, at: usize) {
        self.bits |= 1u64.checked_shl(at as u32).unwrap_or(0);
    }

    /// Whether it has been seen; nothing for places that have no bit.
    fn has(&self, at: usize) -> Option<bool> {
        1u64.checked_shl(at as u32).map(|bit| self.bits & bit != 0)
    }
}

/// The bins of the old record, read in step with the new ones: an update keeps their order.
struct OldBins<'a> {
    all: Option<Bins<'a>>,
    ahead: Option<BinsIter<'a>>,
}

impl<'a> OldBins<'a> {
    fn of(old: Option<RecordView<'a>>) -> Self {
        let all = old.map(|old| old.bins);
        OldBins { all, ahead: all.map(Bins::into_iter) }
    }

    fn get(&mut self, name: &[u8]) -> Option<Particle<'a>> {
        match self.ahead.as_mut().and_then(Iterator::next) {
            Some(bin) if bin.name == name => Some(bin.particle),
            _ => self.all?.get(name),
        }
    }
}

#[derive(Debug)]
struct CompiledBin {
    name: Vec<u8>,
    value: Option<ValueType>,
    immutable: bool,
    required: bool,
    /// Smallest and largest value of an instant, by its unit.
    instant: Option<(i64, i64)>,
    size_max: Option<f64>,
}

/// Instants of our time by unit: as many digits as they have, give or take two.
fn instant_range(bin: &Bin) -> Option<(i64, i64)> {
    let declared = matches!(bin.value, Some(ValueType::Int(Some(_))));
    if !bin.is_instant() || declared {
        return None;
    }
    let (low, high) = match name_and_unit(&bin.name).1.or(bin.unit.as_deref())? {
        "s" => (8, 11),
        "ms" => (11, 14),
        "us" => (14, 17),
        "ns" => (17, 18),
        _ => return None,
    };
    let last = if high == 18 { i64::MAX } else { 10i64.pow(high) };
    Some((10i64.pow(low), last))
}

/// A bin's name as a number: its bytes and its length.
fn number(name: &[u8]) -> Option<u128> {
    let mut bytes = [0; 16];
    bytes.get_mut(..name.len()).filter(|_| name.len() <= BIN_NAME_MAX)?.copy_from_slice(name);
    bytes[15] = name.len() as u8;
    Some(u128::from_le_bytes(bytes))
}

fn compile(entity: &Entity) -> CompiledEntity {
    let mut bins: Vec<CompiledBin> = entity
        .bins
        .iter()
        .map(|bin| CompiledBin {
            name: bin.name.clone().into_bytes(),
            value: bin.value.clone(),
            immutable: bin.mutability == Some(Mutability::Immutable),
            required: bin.required,
            instant: instant_range(bin),
            size_max: bin.size.and_then(|size| size.max),
        })
        .collect();
    // Longer names are no bins that a store takes.
    bins.retain(|bin| number(&bin.name).is_some());
    bins.sort_by_key(|bin| number(&bin.name));
    let numbers = bins.iter().filter_map(|bin| number(&bin.name)).collect();
    let is_kept = |bin: &CompiledBin| bin.required || bin.immutable;
    let kept = (0..bins.len()).filter(|at| is_kept(&bins[*at])).collect();
    CompiledEntity {
        name: entity.name.clone(),
        set: entity.set.clone().into_bytes(),
        mode: match entity.mode.as_deref() {
            Some("warn") => Mode::Warn,
            Some("off") => Mode::Off,
            _ => Mode::Enforce,
        },
        discriminator: entity
            .discriminator
            .as_ref()
            .map(|d| (d.bin.clone().into_bytes(), d.value.clone().into_bytes())),
        key: entity.key.clone(),
        require_key: entity.require_key,
        has_shards: entity.shards.is_some(),
        ttl_s: entity.ttl_s,
        bins,
        numbers,
        kept,
    }
}

impl Guard {
    /// Compiles the entities of a namespace.
    pub fn new(contract: &Contract, namespace: &str) -> Guard {
        let entities = contract.entities.iter().filter(|entity| entity.namespace == namespace);
        Guard { entities: entities.map(compile).collect(), warnings: AtomicU64::new(0) }
    }

    /// Writes that did not fit and were let through, because their entity only warns.
    pub fn warnings(&self) -> u64 {
        self.warnings.load(Ordering::Relaxed)
    }

    /// The entity of a record: by its set, and by a discriminator where the set has several.
    fn entity(&self, record: &RecordView<'_>) -> Option<&CompiledEntity> {
        self.entities.iter().filter(|entity| entity.set == record.set).find(|entity| {
            entity.discriminator.as_ref().is_none_or(|(bin, value)| {
                record.bins.get(bin).is_some_and(|particle| particle.bytes == value.as_slice())
            })
        })
    }
}

fn refuse(rule: &str, bin: Option<&[u8]>, text: String) -> Refusal {
    let bin = bin.map(|name| String::from_utf8_lossy(name).into_owned());
    Refusal { rule: rule.to_owned(), bin, text }
}

impl WriteGuard for Guard {
    fn check(
        &self,
        old: Option<RecordView<'_>>,
        new: Option<RecordView<'_>>,
        key: Option<&[u8]>,
    ) -> Result<(), Refusal> {
        let Some(new) = new else { return Ok(()) };
        let Some(entity) = self.entity(&new) else { return self.without_entity(&new) };
        if entity.mode == Mode::Off {
            return Ok(());
        }
        match entity.check(old, &new, key) {
            Err(_) if entity.mode == Mode::Warn => {
                self.warnings.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            result => result,
        }
    }
}

impl Guard {
    /// A set that the contract does not know is free; a record that is none of its set's entities
    /// is not.
    fn without_entity(&self, record: &RecordView<'_>) -> Result<(), Refusal> {
        let mut known = self.entities.iter().filter(|entity| entity.set == record.set);
        let Some(entity) = known.find(|entity| entity.mode == Mode::Enforce) else { return Ok(()) };
        let bin = entity.discriminator.as_ref().map(|(bin, _)| bin.as_slice());
        let text = "its value names no entity of this set".to_owned();
        Err(refuse("discriminator", bin, text))
    }
}

impl CompiledEntity {
    fn check(
        &self,
        old: Option<RecordView<'_>>,
        new: &RecordView<'_>,
        key: Option<&[u8]>,
    ) -> Result<(), Refusal> {
        self.check_key(key.or(new.key))?;
        self.check_ttl(&new.meta)?;
        let mut seen = Seen::default();
        let mut before = OldBins::of(old);
        for bin in new.bins {
            let Some(at) = self.place_of(bin.name) else {
                if bin.name == SUBKEYS && self.has_shards {
                    continue;
                }
                let text = format!("`{}` declares no such bin", self.name);
                return Err(refuse("unknown-bin", Some(bin.name), text));
            };
            seen.add(at);
            let declared = &self.bins[at];
            let before = before.get(bin.name);
            // What was stored has been checked when it was written.
            if before == Some(bin.particle) {
                continue;
            }
            if declared.immutable && before.is_some() {
                let text =
                    "it is immutable and was set before; write it once, or delete the record first";
                return Err(refuse("immutable-bin", Some(bin.name), text.into()));
            }
            declared.check(bin.particle)?;
        }
        self.check_absent(old, new, &seen)
    }

    /// Where a bin is declared.
    fn place_of(&self, name: &[u8]) -> Option<usize> {
        self.numbers.binary_search(&number(name)?).ok()
    }

    /// Required bins that are missing, and immutable ones that would go.
    fn check_absent(
        &self,
        old: Option<RecordView<'_>>,
        new: &RecordView<'_>,
        seen: &Seen,
    ) -> Result<(), Refusal> {
        for &at in &self.kept {
            let declared = &self.bins[at];
            if seen.has(at).unwrap_or_else(|| new.bins.get(&declared.name).is_some()) {
                continue;
            }
            if declared.required {
                let text = format!("every `{}` record has it", self.name);
                return Err(refuse("required-bin", Some(&declared.name), text));
            }
            if old.is_some_and(|old| old.bins.get(&declared.name).is_some()) {
                let text = "it is immutable and cannot be removed".to_owned();
                return Err(refuse("immutable-bin", Some(&declared.name), text));
            }
        }
        Ok(())
    }

    fn check_key(&self, wire: Option<&[u8]>) -> Result<(), Refusal> {
        let Some((&kind, bytes)) = wire.and_then(|wire| wire.split_first()) else {
            return match self.require_key {
                true => Err(refuse(
                    "key-required",
                    None,
                    format!("writes to `{}` must send the key", self.name),
                )),
                false => Ok(()),
            };
        };
        let Some(template) = &self.key else { return Ok(()) };
        let text = std::str::from_utf8(bytes).ok().filter(|_| kind == ParticleType::String.wire());
        let fits = text.is_some_and(|text| key::fits(template, text, self.has_shards));
        if fits {
            return Ok(());
        }
        let text = format!("keys of `{}` are texts of the form {}", self.name, template.text());
        Err(refuse("key-format", None, text))
    }

    fn check_ttl(&self, meta: &Meta) -> Result<(), Refusal> {
        let Some(limit) = self.ttl_s else { return Ok(()) };
        let now = (meta.last_update_ns / 1_000_000_000).saturating_sub(EPOCH_2010_S);
        let left = u64::from(meta.void_time).saturating_sub(now) as f64;
        let text = match (limit.is_finite(), meta.void_time) {
            (false, 0) => return Ok(()),
            (false, _) => format!("`{}` never expires; write without a TTL", self.name),
            (true, 0) => format!("`{}` lives {}; write with a TTL", self.name, span_text(limit)),
            // The second that has begun counts.
            (true, _) if left <= limit + 1.0 => return Ok(()),
            (true, _) => format!("`{}` lives {} at most", self.name, span_text(limit)),
        };
        Err(refuse("ttl", None, text))
    }
}

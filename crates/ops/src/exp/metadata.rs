//! What an expression can ask about the record itself.

use std::borrow::Cow;

use cairn_value::record::EPOCH_2010_S;
use cairn_value::{Particle, ParticleType};

use super::scope::Scope;
use super::table::Code;
use super::val::Val;

const NS_PER_S: u64 = 1_000_000_000;
const NS_PER_MS: u64 = 1_000_000;

/// The codes without arguments. Without a record all of them are unknown.
pub(super) fn apply<'a>(code: Code, scope: &Scope<'a>) -> Val<'a> {
    let Some(record) = scope.record else { return Val::Unknown };
    let meta = record.meta;
    let now_ns = scope.env.now_ns;
    match code {
        Code::DeviceSize | Code::MemorySize | Code::RecordSize => {
            Val::Int(i64::from(meta.stored_size))
        }
        Code::LastUpdate => Val::Int(meta.last_update_ns as i64),
        Code::SinceUpdate => {
            Val::Int((now_ns.saturating_sub(meta.last_update_ns) / NS_PER_MS) as i64)
        }
        Code::VoidTime if meta.void_time == 0 => Val::Int(-1),
        Code::VoidTime => Val::Int((void_s(meta.void_time) * NS_PER_S) as i64),
        Code::Ttl if meta.void_time == 0 => Val::Int(-1),
        Code::Ttl => Val::Int(void_s(meta.void_time).saturating_sub(now_ns / NS_PER_S) as i64),
        Code::SetName => Val::Str(Cow::Borrowed(record.set)),
        Code::KeyExists => Val::Bool(record.key.is_some()),
        // A tombstone is never shown to an expression.
        Code::IsTombstone => Val::Bool(false),
        _ => Val::Unknown,
    }
}

/// Seconds since the Unix epoch at which a record expires.
fn void_s(void_time: u32) -> u64 {
    EPOCH_2010_S + u64::from(void_time)
}

/// The stored user key.
pub(super) fn key<'a>(scope: &Scope<'a>) -> Val<'a> {
    let Some((&kind, bytes)) =
        scope.record.and_then(|record| record.key).and_then(|key| key.split_first())
    else {
        return Val::Unknown;
    };
    ParticleType::from_wire(kind)
        .map_or(Val::Unknown, |kind| Val::of_particle(Particle::new(kind, bytes)))
}

/// The last four bytes of the digest, little-endian, modulo a number.
pub(super) fn digest_modulo<'a>(scope: &Scope<'_>, modulus: i64) -> Val<'a> {
    let tail = scope.record.and_then(|record| record.digest.0.last_chunk::<4>().copied());
    let rest = tail.and_then(|tail| i64::from(u32::from_le_bytes(tail)).checked_rem(modulus));
    rest.map_or(Val::Unknown, Val::Int)
}

/// The particle type of a bin, 0 when it is absent.
pub(super) fn bin_type<'a>(scope: &Scope<'_>, name: &[u8]) -> Val<'a> {
    scope.bins.map_or(Val::Unknown, |bins| {
        Val::Int(bins.bin(name).map_or(0, |bin| i64::from(bin.kind.wire())))
    })
}

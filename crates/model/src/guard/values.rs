//! Whether a value is of its declared type, inside collections too.

use cairn_engine::Refusal;
use cairn_value::packed::{Head, Reader, Token};
use cairn_value::{Particle, ParticleType};

use super::{CompiledBin, refuse};
use crate::contract::{ListType, MapType, Spread, ValueType};
use crate::quantity::{Bytes, grouped};

impl CompiledBin {
    pub(super) fn check(&self, particle: Particle<'_>) -> Result<(), Refusal> {
        let fail = |(rule, text): (&str, String)| refuse(rule, Some(&self.name), text);
        if let Some(max) = self.size_max.filter(|max| particle.bytes.len() as f64 > *max) {
            let len = particle.bytes.len() as f64;
            return Err(fail(("size-cap", format!("{} are more than {}", Bytes(len), Bytes(max)))));
        }
        if let (Some((low, high)), Some(number)) = (self.instant, particle.integer())
            && !(low..=high).contains(&number)
        {
            let text =
                format!("{number} is no instant in the unit of its name; expected {low} to {high}");
            return Err(fail(("time-unit", text)));
        }
        match &self.value {
            Some(value) => whole(particle, value).map_err(fail),
            None => Ok(()),
        }
    }
}

type Misfit = (&'static str, String);

fn wrong_type(wanted: &ValueType, found: &str) -> Misfit {
    ("bin-type", format!("it must be {}, here is {found}", wanted.describe()))
}

/// A value as it stands in a bin.
fn whole(particle: Particle<'_>, wanted: &ValueType) -> Result<(), Misfit> {
    use ParticleType as P;
    let kind = particle.kind;
    let fits = match wanted {
        ValueType::Int(_) | ValueType::Instant => kind == P::Integer,
        ValueType::Double => kind == P::Double,
        ValueType::Bool => kind == P::Bool,
        ValueType::String(_) => kind == P::String,
        // Identifiers are texts, or integers where their output says so.
        ValueType::Id(_) => matches!(kind, P::String | P::Integer),
        ValueType::Blob(_) => kind.is_blob(),
        ValueType::Geo(_) => kind == P::GeoJson,
        ValueType::Hll(_) => kind == P::Hll,
        ValueType::Tuple(_) | ValueType::List(_) => kind == P::List,
        ValueType::Struct(_) | ValueType::Map(_) => kind == P::Map,
    };
    if !fits {
        return Err(wrong_type(wanted, &format!("{kind:?}").to_lowercase()));
    }
    match wanted {
        ValueType::Int(range) => in_range(particle.integer().unwrap_or(0), *range),
        ValueType::String(size) | ValueType::Blob(size) => length(particle.bytes.len(), *size),
        ValueType::Tuple(_) | ValueType::List(_) | ValueType::Struct(_) | ValueType::Map(_) => {
            packed(&mut Reader::new(particle.bytes), wanted)
        }
        _ => Ok(()),
    }
}

fn in_range(number: i64, range: Option<(i64, i64)>) -> Result<(), Misfit> {
    match range {
        Some((low, high)) if !(low..=high).contains(&number) => {
            Err(("range", format!("{number} is outside {low}..{high}")))
        }
        _ => Ok(()),
    }
}

fn length(bytes: usize, size: Option<Spread>) -> Result<(), Misfit> {
    match size.and_then(|size| size.max) {
        Some(max) if bytes as f64 > max => {
            Err(("size-cap", format!("{} are more than {}", Bytes(bytes as f64), Bytes(max))))
        }
        _ => Ok(()),
    }
}

fn counted(count: u32, spread: Option<Spread>) -> Result<(), Misfit> {
    match spread.and_then(|spread| spread.max) {
        Some(max) if f64::from(count) > max => {
            Err(("count-cap", format!("{count} elements are more than {}", grouped(max))))
        }
        _ => Ok(()),
    }
}

/// A value inside a collection. The recursion is as deep as the declared type.
fn packed(reader: &mut Reader<'_>, wanted: &ValueType) -> Result<(), Misfit> {
    let broken = |_| ("bin-type", "the packed value is broken".to_owned());
    let start = reader.position();
    match wanted {
        ValueType::List(list) => list_of(reader, start, list, wanted),
        ValueType::Map(map) => map_of(reader, start, map, wanted),
        ValueType::Tuple(types) => {
            let head = head(reader, start, false, wanted)?;
            if head.count as usize != types.len() {
                let found = format!("a list of {}", head.count);
                return Err(wrong_type(wanted, &found));
            }
            types.iter().try_for_each(|inner| packed(reader, inner))
        }
        ValueType::Struct(fields) => {
            let head = head(reader, start, true, wanted)?;
            for _ in 0..head.count {
                let Token::Bytes([_, name @ ..]) = reader.token().map_err(broken)? else {
                    return Err(wrong_type(wanted, "a key that is no text"));
                };
                match fields.iter().find(|(field, _)| field.as_bytes() == name) {
                    Some((_, inner)) => packed(reader, inner)?,
                    None => {
                        return Err(wrong_type(
                            wanted,
                            &format!("field `{}`", String::from_utf8_lossy(name)),
                        ));
                    }
                }
            }
            Ok(())
        }
        scalar => {
            let token = reader.token().map_err(broken)?;
            scalar_of(token, scalar)
        }
    }
}

/// Steps over the head of a collection of the wanted kind.
fn head(
    reader: &mut Reader<'_>,
    at: usize,
    is_map: bool,
    wanted: &ValueType,
) -> Result<Head, Misfit> {
    match Head::read(reader.bytes(), at) {
        Ok(Some(head)) if head.is_map == is_map => {
            *reader = Reader::at(reader.bytes(), head.body);
            Ok(head)
        }
        _ => Err(wrong_type(wanted, "something else")),
    }
}

fn skip_or_check(reader: &mut Reader<'_>, wanted: Option<&ValueType>) -> Result<(), Misfit> {
    match wanted {
        Some(wanted) => packed(reader, wanted),
        None => match reader.skip() {
            Ok(_) => Ok(()),
            Err(_) => Err(("bin-type", "the packed value is broken".to_owned())),
        },
    }
}

fn list_of(
    reader: &mut Reader<'_>,
    at: usize,
    list: &ListType,
    wanted: &ValueType,
) -> Result<(), Misfit> {
    let head = head(reader, at, false, wanted)?;
    counted(head.count, list.count)?;
    for _ in 0..head.count {
        skip_or_check(reader, list.element.as_ref())?;
    }
    Ok(())
}

fn map_of(
    reader: &mut Reader<'_>,
    at: usize,
    map: &MapType,
    wanted: &ValueType,
) -> Result<(), Misfit> {
    let head = head(reader, at, true, wanted)?;
    counted(head.count, map.count)?;
    for _ in 0..head.count {
        match &map.template {
            None => skip_or_check(reader, map.key.as_ref())?,
            Some(template) => {
                let fits = |bytes: &[u8]| {
                    std::str::from_utf8(bytes)
                        .is_ok_and(|text| super::key::fits(template, text, false))
                };
                match reader.token() {
                    Ok(Token::Bytes([kind, text @ ..]))
                        if *kind == ParticleType::String.wire() && fits(text) => {}
                    _ => {
                        let text = format!("map keys are texts of the form {}", template.text());
                        return Err(("key-format", text));
                    }
                }
            }
        }
        skip_or_check(reader, map.value.as_ref())?;
    }
    Ok(())
}

fn scalar_of(token: Token<'_>, wanted: &ValueType) -> Result<(), Misfit> {
    let found = match token {
        Token::Nil => "nil",
        Token::Bool(_) => "bool",
        Token::Int(_) => "int",
        Token::Double(_) => "double",
        Token::Bytes(_) => "text or bytes",
        Token::List(_) => "a list",
        Token::Map(_) => "a map",
        Token::Ext(..) => "an extension",
    };
    let of_kind = |bytes: &[u8], kind: ParticleType| bytes.first() == Some(&kind.wire());
    match (wanted, token) {
        (ValueType::Int(range), Token::Int(number)) => in_range(number, *range),
        (ValueType::Instant, Token::Int(_))
        | (ValueType::Double, Token::Double(_))
        | (ValueType::Bool, Token::Bool(_))
        | (ValueType::Id(_), Token::Int(_)) => Ok(()),
        (ValueType::String(size), Token::Bytes(bytes)) if of_kind(bytes, ParticleType::String) => {
            length(bytes.len() - 1, *size)
        }
        (ValueType::Id(_), Token::Bytes(bytes)) if of_kind(bytes, ParticleType::String) => Ok(()),
        (ValueType::Blob(size), Token::Bytes(bytes)) if of_kind(bytes, ParticleType::Blob) => {
            length(bytes.len() - 1, *size)
        }
        (ValueType::Geo(_), Token::Bytes(bytes)) if of_kind(bytes, ParticleType::GeoJson) => Ok(()),
        (ValueType::Hll(_), Token::Bytes(bytes)) if of_kind(bytes, ParticleType::Hll) => Ok(()),
        _ => Err(wrong_type(wanted, found)),
    }
}

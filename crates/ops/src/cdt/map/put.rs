//! Operations that put pairs into a map: put, add, replace, increment.

use std::borrow::Cow;
use std::cmp::Ordering;

use cairn_value::packed::{Head, Malformed, Reader, Token, write};
use cairn_value::{Error, ResultCode};

use super::order::map_flags;
use crate::Reply;
use crate::cdt::change::{Change, Splice};
use crate::cdt::reply;
use crate::cdt::row::{Args, Outcome};
use crate::cdt::seq::{Seq, compare};
use crate::cdt::stored::{self, sort_by_value};

/// Which keys may be put, and what happens with others.
#[derive(Clone, Copy, Debug)]
struct Policy {
    create_only: bool,
    update_only: bool,
    no_fail: bool,
    partial: bool,
}

const ADD: Policy =
    Policy { create_only: true, update_only: false, no_fail: false, partial: false };
const REPLACE: Policy =
    Policy { create_only: false, update_only: true, no_fail: false, partial: false };

impl Policy {
    fn of(bits: i64) -> Policy {
        Policy {
            create_only: bits & 1 != 0,
            update_only: bits & 2 != 0,
            no_fail: bits & 4 != 0,
            partial: bits & 8 != 0,
        }
    }

    /// Why a key may not be put; `found` says whether the map has it.
    fn refusal(self, found: bool) -> Option<Error> {
        if found && self.create_only {
            let text = "the map has the key already; NO_FAIL skips it silently";
            return Some(Error::new(ResultCode::ElementExists, text));
        }
        if !found && self.update_only {
            let text = "the map does not have the key; NO_FAIL skips it silently";
            return Some(Error::new(ResultCode::ElementNotFound, text));
        }
        None
    }
}

/// A pair in the form in which it is stored.
type Pair<'a> = (Cow<'a, [u8]>, Cow<'a, [u8]>);

fn pair<'a>(key: &'a [u8], value: &'a [u8]) -> Result<Pair<'a>, Error> {
    Ok((stored_key(key)?, stored::element(value)?))
}

fn stored_key(key: &[u8]) -> Result<Cow<'_, [u8]>, Error> {
    if stored::is_key(key) {
        return stored::element(key);
    }
    Err(Error::new(ResultCode::Parameter, "a map's key is an integer, text or bytes"))
}

/// The pairs of a map argument in key order; a key may stand once.
fn pairs(map: &[u8]) -> Result<Vec<Pair<'_>>, Error> {
    let head = Head::read(map, 0)?.ok_or(Malformed::Truncated)?;
    let mut reader = Reader::at(map, head.body);
    let mut pairs = Vec::with_capacity(head.count as usize);
    for _ in 0..head.count {
        pairs.push(pair(reader.skip()?, reader.skip()?)?);
    }
    sort_by_value(&mut pairs, |pair| &*pair.0)?;
    for two in pairs.windows(2) {
        if compare(&two[0].0, &two[1].0)? == Ordering::Equal {
            return Err(Error::new(ResultCode::Parameter, "a key stands in the argument twice"));
        }
    }
    Ok(pairs)
}

/// The flags after a put: the order argument counts when the map is created.
fn new_flags(order: i64, seq: &Seq<'_>) -> Result<u8, Error> {
    let order = map_flags(order)?;
    Ok(if seq.is_new() { order } else { seq.flags() })
}

/// Puts pairs, which come in key order, under a policy; answers the new size.
fn put_all(
    seq: &Seq<'_>,
    pairs: Vec<Pair<'_>>,
    flags: u8,
    policy: Policy,
) -> Result<Outcome, Error> {
    let mut splices: Vec<Splice> = Vec::with_capacity(pairs.len());
    let mut added = 0;
    for (key, value) in pairs {
        let place = seq.find_key(&key)?;
        if let Some(error) = policy.refusal(place.is_ok()) {
            match (policy.no_fail, policy.partial) {
                (true, true) => continue,
                (true, false) => return Ok(size_of(seq, None, 0)),
                (false, _) => return Err(error),
            }
        }
        let (at, remove) = match place {
            Ok(at) => (at, 1),
            Err(at) => (at, 0),
        };
        added += 1 - remove;
        push_pair(&mut splices, at, remove, &key, &value);
    }
    Ok(size_of(seq, Some(Change { flags, splices }), added))
}

/// Adds a pair to splices; new pairs for the same place stand in one splice.
fn push_pair(splices: &mut Vec<Splice>, at: u32, remove: u32, key: &[u8], value: &[u8]) {
    match splices.last_mut() {
        Some(last) if last.at == at => {
            // What was put here so far is new and sorts before this pair.
            last.remove += remove;
            last.count += 1;
            last.insert.extend_from_slice(key);
            last.insert.extend_from_slice(value);
        }
        _ => splices.push(Splice { at, remove, insert: [key, value].concat(), count: 1 }),
    }
}

fn size_of(seq: &Seq<'_>, change: Option<Change>, added: u32) -> Outcome {
    let size = i64::from(seq.len()) + i64::from(added);
    Outcome { change, reply: Some(Reply::int(size)) }
}

/// `put(key, value, order, flags)`
pub(super) fn put<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    let pairs = vec![pair(args.value(0), args.value(1))?];
    put_all(seq, pairs, new_flags(args.int(2), seq)?, Policy::of(args.int(3)))
}

/// `put_items(map, order, flags)`
pub(super) fn put_items<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    let pairs = pairs(args.value(0))?;
    let mut policy = Policy::of(args.int(2));
    // An empty map takes all pairs of a call that may neither fail nor has to put all of them, as
    // recorded: UPDATE_ONLY is not looked at then.
    let is_empty = seq.is_empty() && !seq.is_new();
    policy.update_only &= !(is_empty && policy.no_fail && policy.partial);
    put_all(seq, pairs, new_flags(args.int(1), seq)?, policy)
}

/// `add(key, value, order)`: the key must be new.
pub(super) fn add<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    let pairs = vec![pair(args.value(0), args.value(1))?];
    put_all(seq, pairs, new_flags(args.int(2), seq)?, ADD)
}

/// `add_items(map, order)`: all keys must be new.
pub(super) fn add_items<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    let pairs = pairs(args.value(0))?;
    put_all(seq, pairs, new_flags(args.int(1), seq)?, ADD)
}

/// `replace(key, value)`: the map must have the key.
pub(super) fn replace<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    nothing_to_replace(seq)?;
    put_all(seq, vec![pair(args.value(0), args.value(1))?], seq.flags(), REPLACE)
}

/// `replace_items(map)`: the map must have all keys.
pub(super) fn replace_items<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    nothing_to_replace(seq)?;
    put_all(seq, pairs(args.value(0))?, seq.flags(), REPLACE)
}

/// Where there is no map, replacing fails whatever the pairs are.
fn nothing_to_replace(seq: &Seq<'_>) -> Result<(), Error> {
    match REPLACE.refusal(false) {
        Some(error) if seq.is_new() => Err(error),
        _ => Ok(()),
    }
}

/// `increment(key, by, order)`
pub(super) fn increment<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    step(args, seq, 1)
}

/// `decrement(key, by, order)`
pub(super) fn decrement<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    step(args, seq, -1)
}

/// Adds to the number of a key, up or down; answers the new number.
fn step<'a>(args: &Args<'a>, seq: &Seq<'a>, direction: i64) -> Result<Outcome, Error> {
    let flags = new_flags(args.int(2), seq)?;
    let key = stored_key(args.value(0))?;
    let by = match args.optional(1).map(|by| Reader::new(by).token()).transpose()? {
        None => Token::Int(direction),
        Some(Token::Int(by)) => Token::Int(by.wrapping_mul(direction)),
        Some(Token::Double(by)) => Token::Double(by * direction as f64),
        Some(_) => return Err(not_a_number("the increment")),
    };
    let place = seq.find_key(&key)?;
    let old = match place {
        Ok(at) => Some(Reader::new(seq.pair(at)?.1).token()?),
        Err(_) => None,
    };
    let mut new = Vec::new();
    match (old, by) {
        (None, Token::Int(by)) => write::int(&mut new, by),
        (None, Token::Double(by)) => write::double(&mut new, by),
        (Some(Token::Int(old)), Token::Int(by)) => write::int(&mut new, old.wrapping_add(by)),
        (Some(Token::Int(old)), Token::Double(by)) => {
            write::int(&mut new, old.wrapping_add(by as i64));
        }
        (Some(Token::Double(old)), Token::Int(by)) => write::double(&mut new, old + by as f64),
        (Some(Token::Double(old)), Token::Double(by)) => write::double(&mut new, old + by),
        _ => return Err(not_a_number("the value of the key")),
    }
    let (at, remove) = match place {
        Ok(at) => (at, 1),
        Err(at) => (at, 0),
    };
    let reply = reply::particle_of(&new)?;
    let splice = Splice { at, remove, insert: [&*key, &new].concat(), count: 1 };
    Ok(Outcome::changed(Change { flags, splices: vec![splice] }, Some(reply)))
}

fn not_a_number(what: &str) -> Error {
    Error::new(ResultCode::Parameter, format!("{what} is not a number"))
}

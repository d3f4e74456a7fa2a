//! Operations that put values into a list: append, insert, set, increment.

use std::borrow::Cow;
use std::cmp::Ordering;

use cairn_value::packed::{Reader, Token, flags, write};
use cairn_value::{Error, ResultCode};

use super::order::list_flags;
use super::single::outside;
use crate::Reply;
use crate::cdt::change::{Change, Splice};
use crate::cdt::context::pad_limit;
use crate::cdt::reply;
use crate::cdt::row::{Args, Outcome};
use crate::cdt::select::items;
use crate::cdt::seq::{Seq, compare, resolve};
use crate::cdt::stored::{self, sort_by_value, sorted_order};

/// Write flags of list operations.
#[derive(Clone, Copy, Debug)]
struct Policy {
    add_unique: bool,
    insert_bounded: bool,
    no_fail: bool,
    partial: bool,
}

impl Policy {
    fn of(bits: i64) -> Policy {
        Policy {
            add_unique: bits & 1 != 0,
            insert_bounded: bits & 2 != 0,
            no_fail: bits & 4 != 0,
            partial: bits & 8 != 0,
        }
    }
}

fn exists() -> Error {
    let text = "the list holds an equal element; NO_FAIL skips it silently";
    Error::new(ResultCode::ElementExists, text)
}

/// The order argument of append and increment: it counts when the list is created.
fn new_flags(args: &Args<'_>, at: usize, seq: &Seq<'_>) -> Result<u8, Error> {
    let order = list_flags(args.int(at))?;
    let creates = seq.bytes().len() == 1 && seq.is_empty();
    Ok(if creates { order } else { seq.flags() })
}

fn size_after(seq: &Seq<'_>, added: usize) -> Option<Reply> {
    Some(Reply::int(i64::from(seq.len()) + added as i64))
}

fn unchanged(seq: &Seq<'_>) -> Outcome {
    Outcome { change: None, reply: size_after(seq, 0) }
}

/// `append(value, order, flags)`
pub(super) fn append<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    let value = stored::element(args.value(0))?;
    add(seq, vec![value], new_flags(args, 1, seq)?, Policy::of(args.int(2)))
}

/// `append_items(values, order, flags)`
pub(super) fn append_items<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    let values = stored_items(args.value(0))?;
    add(seq, values, new_flags(args, 1, seq)?, Policy::of(args.int(2)))
}

fn stored_items(list: &[u8]) -> Result<Vec<Cow<'_, [u8]>>, Error> {
    items(list)?.into_iter().map(stored::element).collect()
}

/// Adds values at the end of an unordered list, or where they sort in an ordered one.
fn add(
    seq: &Seq<'_>,
    values: Vec<Cow<'_, [u8]>>,
    list_flags: u8,
    policy: Policy,
) -> Result<Outcome, Error> {
    let Some(values) = admitted(seq, values, policy)? else { return Ok(unchanged(seq)) };
    let reply = size_after(seq, values.len());
    let splices = if list_flags & flags::ORDERED != 0 {
        sorted_splices(seq, values)?
    } else {
        vec![Splice::insert(seq.len(), values.concat(), values.len() as u32)]
    };
    Ok(Outcome::changed(Change { flags: list_flags, splices }, reply))
}

/// The values that may be added under ADD_UNIQUE; `None` when none may and that is no failure.
fn admitted<'v>(
    seq: &Seq<'_>,
    values: Vec<Cow<'v, [u8]>>,
    policy: Policy,
) -> Result<Option<Vec<Cow<'v, [u8]>>>, Error> {
    if !policy.add_unique {
        return Ok(Some(values));
    }
    let fresh = unique_values(seq, &values)?;
    if fresh.iter().all(|&fresh| fresh) {
        return Ok(Some(values));
    }
    if !policy.no_fail {
        return Err(exists());
    }
    if !policy.partial {
        return Ok(None);
    }
    let kept = values.into_iter().zip(fresh).filter(|(_, fresh)| *fresh);
    Ok(Some(kept.map(|(value, _)| value).collect()))
}

/// For each value, whether neither the list nor an earlier value equals it.
fn unique_values(seq: &Seq<'_>, values: &[Cow<'_, [u8]>]) -> Result<Vec<bool>, Error> {
    let mut fresh = vec![true; values.len()];
    let order = sorted_order(values)?;
    for pair in order.windows(2) {
        if compare(&values[pair[0]], &values[pair[1]])? == Ordering::Equal {
            fresh[pair[1]] = false;
        }
    }
    if seq.is_ordered() {
        for (value, fresh) in values.iter().zip(&mut fresh) {
            *fresh = *fresh && seq.find_key(value)?.is_err();
        }
        return Ok(fresh);
    }
    if let [value] = values {
        for element in seq.elements()? {
            if compare(value, element)? == Ordering::Equal {
                return Ok(vec![false]);
            }
        }
        return Ok(fresh);
    }
    for element in seq.elements()? {
        if let Some(at) = find_sorted(&order, values, element)? {
            // Equal values follow each other; the first of them is the only fresh one.
            fresh[order[at]] = false;
        }
    }
    Ok(fresh)
}

/// The first of the values, taken in `order`, that equals `element`.
fn find_sorted(
    order: &[usize],
    values: &[Cow<'_, [u8]>],
    element: &[u8],
) -> Result<Option<usize>, Error> {
    let (mut low, mut high) = (0, order.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if compare(&values[order[middle]], element)? == Ordering::Less {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    match order.get(low) {
        Some(&at) if compare(&values[at], element)? == Ordering::Equal => Ok(Some(low)),
        _ => Ok(None),
    }
}

/// Splices that put values where they sort, behind equal elements.
fn sorted_splices(seq: &Seq<'_>, mut values: Vec<Cow<'_, [u8]>>) -> Result<Vec<Splice>, Error> {
    sort_by_value(&mut values, |value| value)?;
    let mut splices: Vec<Splice> = Vec::new();
    for value in values {
        let at = seq.count_up_to(&value)?;
        match splices.last_mut() {
            Some(last) if last.at == at => {
                last.insert.extend_from_slice(&value);
                last.count += 1;
            }
            _ => splices.push(Splice::insert(at, value.into_owned(), 1)),
        }
    }
    Ok(splices)
}

fn ordered_refuses() -> Error {
    let text = "an ordered list decides itself where elements go; append them";
    Error::new(ResultCode::OpNotApplicable, text)
}

/// Where an index of an unordered list lies.
enum At {
    /// On an element.
    Element(u32),
    /// This many elements behind the last one.
    Beyond(u32),
}

/// Finds an index; one behind the end fills up with nils.
fn place(seq: &Seq<'_>, index: i64) -> Result<At, Error> {
    if let Some(element) = resolve(index, seq.len()) {
        return Ok(At::Element(element));
    }
    if index < 0 {
        return Err(outside("index", index, seq.len()));
    }
    Ok(At::Beyond(pad_limit(index - i64::from(seq.len()))?))
}

/// `insert(index, value, flags)`
pub(super) fn insert<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    let value = stored::element(args.value(1))?;
    insert_at(seq, args.int(0), vec![value], Policy::of(args.int(2)))
}

/// `insert_items(index, values, flags)`
pub(super) fn insert_items<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    let values = stored_items(args.value(1))?;
    insert_at(seq, args.int(0), values, Policy::of(args.int(2)))
}

fn insert_at(
    seq: &Seq<'_>,
    index: i64,
    values: Vec<Cow<'_, [u8]>>,
    policy: Policy,
) -> Result<Outcome, Error> {
    if seq.is_ordered() {
        return Err(ordered_refuses());
    }
    if values.is_empty() {
        return Ok(unchanged(seq));
    }
    let place = place(seq, index)?;
    if let At::Beyond(nils) = place
        && nils > 0
        && policy.insert_bounded
    {
        return if policy.no_fail {
            Ok(unchanged(seq))
        } else {
            Err(outside("index", index, seq.len()))
        };
    }
    let Some(values) = admitted(seq, values, policy)? else { return Ok(unchanged(seq)) };
    let (at, nils) = match place {
        At::Element(at) => (at, 0),
        At::Beyond(nils) => (seq.len(), nils),
    };
    let mut elements = vec![0xc0; nils as usize];
    values.iter().for_each(|value| elements.extend_from_slice(value));
    let count = nils + values.len() as u32;
    let reply = size_after(seq, count as usize);
    Ok(Outcome::changed(Change::splice(seq, Splice::insert(at, elements, count)), reply))
}

/// The splice that puts `value` at a place in the stead of what is there.
fn put(seq: &Seq<'_>, place: At, value: &[u8]) -> Splice {
    match place {
        At::Element(at) => Splice { at, remove: 1, insert: value.to_vec(), count: 1 },
        At::Beyond(nils) => {
            let mut elements = vec![0xc0; nils as usize];
            elements.extend_from_slice(value);
            Splice::insert(seq.len(), elements, nils + 1)
        }
    }
}

/// `set(index, value, flags)`
pub(super) fn set<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    let value = stored::element(args.value(1))?;
    let policy = Policy::of(args.int(2));
    if seq.is_ordered() {
        return Err(ordered_refuses());
    }
    let index = args.int(0);
    let place = place(seq, index)?;
    if let At::Beyond(nils) = place
        && nils > 0
        && policy.insert_bounded
    {
        return if policy.no_fail {
            Ok(Outcome::default())
        } else {
            Err(outside("index", index, seq.len()))
        };
    }
    if admitted(seq, vec![value.clone()], policy)?.is_none_or(|values| values.is_empty()) {
        return Ok(Outcome::default());
    }
    Ok(Outcome::changed(Change::splice(seq, put(seq, place, &value)), None))
}

/// `increment(index, value, order, flags)`
pub(super) fn increment<'a>(args: &Args<'a>, seq: &Seq<'a>) -> Result<Outcome, Error> {
    let list_flags = new_flags(args, 2, seq)?;
    let policy = Policy::of(args.int(3));
    let by = match args.optional(1) {
        Some(by) => Reader::new(by).token()?,
        None => Token::Int(1),
    };
    if !matches!(by, Token::Int(_) | Token::Double(_)) {
        return Err(not_a_number("the increment"));
    }
    let index = args.int(0);
    let place = place(seq, index)?;
    if seq.is_ordered() && matches!(place, At::Beyond(_)) {
        return Err(outside("index", index, seq.len()));
    }
    if let At::Beyond(nils) = place
        && nils > 0
        && policy.insert_bounded
    {
        return Err(outside("index", index, seq.len()));
    }
    let old = match place {
        At::Element(at) => Reader::new(seq.element(at)?).token()?,
        At::Beyond(_) => Token::Nil,
    };
    let mut new = Vec::new();
    match (old, by) {
        (Token::Nil, Token::Int(by)) if matches!(place, At::Beyond(_)) => write::int(&mut new, by),
        (Token::Nil, Token::Double(by)) if matches!(place, At::Beyond(_)) => {
            write::double(&mut new, by);
        }
        (Token::Int(old), Token::Int(by)) => write::int(&mut new, old.wrapping_add(by)),
        (Token::Int(old), Token::Double(by)) => write::int(&mut new, old.wrapping_add(by as i64)),
        (Token::Double(old), Token::Int(by)) => write::double(&mut new, old + by as f64),
        (Token::Double(old), Token::Double(by)) => write::double(&mut new, old + by),
        _ => return Err(not_a_number("the element")),
    }
    if policy.add_unique && admitted(seq, vec![Cow::Borrowed(&new)], policy)?.is_none() {
        return Ok(Outcome::default());
    }
    let reply = reply::particle_of(&new)?;
    let splices = match place {
        At::Element(at) if seq.is_ordered() => move_element(seq, at, &new)?,
        place => vec![put(seq, place, &new)],
    };
    Ok(Outcome::changed(Change { flags: list_flags, splices }, Some(reply)))
}

/// Splices that give element `at` of an ordered list a new value, where it then sorts.
fn move_element(seq: &Seq<'_>, at: u32, new: &[u8]) -> Result<Vec<Splice>, Error> {
    let to = seq.count_up_to(new)?;
    if to == at || to == at + 1 {
        return Ok(vec![Splice { at, remove: 1, insert: new.to_vec(), count: 1 }]);
    }
    let mut splices = vec![Splice::insert(to, new.to_vec(), 1), Splice::remove(at, 1)];
    splices.sort_by_key(|splice| splice.at);
    Ok(splices)
}

fn not_a_number(what: &str) -> Error {
    Error::new(ResultCode::Parameter, format!("{what} is not a number"))
}

//! The naive twin: decodes the whole value into a tree, works on the tree, and encodes it again.
//!
//! It is written as one would write it without caring about packed bytes, but not worse: it
//! searches sorted trees by binary search and compares numbers and texts directly.

use std::cmp::Ordering;

use cairn_ops::Reply;
use cairn_value::packed::{flags, write};
use cairn_value::{Particle, ParticleType, Value};

use super::collection::{Action, Arguments, Outcome, PAGE, Shape};

/// Does an operation on a list or map without an index.
pub fn run(shape: Shape, action: Action, arguments: &Arguments, bytes: &[u8]) -> Outcome {
    let particle = Particle::new(ParticleType::List, bytes);
    match Value::from_particle(particle) {
        Ok(Value::List { items, ordered }) => on_list(items, ordered, action, arguments),
        Ok(Value::Map { pairs, ordered }) => on_map(pairs, ordered, action, arguments),
        other => panic!("{} holds {other:?}", shape.name()),
    }
}

/// The order of two values of one type.
fn order(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        _ => a.order(b),
    }
}

fn written(value: Value, reply: Option<Reply>) -> Outcome {
    Outcome { reply, value: Some(value.to_packed()) }
}

fn answered(reply: Reply) -> Outcome {
    Outcome { reply: Some(reply), value: None }
}

fn size_of(len: usize) -> Option<Reply> {
    Some(Reply::int(len as i64))
}

fn on_list(mut items: Vec<Value>, ordered: bool, action: Action, arguments: &Arguments) -> Outcome {
    let element = &arguments.element;
    let at = arguments.index;
    match action {
        Action::Append | Action::InsertUnique if ordered => {
            let place = items.binary_search_by(|item| order(item, element));
            assert!(place.is_err(), "the element is new");
            items.insert(place.unwrap_or_else(|place| place), element.clone());
        }
        Action::Append => items.push(element.clone()),
        Action::Remove => {
            items.remove(at);
            return written(Value::List { items, ordered }, None);
        }
        Action::Page => {
            let page = items[at..].iter().take(PAGE).cloned();
            let bytes = Value::list(page).to_packed();
            return answered(Reply { kind: ParticleType::List, bytes });
        }
        Action::Find => {
            let indexes = if ordered {
                let place = items.binary_search_by(|item| order(item, element));
                place.into_iter().collect::<Vec<_>>()
            } else {
                (0..items.len()).filter(|&i| items[i] == *element).collect()
            };
            let bytes = Value::list(indexes.iter().map(|&i| Value::Int(i as i64))).to_packed();
            return answered(Reply { kind: ParticleType::List, bytes });
        }
        Action::InsertUnique | Action::Replace => panic!("{action:?} is not for this list"),
    }
    let size = size_of(items.len());
    written(Value::List { items, ordered }, size)
}

fn on_map(
    mut pairs: Vec<(Value, Value)>,
    ordered: bool,
    action: Action,
    arguments: &Arguments,
) -> Outcome {
    let place = pairs.binary_search_by(|pair| order(&pair.0, &arguments.element));
    match (action, place) {
        (Action::Append | Action::InsertUnique, Err(place)) => {
            pairs.insert(place, (arguments.element.clone(), arguments.value.clone()));
        }
        (Action::Replace, Ok(place)) => pairs[place].1 = arguments.value.clone(),
        (Action::Remove, Ok(place)) => {
            pairs.remove(place);
            return written(Value::Map { pairs, ordered }, None);
        }
        (Action::Find, Ok(place)) => {
            let (kind, bytes) = (pairs[place].1.kind(), pairs[place].1.to_particle_bytes());
            return answered(Reply { kind, bytes });
        }
        (Action::Page, _) => return answered(page_of(&pairs, arguments.index)),
        (action, place) => panic!("{action:?} finds the key at {place:?}"),
    }
    let size = size_of(pairs.len());
    written(Value::Map { pairs, ordered }, size)
}

/// Pairs in stored order, flagged as such.
fn page_of(pairs: &[(Value, Value)], at: usize) -> Reply {
    let page = &pairs[at..pairs.len().min(at + PAGE)];
    let mut bytes = Vec::new();
    write::map_head(&mut bytes, page.len() as u32 + 1);
    write::flags_ext(&mut bytes, flags::PRESERVE_ORDER);
    write::nil(&mut bytes);
    for (key, value) in page {
        key.pack(&mut bytes);
        value.pack(&mut bytes);
    }
    Reply { kind: ParticleType::Map, bytes }
}

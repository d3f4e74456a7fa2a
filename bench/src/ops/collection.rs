//! Operations on one list or map of a given shape and size.
//!
//! Lists hold integers of five packed bytes, maps pairs of a text of 15 characters and such an
//! integer. New elements go between or behind the others.

use std::hint::black_box;

use cairn_ops::{Applied, Effect, Env, Mode, Reply, cdt};
use cairn_value::packed::{flags, write};
use cairn_value::{Error, Particle, ParticleType, Value, collection};

use super::contest::{Contest, Side};
use super::naive;

const ENV: Env = Env { now_ns: 0 };
/// Elements of a page.
pub const PAGE: usize = 10;
/// The smallest element of a list.
const FIRST: i64 = 1 << 20;
/// The flag of lists that admits no element twice.
const ADD_UNIQUE: i64 = 1;
/// The flag of maps that admits new keys only.
const CREATE_ONLY: i64 = 1;
/// Return types.
const NOTHING: i64 = 0;
const INDEX: i64 = 1;
const VALUE: i64 = 7;
const KEY_VALUE: i64 = 8;

/// A kind of collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub is_map: bool,
    /// Order and persist bits.
    pub flags: u8,
}

impl Shape {
    const INDEXED: u8 = flags::ORDERED | flags::PERSIST_INDEX;
    /// The measured kinds.
    pub const ALL: [Shape; 6] = [
        Shape { is_map: false, flags: 0 },
        Shape { is_map: false, flags: flags::ORDERED },
        Shape { is_map: false, flags: Shape::INDEXED },
        Shape { is_map: true, flags: 0 },
        Shape { is_map: true, flags: flags::ORDERED },
        Shape { is_map: true, flags: Shape::INDEXED },
    ];

    pub fn name(self) -> &'static str {
        match (self.is_map, self.flags) {
            (false, 0) => "list",
            (false, flags::ORDERED) => "list ordered",
            (false, _) => "list ordered+index",
            (true, 0) => "map",
            (true, flags::ORDERED) => "map by key",
            (true, _) => "map by key+index",
        }
    }

    pub fn is_ordered(self) -> bool {
        self.flags & flags::ORDERED != 0
    }

    fn kind(self) -> ParticleType {
        if self.is_map { ParticleType::Map } else { ParticleType::List }
    }

    /// A collection of this kind as clients see it, and as it is stored.
    fn build(self, size: u32) -> (Vec<u8>, Vec<u8>) {
        let mut body = Vec::new();
        for n in 0..i64::from(size) {
            // Without an order, elements stand in another one than the sorted.
            let n = if self.is_map || self.is_ordered() { n } else { i64::from(size) - 1 - n };
            if self.is_map {
                key(2 * n).pack(&mut body);
            }
            Value::Int(element(n)).pack(&mut body);
        }
        let mut written = Vec::new();
        let head = if self.is_map { write::map_head } else { write::list_head };
        head(&mut written, size + u32::from(self.flags != 0));
        if self.flags != 0 {
            write::flags_ext(&mut written, self.flags);
            if self.is_map {
                write::nil(&mut written);
            }
        }
        written.extend_from_slice(&body);
        let stored = cdt::with_index(written.into()).into_owned();
        (collection::reply_form(self.kind(), &stored).into_owned(), stored)
    }
}

fn element(n: i64) -> i64 {
    FIRST + 2 * n
}

fn key(n: i64) -> Value {
    Value::String(format!("member-{n:08}"))
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Append,
    Replace,
    InsertUnique,
    Page,
    Find,
    Remove,
}

impl Action {
    pub const ALL: [Action; 6] = [
        Action::Append,
        Action::Replace,
        Action::InsertUnique,
        Action::Page,
        Action::Find,
        Action::Remove,
    ];

    pub fn name(self, shape: Shape) -> &'static str {
        match self {
            Action::Append if shape.is_map => "put last",
            Action::Append => "append",
            Action::Replace => "put existing",
            Action::InsertUnique => "insert unique",
            Action::Page => "page of 10",
            Action::Find if shape.is_map => "get by key",
            Action::Find => "get by value",
            Action::Remove if shape.is_map => "remove by key",
            Action::Remove => "remove by index",
        }
    }

    pub fn applies_to(self, shape: Shape) -> bool {
        match self {
            Action::Replace => shape.is_map,
            Action::InsertUnique => shape.is_ordered(),
            _ => true,
        }
    }

    fn mode(self) -> Mode {
        match self {
            Action::Page | Action::Find => Mode::Read,
            _ => Mode::Modify,
        }
    }
}

/// What an operation works with. Both sides get it in the form that suits them, ready made.
#[derive(Debug)]
pub struct Arguments {
    /// Index of the element in the middle.
    pub index: usize,
    /// An element of the list, a key of the map: there already or new, as the action needs it.
    pub element: Value,
    /// Value beside the key.
    pub value: Value,
}

/// What an operation answers, and the new value as clients see it.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    pub reply: Option<Reply>,
    pub value: Option<Vec<u8>>,
}

/// One operation on one collection.
pub struct CollectionContest {
    shape: Shape,
    action: Action,
    arguments: Arguments,
    call: Vec<u8>,
    plain: Vec<u8>,
    stored: Vec<u8>,
}

impl CollectionContest {
    pub fn new(shape: Shape, action: Action, size: u32) -> Self {
        let (plain, stored) = shape.build(size);
        let arguments = arguments(shape, action, size);
        let call = call(shape, action, &arguments);
        CollectionContest { shape, action, arguments, call, plain, stored }
    }

    fn cairn(&self) -> Result<Applied, Error> {
        let bin = Particle::new(self.shape.kind(), &self.stored);
        cdt::apply(&self.call, Some(bin), self.action.mode(), &ENV)
    }

    /// The new value in one piece, in stored form.
    fn whole(&self, effect: Effect) -> Option<Vec<u8>> {
        match effect {
            Effect::Edit { edits, .. } => Some(edits.apply(&self.stored)),
            Effect::Whole(_, bytes) => Some(bytes),
            Effect::None | Effect::Remove => None,
        }
    }

    fn naive(&self) -> Outcome {
        naive::run(self.shape, self.action, &self.arguments, &self.plain)
    }

    /// Reads pages of the new value at its start, around the change and at its end, so that a wrong
    /// index cannot hide. Few, because each costs the twin a whole tree.
    fn check_index(&self, stored: &[u8], plain: &[u8]) -> Result<(), String> {
        if self.shape.flags & flags::PERSIST_INDEX == 0 {
            return Ok(());
        }
        let count = match Value::from_packed(plain) {
            Ok(Value::List { items, .. }) => items.len(),
            Ok(Value::Map { pairs, .. }) => pairs.len(),
            _ => return Err("the new value is no collection".to_owned()),
        };
        for index in [0, (count / 2).saturating_sub(PAGE / 2), count.saturating_sub(PAGE)] {
            let arguments = Arguments { index, element: Value::Nil, value: Value::Nil };
            let call = call(self.shape, Action::Page, &arguments);
            let bin = Particle::new(self.shape.kind(), stored);
            let page = cdt::apply(&call, Some(bin), Mode::Read, &ENV);
            let expected = naive::run(self.shape, Action::Page, &arguments, plain);
            if page.map_err(|error| error.to_string())?.reply != expected.reply {
                return Err(format!("the index is wrong at {index}"));
            }
        }
        Ok(())
    }
}

impl Contest for CollectionContest {
    fn check(&self) -> Result<(), String> {
        let applied = self.cairn().map_err(|error| error.to_string())?;
        let new = self.whole(applied.effect);
        let seen = |bytes: &Vec<u8>| collection::reply_form(self.shape.kind(), bytes).into_owned();
        let cairn = Outcome { reply: applied.reply, value: new.as_ref().map(seen) };
        let naive = self.naive();
        if cairn.reply != naive.reply {
            return Err(format!("Cairn answers {:?}, the twin {:?}", cairn.reply, naive.reply));
        }
        if cairn.value.is_some() != self.writes() || cairn.value != naive.value {
            return Err("Cairn and the twin leave different values".to_owned());
        }
        match (&new, &cairn.value) {
            (Some(stored), Some(plain)) => self.check_index(stored, plain),
            _ => Ok(()),
        }
    }

    fn run(&self, side: Side) {
        match side {
            Side::Cairn => {
                let _ = black_box(self.cairn());
            }
            Side::Whole => {
                let applied = self.cairn().unwrap_or_default();
                black_box(self.whole(applied.effect));
            }
            Side::Naive => {
                black_box(self.naive());
            }
        }
    }

    fn writes(&self) -> bool {
        self.action.mode() == Mode::Modify
    }
}

fn arguments(shape: Shape, action: Action, size: u32) -> Arguments {
    let size = i64::from(size);
    let middle = size / 2;
    // Elements are even steps apart, so there is room for new ones between them.
    let step = match action {
        Action::Append => 2 * size,
        Action::InsertUnique => 2 * middle + 1,
        _ => 2 * middle,
    };
    let element = if shape.is_map { key(step) } else { Value::Int(FIRST + step) };
    Arguments { index: middle as usize, element, value: Value::Int(FIRST + 1) }
}

fn call(shape: Shape, action: Action, arguments: &Arguments) -> Vec<u8> {
    let order = Value::Int(i64::from(shape.flags));
    let Arguments { index, element, value } = arguments;
    let (index, element, value) = (Value::Int(*index as i64), element.clone(), value.clone());
    let page = Value::Int(PAGE as i64);
    let call = match (action, shape.is_map) {
        (Action::Append, false) => vec![Value::Int(1), element, order],
        (Action::InsertUnique, false) => {
            vec![Value::Int(1), element, order, Value::Int(ADD_UNIQUE)]
        }
        (Action::Page, false) => vec![Value::Int(24), Value::Int(VALUE), index, page],
        (Action::Find, false) => vec![Value::Int(22), Value::Int(INDEX), element],
        (Action::Remove, false) => vec![Value::Int(32), Value::Int(NOTHING), index],
        (Action::Append | Action::Replace, _) => vec![Value::Int(67), element, value, order],
        (Action::InsertUnique, true) => {
            vec![Value::Int(67), element, value, order, Value::Int(CREATE_ONLY)]
        }
        (Action::Page, true) => vec![Value::Int(104), Value::Int(KEY_VALUE), index, page],
        (Action::Find, true) => vec![Value::Int(97), Value::Int(VALUE), element],
        (Action::Remove, true) => vec![Value::Int(76), Value::Int(NOTHING), element],
    };
    Value::list(call).to_packed()
}

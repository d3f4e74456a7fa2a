//! The levels of a path.

use cairn_value::limits::DEPTH_MAX;
use cairn_value::packed::{Reader, Token};
use cairn_value::{Error, ResultCode};

use super::refusal;
use crate::cdt::stored::sort_by_value;
use crate::exp::{Kind, Program};

/// Codes of the elements of a context. Those of one child may carry flags that tell what to create
/// on the way; a path creates nothing and ignores them.
mod code {
    pub const EXPRESSION: i64 = 0x04;
    pub const LIST_INDEX: i64 = 0x10;
    pub const LIST_RANK: i64 = 0x11;
    pub const LIST_VALUE: i64 = 0x13;
    pub const MAP_INDEX: i64 = 0x20;
    pub const MAP_RANK: i64 = 0x21;
    pub const MAP_KEY: i64 = 0x22;
    pub const MAP_VALUE: i64 = 0x23;
    pub const MAP_KEYS_IN: i64 = 0x2a;
    pub const AND: i64 = 0x204;
    pub const CREATE_FLAGS: i64 = 0xc0;
}

/// One level: which children it picks, and a test that they must pass as well.
#[derive(Debug)]
pub(super) struct Level<'p> {
    pub pick: Pick<'p>,
    pub test: Option<Test<'p>>,
}

/// Which children of a collection a level picks.
#[derive(Debug)]
pub(super) enum Pick<'p> {
    ListIndex(i64),
    ListRank(i64),
    ListValue(&'p [u8]),
    MapIndex(i64),
    MapRank(i64),
    MapKey(&'p [u8]),
    MapValue(&'p [u8]),
    /// Children whose key stands in this packed list.
    MapKeysIn(Vec<&'p [u8]>),
    /// Children that pass a test.
    All(Test<'p>),
}

/// A test of one child.
#[derive(Debug)]
pub(super) enum Test<'p> {
    Pass,
    Expression(Box<Program<'p>>),
}

impl Pick<'_> {
    /// Whether the level is for maps; `None` when it is for both types.
    pub fn is_for_maps(&self) -> Option<bool> {
        match self {
            Pick::ListIndex(_) | Pick::ListRank(_) | Pick::ListValue(_) => Some(false),
            Pick::All(_) => None,
            _ => Some(true),
        }
    }
}

/// Reads a context of one level or more.
pub(super) fn levels<'p>(reader: &mut Reader<'p>) -> Result<Vec<Level<'p>>, Error> {
    let Token::List(count) = reader.token()? else {
        return Err(refusal("a context is a list of types and values in turn"));
    };
    if count == 0 || count % 2 != 0 {
        return Err(refusal(format!("a context of {count} elements; types and values go in turn")));
    }
    let mut levels: Vec<Level<'p>> = Vec::new();
    for _ in 0..count / 2 {
        let Token::Int(kind) = reader.token()? else {
            return Err(refusal("the type of a context element is an integer"));
        };
        if kind == code::AND {
            let test = test(reader)?;
            match levels.last_mut() {
                Some(Level { pick: Pick::All(_), .. } | Level { test: Some(_), .. }) | None => {
                    return Err(refusal("an AND filter follows a level that is no filter itself"));
                }
                Some(level) => level.test = Some(test),
            }
            continue;
        }
        if levels.len() >= DEPTH_MAX {
            return Err(refusal(format!("a path has {DEPTH_MAX} levels at most")));
        }
        levels.push(Level { pick: pick(kind, reader)?, test: None });
    }
    Ok(levels)
}

fn pick<'p>(kind: i64, reader: &mut Reader<'p>) -> Result<Pick<'p>, Error> {
    match kind {
        code::EXPRESSION => return Ok(Pick::All(test(reader)?)),
        code::MAP_KEYS_IN => return keys(reader),
        0..=0xff => {}
        _ => return Err(unknown(kind)),
    }
    Ok(match kind & !code::CREATE_FLAGS {
        code::LIST_INDEX => Pick::ListIndex(integer(reader)?),
        code::LIST_RANK => Pick::ListRank(integer(reader)?),
        code::LIST_VALUE => Pick::ListValue(reader.skip()?),
        code::MAP_INDEX => Pick::MapIndex(integer(reader)?),
        code::MAP_RANK => Pick::MapRank(integer(reader)?),
        code::MAP_KEY => Pick::MapKey(reader.skip()?),
        code::MAP_VALUE => Pick::MapValue(reader.skip()?),
        _ => return Err(unknown(kind)),
    })
}

fn unknown(kind: i64) -> Error {
    refusal(format!("no context element has type {kind:#x}"))
}

fn integer(reader: &mut Reader<'_>) -> Result<i64, Error> {
    match reader.token()? {
        Token::Int(value) => Ok(value),
        _ => Err(refusal("an index or rank is an integer")),
    }
}

fn keys<'p>(reader: &mut Reader<'p>) -> Result<Pick<'p>, Error> {
    let Token::List(count) = reader.token()? else {
        return Err(refusal("map keys come in a list"));
    };
    let mut keys = Vec::new();
    for _ in 0..count {
        keys.push(reader.skip()?);
    }
    sort_by_value(&mut keys, |key| key)?;
    Ok(Pick::MapKeysIn(keys))
}

/// Reads `true` for all children, or an expression. Some clients wrap both in a blob.
fn test<'p>(reader: &mut Reader<'p>) -> Result<Test<'p>, Error> {
    match reader.peek()? {
        Token::Bytes(wrapped) => {
            reader.skip()?;
            let mut inner = Reader::new(wrapped);
            let test = bare_test(&mut inner)?;
            if inner.is_done() { Ok(test) } else { Err(no_test()) }
        }
        _ => bare_test(reader),
    }
}

fn bare_test<'p>(reader: &mut Reader<'p>) -> Result<Test<'p>, Error> {
    match reader.peek()? {
        Token::Bool(true) => {
            reader.skip()?;
            Ok(Test::Pass)
        }
        Token::List(_) => {
            let program = Program::compile(reader.skip()?)?;
            match program.kind() {
                Kind::Bool | Kind::Any => Ok(Test::Expression(Box::new(program))),
                _ => Err(no_test()),
            }
        }
        _ => Err(no_test()),
    }
}

fn no_test() -> Error {
    Error::new(
        ResultCode::Parameter,
        "a filter in a context is an expression that yields a boolean",
    )
}

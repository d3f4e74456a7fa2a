//! Which children of one collection a level picks.

use cairn_value::packed::{Head, Malformed, Reader, Token, flags};
use cairn_value::{Error, ResultCode};

use super::context::{Level, Pick, Test};
use super::{Form, Path, refusal};
use crate::cdt::seq::{compare, resolve};
use crate::cdt::stored::sort_by_value;
use crate::exp::{Item, Scope, Val};

/// A child of a collection, with its place in the collection's bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Child<'a> {
    pub key: Option<&'a [u8]>,
    pub value: &'a [u8],
    /// Offset of the key, or of the value in a list.
    pub start: usize,
    /// Offset of the value.
    pub at: usize,
    pub index: u32,
}

impl<'a> Child<'a> {
    /// Offset behind the value.
    pub fn end(&self) -> usize {
        self.at + self.value.len()
    }

    /// The child as an expression sees it.
    pub fn item(&self) -> Item<'a> {
        let index = if self.key.is_none() { Some(self.index) } else { None };
        Item { key: self.key, value: self.value, index }
    }

    /// True for a list or map.
    pub fn is_collection(&self) -> bool {
        matches!(Reader::new(self.value).token(), Ok(Token::List(_) | Token::Map(_)))
    }
}

/// A collection on the way.
pub(super) struct Collection<'a> {
    pub bytes: &'a [u8],
    pub head: Head,
}

impl<'a> Collection<'a> {
    pub fn read(bytes: &'a [u8]) -> Result<Collection<'a>, Error> {
        let head = Head::read(bytes, 0)?.ok_or(Malformed::Truncated)?;
        Ok(Collection { bytes, head })
    }

    /// Walks over all children.
    pub fn children(&self) -> impl Iterator<Item = Result<Child<'a>, Malformed>> + use<'a> {
        let mut reader = Reader::at(self.bytes, self.head.body);
        let is_map = self.head.is_map;
        (0..self.head.count).map(move |index| {
            let start = reader.position();
            let key = if is_map { Some(reader.skip()?) } else { None };
            let at = reader.position();
            let value = reader.skip()?;
            Ok(Child { key, value, start, at, index })
        })
    }
}

impl<'p> Path<'p> {
    /// Hands every child that a level picks to `take`, in stored order.
    pub fn pick<'a>(
        &'a self,
        collection: &Collection<'a>,
        level: usize,
        scope: &'a Scope<'a>,
        mut take: impl FnMut(Child<'a>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some(Level { pick, test }) = self.levels.get(level) else { return Ok(()) };
        if collection.head.count == 0 {
            return Ok(());
        }
        let wants_keys = matches!(self.form, Form::Keys | Form::KeysAndValues);
        if wants_keys && self.is_last(level) && !collection.head.is_map {
            if self.no_fail {
                return Ok(());
            }
            return Err(Error::new(ResultCode::BinType, "the elements of a list have no keys"));
        }
        if pick.is_for_maps().is_some_and(|for_maps| for_maps != collection.head.is_map) {
            return Err(refusal("a level for maps leads to a list, or one for lists to a map"));
        }
        let one = chosen(pick, collection)?;
        for child in collection.children() {
            let child = child?;
            let picked = match (pick, one) {
                (Pick::MapKeysIn(keys), _) => match child.key {
                    Some(key) => is_among(key, keys)?,
                    None => false,
                },
                (Pick::All(test), _) => self.passes(test, &child, scope)?,
                (_, one) => one == Some(child.index),
            };
            let picked = picked
                && match test {
                    Some(test) => self.passes(test, &child, scope)?,
                    None => true,
                };
            if picked {
                take(child)?;
            }
            if one == Some(child.index) {
                break;
            }
        }
        Ok(())
    }

    fn passes<'a>(
        &'a self,
        test: &'a Test<'p>,
        child: &Child<'a>,
        scope: &'a Scope<'a>,
    ) -> Result<bool, Error> {
        let Test::Expression(program) = test else { return Ok(true) };
        match program.value_of_item(scope, child.item(), &self.work_left) {
            Val::Bool(passes) => Ok(passes),
            _ if self.no_fail => Ok(false),
            _ => Err(refusal("the filter of a path cannot be told for an element")),
        }
    }
}

fn is_among(key: &[u8], sorted: &[&[u8]]) -> Result<bool, Malformed> {
    let (mut low, mut high) = (0, sorted.len());
    while low < high {
        let middle = low + (high - low) / 2;
        match compare(sorted[middle], key)? {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Equal => return Ok(true),
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    Ok(false)
}

/// The index of the one child that a level of one child picks; `None` when there is none.
fn chosen(pick: &Pick<'_>, collection: &Collection<'_>) -> Result<Option<u32>, Error> {
    Ok(match pick {
        Pick::ListIndex(index) => resolve(*index, collection.head.count),
        Pick::ListRank(rank) => by_order(*rank, collection, |child| child.value)?,
        Pick::MapRank(rank) => by_order(*rank, collection, |child| child.value)?,
        Pick::MapIndex(index) if collection.head.flags & flags::ORDERED != 0 => {
            resolve(*index, collection.head.count)
        }
        Pick::MapIndex(index) => by_order(*index, collection, |child| child.key.unwrap_or(&[]))?,
        Pick::ListValue(value) | Pick::MapValue(value) => {
            first(collection, |child| Some(child.value), value)?
        }
        Pick::MapKey(key) => first(collection, |child| child.key, key)?,
        Pick::MapKeysIn(_) | Pick::All(_) => None,
    })
}

fn by_order(
    rank: i64,
    collection: &Collection<'_>,
    by: impl for<'c> Fn(&'c Child<'_>) -> &'c [u8],
) -> Result<Option<u32>, Error> {
    let Some(rank) = resolve(rank, collection.head.count) else { return Ok(None) };
    let mut children = collection.children().collect::<Result<Vec<_>, _>>()?;
    sort_by_value(&mut children, by)?;
    Ok(children.get(rank as usize).map(|child| child.index))
}

fn first<'a>(
    collection: &Collection<'a>,
    part: impl Fn(&Child<'a>) -> Option<&'a [u8]>,
    wanted: &[u8],
) -> Result<Option<u32>, Error> {
    for child in collection.children() {
        let child = child?;
        if let Some(part) = part(&child)
            && compare(part, wanted)?.is_eq()
        {
            return Ok(Some(child.index));
        }
    }
    Ok(None)
}

//! Modify by path: edits at the places that were selected.

use cairn_value::collection::element_form;
use cairn_value::packed::{Head, Malformed, flags, write};
use cairn_value::{Edit, Edits, Error, Particle, ResultCode};

use super::Path;
use super::pick::{Child, Collection};
use crate::Effect;
use crate::cdt::stored::sort_by_value;
use crate::cdt::{Change, Place, Seq};
use crate::exp::{SIZE_MAX, Scope, Val};

/// The edits that apply the path's expression to what was selected.
pub(super) fn run<'a>(
    path: &'a Path<'_>,
    bin: Particle<'a>,
    scope: &'a Scope<'a>,
) -> Result<Effect, Error> {
    let mut inserted = 0;
    let changes = collection(path, bin.bytes, 0, scope, &mut inserted)?;
    if changes.is_empty() {
        return Ok(Effect::None);
    }
    let edits = together(changes);
    let edits = match Head::read(bin.bytes, 0)? {
        Some(head) if head.flags & flags::PERSIST_INDEX != 0 => reindexed(bin.bytes, &edits)?,
        _ => edits,
    };
    Ok(Effect::Edit { kind: bin.kind, edits })
}

fn together(changes: Vec<Edit>) -> Edits {
    let mut edits = Edits::none();
    for edit in changes {
        edits.push(edit.at, edit.remove, edit.insert);
    }
    edits
}

/// The edits of a bin with a persisted index, which is built anew for the new elements.
fn reindexed(old: &[u8], edits: &Edits) -> Result<Edits, Error> {
    let new = edits.apply(old);
    let head = Head::read(&new, 0)?.ok_or(Malformed::Truncated)?;
    let elements = new.get(head.body..).unwrap_or_default().to_vec();
    let seq = Seq::read(old, 0, Place::Top)?.ok_or(Malformed::Truncated)?;
    Change::replace(&seq, seq.flags(), elements, head.count).edits(&seq)
}

/// Ascending edits against the bytes of one collection.
fn collection<'a>(
    path: &'a Path<'_>,
    bytes: &'a [u8],
    level: usize,
    scope: &'a Scope<'a>,
    inserted: &mut usize,
) -> Result<Vec<Edit>, Error> {
    let collection_ = Collection::read(bytes)?;
    let mut edits = Vec::new();
    let mut removed = 0;
    path.pick(&collection_, level, scope, |child| {
        if !path.is_last(level) {
            if child.is_collection() {
                let inner = collection(path, child.value, level + 1, scope, inserted)?;
                edits.extend(inner.into_iter().map(|edit| Edit { at: edit.at + child.at, ..edit }));
            }
            return Ok(());
        }
        match change(path, &child, scope)? {
            New::Same => {}
            New::Removed => {
                removed += 1;
                let remove = child.end() - child.start;
                edits.push(Edit { at: child.start, remove, insert: Vec::new() });
            }
            New::Value(insert) => {
                *inserted += insert.len();
                if *inserted > SIZE_MAX {
                    return Err(Error::new(
                        ResultCode::RecordTooBig,
                        format!("a path may write {SIZE_MAX} bytes at most"),
                    ));
                }
                edits.push(Edit { at: child.at, remove: child.value.len(), insert });
            }
        }
        Ok(())
    })?;
    if edits.is_empty() {
        return Ok(edits);
    }
    let head = collection_.head;
    if removed > 0 {
        edits.insert(0, Edit { at: 0, remove: head.ext, insert: new_head(head, removed) });
    }
    let is_ordered_list = !head.is_map && head.flags & flags::ORDERED != 0;
    if is_ordered_list { resorted(bytes, edits) } else { Ok(edits) }
}

/// What becomes of one child.
enum New {
    Same,
    Removed,
    Value(Vec<u8>),
}

fn change<'a>(path: &'a Path<'_>, child: &Child<'a>, scope: &'a Scope<'a>) -> Result<New, Error> {
    let Some(program) = &path.change else { return Ok(New::Same) };
    let value = program.value_of_item(scope, child.item(), &path.work_left);
    if value == Val::Remove {
        return Ok(New::Removed);
    }
    let mut packed = Vec::new();
    match value.pack(&mut packed) {
        true if packed == child.value => Ok(New::Same),
        true => Ok(New::Value(element_form(&packed)?.into_owned())),
        false if path.no_fail => Ok(New::Same),
        false => {
            Err(Error::new(ResultCode::ServerError, "the new value of an element cannot be told"))
        }
    }
}

/// The head of a collection that lost some children; its extension stays behind it.
fn new_head(head: Head, removed: u32) -> Vec<u8> {
    let count = head.count - removed + u32::from(head.ext != head.body);
    let mut bytes = Vec::new();
    match head.is_map {
        true => write::map_head(&mut bytes, count),
        false => write::list_head(&mut bytes, count),
    }
    bytes
}

/// The edits of an ordered list as one that also puts its elements back in order.
fn resorted(old: &[u8], edits: Vec<Edit>) -> Result<Vec<Edit>, Error> {
    let new = together(edits).apply(old);
    let list = Collection::read(&new)?;
    let mut children = list.children().collect::<Result<Vec<_>, Malformed>>()?;
    sort_by_value(&mut children, |child| child.value)?;
    let mut insert = new.get(..list.head.body).unwrap_or_default().to_vec();
    children.iter().for_each(|child| insert.extend_from_slice(child.value));
    Ok(vec![Edit { at: 0, remove: old.len(), insert }])
}

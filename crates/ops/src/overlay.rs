//! A record's bins while a command runs: what stays is borrowed, what changes lies over it.

use std::borrow::Cow;
use std::collections::HashMap;

use cairn_value::{BinContent, Bins, Edits, NewBin, Particle, ParticleType};

use crate::Effect;

/// Bins from which on names are looked up in a map instead of one by one.
const INDEXED_FROM: usize = 32;

/// The bins as the operations so far have left them.
#[derive(Debug, Default)]
pub(crate) struct Overlay<'r> {
    slots: Vec<Slot<'r>>,
    /// Places by name, once there are many.
    places: Option<HashMap<&'r [u8], usize>>,
    changed: bool,
    /// True when an edited value has no view yet.
    unsettled: bool,
}

#[derive(Debug)]
struct Slot<'r> {
    bin: NewBin<'r>,
    /// True while the value is the stored one or edits of it.
    of_record: bool,
    /// The bytes of an edited value, once somebody asked for them.
    view: Option<Vec<u8>>,
}

impl<'r> Overlay<'r> {
    /// The bins of a stored record.
    pub(crate) fn new(bins: Bins<'r>) -> Self {
        let slot = |bin| Slot { bin: NewBin::kept(bin), of_record: true, view: None };
        Overlay { slots: bins.into_iter().map(slot).collect(), ..Overlay::default() }
    }

    /// How many bins there are.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// True when there are no bins.
    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// True when an operation has changed a bin.
    pub(crate) fn is_changed(&self) -> bool {
        self.changed
    }

    /// The bins in their final order.
    pub(crate) fn into_bins(self) -> Vec<NewBin<'r>> {
        self.slots.into_iter().map(|slot| slot.bin).collect()
    }

    /// The place of a bin.
    pub(crate) fn find(&mut self, name: &[u8]) -> Option<usize> {
        self.index();
        self.place(name)
    }

    /// Keeps the places by name while there are many bins.
    fn index(&mut self) {
        if self.slots.len() < INDEXED_FROM {
            self.places = None;
        } else if self.places.is_none() {
            let places = self.slots.iter().enumerate();
            self.places = Some(places.map(|(place, slot)| (slot.bin.name, place)).collect());
        }
    }

    fn place(&self, name: &[u8]) -> Option<usize> {
        match &self.places {
            Some(places) => places.get(name).copied(),
            None => self.slots.iter().position(|slot| slot.bin.name == name),
        }
    }

    /// The value of this name, after [`Overlay::settle_all`].
    pub(crate) fn get(&self, name: &[u8]) -> Option<Particle<'_>> {
        self.particle(self.place(name)?)
    }

    /// Name and value of one bin; an unchanged value is borrowed from where it came from.
    pub(crate) fn value(&self, place: usize) -> (&'r [u8], ParticleType, Cow<'r, [u8]>) {
        let slot = &self.slots[place];
        let bytes = match &slot.bin.content {
            BinContent::Whole(_, Cow::Borrowed(bytes)) => Cow::Borrowed(*bytes),
            BinContent::Whole(_, Cow::Owned(bytes)) => Cow::Owned(bytes.clone()),
            BinContent::Edited { old, edits, .. } => Cow::Owned(edits.apply(old)),
        };
        (slot.bin.name, slot.bin.kind(), bytes)
    }

    /// Makes every value readable in one piece through [`Overlay::get`], and quick to find.
    pub(crate) fn settle_all(&mut self) {
        if std::mem::take(&mut self.unsettled) {
            (0..self.slots.len()).for_each(|place| self.settle(place));
        }
        self.index();
    }

    /// Makes one value readable in one piece. Its edits stay for the store.
    pub(crate) fn settle(&mut self, place: usize) {
        let slot = &mut self.slots[place];
        if let (BinContent::Edited { old, edits, .. }, None) = (&slot.bin.content, &slot.view) {
            slot.view = Some(edits.apply(old));
        }
    }

    /// A value in one piece; `None` for an edited one that is not settled.
    pub(crate) fn particle(&self, place: usize) -> Option<Particle<'_>> {
        let slot = &self.slots[place];
        match (&slot.bin.content, &slot.view) {
            (BinContent::Whole(kind, bytes), _) => Some(Particle::new(*kind, bytes)),
            (BinContent::Edited { kind, .. }, Some(view)) => Some(Particle::new(*kind, view)),
            (BinContent::Edited { .. }, None) => None,
        }
    }

    /// Sets a bin, in its place or behind the others.
    pub(crate) fn put(&mut self, name: &'r [u8], kind: ParticleType, bytes: Cow<'r, [u8]>) {
        self.changed = true;
        let bin = NewBin { name, content: BinContent::Whole(kind, bytes) };
        match self.find(name) {
            Some(place) => self.slots[place] = Slot { bin, of_record: false, view: None },
            None => {
                if let Some(places) = &mut self.places {
                    places.insert(name, self.slots.len());
                }
                self.slots.push(Slot { bin, of_record: false, view: None });
            }
        }
    }

    /// Removes a bin; the last bin takes its place.
    pub(crate) fn remove(&mut self, name: &[u8]) {
        let Some(place) = self.find(name) else { return };
        self.changed = true;
        self.slots.swap_remove(place);
        if let Some(places) = &mut self.places {
            places.remove(name);
            if let Some(moved) = self.slots.get(place) {
                places.insert(moved.bin.name, place);
            }
        }
    }

    /// Removes all bins.
    pub(crate) fn clear(&mut self) {
        self.changed = true;
        self.slots.clear();
        self.places = None;
    }

    /// Carries out what an operation decided for the bin of this name.
    pub(crate) fn apply(&mut self, name: &'r [u8], effect: Effect) {
        match effect {
            Effect::None => {}
            Effect::Whole(kind, bytes) => self.put(name, kind, Cow::Owned(bytes)),
            Effect::Remove => self.remove(name),
            Effect::Edit { edits, .. } if edits.is_empty() => {}
            Effect::Edit { kind, edits } => match self.find(name) {
                Some(place) => self.edit(place, kind, edits),
                // Edits against nothing: all that there can be is what they insert.
                None => self.put(name, kind, Cow::Owned(edits.apply(&[]))),
            },
        }
    }

    /// The first edits of a stored value stay edits, so that the store need not rewrite it.
    fn edit(&mut self, place: usize, kind: ParticleType, edits: Edits) {
        self.changed = true;
        let slot = &mut self.slots[place];
        let content = match (&slot.bin.content, slot.view.take()) {
            (BinContent::Whole(_, Cow::Borrowed(old)), _) if slot.of_record => {
                BinContent::Edited { kind, old, edits }
            }
            (BinContent::Whole(_, old), _) => BinContent::Whole(kind, edits.apply(old).into()),
            (BinContent::Edited { .. }, Some(view)) => {
                BinContent::Whole(kind, edits.apply(&view).into())
            }
            (BinContent::Edited { old, edits: before, .. }, None) => {
                BinContent::Whole(kind, edits.apply(&before.apply(old)).into())
            }
        };
        self.unsettled |= matches!(content, BinContent::Edited { .. });
        slot.bin.content = content;
    }
}

//! A naive twin of the index: every change goes to both, and both must agree.

use super::*;

#[derive(Default)]
pub(super) struct Twin {
    pub index: PartitionIndex,
    /// What the index should hold.
    map: BTreeMap<Digest, Entry>,
    /// The log's record headers; places are never used twice.
    pub headers: HashMap<Place, Digest>,
    next_place: u64,
}

impl Twin {
    fn write(&mut self, digest: &Digest, void_time: u32) -> Entry {
        self.next_place += 1;
        let place = Place::from_u64(self.next_place << 20).unwrap();
        self.headers.insert(place, *digest);
        let (set_id, flags) = (digest.0[19].into(), digest.0[18] & 3);
        Entry { place, void_time, set_id, size: Size::of(100), flags }
    }

    pub fn find(&self, digest: &Digest) -> Option<Found> {
        let Ok(found) = self.index.find(digest, |place| Ok::<_, Infallible>(self.headers[&place]));
        found
    }

    pub fn upsert(&mut self, digest: Digest, void_time: u32) {
        let entry = self.write(&digest, void_time);
        let Twin { index, headers, .. } = self;
        let Ok(old) = index.upsert(&digest, &entry, |place| Ok::<_, Infallible>(headers[&place]));
        assert_eq!(old, self.map.insert(digest, entry));
        assert_eq!(self.find(&digest).map(|found| found.entry), Some(entry));
    }

    pub fn remove(&mut self, digest: &Digest) {
        let Twin { index, headers, .. } = self;
        let Ok(old) = index.remove(digest, |place| Ok::<_, Infallible>(headers[&place]));
        assert_eq!(old, self.map.remove(digest));
        assert_eq!(self.find(digest), None);
    }

    /// Writes a record again elsewhere, as defragmentation does.
    pub fn move_record(&mut self, digest: &Digest) {
        let old = self.map[digest];
        let new = self.write(digest, old.void_time);
        let Twin { index, headers, .. } = self;
        let full = |place| Ok::<_, Infallible>(headers[&place]);
        let Ok(nowhere) = index.find_place(digest, new.place, full);
        assert_eq!(nowhere, None);
        let Ok(found) = index.find_place(digest, old.place, full);
        assert_eq!(index.replace(found.unwrap().position, &new), old);
        self.map.insert(*digest, new);
    }

    /// The n-th living digest, counted around the end.
    pub fn nth(&self, n: usize) -> Option<Digest> {
        self.map.keys().nth(n.checked_rem(self.map.len())?).copied()
    }

    /// One step that removes expired records from both.
    pub fn sweep_step(&mut self, now: u32, walk: &mut Walk, budget: usize) -> Progress {
        let mut visited = 0;
        let mut removed = Vec::new();
        let progress = self.index.retain_step(walk, budget, |entry| {
            visited += 1;
            if entry.is_expired(now) {
                removed.push(*entry);
            }
            !entry.is_expired(now)
        });
        assert!(visited <= budget);
        for entry in removed {
            assert_eq!(self.map.remove(&self.headers[&entry.place]), Some(entry));
        }
        progress
    }

    /// The digests after one, or all, as the index gives them.
    pub fn digests_after(&self, after: Option<&Digest>) -> impl Iterator<Item = Digest> {
        let full = |place| Ok::<_, Infallible>(self.headers[&place]);
        let Ok(entries) = self.index.iter_after(after, full);
        entries.map(|entry| self.headers[&entry.place])
    }

    /// The digests before one, or all, from the greatest down, as the index gives them.
    pub fn digests_before(&self, before: Option<&Digest>) -> impl Iterator<Item = Digest> {
        let full = |place| Ok::<_, Infallible>(self.headers[&place]);
        let Ok(entries) = self.index.iter_before(before, full);
        entries.map(|entry| self.headers[&entry.place])
    }

    pub fn check_before(&self, before: &Digest) {
        let expected = self.map.range(..*before).rev().map(|(digest, _)| *digest);
        assert!(self.digests_before(Some(before)).eq(expected));
        let like: Vec<_> = self.index.iter_like(before).collect();
        let starts_alike = |digest: &Digest| digest.0[..8] == before.0[..8];
        let expected = self.map.iter().filter(|(digest, _)| starts_alike(digest));
        assert!(like.iter().eq(expected.map(|(_, entry)| entry)));
    }

    pub fn check_after(&self, after: &Digest) {
        let expected = self.map.range((Excluded(*after), Unbounded)).map(|(digest, _)| *digest);
        assert!(self.digests_after(Some(after)).eq(expected));
    }

    /// Compares everything, and checks the invariants of the shape.
    pub fn check(&self) {
        assert_eq!(self.index.len(), self.map.len());
        assert!(self.index.iter().eq(self.map.values().copied()));
        assert!(self.digests_after(None).eq(self.map.keys().copied()));
        assert!(self.digests_before(None).eq(self.map.keys().rev().copied()));
        let PartitionIndex { lows, leaves, .. } = &self.index;
        assert_eq!(lows.len(), leaves.len());
        assert!(lows.first().is_none_or(|low| *low == 0));
        for (low, leaf) in lows.iter().zip(leaves) {
            assert!((1..=LEAF_MAX).contains(&leaf.len()));
            assert!(*low <= leaf.entries()[0].prefix());
        }
        for (leaf, low) in leaves.iter().zip(lows.iter().skip(1)) {
            assert!(leaf.entries()[leaf.len() - 1].prefix() <= *low);
        }
        assert!(leaves.windows(2).all(|pair| pair[0].len() + pair[1].len() > MERGE_MAX));
    }
}

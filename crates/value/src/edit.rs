//! Edits: a change to a packed value, told as the places where it differs from the old one.

/// One change: at offset `at` of the old bytes, `remove` bytes go and `insert` bytes come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Offset in the old bytes.
    pub at: usize,
    /// Bytes of the old value that go.
    pub remove: usize,
    /// Bytes that take their place.
    pub insert: Vec<u8>,
}

/// Ascending, non-overlapping edits against one old value.
///
/// ```
/// use cairn_value::Edits;
/// let mut edits = Edits::default();
/// edits.push(0, 1, b"J".to_vec());
/// edits.push(5, 0, b"!".to_vec());
/// assert_eq!(edits.apply(b"hello"), b"Jello!");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    list: Vec<Edit>,
}

impl Edits {
    /// No edits: the value stays as it is.
    pub const fn none() -> Self {
        Edits { list: Vec::new() }
    }

    /// An edit that replaces all of a value of `old_len` bytes.
    pub fn replace_all(old_len: usize, new: Vec<u8>) -> Self {
        Edits { list: vec![Edit { at: 0, remove: old_len, insert: new }] }
    }

    /// Adds an edit behind the others. Adjacent edits are allowed, overlapping ones are not.
    pub fn push(&mut self, at: usize, remove: usize, insert: Vec<u8>) {
        debug_assert!(self.list.last().is_none_or(|last| last.at + last.remove <= at));
        if remove == 0 && insert.is_empty() {
            return;
        }
        self.list.push(Edit { at, remove, insert });
    }

    /// True when nothing changes.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The edits in ascending order.
    pub fn iter(&self) -> std::slice::Iter<'_, Edit> {
        self.list.iter()
    }

    /// Bytes that the edits insert.
    pub fn inserted_len(&self) -> usize {
        self.list.iter().map(|e| e.insert.len()).sum()
    }

    /// Length of the new value, given the length of the old.
    pub fn new_len(&self, old_len: usize) -> usize {
        let removed: usize = self.list.iter().map(|e| e.remove).sum();
        old_len - removed + self.inserted_len()
    }

    /// Hands the new value to `put`, piece by piece, without building it.
    pub fn write_to(&self, old: &[u8], mut put: impl FnMut(&[u8])) {
        let mut from = 0;
        for edit in &self.list {
            put(&old[from..edit.at]);
            put(&edit.insert);
            from = edit.at + edit.remove;
        }
        put(&old[from..]);
    }

    /// What the edits, which all lie in it, make of a part of the old value that starts at `start`.
    ///
    /// ```
    /// use cairn_value::Edits;
    /// let mut edits = Edits::default();
    /// edits.push(6, 1, b"W".to_vec());
    /// assert_eq!(edits.apply_from(6, b"world"), b"World");
    /// ```
    pub fn apply_from(&self, start: usize, part: &[u8]) -> Vec<u8> {
        let mut moved = Edits::none();
        for edit in &self.list {
            moved.push(edit.at - start, edit.remove, edit.insert.clone());
        }
        moved.apply(part)
    }

    /// The new value in one piece.
    pub fn apply(&self, old: &[u8]) -> Vec<u8> {
        let mut new = Vec::with_capacity(self.new_len(old.len()));
        self.write_to(old, |piece| new.extend_from_slice(piece));
        new
    }
}

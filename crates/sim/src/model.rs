//! What a namespace may answer, told naively: for each record the versions it may have.

use std::collections::BTreeMap;

/// A record as a reader sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    pub value: i64,
    pub padding: usize,
    pub generation: u16,
    pub void_time: u32,
    /// 0 when it is not known because the write was cut off.
    pub last_update_ns: u64,
    /// When the write was made, for promises that depend on time.
    pub made_ns: u64,
}

impl Version {
    /// Whether an answer is this version. Unknown times are not compared.
    pub fn is(&self, other: &Version) -> bool {
        let same_time = self.last_update_ns == 0
            || other.last_update_ns == 0
            || self.last_update_ns == other.last_update_ns;
        (self.value, self.padding, self.generation, self.void_time)
            == (other.value, other.padding, other.generation, other.void_time)
            && same_time
    }
}

/// What may become of one record in a crash: the version that is promised, and what came after it.
#[derive(Clone, Debug)]
pub struct History {
    /// The first is promised; the last is what readers see. `None` is no record.
    pub versions: Vec<(Option<Version>, u64)>,
    /// All there ever were.
    pub ever: Vec<Version>,
}

impl Default for History {
    fn default() -> Self {
        History { versions: vec![(None, 0)], ever: Vec::new() }
    }
}

impl History {
    /// What readers see, before expiry and truncation.
    pub fn current(&self) -> Option<&Version> {
        self.versions.last().and_then(|(version, _)| version.as_ref())
    }

    /// A write became visible.
    pub fn push(&mut self, version: Option<Version>, made_ns: u64) {
        self.ever.extend(version.clone());
        self.versions.push((version, made_ns));
    }

    /// Everything so far is promised.
    pub fn promise(&mut self) {
        let last = self.versions.len() - 1;
        self.versions.drain(..last);
    }

    /// Everything made before this time is promised.
    pub fn promise_before(&mut self, time_ns: u64) {
        let kept = self.versions.iter().rposition(|(_, made_ns)| *made_ns <= time_ns);
        self.versions.drain(..kept.unwrap_or(0));
    }

    /// A crash left this version.
    pub fn collapse(&mut self, version: Option<Version>) {
        self.versions = vec![(version, 0)];
    }
}

/// What the model knows of a namespace.
#[derive(Debug, Default)]
pub struct Model {
    pub records: BTreeMap<u64, History>,
    /// Cut-off of each set: promised, and possible.
    pub cut_offs: BTreeMap<u8, (u64, u64)>,
}

impl Model {
    pub fn cut_off(&self, set: u8) -> u64 {
        self.cut_offs.get(&set).map_or(0, |(promised, _)| *promised)
    }

    /// Whether a version is there for readers.
    pub fn is_visible(&self, set: u8, version: &Version, now_s: u32) -> bool {
        let expired = version.void_time != 0 && version.void_time <= now_s;
        let cut = version.last_update_ns != 0 && version.last_update_ns < self.cut_off(set);
        !expired && !cut
    }
}

//! One run: operations and faults that a seed decides, and the checks after each.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use cairn_engine::*;
use cairn_value::{BinContent, Digest, Error, Meta, NewBin, ParticleType, RecordView, ResultCode};
use parking_lot::Mutex;

use crate::chance::{Chance, SeededRng};
use crate::disk::{Drive, SimDisks};
use crate::model::{Model, Version};

const KEYS: u64 = 30;
const SETS: [&[u8]; 3] = [b"a", b"b", b"c"];
const START_NS: u64 = 1_767_225_600_000_000_000;
const INTERVAL_MS: u32 = 1000;
/// Attempts to open a namespace whose disk goes on failing.
const OPENINGS_MAX: usize = 8;

/// What a run came to.
#[derive(Debug)]
pub struct Outcome {
    /// The seed.
    pub seed: u64,
    /// Operations done.
    pub operations: u64,
    /// How often each fault was met.
    pub faults: BTreeMap<&'static str, u64>,
    /// What went wrong that should not.
    pub violation: Option<String>,
    /// What happened, line by line.
    pub history: Vec<String>,
}

/// Runs one seed.
pub fn run(seed: u64, operations: u64) -> Outcome {
    let mut sim = Simulation::new(seed);
    let mut violation = sim.open().err();
    let mut done = 0;
    while violation.is_none() && done < operations {
        violation = sim.operation().err();
        done += 1;
    }
    if violation.is_none() {
        violation = sim.crash().and_then(|()| sim.check_scans()).err();
    }
    if let Some(text) = &violation {
        sim.history.push(format!("VIOLATION {text}"));
    }
    drop(sim.engine.take());
    let faults = sim.drive.lock().faults.clone();
    Outcome { seed, operations: done, faults, violation, history: sim.history }
}

type Check = Result<(), String>;

struct Simulation {
    chance: Chance,
    drive: Arc<Mutex<Drive>>,
    clock: Arc<ManualClock>,
    rng: Arc<SeededRng>,
    config: NamespaceConfig,
    model: Model,
    engine: Option<Engine>,
    history: Vec<String>,
    next_value: i64,
    /// A bit has flipped, so that records may be corrupt.
    flipped: bool,
    /// Records that answered that they are corrupt.
    corrupt: BTreeSet<u64>,
}

fn set_of(key: u64) -> u8 {
    (key % SETS.len() as u64) as u8
}

fn target_of(key: u64) -> Target<'static> {
    let set = SETS[usize::from(set_of(key))];
    let digest = Digest::of(set, ParticleType::Integer, &key.to_be_bytes());
    Target { digest, set, key: None }
}

fn version_of(record: &RecordView<'_>) -> Version {
    let value = record.bins.get(b"v").and_then(|p| p.integer()).unwrap_or(i64::MIN);
    let blob = record.bins.get(b"b").map(|p| p.bytes).unwrap_or_default();
    let fits = blob.iter().all(|byte| *byte == value as u8);
    // A value that no write has made stands for a blob that no write has made.
    let value = if fits { value } else { i64::MIN };
    version(value, blob.len(), &record.meta, 0)
}

fn version(value: i64, padding: usize, meta: &Meta, made_ns: u64) -> Version {
    Version {
        value,
        padding,
        generation: meta.generation,
        void_time: meta.void_time,
        last_update_ns: meta.last_update_ns,
        made_ns,
    }
}

impl Simulation {
    fn new(seed: u64) -> Self {
        let chance = Chance::new(seed);
        let durability = match chance.below(4) {
            0 => Durability::None,
            1 => Durability::Interval(INTERVAL_MS),
            _ => Durability::Commit,
        };
        let blocks = 24 + chance.below(60);
        let cache_bytes = 4096 * (1 + chance.below(40));
        let config = NamespaceConfig {
            storage: Storage::File(FileStorage { directory: "/".into(), cache_bytes }),
            durability,
            block_size: 4096,
            max_record_size: 2048,
            storage_size: 4096 * blocks,
            nsup_period_s: 5,
            ..NamespaceConfig::new("sim")
        };
        let mut sim = Simulation {
            chance,
            drive: Drive::new(seed),
            clock: Arc::new(ManualClock::at(START_NS)),
            rng: Arc::new(SeededRng::new(seed)),
            config,
            model: Model::default(),
            engine: None,
            history: Vec::new(),
            next_value: 1,
            flipped: false,
            corrupt: BTreeSet::new(),
        };
        sim.note(format!("{durability:?}, {blocks} blocks, {cache_bytes} bytes of cache"));
        sim
    }

    fn note(&mut self, line: String) {
        self.history.push(line);
    }

    fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    fn namespace(&self) -> &Namespace {
        &self.engine.as_ref().expect("the engine is open between operations").namespaces()[0]
    }

    fn faults_met(&self) -> u64 {
        self.drive.lock().faults_met
    }

    fn is_dead(&self) -> bool {
        self.drive.lock().dead
    }

    /// Opens the namespace, again when a fault kept it from opening.
    fn open(&mut self) -> Check {
        for _ in 0..OPENINGS_MAX {
            let faults = self.faults_met();
            let seams = Seams {
                clock: self.clock.clone(),
                rng: self.rng.clone(),
                disks: Arc::new(SimDisks(self.drive.clone())),
                recovery_threads: 1,
                on_recovery: None,
            };
            match Engine::open([self.config.clone()], seams) {
                Ok(engine) => {
                    self.engine = Some(engine);
                    return Ok(());
                }
                Err(error) => {
                    self.note(format!("open: {error}"));
                    if self.is_dead() {
                        self.drive.lock().crash();
                    } else if self.faults_met() == faults {
                        return Err(format!("the namespace does not open: {error}"));
                    }
                    self.drive.lock().plan.full = false;
                }
            }
        }
        Err("the namespace does not open although faults have ended".into())
    }

    fn operation(&mut self) -> Check {
        match self.chance.below(100) {
            0..=41 => self.put()?,
            42..=51 => self.delete()?,
            52..=55 => self.touch()?,
            56..=65 => {
                let key = self.chance.below(KEYS);
                self.check_key(key)?;
            }
            66..=76 => self.background(),
            77..=82 => self.advance(),
            83..=84 => self.flush()?,
            85 => self.truncate()?,
            86..=87 => self.check_scans()?,
            88..=89 => self.crash()?,
            90 => self.restart()?,
            _ => self.arm_fault(),
        }
        if self.is_dead() {
            self.note("the power has failed".into());
            return self.crash();
        }
        if let Some(error) = self.namespace().write_failure() {
            self.note(format!("read-only: {error}"));
            // Reads go on.
            (0..KEYS).try_for_each(|key| self.check_key(key).map(drop))?;
            return self.crash();
        }
        Ok(())
    }

    fn put(&mut self) -> Check {
        let key = self.chance.below(KEYS);
        let value = self.next_value;
        self.next_value += 1;
        let longest = if self.chance.one_in(6) { 1800 } else { 200 };
        let padding = self.chance.below(longest) as usize;
        let ttl = match self.chance.below(5) {
            0 => Ttl::Seconds(1 + self.chance.below(20) as u32),
            1 => Ttl::Keep,
            _ => Ttl::Never,
        };
        let policy = WritePolicy { ttl, ..WritePolicy::default() };
        let integer = value.to_be_bytes().to_vec();
        let blob = vec![value as u8; padding];
        let bins = vec![
            NewBin {
                name: b"v",
                content: BinContent::Whole(ParticleType::Integer, integer.into()),
            },
            NewBin { name: b"b", content: BinContent::Whole(ParticleType::Blob, blob.into()) },
        ];
        self.note(format!("put {key} = {value} ({padding} bytes, {ttl:?})"));
        self.update(key, &policy, Some((value, padding)), |_| Ok((Change::Write(bins), ())))
    }

    fn touch(&mut self) -> Check {
        let key = self.chance.below(KEYS);
        let ttl = Ttl::Seconds(1 + self.chance.below(20) as u32);
        let policy = WritePolicy { ttl, ..WritePolicy::default() };
        let content =
            self.model.records.get(&key).and_then(|history| {
                history.current().map(|version| (version.value, version.padding))
            });
        self.note(format!("touch {key} {ttl:?}"));
        self.update(key, &policy, content, |_| Ok((Change::Touch, ())))
    }

    fn delete(&mut self) -> Check {
        let key = self.chance.below(KEYS);
        self.note(format!("delete {key}"));
        self.update(key, &WritePolicy::default(), None, |slot| match slot.record {
            Some(_) => Ok((Change::Delete, ())),
            None => Err(ResultCode::NotFound.into()),
        })
    }

    /// An update that leaves `content`, or no record.
    fn update(
        &mut self,
        key: u64,
        policy: &WritePolicy,
        content: Option<(i64, usize)>,
        f: impl for<'r> FnOnce(Slot<'r, 'static>) -> Result<(Change<'r>, ()), Error>,
    ) -> Check {
        if self.corrupt.contains(&key) {
            return Ok(());
        }
        let faults = self.faults_met();
        let result = self.namespace().update(&target_of(key), policy, f);
        let now_ns = self.now_ns();
        let commits = self.config.durability == Durability::Commit;
        let history = self.model.records.entry(key).or_default();
        match result {
            Ok(((), written)) => {
                let meta = written.meta();
                let new = content
                    .zip(meta)
                    .map(|((value, padding), meta)| version(value, padding, &meta, now_ns));
                history.push(new, now_ns);
                if commits {
                    history.promise();
                }
                Ok(())
            }
            Err(failure) => {
                let error = failure.error;
                self.note(format!("  refused: {error}"));
                self.update_failed(key, content, error, faults)
            }
        }
    }

    /// A refused update has changed nothing, or it is visible but not promised.
    fn update_failed(
        &mut self,
        key: u64,
        content: Option<(i64, usize)>,
        error: Error,
        faults: u64,
    ) -> Check {
        let now_ns = self.now_ns();
        let now_s = seconds_since_2010(now_ns);
        let current = self.model.records.entry(key).or_default().current().cloned();
        let visible = current.filter(|version| self.model.is_visible(set_of(key), version, now_s));
        match error.code {
            ResultCode::NotFound if visible.is_none() => return Ok(()),
            ResultCode::NotFound => return Err(format!("key {key}: not found by an update")),
            ResultCode::DeviceOverload | ResultCode::NoSpace => {}
            _ if self.note_if_corrupt(key, &error) => return Ok(()),
            _ if self.faults_met() != faults || self.is_dead() => {}
            _ => return Err(format!("key {key}: unexpected refusal: {error}")),
        }
        let history = self.model.records.entry(key).or_default();
        let read = self.engine.as_ref().map(|engine| {
            engine.namespaces()[0]
                .read(&target_of(key), &ReadPolicy::default(), |record| Ok(version_of(record)))
        });
        match read {
            Some(Ok((found, _))) => {
                if visible.as_ref().is_some_and(|version| version.is(&found)) {
                    return Ok(());
                }
                let is_new = content == Some((found.value, found.padding));
                if !is_new {
                    return Err(format!("key {key}: a refused update left {found:?}"));
                }
                history.push(Some(found), now_ns);
            }
            Some(Err(failure)) if failure.error.code == ResultCode::NotFound => {
                if content.is_some() && visible.is_some() {
                    return Err(format!("key {key}: a refused update has removed the record"));
                }
                if visible.is_some() {
                    history.push(None, now_ns);
                }
            }
            _ => {
                // It cannot be read, so both are possible.
                let void_time = 0;
                let new = content.map(|(value, padding)| Version {
                    value,
                    padding,
                    generation: 0,
                    void_time,
                    last_update_ns: 0,
                    made_ns: now_ns,
                });
                history.push(new, now_ns);
            }
        }
        Ok(())
    }

    /// Notes a record that says it is corrupt, which it may after a flipped bit.
    fn note_if_corrupt(&mut self, key: u64, error: &Error) -> bool {
        let is_corrupt = self.flipped && error.message.contains("corrupt");
        if is_corrupt {
            self.note(format!("  key {key} is corrupt"));
            self.corrupt.insert(key);
        }
        is_corrupt
    }

    /// Reads a key; `None` when faults keep it from being read.
    fn read(&mut self, key: u64) -> Result<Option<Option<Version>>, String> {
        let faults = self.faults_met();
        let read =
            self.namespace().read(&target_of(key), &ReadPolicy::default(), |r| Ok(version_of(r)));
        match read {
            Ok((found, _)) => Ok(Some(Some(found))),
            Err(failure) if failure.error.code == ResultCode::NotFound => Ok(Some(None)),
            Err(failure) => {
                let error = failure.error;
                let tolerated = self.note_if_corrupt(key, &error)
                    || self.faults_met() != faults
                    || self.is_dead();
                if tolerated { Ok(None) } else { Err(format!("key {key}: read failed: {error}")) }
            }
        }
    }

    fn check_key(&mut self, key: u64) -> Result<Option<Version>, String> {
        if self.corrupt.contains(&key) {
            return Ok(None);
        }
        let Some(found) = self.read(key)? else { return Ok(None) };
        let now_s = seconds_since_2010(self.now_ns());
        let current = self.model.records.entry(key).or_default().current().cloned();
        let expected = current.filter(|version| self.model.is_visible(set_of(key), version, now_s));
        let same = match (&expected, &found) {
            (None, None) => true,
            (Some(expected), Some(found)) => expected.is(found),
            _ => false,
        };
        if same {
            return Ok(found);
        }
        Err(format!("key {key}: read {found:?}, expected {expected:?}"))
    }

    fn background(&mut self) {
        let budget = Budget {
            entries: 1 + self.chance.below(5000) as usize,
            bytes: 1 + self.chance.below(20_000) as usize,
        };
        let progress = self.namespace().step(budget);
        self.note(format!("step {budget:?}: {progress:?}"));
        let now_ns = self.now_ns();
        let promises = self.config.durability == Durability::Interval(INTERVAL_MS)
            && !self.is_dead()
            && self.namespace().write_failure().is_none();
        if promises {
            let before_ns = now_ns - u64::from(INTERVAL_MS) * 1_000_000;
            let histories = self.model.records.values_mut();
            histories.for_each(|history| history.promise_before(before_ns));
        }
    }

    fn advance(&mut self) {
        let seconds = self.chance.below(6);
        self.clock.advance_s(seconds);
        self.note(format!("{seconds} s pass"));
    }

    fn flush(&mut self) -> Check {
        let faults = self.faults_met();
        match self.namespace().flush() {
            Ok(()) => {
                self.note("flush".into());
                self.model.records.values_mut().for_each(|history| history.promise());
                Ok(())
            }
            Err(error) if self.faults_met() != faults || self.is_dead() => {
                self.note(format!("flush: {error}"));
                Ok(())
            }
            Err(error) => Err(format!("flush failed: {error}")),
        }
    }

    fn truncate(&mut self) -> Check {
        let set = self.chance.below(SETS.len() as u64) as u8;
        let ago_ns = self.chance.below(8) * 1_000_000_000;
        let before_ns = self.now_ns() - ago_ns;
        let faults = self.faults_met();
        let result = self.namespace().truncate(Some(SETS[usize::from(set)]), Some(before_ns));
        self.note(format!("truncate {set} {ago_ns} ns ago: {result:?}"));
        let (promised, possible) = self.model.cut_offs.entry(set).or_default();
        *possible = (*possible).max(before_ns);
        match result {
            Ok(()) => {
                *promised = (*promised).max(before_ns);
                Ok(())
            }
            Err(_) if self.faults_met() != faults || self.is_dead() => Ok(()),
            Err(error) => Err(format!("truncation failed: {error}")),
        }
    }

    /// Scans show what reads show.
    fn check_scans(&mut self) -> Check {
        let mut expected = BTreeMap::new();
        for key in 0..KEYS {
            if let Some(found) = self.check_key(key)? {
                expected.insert(target_of(key).digest, found.value);
            }
        }
        let partitions: BTreeSet<_> = (0..KEYS).map(|k| target_of(k).digest.partition()).collect();
        let corrupt: BTreeSet<Digest> =
            self.corrupt.iter().map(|key| target_of(*key).digest).collect();
        let mut seen = BTreeMap::new();
        for partition in partitions {
            let faults = self.faults_met();
            let scan = self.namespace().scan(partition, None, |record| {
                seen.insert(record.digest, version_of(record).value);
                ControlFlow::Continue(())
            });
            match scan {
                Ok(_) => {}
                Err(_) if self.faults_met() != faults || self.is_dead() => return Ok(()),
                Err(error) if self.flipped && error.message.contains("corrupt") => return Ok(()),
                Err(error) => return Err(format!("scan failed: {error}")),
            }
        }
        seen.retain(|digest, _| !corrupt.contains(digest));
        self.note(format!("scan: {} records", seen.len()));
        if self.is_dead() || self.corrupt.len() != corrupt.len() || seen == expected {
            return Ok(());
        }
        Err(format!("scans show {seen:?}, reads {expected:?}"))
    }

    /// Stops cleanly and starts again.
    fn restart(&mut self) -> Check {
        let faults = self.faults_met();
        let engine = self.engine.take();
        let closed = engine.as_ref().map_or(Ok(()), Engine::close);
        self.note(format!("close: {closed:?}"));
        drop(engine);
        match closed {
            Ok(()) => self.model.records.values_mut().for_each(|history| history.promise()),
            Err(_) if self.faults_met() != faults || self.is_dead() => {}
            Err(error) => return Err(format!("close failed: {error}")),
        }
        if self.is_dead() {
            return self.crash();
        }
        self.open()?;
        self.check_recovered()
    }

    /// The power fails now, unless it has already.
    fn crash(&mut self) -> Check {
        drop(self.engine.take());
        self.drive.lock().crash();
        self.note("crash".into());
        self.open()?;
        self.check_recovered()
    }

    /// What a crash has left must be what was promised, or came after it.
    fn check_recovered(&mut self) -> Check {
        let lied = std::mem::take(&mut self.drive.lock().crashed_lying);
        if lied {
            // What the sync did not write looks like damage once a later flush is found.
            self.note("a lost sync was never made up for".into());
            self.flipped = true;
        }
        for stats in self.namespace().set_stats() {
            let Some(set) = SETS.iter().position(|name| *name == stats.name) else { continue };
            let (promised, possible) = self.model.cut_offs.entry(set as u8).or_default();
            let found = stats.truncated_before_ns;
            if found < *promised || found > *possible {
                return Err(format!("set {set}: cut-off {found}, expected {promised}"));
            }
            (*promised, *possible) = (found, found);
        }
        for key in 0..KEYS {
            if !self.corrupt.contains(&key) {
                self.check_recovered_key(key, lied)?;
            }
        }
        if lied {
            // Anything that was durable before may come to light or be missing from now on.
            self.note("a new drive".into());
            drop(self.engine.take());
            self.drive.lock().replace();
            (self.model, self.flipped) = (Model::default(), false);
            self.corrupt.clear();
            return self.open();
        }
        Ok(())
    }

    fn check_recovered_key(&mut self, key: u64, lied: bool) -> Check {
        let Some(found) = self.read(key)? else { return Ok(()) };
        let now_s = seconds_since_2010(self.now_ns());
        let history = self.model.records.entry(key).or_default().clone();
        let mut candidates: Vec<Option<Version>> =
            history.versions.iter().map(|(version, _)| version.clone()).collect();
        if lied {
            candidates.push(None);
            candidates.extend(history.ever.iter().cloned().map(Some));
        }
        let matches = candidates.iter().any(|candidate| {
            let visible = candidate
                .as_ref()
                .filter(|version| self.model.is_visible(set_of(key), version, now_s));
            match (visible, &found) {
                (None, None) => true,
                // A version that was cut off is known by its value alone.
                (Some(version), Some(found)) if version.generation == 0 => {
                    (version.value, version.padding) == (found.value, found.padding)
                }
                (Some(version), Some(found)) => version.is(found),
                _ => false,
            }
        });
        if !matches {
            return Err(format!("key {key}: found {found:?}, possible were {candidates:?}"));
        }
        self.model.records.entry(key).or_default().collapse(found);
        Ok(())
    }

    fn arm_fault(&mut self) {
        let crash_in = self.chance.below(30);
        let kind = self.chance.below(14);
        let mut drive = self.drive.lock();
        let plan = &mut drive.plan;
        let what = match kind {
            0..=5 => {
                plan.crash_in = Some(crash_in);
                format!("the power will fail in {crash_in} calls")
            }
            6 => {
                plan.lose_sync = true;
                "the next sync will be lost".into()
            }
            7 => {
                plan.fail_sync = true;
                "the next sync will fail".into()
            }
            8 => {
                plan.fail_write = true;
                "the next write will fail".into()
            }
            9 => {
                plan.fail_read = true;
                "the next read will fail".into()
            }
            10 => {
                plan.full = !plan.full;
                format!("the disk is {}full", if plan.full { "" } else { "no longer " })
            }
            _ => {
                let flip = drive.flip();
                self.flipped |= flip.is_some();
                format!("a bit flips: {flip:?}")
            }
        };
        drop(drive);
        self.note(what);
    }
}

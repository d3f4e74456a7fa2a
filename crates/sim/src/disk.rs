//! A disk that fails on command.
//!
//! What is written stays in the drive's memory until a sync, sector by sector. A crash keeps or
//! loses each of these sectors on its own, and of a sector that was written twice it may keep
//! either version. Names are durable when a call returns, as the engine's contract has it.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use cairn_engine::disk::{Disk, DiskFile, Disks};
use parking_lot::Mutex;

use crate::chance::Chance;

/// Bytes that are written whole or not at all.
pub const SECTOR: usize = 512;

type Sector = [u8; SECTOR];

/// What goes wrong next.
#[derive(Debug, Default)]
pub struct Plan {
    /// Calls that change something until the power fails, before or after the last of them.
    pub crash_in: Option<u64>,
    /// The next sync of `data` reports success and does nothing.
    pub lose_sync: bool,
    /// The next sync of `data` fails.
    pub fail_sync: bool,
    /// The next write to `data` fails.
    pub fail_write: bool,
    /// The next read of `data` fails.
    pub fail_read: bool,
    /// The disk is full: nothing can be allocated.
    pub full: bool,
}

/// A drive with the files of one namespace.
#[derive(Debug)]
pub struct Drive {
    files: BTreeMap<String, File>,
    pub plan: Plan,
    /// The power is off: every call fails.
    pub dead: bool,
    /// Faults that calls met.
    pub faults_met: u64,
    /// How often each fault was met.
    pub faults: BTreeMap<&'static str, u64>,
    /// A sync was lost and no later one has made up for it.
    pub lied: bool,
    /// A crash came while a lost sync had not been made up for.
    pub crashed_lying: bool,
    chance: Chance,
}

#[derive(Debug, Default)]
struct File {
    /// What reads see.
    now: Vec<u8>,
    /// Length after a crash, unless the crash keeps the new one.
    durable_len: usize,
    /// Versions of sectors that are not synced, the durable one first.
    pending: BTreeMap<usize, Vec<Sector>>,
    /// Sectors that the last syncs made durable.
    fresh: Vec<Vec<usize>>,
}

impl File {
    fn sector(&self, number: usize) -> Sector {
        let mut sector = [0; SECTOR];
        let rest = self.now.get(number * SECTOR..).unwrap_or_default();
        let len = rest.len().min(SECTOR);
        sector[..len].copy_from_slice(&rest[..len]);
        sector
    }

    fn write(&mut self, offset: usize, bytes: &[u8]) {
        let end = offset + bytes.len();
        let sectors = offset / SECTOR..end.div_ceil(SECTOR);
        for number in sectors.clone() {
            let before = self.sector(number);
            self.pending.entry(number).or_insert_with(|| vec![before]);
        }
        if self.now.len() < end {
            self.now.resize(end, 0);
        }
        self.now[offset..end].copy_from_slice(bytes);
        for number in sectors {
            let after = self.sector(number);
            if let Some(versions) = self.pending.get_mut(&number) {
                versions.push(after);
            }
        }
    }

    fn sync(&mut self) {
        self.durable_len = self.now.len();
        if self.pending.is_empty() {
            return;
        }
        let synced = std::mem::take(&mut self.pending).into_keys().collect();
        self.fresh.push(synced);
        if self.fresh.len() > 2 {
            self.fresh.remove(0);
        }
    }

    fn crash(&mut self, chance: &Chance) {
        let mode = chance.below(4);
        for (number, versions) in std::mem::take(&mut self.pending) {
            let kept = match mode {
                0 => 0,
                1 => versions.len() - 1,
                _ => chance.below(versions.len() as u64) as usize,
            };
            let rest = self.now.get_mut(number * SECTOR..).unwrap_or_default();
            let len = rest.len().min(SECTOR);
            rest[..len].copy_from_slice(&versions[kept][..len]);
        }
        if mode == 0 || mode > 1 && chance.one_in(2) {
            self.now.truncate(self.durable_len);
        }
        self.durable_len = self.now.len();
        self.fresh.clear();
    }
}

impl Drive {
    pub fn new(seed: u64) -> Arc<Mutex<Drive>> {
        Arc::new(Mutex::new(Drive {
            files: BTreeMap::new(),
            plan: Plan::default(),
            dead: false,
            faults_met: 0,
            faults: BTreeMap::new(),
            lied: false,
            crashed_lying: false,
            chance: Chance::new(seed ^ 0xd15c),
        }))
    }

    /// The power fails and comes back.
    pub fn crash(&mut self) {
        self.count("crash");
        let chance = Chance::new(self.chance.next());
        self.files.values_mut().for_each(|file| file.crash(&chance));
        self.plan = Plan { full: self.plan.full, ..Plan::default() };
        self.dead = false;
        self.crashed_lying |= std::mem::take(&mut self.lied);
    }

    /// An empty drive takes the place of this one.
    pub fn replace(&mut self) {
        self.files.clear();
        self.plan = Plan::default();
    }

    /// Flips a bit of `data` that has been at rest for two syncs; says where. Damage to the very
    /// last flush cannot be told from what a crash cuts off, so it is not done.
    pub fn flip(&mut self) -> Option<(usize, u32)> {
        let file = self.files.get_mut("data")?;
        if file.now.len() <= 4096 {
            return None;
        }
        let at = self.chance.below(file.now.len() as u64) as usize;
        let sector = at / SECTOR;
        let moving = file.pending.contains_key(&sector)
            || file.fresh.iter().flatten().any(|fresh| *fresh == sector);
        if moving || file.fresh.len() < 2 {
            return None;
        }
        let bit = self.chance.below(8) as u32;
        file.now[at] ^= 1 << bit;
        self.count("bit flip");
        Some((at, bit))
    }

    fn count(&mut self, fault: &'static str) {
        *self.faults.entry(fault).or_default() += 1;
    }

    fn meet(&mut self, fault: &'static str, kind: io::ErrorKind) -> io::Error {
        self.faults_met += 1;
        self.count(fault);
        io::Error::new(kind, format!("simulated {fault}"))
    }

    fn check_power(&mut self) -> io::Result<()> {
        if self.dead { Err(io::Error::other("the power is off")) } else { Ok(()) }
    }

    /// A call that changes something; `Ok(true)` when the power fails right after it.
    fn boundary(&mut self) -> io::Result<bool> {
        self.check_power()?;
        match &mut self.plan.crash_in {
            Some(0) => {
                self.plan.crash_in = None;
                self.faults_met += 1;
                self.dead = true;
                if self.chance.one_in(2) { Ok(true) } else { self.check_power().map(|()| true) }
            }
            Some(left) => {
                *left -= 1;
                Ok(false)
            }
            None => Ok(false),
        }
    }
}

/// Gives the engine its drive.
#[derive(Debug)]
pub struct SimDisks(pub Arc<Mutex<Drive>>);

impl Disks for SimDisks {
    fn open(&self, _: &Path, _: &str) -> io::Result<Arc<dyn Disk>> {
        self.0.lock().check_power()?;
        Ok(Arc::new(SimDisk(self.0.clone())))
    }
}

struct SimDisk(Arc<Mutex<Drive>>);

struct SimFile {
    drive: Arc<Mutex<Drive>>,
    name: String,
}

/// Runs a call that changes something, unless the power fails before it; fails when the power
/// fails after it.
fn change<R>(drive: &mut Drive, change: impl FnOnce(&mut Drive) -> io::Result<R>) -> io::Result<R> {
    let dies = drive.boundary()?;
    let done = change(drive);
    if dies { Err(io::Error::other("the power failed")) } else { done }
}

impl Disk for SimDisk {
    fn open(&self, name: &str, create: bool) -> io::Result<Box<dyn DiskFile>> {
        let mut drive = self.0.lock();
        drive.check_power()?;
        if !drive.files.contains_key(name) {
            if !create {
                return Err(io::ErrorKind::NotFound.into());
            }
            change(&mut drive, |drive| {
                drive.files.insert(name.into(), File::default());
                Ok(())
            })?;
        }
        Ok(Box::new(SimFile { drive: self.0.clone(), name: name.into() }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        change(&mut self.0.lock(), |drive| {
            let file = drive.files.remove(from).ok_or(io::ErrorKind::NotFound)?;
            drive.files.insert(to.into(), file);
            Ok(())
        })
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        change(&mut self.0.lock(), |drive| {
            drive.files.remove(name);
            Ok(())
        })
    }

    fn exists(&self, name: &str) -> io::Result<bool> {
        let mut drive = self.0.lock();
        drive.check_power()?;
        Ok(drive.files.contains_key(name))
    }
}

impl SimFile {
    fn is_data(&self) -> bool {
        self.name == "data"
    }
}

impl DiskFile for SimFile {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let mut drive = self.drive.lock();
        drive.check_power()?;
        if self.is_data() && std::mem::take(&mut drive.plan.fail_read) {
            return Err(drive.meet("EIO on read", io::ErrorKind::Other));
        }
        let file = drive.files.get(&self.name).ok_or(io::ErrorKind::NotFound)?;
        let range = offset as usize..offset as usize + bytes.len();
        bytes.copy_from_slice(file.now.get(range).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut drive = self.drive.lock();
        if self.is_data() && std::mem::take(&mut drive.plan.fail_write) {
            return Err(drive.meet("EIO on write", io::ErrorKind::Other));
        }
        change(&mut drive, |drive| {
            let file = drive.files.get_mut(&self.name).ok_or(io::ErrorKind::NotFound)?;
            file.write(offset as usize, bytes);
            Ok(())
        })
    }

    fn sync(&self) -> io::Result<()> {
        let mut drive = self.drive.lock();
        if self.is_data() && std::mem::take(&mut drive.plan.fail_sync) {
            return Err(drive.meet("EIO on sync", io::ErrorKind::Other));
        }
        change(&mut drive, |drive| {
            let file = drive.files.get_mut(&self.name).ok_or(io::ErrorKind::NotFound)?;
            if self.name == "data" {
                if std::mem::take(&mut drive.plan.lose_sync) {
                    drive.lied = true;
                    drive.count("lost sync");
                    return Ok(());
                }
                drive.lied = false;
            }
            file.sync();
            Ok(())
        })
    }

    fn len(&self) -> io::Result<u64> {
        let mut drive = self.drive.lock();
        drive.check_power()?;
        Ok(drive.files.get(&self.name).ok_or(io::ErrorKind::NotFound)?.now.len() as u64)
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        let mut drive = self.drive.lock();
        if drive.plan.full {
            return Err(drive.meet("ENOSPC", io::ErrorKind::StorageFull));
        }
        change(&mut drive, |drive| {
            let file = drive.files.get_mut(&self.name).ok_or(io::ErrorKind::NotFound)?;
            let end = (offset + len) as usize;
            if file.now.len() < end {
                file.now.resize(end, 0);
            }
            Ok(())
        })
    }
}

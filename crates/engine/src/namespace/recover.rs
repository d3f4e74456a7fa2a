//! Opening a namespace in files: after a clean stop from what was written down, after a crash by
//! reading the log.
//!
//! A crash may cut off what was not synced: entries are missing, or their bodies are. Damage looks
//! the same, but elsewhere. The number of the flush in each header tells them apart: a flush of
//! which something was found proves that those before it were durable. So what is wrong in an
//! earlier flush is damage, and its record answers with an error until it is overwritten or
//! deleted; what is wrong in the last flush was never acknowledged, and is turned into a void.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use cairn_value::{Digest, Error, ResultCode};
use parking_lot::Mutex;

use super::files::FileState;
use super::meta::Meta;
use super::{FLAG_SUPERSEDES, FLAG_TOMBSTONE, Namespace};
use crate::config::{FileStorage, NamespaceConfig};
use crate::index::{Entry, Place, Progress, Search, Size, Walk};
use crate::log::entry::{EntryView, HEADER_LEN, Kind};
use crate::log::format::{BlockHeader, FileHeader};
use crate::log::{BlockScanner, Health, Log, Scanned, Survey};
use crate::seams::{Recovery, Seams};

/// Blocks between two reports of progress.
const REPORT_EVERY: u32 = 16;

/// Something that is wrong, until it is known whether a crash or damage made it so.
struct Suspect {
    header: BlockHeader,
    from: usize,
    to: usize,
    /// The number of its flush, or of the entry behind it.
    batch: u64,
    /// What its header says, when that can be believed.
    found: Option<FoundEntry>,
}

/// What the header of an entry says.
#[derive(Clone, Copy)]
struct FoundEntry {
    digest: Digest,
    sequence: u64,
    entry: Entry,
}

/// Opens the files of a namespace; its log is not read yet.
pub(super) fn open_files(
    config: &NamespaceConfig,
    storage: &FileStorage,
    seams: &Seams,
) -> Result<(Log, FileState), Error> {
    let disk = seams.disks.open(&storage.directory, &config.name).map_err(|error| {
        let path = storage.directory.join(&config.name);
        let text = match error.kind() {
            io::ErrorKind::WouldBlock => format!(
                "directory {} is in use by another process; stop it, or choose another directory",
                path.display()
            ),
            _ => format!("directory {} cannot be opened: {error}", path.display()),
        };
        Error::new(ResultCode::ServerError, text)
    })?;
    let cannot = |error: io::Error| Error::new(ResultCode::ServerError, format!("`data`: {error}"));
    let meta = match Meta::read(&*disk)? {
        Some(meta) => meta,
        None if disk.exists("data").map_err(cannot)? => {
            let text = "`data` is there, but `meta` is missing; restore it from a copy";
            return Err(Error::new(ResultCode::ServerError, text));
        }
        None => {
            let meta = Meta { instance: seams.rng.next_u64(), ..Meta::default() };
            meta.write(&*disk)?;
            meta
        }
    };
    let header = FileHeader {
        block_size: config.block_size,
        instance: meta.instance,
        namespace: config.name.clone(),
    };
    let file = disk.open("data", true).map_err(cannot)?;
    let log = Log::open(file, &header, config.storage_size, storage.cache_bytes)?;
    Ok((log, FileState::new(disk, meta)))
}

impl Namespace {
    /// Reads the log and builds the index.
    pub(super) fn recover(&self, seams: &Seams) -> Result<(), Error> {
        let blocks = self.log.blocks_on_disk()?;
        let (next, done) = (AtomicU32::new(0), AtomicU32::new(0));
        let suspects = Mutex::new(Vec::new());
        let work = || -> Result<Survey, Error> {
            let mut survey = Survey::default();
            loop {
                let id = next.fetch_add(1, Ordering::Relaxed);
                if id >= blocks {
                    return Ok(survey);
                }
                self.recover_block(id, &mut survey, &suspects)?;
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                if done % REPORT_EVERY == 0 || done == blocks {
                    self.report(seams, done, blocks);
                }
            }
        };
        let mut survey = Survey::default();
        if seams.recovery_threads <= 1 || blocks <= 1 {
            survey = work()?;
        } else {
            std::thread::scope(|scope| {
                let workers: Vec<_> =
                    (0..seams.recovery_threads).map(|_| scope.spawn(work)).collect();
                workers.into_iter().try_for_each(|worker| {
                    let failed = || Error::new(ResultCode::ServerError, "recovery panicked");
                    survey.merge(worker.join().map_err(|_| failed())??);
                    Ok::<(), Error>(())
                })
            })?;
        }
        self.settle_suspects(suspects.into_inner(), survey.batch_max)?;
        self.log.resume(survey, blocks, seams.rng.next_u64() >> 32);
        self.count_recovered();
        self.log.tidy(self.settings.defrag_below_percent());
        Ok(())
    }

    fn report(&self, seams: &Seams, blocks_done: u32, blocks: u32) {
        if let Some(report) = &seams.on_recovery {
            report(Recovery { namespace: self.name().into(), blocks_done, blocks });
        }
    }

    fn recover_block(
        &self,
        id: u32,
        survey: &mut Survey,
        suspects: &Mutex<Vec<Suspect>>,
    ) -> Result<(), Error> {
        let Some((header, mut scanner)) = self.log.survey_block(id, survey)? else {
            return Ok(());
        };
        let end =
            self.recover_entries(&header, &mut scanner, survey, suspects).map_err(|error| {
                match error {
                    Trouble::Disk(error) => Error::new(
                        ResultCode::ServerError,
                        format!("block {id} of `data` cannot be read: {error}"),
                    ),
                    Trouble::Refused(error) => error,
                }
            })?;
        self.log.set_filled(id, end);
        Ok(())
    }

    /// Puts the entries of a block into the index and says where they end.
    fn recover_entries(
        &self,
        header: &BlockHeader,
        scanner: &mut BlockScanner<'_>,
        survey: &mut Survey,
        suspects: &Mutex<Vec<Suspect>>,
    ) -> Result<usize, Trouble> {
        let mut gap: Option<(usize, usize)> = None;
        while let Some(scanned) = scanner.next().map_err(Trouble::Disk)? {
            let (view, place, health) = match scanned {
                Scanned::Gap { from, to } => {
                    gap = Some((from, to));
                    continue;
                }
                Scanned::Entry { view, place, health } => (view, place, health),
            };
            let batch = self.log.batch_of(view.batch(), header);
            survey.batch_max = survey.batch_max.max(batch);
            if let Some((from, to)) = gap.take() {
                let suspect = Suspect { header: *header, from, to, batch, found: None };
                suspects.lock().push(suspect);
            }
            if view.kind() == Some(Kind::Void) {
                continue;
            }
            survey.sequence_max = survey.sequence_max.max(view.sequence());
            let size = Size::of(view.len());
            if view.kind() == Some(Kind::Tombstone) {
                self.log.add_tombstone(place, size);
            }
            let found = self.found_entry(&view, place, health)?;
            if health != Health::BadBody {
                self.recover_entry(&found, true)?;
                continue;
            }
            let from = place.byte_offset();
            let to = from + size.bytes();
            let found = Some(found);
            suspects.lock().push(Suspect { header: *header, from, to, batch, found });
        }
        Ok(scanner.offset())
    }

    fn found_entry(
        &self,
        view: &EntryView<'_>,
        place: Place,
        health: Health,
    ) -> Result<FoundEntry, Error> {
        let is_tombstone = view.kind() == Some(Kind::Tombstone);
        // The name of the set is in the body.
        let set: &[u8] =
            if health != Health::BadBody && !is_tombstone { view.record().set } else { b"" };
        let mut flags = if view.supersedes() { FLAG_SUPERSEDES } else { 0 };
        if is_tombstone {
            flags |= FLAG_TOMBSTONE;
        }
        let entry = Entry {
            place,
            void_time: view.meta().void_time,
            set_id: self.sets.id_or_create(set)?,
            size: Size::of(view.len()),
            flags,
        };
        Ok(FoundEntry { digest: view.digest(), sequence: view.sequence(), entry })
    }

    /// Lets the index point at an entry unless it knows a newer one of the digest. Of a record and
    /// a tombstone with the same number the tombstone counts, of two copies the intact one.
    fn recover_entry(&self, found: &FoundEntry, is_intact: bool) -> Result<(), Error> {
        let mut index = self.partition(&found.digest).write();
        match index.search(&found.digest, |place| self.digest_at(place))? {
            Search::Vacant(vacancy) => index.insert_at(vacancy, &found.entry),
            Search::Found(other) => {
                let header = self.log.header(other.entry.place)?;
                let is_tombstone = |entry: &Entry| entry.flags & FLAG_TOMBSTONE != 0;
                let rank = (sequence_of(&header), is_tombstone(&other.entry));
                let own = (found.sequence, is_tombstone(&found.entry));
                let wins = own > rank
                    || own == rank && is_intact && self.log.entry(other.entry.place).is_err();
                // Whichever it is, there is an older one on disk, also when its writer did not
                // know because that one had expired.
                let (mut newest, older) =
                    if wins { (found.entry, other.entry) } else { (other.entry, found.entry) };
                newest.flags |= FLAG_SUPERSEDES;
                if older.void_time != 0 {
                    // It may have expired before the newer one came, and hide others still.
                    self.log.hide_older(older.place);
                }
                index.replace(other.position, &newest);
            }
        }
        Ok(())
    }

    /// Now that the last flush is known: what is wrong in it was cut off, the rest is damage.
    fn settle_suspects(&self, suspects: Vec<Suspect>, batch_max: u64) -> Result<(), Error> {
        let mut is_changed = false;
        for suspect in suspects {
            if suspect.batch < batch_max {
                if let Some(files) = self.log.files() {
                    files.count_corrupt();
                }
                if let Some(found) = &suspect.found {
                    self.recover_entry(found, false)?;
                }
            } else {
                self.log.void(&suspect.header, suspect.from, suspect.to)?;
                is_changed = true;
            }
        }
        if is_changed { self.log.sync() } else { Ok(()) }
    }

    /// Counts what is live, now that it is known, and takes tombstones out of the index: they have
    /// hidden what they had to.
    pub(super) fn count_recovered(&self) {
        for partition in &self.partitions {
            let mut index = partition.write();
            let mut walk = Walk::new();
            let keep = |entry: &Entry| entry.flags & FLAG_TOMBSTONE == 0;
            while index.retain_step(&mut walk, usize::MAX, keep) != Progress::Finished {}
            for entry in index.iter() {
                self.log.add_live(entry.place, entry.size);
                self.sets.with(entry.set_id, |set| set.add(entry.size.bytes() as u64));
            }
        }
    }
}

/// Why a block could not be read.
enum Trouble {
    Disk(io::Error),
    Refused(Error),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Trouble::Refused(error)
    }
}

fn sequence_of(header: &[u8; HEADER_LEN]) -> u64 {
    EntryView::of_header(header).sequence()
}

//! Opening a data file, and putting a log together from what is on disk.

use std::collections::HashSet;
use std::io;
use std::sync::atomic::Ordering;

use cairn_value::{Error, ResultCode};

use super::entry::{self, HEADER_LEN, Stamp};
use super::format::{BLOCK_HEADER_LEN, BlockHeader, BlockState, FILE_HEADER_LEN, FileHeader};
use super::scan::full_batch;
use super::{BlockScanner, Files, Log};
use crate::disk::DiskFile;
use crate::index::{Place, Size};

/// The largest void whose size is exact to a unit.
const VOID_MAX: usize = 64 << 10;

/// What was found on disk, by one thread or by all.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub free_ids: Vec<u32>,
    pub blocks_used: usize,
    pub damaged_blocks: u64,
    pub stamp_max: u64,
    /// The highest number of a flush of which something was found: those before it are durable.
    pub batch_max: u64,
    pub sequence_max: u64,
}

impl Survey {
    pub fn merge(&mut self, other: Survey) {
        self.free_ids.extend(other.free_ids);
        self.blocks_used += other.blocks_used;
        self.damaged_blocks += other.damaged_blocks;
        self.stamp_max = self.stamp_max.max(other.stamp_max);
        self.batch_max = self.batch_max.max(other.batch_max);
        self.sequence_max = self.sequence_max.max(other.sequence_max);
    }

    /// Counts a block of a snapshot.
    pub fn count(&mut self, id: u32, state: u8) {
        match state {
            BlockRow::FREE => self.free_ids.push(id),
            BlockRow::IN_USE => self.blocks_used += 1,
            _ => {
                self.blocks_used += 1;
                self.damaged_blocks += 1;
            }
        }
    }

    fn saw(&mut self, header: &BlockHeader) {
        self.stamp_max = self.stamp_max.max(header.stamp);
        self.batch_max = self.batch_max.max(header.batch);
    }
}

/// What a snapshot says about a block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BlockRow {
    pub state: u8,
    pub hides_older: bool,
    pub used: u32,
    pub tomb_units: u32,
    pub stamp: u64,
}

impl BlockRow {
    pub const FREE: u8 = 0;
    pub const IN_USE: u8 = 1;
    pub const DAMAGED: u8 = 2;
}

fn cannot(what: &str, error: &io::Error) -> Error {
    Error::new(ResultCode::ServerError, format!("`data` cannot be {what}: {error}"))
}

impl Log {
    /// Opens the data file of a namespace, or makes it when it is new.
    pub fn open(
        file: Box<dyn DiskFile>,
        header: &FileHeader,
        storage_size: u64,
        cache_bytes: u64,
    ) -> Result<Log, Error> {
        let found = read_file_header(&*file).map_err(|error| cannot("read", &error))?;
        match found {
            None => create(&*file, header).map_err(|error| cannot("created", &error))?,
            Some(bytes) => check_header(&FileHeader::parse(&bytes)?, header)?,
        }
        // What a process left in the operating system's memory is about to be read and believed.
        file.sync().map_err(|error| cannot("synced", &error))?;
        let files = Files::new(file, header.block_size, cache_bytes);
        Ok(Log::with(header.block_size, storage_size, header.instance, Some(files)))
    }

    /// How many blocks the data file has.
    pub fn blocks_on_disk(&self) -> Result<u32, Error> {
        let Some(files) = &self.files else { return Ok(0) };
        let len = files.len().map_err(|error| cannot("measured", &error))?;
        let blocks = len.saturating_sub(FILE_HEADER_LEN) / self.block_size as u64;
        Ok(blocks.min(u64::from(Place::BLOCK_MAX) + 1) as u32)
    }

    /// Looks at a block; when it is in use, it is taken over and can be scanned.
    pub fn survey_block(
        &self,
        id: u32,
        survey: &mut Survey,
    ) -> Result<Option<(BlockHeader, BlockScanner<'_>)>, Error> {
        let Some(files) = &self.files else { return Ok(None) };
        let mut header = [0; BLOCK_HEADER_LEN];
        files.read_block(id, 0, &mut header).map_err(|error| cannot("read", &error))?;
        match BlockHeader::parse(&header, id, self.instance)? {
            BlockState::Unused => survey.free_ids.push(id),
            BlockState::GivenUp(header) => {
                survey.saw(&header);
                survey.free_ids.push(id);
            }
            BlockState::Damaged => {
                survey.blocks_used += 1;
                survey.damaged_blocks += 1;
            }
            BlockState::Used(header) => {
                survey.saw(&header);
                survey.blocks_used += 1;
                self.table.slot(id).adopt(&header, self.block_size);
                let scanner =
                    files.scanner(id, header.seed(), Some(header.batch), 0, self.block_size);
                return Ok(Some((header, scanner)));
            }
        }
        Ok(None)
    }

    /// Says how much of a block that was taken over is filled.
    pub fn set_filled(&self, id: u32, used: usize) {
        self.table.slot(id).set_used(used);
    }

    /// Counts an entry of a block that was taken over as live.
    pub fn add_live(&self, place: Place, size: Size) {
        self.table.slot(place.block()).add_live(size.units());
        self.live_bytes.fetch_add(size.bytes() as u64, Ordering::Relaxed);
    }

    /// Counts a tombstone of a block that was taken over.
    pub fn add_tombstone(&self, place: Place, size: Size) {
        self.table.slot(place.block()).add_tomb(size.units());
    }

    /// The whole number of the flush that wrote an entry.
    pub fn batch_of(&self, entry_batch: u32, header: &BlockHeader) -> u64 {
        full_batch(entry_batch, header.batch)
    }

    /// Turns bytes that a crash has cut off into voids, so that they are not taken for damage
    /// when later flushes have been seen.
    pub fn void(&self, header: &BlockHeader, from: usize, to: usize) -> Result<(), Error> {
        let Some(files) = &self.files else { return Ok(()) };
        let stamp = Stamp { seed: header.seed(), batch: header.batch as u32 };
        let mut at = from;
        while to - at >= HEADER_LEN {
            let rest = to - at;
            let len = if rest <= VOID_MAX { rest } else { VOID_MAX / 2 };
            let mut void = vec![0; len];
            entry::write_void(&mut void, stamp);
            files
                .write_block(header.id, at, &void[..HEADER_LEN])
                .map_err(|error| cannot("written", &error))?;
            at += len;
        }
        Ok(())
    }

    /// Makes repairs durable.
    pub fn sync(&self) -> Result<(), Error> {
        match &self.files {
            Some(files) => files.sync().map_err(|error| cannot("synced", &error)),
            None => Ok(()),
        }
    }

    /// Goes on where the log on disk ends. `jump` is random: what a crash kept from the disk may
    /// have used stamps that were not found.
    pub fn resume(&self, survey: Survey, blocks: u32, jump: u64) {
        let mut active = self.active.lock();
        active.next_id = blocks;
        active.free_ids = survey.free_ids;
        active.free_ids.sort_unstable_by(|a, b| b.cmp(a));
        active.next_stamp = survey.stamp_max + 1 + jump;
        active.batch = survey.batch_max + 1;
        drop(active);
        self.blocks_used.store(survey.blocks_used, Ordering::SeqCst);
        self.sequence.store(survey.sequence_max + 1, Ordering::SeqCst);
        if let Some(files) = &self.files {
            files.counters.damaged_blocks.store(survey.damaged_blocks, Ordering::Relaxed);
        }
    }

    /// The random number that tells this namespace from others.
    pub fn instance(&self) -> u64 {
        self.instance
    }

    /// The highest numbers given out so far.
    pub fn ends(&self) -> Survey {
        let active = self.active.lock();
        Survey {
            stamp_max: active.next_stamp - 1,
            batch_max: active.batch - 1,
            sequence_max: self.sequence.load(Ordering::SeqCst),
            ..Survey::default()
        }
    }

    /// All blocks, for a snapshot.
    pub fn block_rows(&self) -> Vec<BlockRow> {
        let free: HashSet<u32> = self.active.lock().free_ids.iter().copied().collect();
        self.slots()
            .map(|(id, slot)| match slot.is_open() {
                true => BlockRow {
                    state: BlockRow::IN_USE,
                    hides_older: slot.hides_older(),
                    used: slot.used() as u32,
                    tomb_units: slot.tomb_units(),
                    stamp: slot.stamp(),
                },
                false if free.contains(&id) => BlockRow::default(),
                false => BlockRow { state: BlockRow::DAMAGED, ..BlockRow::default() },
            })
            .collect()
    }

    /// Takes over the blocks that a snapshot names.
    pub fn adopt_rows(&self, rows: &[BlockRow]) {
        for (id, row) in (0..).zip(rows) {
            if row.state != BlockRow::IN_USE {
                continue;
            }
            let (stamp, instance) = (row.stamp, self.instance);
            let slot = self.table.slot(id);
            slot.adopt(
                &BlockHeader { id, instance, stamp, batch: 0 },
                (row.used as usize).min(self.block_size),
            );
            slot.add_tomb(row.tomb_units);
            slot.set_hides_older(row.hides_older);
        }
    }

    /// Frees blocks without live entries and queues those with few.
    pub fn tidy(&self, defrag_below_percent: u32) {
        let ids: Vec<u32> =
            self.slots().filter(|(_, slot)| slot.is_open()).map(|(id, _)| id).collect();
        for id in ids {
            let slot = self.table.slot(id);
            if slot.is_idle() {
                self.free_if_idle(id);
            } else if self.is_sparse(slot, defrag_below_percent) {
                self.queue_sparse(id);
            }
        }
    }
}

fn read_file_header(file: &dyn DiskFile) -> io::Result<Option<[u8; BLOCK_HEADER_LEN]>> {
    let len = file.len()?;
    let mut header = [0; BLOCK_HEADER_LEN];
    if len < header.len() as u64 {
        return Ok(None);
    }
    file.read_at(0, &mut header)?;
    // A crash while the file was made leaves zeros and no block.
    let is_new = len <= FILE_HEADER_LEN && header == [0; BLOCK_HEADER_LEN];
    Ok((!is_new).then_some(header))
}

fn create(file: &dyn DiskFile, header: &FileHeader) -> io::Result<()> {
    file.allocate(0, FILE_HEADER_LEN)?;
    file.write_at(0, &header.to_bytes())?;
    file.sync()
}

fn check_header(found: &FileHeader, expected: &FileHeader) -> Result<(), Error> {
    let refuse = |text: String| Err(Error::new(ResultCode::ServerError, text));
    if found.namespace != expected.namespace {
        return refuse(format!(
            "`data` belongs to namespace `{}`, not to `{}`",
            found.namespace, expected.namespace
        ));
    }
    if found.block_size != expected.block_size {
        return refuse(format!(
            "`data` has blocks of {} bytes, the namespace is configured for {}; the block size of \
             existing data cannot change",
            found.block_size, expected.block_size
        ));
    }
    if found.instance != expected.instance {
        return refuse("`data` and `meta` are not from the same namespace; restore both".into());
    }
    Ok(())
}

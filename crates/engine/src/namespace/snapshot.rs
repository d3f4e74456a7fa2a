//! The file `index`: what a clean stop writes down so that the next start need not read the log.
//!
//! ```text
//! 64 bytes   magic `CAIRNIDX` | format version u32 | partitions u32 | instance u64 |
//!            highest stamp u64 | highest flush u64 | highest sequence u64 | blocks u32 |
//!            sets u32 | reserved, 0
//! sets       for each but the first, which has no name: length u8 | name
//! blocks     for each: state u8 (0 free, 1 in use, 2 damaged) | hides older u8 | 0 u16 |
//!            bytes used u32 | tombstone units u32 | 0 u32 | stamp u64
//! partitions for each: number of entries u32 | entries of 20 bytes as in memory
//! 4 bytes    CRC32C over all before it
//! ```
//!
//! It counts only together with the clean mark in `meta`, which is taken away before the first
//! write. When it cannot be read, the log is read as after a crash.

use std::io;

use cairn_value::limits::PARTITIONS;
use cairn_value::{Error, ResultCode};

use super::Namespace;
use crate::disk::{Disk, DiskFile};
use crate::index::{PACKED_LEN, PartitionIndex};
use crate::log::format::FORMAT_VERSION;
use crate::log::{BlockRow, Survey};

const NAME: &str = "index";
const NEW: &str = "index.new";
const MAGIC: &[u8; 8] = b"CAIRNIDX";
const HEADER_LEN: usize = 64;
const ROW_LEN: usize = 24;
/// Bytes written or read at once.
const CHUNK: usize = 1 << 20;

/// A snapshot that was read and fits its checksum.
pub(super) struct Snapshot {
    survey: Survey,
    sets: Vec<Vec<u8>>,
    blocks: Vec<BlockRow>,
    partitions: Vec<PartitionIndex>,
}

impl Namespace {
    /// Writes the index down.
    pub(super) fn write_snapshot(&self, disk: &dyn Disk) -> Result<(), Error> {
        let write = || -> io::Result<()> {
            disk.remove(NEW)?;
            let mut out = Writer { file: disk.open(NEW, true)?, at: 0, bytes: Vec::new(), crc: 0 };
            let blocks = self.log.block_rows();
            let sets = self.sets.stats();
            out.put(&self.snapshot_header(blocks.len(), sets.len()))?;
            for set in sets.iter().skip(1) {
                out.put(&[set.name.len() as u8])?;
                out.put(&set.name)?;
            }
            for row in &blocks {
                out.put(&row_bytes(row))?;
            }
            for partition in &self.partitions {
                let index = partition.read();
                out.put(&(index.len() as u32).to_le_bytes())?;
                index.packed().try_for_each(|entry| out.put(&entry))?;
            }
            out.finish()?;
            disk.rename(NEW, NAME)
        };
        write().map_err(|error| {
            Error::new(ResultCode::ServerError, format!("`{NAME}` cannot be written: {error}"))
        })
    }

    fn snapshot_header(&self, blocks: usize, sets: usize) -> [u8; HEADER_LEN] {
        let ends = self.log.ends();
        let mut header = [0; HEADER_LEN];
        header[..8].copy_from_slice(MAGIC);
        header[8..12].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
        header[12..16].copy_from_slice(&(PARTITIONS as u32).to_le_bytes());
        header[16..24].copy_from_slice(&self.log.instance().to_le_bytes());
        header[24..32].copy_from_slice(&ends.stamp_max.to_le_bytes());
        header[32..40].copy_from_slice(&ends.batch_max.to_le_bytes());
        header[40..48].copy_from_slice(&ends.sequence_max.to_le_bytes());
        header[48..52].copy_from_slice(&(blocks as u32).to_le_bytes());
        header[52..56].copy_from_slice(&(sets as u32).to_le_bytes());
        header
    }

    /// Takes a snapshot over; the log's files have been opened and nothing else was done.
    pub(super) fn restore(&self, snapshot: Snapshot, jump: u64) -> Result<(), Error> {
        for name in snapshot.sets.iter().skip(1) {
            self.sets.id_or_create(name)?;
        }
        self.log.adopt_rows(&snapshot.blocks);
        let blocks = snapshot.blocks.len() as u32;
        self.log.resume(snapshot.survey, blocks, jump);
        for (partition, index) in self.partitions.iter().zip(snapshot.partitions) {
            *partition.write() = index;
        }
        self.count_recovered();
        self.log.tidy(self.settings.defrag_below_percent());
        Ok(())
    }
}

/// Reads the snapshot; `None` when there is none that can be used.
pub(super) fn read(disk: &dyn Disk, instance: u64) -> Option<Snapshot> {
    let file = disk.open(NAME, false).ok()?;
    let len = file.len().ok()?.checked_sub(4)?;
    let mut input = Reader { file, at: 0, end: len, bytes: Vec::new(), used: 0, crc: 0 };
    let snapshot = input.snapshot(instance)?;
    let is_whole = input.at == len && input.used == input.bytes.len();
    let mut crc = [0; 4];
    input.file.read_at(len, &mut crc).ok()?;
    (is_whole && input.crc == u32::from_le_bytes(crc)).then_some(snapshot)
}

fn row_bytes(row: &BlockRow) -> [u8; ROW_LEN] {
    let mut bytes = [0; ROW_LEN];
    bytes[0] = row.state;
    bytes[1] = u8::from(row.hides_older);
    bytes[4..8].copy_from_slice(&row.used.to_le_bytes());
    bytes[8..12].copy_from_slice(&row.tomb_units.to_le_bytes());
    bytes[16..24].copy_from_slice(&row.stamp.to_le_bytes());
    bytes
}

struct Writer {
    file: Box<dyn DiskFile>,
    at: u64,
    bytes: Vec<u8>,
    crc: u32,
}

impl Writer {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() >= CHUNK { self.write_out() } else { Ok(()) }
    }

    fn write_out(&mut self) -> io::Result<()> {
        self.crc = crc32c::crc32c_append(self.crc, &self.bytes);
        self.file.write_at(self.at, &self.bytes)?;
        self.at += self.bytes.len() as u64;
        self.bytes.clear();
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.write_out()?;
        self.file.write_at(self.at, &self.crc.to_le_bytes())?;
        self.file.sync()
    }
}

struct Reader {
    file: Box<dyn DiskFile>,
    at: u64,
    end: u64,
    bytes: Vec<u8>,
    used: usize,
    crc: u32,
}

impl Reader {
    /// The next bytes. No more memory is taken than the file has bytes.
    fn take(&mut self, len: usize) -> Option<&[u8]> {
        while self.bytes.len() - self.used < len {
            let more = (self.end - self.at).min(CHUNK as u64) as usize;
            if more == 0 {
                return None;
            }
            self.bytes.drain(..self.used);
            self.used = 0;
            let filled = self.bytes.len();
            self.bytes.resize(filled + more, 0);
            self.file.read_at(self.at, &mut self.bytes[filled..]).ok()?;
            self.crc = crc32c::crc32c_append(self.crc, &self.bytes[filled..]);
            self.at += more as u64;
        }
        self.used += len;
        Some(&self.bytes[self.used - len..self.used])
    }

    fn snapshot(&mut self, instance: u64) -> Option<Snapshot> {
        let header: [u8; HEADER_LEN] = *self.take(HEADER_LEN)?.first_chunk()?;
        let u32_at = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| header[at + i]));
        let u64_at = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| header[at + i]));
        let fits = header.starts_with(MAGIC)
            && u32_at(8) == FORMAT_VERSION
            && u32_at(12) as usize == PARTITIONS
            && u64_at(16) == instance;
        if !fits {
            return None;
        }
        let mut survey = Survey {
            stamp_max: u64_at(24),
            batch_max: u64_at(32),
            sequence_max: u64_at(40),
            ..Survey::default()
        };
        let mut sets = vec![Vec::new()];
        for _ in 1..u32_at(52) {
            let len = usize::from(*self.take(1)?.first()?);
            sets.push(self.take(len)?.to_vec());
        }
        let mut blocks = Vec::new();
        for id in 0..u32_at(48) {
            let row = parse_row(self.take(ROW_LEN)?)?;
            survey.count(id, row.state);
            blocks.push(row);
        }
        let mut partitions = Vec::with_capacity(PARTITIONS);
        for _ in 0..PARTITIONS {
            let count = u32::from_le_bytes(*self.take(4)?.first_chunk()?) as usize;
            let entries = self.take(count.checked_mul(PACKED_LEN)?)?;
            partitions.push(PartitionIndex::from_packed(entries)?);
        }
        Some(Snapshot { survey, sets, blocks, partitions })
    }
}

fn parse_row(bytes: &[u8]) -> Option<BlockRow> {
    let bytes = bytes.first_chunk::<ROW_LEN>()?;
    Some(BlockRow {
        state: bytes[0],
        hides_older: bytes[1] != 0,
        used: u32::from_le_bytes(std::array::from_fn(|i| bytes[4 + i])),
        tomb_units: u32::from_le_bytes(std::array::from_fn(|i| bytes[8 + i])),
        stamp: u64::from_le_bytes(std::array::from_fn(|i| bytes[16 + i])),
    })
}

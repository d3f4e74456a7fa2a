//! Headers of the data file and of its blocks.
//!
//! ```text
//! data file                              block
//!      0  file header                    offset size
//!   4096  block 0                             0    8  magic `CAIRNBLK`
//!         block 1                             8    4  format version
//!         ...                                12    4  number of the block
//!                                            16    8  instance of the namespace
//! file header                                24    8  stamp of this opening, unique
//! offset size                                32    8  number of the flush under way when opened
//!      0    8  magic `CAIRNLOG`              40    1  1 in use, 2 given up
//!      8    4  format version                41   19  reserved, 0
//!     12    4  bytes of a block              60    4  CRC32C over bytes 0..60
//!     16    8  instance of the namespace     64       entries
//!     24   32  name of the namespace, padded with zeros
//!     56    4  reserved, 0
//!     60    4  CRC32C over bytes 0..60
//! ```
//!
//! A block that was never used has zeros in the place of its header. One that was given up keeps
//! its stamp, so that stamps go on from the highest after a restart.

use cairn_value::{Error, ResultCode};

/// The format that this version writes, and the newest that it reads.
pub const FORMAT_VERSION: u32 = 1;
/// Bytes of a block's header.
pub const BLOCK_HEADER_LEN: usize = 64;
/// Bytes in front of the first block.
pub const FILE_HEADER_LEN: u64 = 4096;

const HEADER_LEN: usize = 64;
const FILE_MAGIC: &[u8; 8] = b"CAIRNLOG";
const BLOCK_MAGIC: &[u8; 8] = b"CAIRNBLK";
const IN_USE: u8 = 1;
const GIVEN_UP: u8 = 2;

type Header = [u8; HEADER_LEN];

fn sealed(mut header: Header) -> Header {
    let crc = crc32c::crc32c(&header[..60]);
    header[60..].copy_from_slice(&crc.to_le_bytes());
    header
}

fn is_sealed(header: &Header) -> bool {
    header[60..] == crc32c::crc32c(&header[..60]).to_le_bytes()
}

fn u32_at(header: &Header, at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| header[at + i]))
}

fn u64_at(header: &Header, at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| header[at + i]))
}

/// What the data file says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHeader {
    pub block_size: usize,
    pub instance: u64,
    pub namespace: String,
}

impl FileHeader {
    pub fn to_bytes(&self) -> Header {
        let mut header = [0; HEADER_LEN];
        header[..8].copy_from_slice(FILE_MAGIC);
        header[8..12].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
        header[12..16].copy_from_slice(&(self.block_size as u32).to_le_bytes());
        header[16..24].copy_from_slice(&self.instance.to_le_bytes());
        header[24..24 + self.namespace.len()].copy_from_slice(self.namespace.as_bytes());
        sealed(header)
    }

    /// Reads a header; refuses a newer format by its number.
    pub fn parse(header: &Header) -> Result<FileHeader, Error> {
        let header = if is_sealed(header) { *header } else { repaired(header, FILE_MAGIC)? };
        if &header[..8] != FILE_MAGIC {
            return Err(refusal("`data` is not a data file of Cairn".into()));
        }
        check_version("data", u32_at(&header, 8))?;
        let name = &header[24..56];
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
        Ok(FileHeader {
            block_size: u32_at(&header, 12) as usize,
            instance: u64_at(&header, 16),
            namespace: String::from_utf8_lossy(&name[..end]).into_owned(),
        })
    }
}

/// Refuses a file of a newer format, naming both versions.
pub fn check_version(file: &str, version: u32) -> Result<(), Error> {
    if version <= FORMAT_VERSION {
        return Ok(());
    }
    Err(refusal(format!(
        "`{file}` has format version {version}, this Cairn reads up to {FORMAT_VERSION}; open it \
         with a newer Cairn"
    )))
}

fn refusal(text: String) -> Error {
    Error::new(ResultCode::ServerError, text)
}

/// Puts a header right that has one or two wrong bits; headers that fit their checksums differ in
/// six bits or more.
fn repaired(header: &Header, magic: &[u8; 8]) -> Result<Header, Error> {
    let flip = |header: &mut Header, bit: usize| header[bit / 8] ^= 1 << (bit % 8);
    let mut header = *header;
    for first in 0..HEADER_LEN * 8 {
        flip(&mut header, first);
        if is_sealed(&header) && header.starts_with(magic) {
            return Ok(header);
        }
        for second in first + 1..HEADER_LEN * 8 {
            flip(&mut header, second);
            if is_sealed(&header) && header.starts_with(magic) {
                return Ok(header);
            }
            flip(&mut header, second);
        }
        flip(&mut header, first);
    }
    Err(refusal("`data` is not a data file of Cairn, or its header is damaged".into()))
}

/// One opening of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockHeader {
    pub id: u32,
    pub instance: u64,
    pub stamp: u64,
    pub batch: u64,
}

/// What stands where a block's header is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockState {
    /// The block was never used.
    Unused,
    /// The block was given up.
    GivenUp(BlockHeader),
    /// It is.
    Used(BlockHeader),
    /// The header is damaged beyond repair.
    Damaged,
}

impl BlockHeader {
    /// The header of a block in use.
    pub fn to_bytes(self) -> Header {
        self.with_state(IN_USE)
    }

    /// The header of a block that was given up.
    pub fn given_up(self) -> Header {
        self.with_state(GIVEN_UP)
    }

    fn with_state(self, state: u8) -> Header {
        let mut header = [0; HEADER_LEN];
        header[..8].copy_from_slice(BLOCK_MAGIC);
        header[40] = state;
        header[8..12].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
        header[12..16].copy_from_slice(&self.id.to_le_bytes());
        header[16..24].copy_from_slice(&self.instance.to_le_bytes());
        header[24..32].copy_from_slice(&self.stamp.to_le_bytes());
        header[32..40].copy_from_slice(&self.batch.to_le_bytes());
        sealed(header)
    }

    /// Where the checksums of the block's entries start.
    pub fn seed(&self) -> u32 {
        crc32c::crc32c(&self.to_bytes()[8..32])
    }

    /// Reads the header of block `id`. One damaged bit is put right.
    pub fn parse(header: &Header, id: u32, instance: u64) -> Result<BlockState, Error> {
        if header.count_ones_up_to(1) <= 1 {
            return Ok(BlockState::Unused);
        }
        let header = match is_sealed(header) {
            true => *header,
            false => match repaired(header, BLOCK_MAGIC) {
                Ok(header) => header,
                Err(_) => return Ok(BlockState::Damaged),
            },
        };
        check_version("data", u32_at(&header, 8))?;
        let block = BlockHeader {
            id: u32_at(&header, 12),
            instance: u64_at(&header, 16),
            stamp: u64_at(&header, 24),
            batch: u64_at(&header, 32),
        };
        let is_own = block.id == id && block.instance == instance;
        Ok(match header[40] {
            IN_USE if is_own => BlockState::Used(block),
            GIVEN_UP if is_own => BlockState::GivenUp(block),
            _ => BlockState::Damaged,
        })
    }
}

trait Ones {
    /// Counts the bits that are set, and stops counting beyond `limit`.
    fn count_ones_up_to(&self, limit: u32) -> u32;
}

impl Ones for Header {
    fn count_ones_up_to(&self, limit: u32) -> u32 {
        let mut ones = 0;
        for byte in self {
            ones += byte.count_ones();
            if ones > limit {
                break;
            }
        }
        ones
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block() -> BlockHeader {
        BlockHeader { id: 7, instance: 0x1234, stamp: 99, batch: 1 << 40 }
    }

    #[test]
    fn headers_survive_the_round_trip_and_any_flipped_bit() {
        let file = FileHeader { block_size: 4096, instance: 5, namespace: "test".into() };
        for bit in 0..HEADER_LEN * 8 {
            let mut bytes = file.to_bytes();
            assert_eq!(FileHeader::parse(&bytes).as_ref(), Ok(&file));
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(FileHeader::parse(&bytes).as_ref(), Ok(&file));
            let mut bytes = block().to_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(BlockHeader::parse(&bytes, 7, 0x1234), Ok(BlockState::Used(block())));
            let mut bytes = block().given_up();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(BlockHeader::parse(&bytes, 7, 0x1234), Ok(BlockState::GivenUp(block())));
            let mut zeros = [0; HEADER_LEN];
            zeros[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(BlockHeader::parse(&zeros, 7, 0x1234), Ok(BlockState::Unused));
        }
    }

    #[test]
    fn a_newer_version_is_refused_by_its_number() {
        let mut bytes = FileHeader { block_size: 1, instance: 1, namespace: "n".into() }.to_bytes();
        bytes[8] = 2;
        let error = FileHeader::parse(&sealed(bytes)).unwrap_err();
        assert!(error.message.contains("format version 2"), "{error}");
        assert!(FileHeader::parse(&[0; HEADER_LEN]).is_err());
    }

    #[test]
    fn another_blocks_header_and_rubbish_are_damage() {
        let bytes = block().to_bytes();
        assert_eq!(BlockHeader::parse(&bytes, 8, 0x1234), Ok(BlockState::Damaged));
        assert_eq!(BlockHeader::parse(&bytes, 7, 1), Ok(BlockState::Damaged));
        assert_eq!(BlockHeader::parse(&[7; HEADER_LEN], 7, 1), Ok(BlockState::Damaged));
    }
}

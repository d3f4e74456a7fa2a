//! The packed form of values inside lists, maps and operation arguments.
//!
//! It is MessagePack with four conventions of the protocol:
//!
//! - text and bytes carry their particle type as first byte (`a2 03 78` is the text "x");
//! - an ordered list starts with an extension element of length 0 whose type holds the flags
//!   ([`flags`]); the list header counts it;
//! - an ordered map starts with such an extension as key and nil as value; the map header counts
//!   the pair;
//! - `d4 ff 00` is the wildcard that matches anything and `d4 ff 01` is above every value.
//!
//! [`Reader`] walks packed bytes without allocating. It never reads past its input, and a count
//! that the remaining input cannot hold is refused before anybody loops over it.

use crate::limits::DEPTH_MAX;

/// Flags in the extension element at the head of a collection.
pub mod flags {
    /// Map: ordered by key. List: ordered.
    pub const ORDERED: u8 = 0x01;
    /// Map: an index by value is wanted as well.
    pub const VALUE_ORDERED: u8 = 0x02;
    /// Map: keeps the order in which keys were put.
    pub const PRESERVE_ORDER: u8 = 0x08;
    /// The offset index is kept with the value.
    pub const PERSIST_INDEX: u8 = 0x10;
}

/// Extension type of the wildcard and infinity markers.
pub const EXT_SPECIAL: u8 = 0xff;
/// Payload of the marker that matches anything.
pub const SPECIAL_WILDCARD: u8 = 0x00;
/// Payload of the marker above every value.
pub const SPECIAL_INFINITY: u8 = 0x01;

/// The bytes are not a well-formed packed value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The input ends inside a value, or announces more than it can hold.
    Truncated,
    /// A byte that starts no value.
    UnknownByte(u8),
    /// Collections nested deeper than [`DEPTH_MAX`].
    TooDeep,
    /// Bytes are left behind the value.
    Trailing,
}

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Malformed::Truncated => write!(f, "the packed value ends early"),
            Malformed::UnknownByte(byte) => write!(f, "byte {byte:#04x} starts no packed value"),
            Malformed::TooDeep => {
                write!(f, "collections are nested deeper than {DEPTH_MAX} levels")
            }
            Malformed::Trailing => write!(f, "bytes are left behind the packed value"),
        }
    }
}

impl std::error::Error for Malformed {}

impl From<Malformed> for crate::Error {
    fn from(malformed: Malformed) -> Self {
        crate::Error::new(crate::ResultCode::Parameter, malformed.to_string())
    }
}

/// One step through packed bytes: a scalar, or the head of a collection whose elements follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'a> {
    /// Nil.
    Nil,
    /// A boolean.
    Bool(bool),
    /// An integer; unsigned 64-bit values are taken modulo 2^64, as the protocol does.
    Int(i64),
    /// A double (32-bit floats are widened).
    Double(f64),
    /// Text or bytes with their leading particle byte, or raw text (names inside expressions).
    Bytes(&'a [u8]),
    /// Head of a list of this many elements, an order extension counted.
    List(u32),
    /// Head of a map of this many pairs, an order extension counted.
    Map(u32),
    /// An extension: type and payload.
    Ext(u8, &'a [u8]),
}

/// Sizes of the values whose first byte tells it: short integers, short text, nil, booleans and
/// numbers of a fixed width. 0 for all others.
const SIZES: [u8; 256] = sizes();

const fn sizes() -> [u8; 256] {
    let mut sizes = [0; 256];
    let mut head = 0;
    while head < 256 {
        sizes[head] = match head as u8 {
            0x00..=0x7f | 0xe0..=0xff | 0x80 | 0x90 | 0xc0 | 0xc2 | 0xc3 => 1,
            short @ 0xa0..=0xbf => 1 + (short & 0x1f),
            0xcc | 0xd0 => 2,
            0xcd | 0xd1 => 3,
            0xca | 0xce | 0xd2 => 5,
            0xcb | 0xcf | 0xd3 => 9,
            _ => 0,
        };
        head += 1;
    }
    sizes
}

/// Walks packed bytes.
///
/// ```
/// use cairn_value::packed::{Reader, Token};
/// let mut reader = Reader::new(&[0x92, 0x05, 0xc3]); // [5, true]
/// assert_eq!(reader.token(), Ok(Token::List(2)));
/// assert_eq!(reader.token(), Ok(Token::Int(5)));
/// assert_eq!(reader.token(), Ok(Token::Bool(true)));
/// assert!(reader.is_done());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// For each first byte, how long the value is; 0 where more has to be read to tell.
const LENGTHS: [u8; 256] = {
    let mut lengths = [0; 256];
    let mut head = 0;
    while head < 256 {
        lengths[head] = match head {
            0x00..=0x7f | 0xc0 | 0xc2 | 0xc3 | 0xe0..=0xff => 1,
            0xa0..=0xbf => 1 + (head as u8 & 0x1f),
            0xcc | 0xd0 => 2,
            0xcd | 0xd1 => 3,
            0xca | 0xce | 0xd2 => 5,
            0xcb | 0xcf | 0xd3 => 9,
            _ => 0,
        };
        head += 1;
    }
    lengths
};

impl<'a> Reader<'a> {
    /// A reader at the start of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, at: 0 }
    }

    /// A reader at offset `at`.
    pub const fn at(bytes: &'a [u8], at: usize) -> Self {
        Reader { bytes, at }
    }

    /// Offset of the next token.
    pub const fn position(&self) -> usize {
        self.at
    }

    /// All the bytes this reader walks.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// True at the end of the input.
    pub const fn is_done(&self) -> bool {
        self.at >= self.bytes.len()
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let rest = self.bytes.get(self.at..).ok_or(Malformed::Truncated)?;
        let taken = rest.get(..len).ok_or(Malformed::Truncated)?;
        self.at += len;
        Ok(taken)
    }

    fn uint<const N: usize>(&mut self) -> Result<u64, Malformed> {
        let rest = self.bytes.get(self.at..).ok_or(Malformed::Truncated)?;
        // As an array its length is known, so that the loop becomes one load.
        let bytes = rest.first_chunk::<N>().ok_or(Malformed::Truncated)?;
        self.at += N;
        Ok(bytes.iter().fold(0, |n, &byte| n << 8 | u64::from(byte)))
    }

    fn count(&self, count: u64, bytes_each: u64) -> Result<u32, Malformed> {
        let left = (self.bytes.len() - self.at) as u64;
        if count * bytes_each > left {
            return Err(Malformed::Truncated);
        }
        Ok(count as u32)
    }

    fn ext(&mut self, len: usize) -> Result<Token<'a>, Malformed> {
        let kind = self.take(1)?[0];
        Ok(Token::Ext(kind, self.take(len)?))
    }

    /// Reads the next token.
    #[inline]
    pub fn token(&mut self) -> Result<Token<'a>, Malformed> {
        let head = *self.bytes.get(self.at).ok_or(Malformed::Truncated)?;
        self.at += 1;
        Ok(match head {
            0x00..=0x7f => Token::Int(i64::from(head)),
            0x80..=0x8f => Token::Map(self.count(u64::from(head & 0x0f), 2)?),
            0x90..=0x9f => Token::List(self.count(u64::from(head & 0x0f), 1)?),
            0xa0..=0xbf => Token::Bytes(self.take(usize::from(head & 0x1f))?),
            0xc0 => Token::Nil,
            0xc1 => return Err(Malformed::UnknownByte(head)),
            0xc2 => Token::Bool(false),
            0xc3 => Token::Bool(true),
            0xc4 | 0xd9 => {
                let len = self.uint::<1>()?;
                Token::Bytes(self.take(len as usize)?)
            }
            0xc5 | 0xda => {
                let len = self.uint::<2>()?;
                Token::Bytes(self.take(len as usize)?)
            }
            0xc6 | 0xdb => {
                let len = self.uint::<4>()?;
                Token::Bytes(self.take(len as usize)?)
            }
            0xc7 => {
                let len = self.uint::<1>()?;
                self.ext(len as usize)?
            }
            0xc8 => {
                let len = self.uint::<2>()?;
                self.ext(len as usize)?
            }
            0xc9 => {
                let len = self.uint::<4>()?;
                self.ext(len as usize)?
            }
            0xca => Token::Double(f64::from(f32::from_bits(self.uint::<4>()? as u32))),
            0xcb => Token::Double(f64::from_bits(self.uint::<8>()?)),
            0xcc => Token::Int(self.uint::<1>()? as i64),
            0xcd => Token::Int(self.uint::<2>()? as i64),
            0xce => Token::Int(self.uint::<4>()? as i64),
            0xcf => Token::Int(self.uint::<8>()? as i64),
            0xd0 => Token::Int(i64::from(self.uint::<1>()? as i8)),
            0xd1 => Token::Int(i64::from(self.uint::<2>()? as i16)),
            0xd2 => Token::Int(i64::from(self.uint::<4>()? as i32)),
            0xd3 => Token::Int(self.uint::<8>()? as i64),
            0xd4 => self.ext(1)?,
            0xd5 => self.ext(2)?,
            0xd6 => self.ext(4)?,
            0xd7 => self.ext(8)?,
            0xd8 => self.ext(16)?,
            0xdc => {
                let count = self.uint::<2>()?;
                Token::List(self.count(count, 1)?)
            }
            0xdd => {
                let count = self.uint::<4>()?;
                Token::List(self.count(count, 1)?)
            }
            0xde => {
                let count = self.uint::<2>()?;
                Token::Map(self.count(count, 2)?)
            }
            0xdf => {
                let count = self.uint::<4>()?;
                Token::Map(self.count(count, 2)?)
            }
            0xe0..=0xff => Token::Int(i64::from(head as i8)),
        })
    }

    /// The next token without moving.
    pub fn peek(&self) -> Result<Token<'a>, Malformed> {
        let mut ahead = *self;
        ahead.token()
    }

    /// Moves behind the next value when its first byte tells its length, which is what most
    /// elements are like. False when it does not, or when the value is cut off.
    #[inline]
    fn skip_short(&mut self) -> bool {
        let Some(&head) = self.bytes.get(self.at) else { return false };
        let len = usize::from(LENGTHS[usize::from(head)]);
        let is_whole = len != 0 && len <= self.bytes.len() - self.at;
        if is_whole {
            self.at += len;
        }
        is_whole
    }

    /// Moves behind the next whole value and returns its bytes.
    #[inline]
    pub fn skip(&mut self) -> Result<&'a [u8], Malformed> {
        let start = self.at;
        // Most elements are scalars whose first byte tells their size.
        if let Some(&head) = self.bytes.get(start) {
            let size = usize::from(SIZES[usize::from(head)]);
            if size > 0
                && let Some(value) = self.bytes.get(start..start + size)
            {
                self.at = start + size;
                return Ok(value);
            }
        }
        self.skip_any()
    }

    fn skip_any(&mut self) -> Result<&'a [u8], Malformed> {
        let start = self.at;
        let mut pending: u64 = 1;
        while pending > 0 {
            pending -= 1;
            if !self.skip_short() {
                match self.token()? {
                    Token::List(count) => pending += u64::from(count),
                    Token::Map(count) => pending += 2 * u64::from(count),
                    _ => {}
                }
            }
            // Every pending element takes a byte at least, so hostile counts end here.
            if pending > (self.bytes.len() - self.at) as u64 {
                return Err(Malformed::Truncated);
            }
        }
        Ok(&self.bytes[start..self.at])
    }
}

/// Head of a packed list or map: how many elements, in which order, and where they start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Elements (list) or pairs (map), the order extension not counted.
    pub count: u32,
    /// Bits of [`flags`], 0 when there is no extension.
    pub flags: u8,
    /// Offset of the extension element; the same as `body` when there is none.
    pub ext: usize,
    /// Offset of the first element or key.
    pub body: usize,
    /// True for a map.
    pub is_map: bool,
}

impl Head {
    /// Reads the head of the collection that starts at offset `at`; `None` when another type of
    /// value stands there. Flags stand in an extension without payload; only a persisted index may
    /// stand behind them. Other extensions are elements.
    pub fn read(bytes: &[u8], at: usize) -> Result<Option<Head>, Malformed> {
        let mut reader = Reader::at(bytes, at);
        let (mut count, is_map) = match reader.token()? {
            Token::List(count) => (count, false),
            Token::Map(count) => (count, true),
            _ => return Ok(None),
        };
        let ext = reader.position();
        if count > 0
            && let Token::Ext(kind, payload) = reader.peek()?
            && kind != EXT_SPECIAL
            && (payload.is_empty() || kind & flags::PERSIST_INDEX != 0)
        {
            reader.token()?;
            if is_map {
                reader.skip()?;
            }
            count -= 1;
            return Ok(Some(Head { count, flags: kind, ext, body: reader.position(), is_map }));
        }
        Ok(Some(Head { count, flags: 0, ext, body: ext, is_map }))
    }
}

/// Checks that `bytes` are one well-formed value, nested to [`DEPTH_MAX`] levels at most.
pub fn check(bytes: &[u8]) -> Result<(), Malformed> {
    let mut reader = Reader::new(bytes);
    // Elements still to come at each open level; its length is the depth.
    let mut open: Vec<u64> = Vec::new();
    loop {
        match reader.token()? {
            Token::List(count) => open.push(u64::from(count)),
            Token::Map(count) => open.push(2 * u64::from(count)),
            _ => {}
        }
        if open.len() > DEPTH_MAX {
            return Err(Malformed::TooDeep);
        }
        while open.last() == Some(&0) {
            open.pop();
        }
        match open.last_mut() {
            Some(left) => *left -= 1,
            None if reader.is_done() => return Ok(()),
            None => return Err(Malformed::Trailing),
        }
    }
}

/// Writers of packed values, always in the shortest form.
pub mod write {
    use super::EXT_SPECIAL;

    /// Nil.
    pub fn nil(out: &mut Vec<u8>) {
        out.push(0xc0);
    }

    /// A boolean.
    pub fn boolean(out: &mut Vec<u8>, value: bool) {
        out.push(if value { 0xc3 } else { 0xc2 });
    }

    /// An integer in its shortest form.
    pub fn int(out: &mut Vec<u8>, value: i64) {
        match value {
            0..=0x7f => out.push(value as u8),
            -32..=-1 => out.push(value as u8),
            0x80..=0xff => out.extend_from_slice(&[0xcc, value as u8]),
            0x100..=0xffff => tagged(out, 0xcd, &(value as u16).to_be_bytes()),
            0x1_0000..=0xffff_ffff => tagged(out, 0xce, &(value as u32).to_be_bytes()),
            0x1_0000_0000.. => tagged(out, 0xcf, &value.to_be_bytes()),
            -0x80..=-33 => out.extend_from_slice(&[0xd0, value as u8]),
            -0x8000..=-0x81 => tagged(out, 0xd1, &(value as i16).to_be_bytes()),
            -0x8000_0000..=-0x8001 => tagged(out, 0xd2, &(value as i32).to_be_bytes()),
            _ => tagged(out, 0xd3, &value.to_be_bytes()),
        }
    }

    /// A double.
    pub fn double(out: &mut Vec<u8>, value: f64) {
        tagged(out, 0xcb, &value.to_bits().to_be_bytes());
    }

    /// Text or bytes behind their particle type byte, in the MessagePack string family (the form
    /// that clients send for text).
    pub fn text(out: &mut Vec<u8>, particle: u8, bytes: &[u8]) {
        let len = bytes.len() + 1;
        match len {
            0..=31 => out.push(0xa0 | len as u8),
            32..=0xff => out.extend_from_slice(&[0xd9, len as u8]),
            0x100..=0xffff => tagged(out, 0xda, &(len as u16).to_be_bytes()),
            _ => tagged(out, 0xdb, &(len as u32).to_be_bytes()),
        }
        out.push(particle);
        out.extend_from_slice(bytes);
    }

    /// Bytes behind their particle type byte, in the MessagePack binary family.
    pub fn blob(out: &mut Vec<u8>, particle: u8, bytes: &[u8]) {
        let len = bytes.len() + 1;
        match len {
            0..=0xff => out.extend_from_slice(&[0xc4, len as u8]),
            0x100..=0xffff => tagged(out, 0xc5, &(len as u16).to_be_bytes()),
            _ => tagged(out, 0xc6, &(len as u32).to_be_bytes()),
        }
        out.push(particle);
        out.extend_from_slice(bytes);
    }

    /// Head of a list.
    pub fn list_head(out: &mut Vec<u8>, count: u32) {
        match count {
            0..=15 => out.push(0x90 | count as u8),
            16..=0xffff => tagged(out, 0xdc, &(count as u16).to_be_bytes()),
            _ => tagged(out, 0xdd, &count.to_be_bytes()),
        }
    }

    /// Head of a map.
    pub fn map_head(out: &mut Vec<u8>, count: u32) {
        match count {
            0..=15 => out.push(0x80 | count as u8),
            16..=0xffff => tagged(out, 0xde, &(count as u16).to_be_bytes()),
            _ => tagged(out, 0xdf, &count.to_be_bytes()),
        }
    }

    /// The extension element of length 0 that carries a collection's flags.
    pub fn flags_ext(out: &mut Vec<u8>, flags: u8) {
        out.extend_from_slice(&[0xc7, 0, flags]);
    }

    /// The wildcard or infinity marker.
    pub fn special(out: &mut Vec<u8>, which: u8) {
        out.extend_from_slice(&[0xd4, EXT_SPECIAL, which]);
    }

    fn tagged(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
        out.push(tag);
        out.extend_from_slice(bytes);
    }
}

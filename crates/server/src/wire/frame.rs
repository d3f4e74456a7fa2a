//! The 8-byte header in front of every message.

/// Bytes of the header.
pub const FRAME_HEADER_LEN: usize = 8;
/// The only version of the frame header.
const VERSION: u8 = 2;
/// No frame of the protocol is larger.
pub const FRAME_SIZE_CEILING: usize = 128 * 1024 * 1024;

/// What a frame carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FrameType {
    /// Info commands as text.
    Info = 1,
    /// User administration.
    Admin = 2,
    /// A record command.
    Message = 3,
    /// A record command, deflated.
    Compressed = 4,
}

impl FrameType {
    const fn from_wire(byte: u8) -> Option<FrameType> {
        Some(match byte {
            1 => FrameType::Info,
            2 => FrameType::Admin,
            3 => FrameType::Message,
            4 => FrameType::Compressed,
            _ => return None,
        })
    }
}

/// A frame header that names a known type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// What follows.
    pub kind: FrameType,
    /// Bytes that follow.
    pub size: usize,
}

/// Why a frame header cannot be followed: the position of the next frame is unknown, so the
/// connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadFrame {
    /// Not version 2.
    Version(u8),
    /// Not a type that is known.
    Type(u8),
    /// More bytes than the server takes.
    TooLarge {
        /// Bytes announced.
        size: u64,
        /// Bytes allowed.
        limit: usize,
    },
}

impl std::fmt::Display for BadFrame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BadFrame::Version(v) => write!(f, "frame version {v}, only {VERSION} is known"),
            BadFrame::Type(t) => write!(f, "frame type {t} is unknown"),
            BadFrame::TooLarge { size, limit } => {
                write!(f, "frame of {size} bytes, the limit is {limit}")
            }
        }
    }
}

impl FrameHeader {
    /// Reads a header; frames larger than `limit` are refused before a byte of them is kept.
    pub fn parse(bytes: &[u8; FRAME_HEADER_LEN], limit: usize) -> Result<FrameHeader, BadFrame> {
        let [version, kind, ..] = *bytes;
        if version != VERSION {
            return Err(BadFrame::Version(version));
        }
        let kind = FrameType::from_wire(kind).ok_or(BadFrame::Type(kind))?;
        let size = u64::from_be_bytes(*bytes) & 0xffff_ffff_ffff;
        let limit = limit.min(FRAME_SIZE_CEILING);
        match usize::try_from(size) {
            Ok(size) if size <= limit => Ok(FrameHeader { kind, size }),
            _ => Err(BadFrame::TooLarge { size, limit }),
        }
    }

    /// The header's bytes.
    pub fn to_bytes(self) -> [u8; FRAME_HEADER_LEN] {
        let mut bytes = (self.size as u64 & 0xffff_ffff_ffff).to_be_bytes();
        bytes[0] = VERSION;
        bytes[1] = self.kind as u8;
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_survives_its_bytes() {
        for kind in [FrameType::Info, FrameType::Admin, FrameType::Message, FrameType::Compressed] {
            let header = FrameHeader { kind, size: 0x0102_0304 };
            assert_eq!(FrameHeader::parse(&header.to_bytes(), FRAME_SIZE_CEILING), Ok(header));
        }
    }

    #[test]
    fn headers_that_cannot_be_followed_are_refused() {
        let parse = |bytes: [u8; 8]| FrameHeader::parse(&bytes, 1000);
        assert_eq!(parse([1, 3, 0, 0, 0, 0, 0, 22]), Err(BadFrame::Version(1)));
        assert_eq!(parse([2, 0, 0, 0, 0, 0, 0, 22]), Err(BadFrame::Type(0)));
        assert_eq!(parse([2, 5, 0, 0, 0, 0, 0, 22]), Err(BadFrame::Type(5)));
        assert_eq!(
            parse([2, 3, 0, 0, 0, 0, 3, 0xe9]),
            Err(BadFrame::TooLarge { size: 1001, limit: 1000 })
        );
        assert_eq!(
            FrameHeader::parse(&[2, 3, 255, 255, 255, 255, 255, 255], usize::MAX),
            Err(BadFrame::TooLarge { size: 0xffff_ffff_ffff, limit: FRAME_SIZE_CEILING })
        );
    }
}

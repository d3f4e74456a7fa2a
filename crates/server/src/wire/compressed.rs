//! Compressed frames: a size and the zlib form of one whole message frame.

use std::io::Read;

use flate2::read::ZlibDecoder;

use super::frame::{FRAME_HEADER_LEN, FrameHeader, FrameType};

/// Inflates the body of a compressed frame and returns the body of the message inside. `None` when
/// the announced size is wrong or over the limit, or when something else than a message is inside.
pub fn inflate(body: &[u8], limit: usize) -> Option<Vec<u8>> {
    let (size, deflated) = body.split_first_chunk::<8>()?;
    let size = usize::try_from(u64::from_be_bytes(*size)).ok()?;
    if size < FRAME_HEADER_LEN || size > limit.saturating_add(FRAME_HEADER_LEN) {
        return None;
    }
    // The buffer grows with what really comes out, so that an announced size costs nothing.
    let mut frame = Vec::with_capacity(size.min(deflated.len().saturating_mul(4)));
    let mut decoder = ZlibDecoder::new(deflated).take(size as u64 + 1);
    decoder.read_to_end(&mut frame).ok()?;
    if frame.len() != size {
        return None;
    }
    let header = FrameHeader::parse(frame.first_chunk::<FRAME_HEADER_LEN>()?, limit).ok()?;
    if header.kind != FrameType::Message || header.size != size - FRAME_HEADER_LEN {
        return None;
    }
    frame.drain(..FRAME_HEADER_LEN);
    Some(frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::ZlibEncoder};
    use std::io::Write;

    fn deflate(announced: u64, frame: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(frame).unwrap();
        [&announced.to_be_bytes()[..], &encoder.finish().unwrap()].concat()
    }

    fn frame(kind: FrameType, body: &[u8]) -> Vec<u8> {
        [&FrameHeader { kind, size: body.len() }.to_bytes()[..], body].concat()
    }

    #[test]
    fn the_message_comes_back() {
        let inner = frame(FrameType::Message, &[5; 1000]);
        assert_eq!(inflate(&deflate(1008, &inner), 2000), Some(vec![5; 1000]));
    }

    #[test]
    fn wrong_sizes_types_and_bombs_are_refused() {
        let inner = frame(FrameType::Message, &[5; 1000]);
        assert_eq!(inflate(&deflate(1007, &inner), 2000), None, "more than announced");
        assert_eq!(inflate(&deflate(1009, &inner), 2000), None, "less than announced");
        assert_eq!(inflate(&deflate(1008, &inner), 999), None, "over the limit");
        assert_eq!(inflate(&deflate(u64::MAX, &inner), 999), None);
        let info = frame(FrameType::Info, &[5; 10]);
        assert_eq!(inflate(&deflate(18, &info), 2000), None, "only messages may be compressed");
        assert_eq!(inflate(&[0, 0, 0, 0, 0, 0, 0, 20, 1, 2, 3], 2000), None, "not zlib");
        assert_eq!(inflate(&[], 2000), None);
    }
}

//! What went wrong, for clients that ask: a field of an answer that was refused.
//!
//! The field holds a MessagePack map: 1 is the subcode, 2 a sentence. Two bits of a request's fourth
//! info byte say how much is wanted.

use cairn_value::Error;
use cairn_value::packed::write;

use super::flags::info4;

/// Longest sentence in bytes.
const SENTENCE_MAX: usize = 1024;

const KEY_SUBCODE: i64 = 1;
const KEY_SENTENCE: i64 = 2;

/// The field's data, as far as the request wants it; `None` when there is nothing to tell.
pub fn error_details(error: &Error, request_info4: u8) -> Option<Vec<u8>> {
    let verbosity = (request_info4 & info4::VERBOSITY) >> info4::VERBOSITY_SHIFT;
    let subcode = (verbosity >= 1 && error.subcode != 0).then_some(error.subcode);
    let sentence = (verbosity >= 2).then(|| shortened(&error.message));
    let count = u32::from(subcode.is_some()) + u32::from(sentence.is_some());
    if count == 0 {
        return None;
    }
    let mut data = Vec::new();
    write::map_head(&mut data, count);
    if let Some(subcode) = subcode {
        write::int(&mut data, KEY_SUBCODE);
        write::int(&mut data, subcode.into());
    }
    if let Some(sentence) = sentence {
        write::int(&mut data, KEY_SENTENCE);
        put_text(&mut data, sentence);
    }
    Some(data)
}

/// A plain MessagePack text, without a particle type in front.
fn put_text(data: &mut Vec<u8>, text: &str) {
    match text.len() {
        len @ 0..32 => data.push(0xa0 | len as u8),
        len @ 32..256 => data.extend_from_slice(&[0xd9, len as u8]),
        len => {
            data.push(0xda);
            data.extend_from_slice(&(len as u16).to_be_bytes());
        }
    }
    data.extend_from_slice(text.as_bytes());
}

fn shortened(text: &str) -> &str {
    let cut = (0..=text.len().min(SENTENCE_MAX)).rev().find(|&at| text.is_char_boundary(at));
    &text[..cut.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_value::ResultCode;

    #[test]
    fn as_much_is_told_as_was_asked_for() {
        let mut error = Error::new(ResultCode::Parameter, "no");
        assert_eq!(error_details(&error, 0x00), None);
        assert_eq!(error_details(&error, 0x20), None, "there is no subcode");
        assert_eq!(error_details(&error, 0x40).unwrap(), [0x81, 2, 0xa2, b'n', b'o']);
        error.subcode = 7;
        assert_eq!(error_details(&error, 0x20).unwrap(), [0x81, 1, 7]);
        assert_eq!(error_details(&error, 0x60).unwrap(), [0x82, 1, 7, 2, 0xa2, b'n', b'o']);
        error.message = "é".repeat(2000).into();
        let data = error_details(&error, 0x60).unwrap();
        assert_eq!(data.len(), 4 + 3 + SENTENCE_MAX);
        (error.subcode, error.message) = (0, "x".repeat(40).into());
        assert_eq!(error_details(&error, 0x40).unwrap()[..4], [0x81, 2, 0xd9, 40]);
    }
}

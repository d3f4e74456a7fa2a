//! Bytes in text, as contexts and expressions travel in info commands.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Reads base64 with its padding; `None` for anything else.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let (groups, rest) = text.as_bytes().as_chunks::<4>();
    if !rest.is_empty() {
        return None;
    }
    let mut bytes = Vec::with_capacity(groups.len() * 3);
    for (at, group) in groups.iter().enumerate() {
        let padding = group.iter().rev().take_while(|&&byte| byte == b'=').count();
        if padding > 2 || padding > 0 && at + 1 < groups.len() {
            return None;
        }
        let mut bits = 0u32;
        for &byte in &group[..4 - padding] {
            let value = ALPHABET.iter().position(|&letter| letter == byte)?;
            bits = bits << 6 | value as u32;
        }
        let [_, first, second, third] = (bits << (6 * padding)).to_be_bytes();
        bytes.extend_from_slice(&[first, second, third][..3 - padding]);
    }
    Some(bytes)
}

/// Writes base64 with padding.
pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let mut three = [0; 4];
        three[1..=group.len()].copy_from_slice(group);
        let bits = u32::from_be_bytes(three);
        for at in 0..4u32 {
            match at as usize <= group.len() {
                true => {
                    let value = bits >> (18 - 6 * at) & 0x3f;
                    text.push(char::from(ALPHABET[value as usize]));
                }
                false => text.push('='),
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_texts() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (&[0x94, 0x22, 0xa3, 3, b'i', b'n', 0x10, 0], "lCKjA2luEAA="),
        ] {
            assert_eq!(encode(bytes), text);
            assert_eq!(decode(text).as_deref(), Some(bytes));
        }
        for bad in ["!!!", "!!!!", "Zg=", "Z===", "Zg==Zg==", "Zm9", "=Zm9", "Z=m9"] {
            assert_eq!(decode(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn what_is_encoded_decodes(bytes in prop::collection::vec(any::<u8>(), 0..50)) {
            prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }
    }
}

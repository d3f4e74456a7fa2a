//! The packed codec against value trees and a recursive checker.
#![allow(clippy::unwrap_used)]

mod trees;

use std::borrow::Cow;

use cairn_value::collection::stored_form;
use cairn_value::limits::DEPTH_MAX;
use cairn_value::packed::{Head, Malformed, Reader, Token, check, flags};
use cairn_value::{Particle, ParticleType, Value};
use proptest::prelude::*;

/// A checker that does the obvious, by recursion.
fn naive_check(bytes: &[u8]) -> Result<(), Malformed> {
    fn value(reader: &mut Reader<'_>, depth: usize) -> Result<(), Malformed> {
        let children = match reader.token()? {
            Token::List(count) => u64::from(count),
            Token::Map(count) => 2 * u64::from(count),
            _ => return Ok(()),
        };
        if depth == DEPTH_MAX {
            return Err(Malformed::TooDeep);
        }
        (0..children).try_for_each(|_| value(reader, depth + 1))
    }
    let mut reader = Reader::new(bytes);
    value(&mut reader, 0)?;
    if reader.is_done() { Ok(()) } else { Err(Malformed::Trailing) }
}

/// Moves behind a value token by token.
fn naive_skip(reader: &mut Reader<'_>) -> Result<(), Malformed> {
    let children = match reader.token()? {
        Token::List(count) => u64::from(count),
        Token::Map(count) => 2 * u64::from(count),
        _ => return Ok(()),
    };
    (0..children).try_for_each(|_| naive_skip(reader))
}

#[test]
fn skipping_goes_as_far_as_reading_whatever_the_first_byte() {
    for head in 0..=0xff {
        for len in 0..40 {
            let bytes = [&[head][..], &[0, 1, 2, 3].repeat(10)[..len]].concat();
            let (mut read, mut skipped) = (Reader::new(&bytes), Reader::new(&bytes));
            let expected = naive_skip(&mut read);
            assert_eq!(skipped.skip().is_ok(), expected.is_ok(), "{bytes:02x?}");
            if expected.is_ok() {
                assert_eq!(skipped.position(), read.position(), "{bytes:02x?}");
            }
        }
    }
}

fn nested(depth: usize, open: &[u8], innermost: &[u8]) -> Vec<u8> {
    [open.repeat(depth), innermost.to_vec()].concat()
}

#[test]
fn nesting_is_allowed_to_the_limit_and_not_beyond() {
    for open in [&[0x91][..], &[0x81, 0x01]] {
        assert_eq!(check(&nested(DEPTH_MAX, open, &[0x01])), Ok(()));
        let deeper = nested(DEPTH_MAX + 1, open, &[0x01]);
        assert_eq!(check(&deeper), Err(Malformed::TooDeep));
        assert_eq!(naive_check(&deeper), Err(Malformed::TooDeep));
        assert_eq!(Value::from_packed(&deeper), Err(Malformed::TooDeep));
    }
    assert_eq!(check(&nested(DEPTH_MAX - 1, &[0x91], &[0x90])), Ok(()));
    assert_eq!(check(&nested(DEPTH_MAX, &[0x91], &[0x90])), Err(Malformed::TooDeep));
}

#[test]
fn announced_counts_are_not_believed() {
    let lies: [&[u8]; 4] = [
        &[0xdd, 0xff, 0xff, 0xff, 0xff],
        &[0xdf, 0x7f, 0xff, 0xff, 0xff, 0x01],
        &[0x92, 0xdd, 0, 0, 0, 2, 1, 1],
        &[0xdb, 0xff, 0xff, 0xff, 0xff, b'x'],
    ];
    for bytes in lies {
        assert_eq!(check(bytes), Err(Malformed::Truncated), "{bytes:?}");
        assert_eq!(Reader::new(bytes).skip(), Err(Malformed::Truncated), "{bytes:?}");
        assert_eq!(Value::from_packed(bytes), Err(Malformed::Truncated), "{bytes:?}");
    }
}

#[test]
fn heads_tell_flags_from_elements() {
    let head = |bytes: &[u8]| Head::read(bytes, 0).unwrap().unwrap();
    let ordered = head(&[0x93, 0xc7, 0, 1, 5, 6]);
    assert_eq!((ordered.count, ordered.flags, ordered.body), (2, flags::ORDERED, 4));
    let map = head(&[0x82, 0xc7, 0, 1, 0xc0, 5, 6]);
    assert_eq!((map.count, map.flags, map.body, map.is_map), (1, flags::ORDERED, 5, true));
    let element = head(&[0x91, 0xd4, 1, 0]);
    assert_eq!((element.count, element.flags, element.body), (1, 0, 1));
    let wildcard = head(&[0x91, 0xd4, 0xff, 0]);
    assert_eq!((wildcard.count, wildcard.flags), (1, 0));
    assert_eq!(Head::read(&[0x05], 0), Ok(None));
}

#[test]
fn bytes_and_text_take_the_same_family_as_clients_send() {
    assert_eq!(Value::Blob(vec![b'b']).to_packed(), [0xa2, 4, b'b']);
    assert_eq!(Value::from("a").to_packed(), [0xa2, 3, b'a']);
    assert_eq!(Value::from_packed(&[0xc4, 2, 4, b'b']), Ok(Value::Blob(vec![b'b'])));
}

fn is_collection(value: &Value) -> bool {
    matches!(value, Value::List { .. } | Value::Map { .. })
}

proptest! {
    #[test]
    fn trees_come_back_as_they_went(value in trees::value()) {
        let packed = value.to_packed();
        prop_assert_eq!(check(&packed), Ok(()));
        prop_assert_eq!(Value::from_packed(&packed), Ok(value.clone()));
        let bytes = value.to_particle_bytes();
        prop_assert_eq!(Value::from_particle(Particle::new(value.kind(), &bytes)), Ok(value));
    }

    #[test]
    fn packed_trees_are_stored_as_they_are(value in trees::value()) {
        let value = trees::kept(value);
        let kind = value.kind();
        if is_collection(&value) {
            let packed = value.to_packed();
            prop_assert!(matches!(stored_form(kind, &packed), Ok(Cow::Borrowed(_))));
        }
    }

    #[test]
    fn stored_forms_are_stored_as_they_are(value in trees::value()) {
        let kind = value.kind();
        if is_collection(&value)
            && let Ok(stored) = stored_form(kind, &value.to_packed())
        {
            prop_assert!(matches!(stored_form(kind, &stored), Ok(Cow::Borrowed(_))));
        }
    }

    #[test]
    fn long_forms_are_stored_as_the_short_ones(value in trees::value()) {
        let value = trees::kept(value);
        let kind = value.kind();
        if is_collection(&value) {
            let mut long = Vec::new();
            pack_long(&value, &mut long);
            prop_assert_eq!(Value::from_packed(&long), Ok(value.clone()));
            prop_assert_eq!(stored_form(kind, &long).unwrap().into_owned(), value.to_packed());
        }
    }

    #[test]
    fn skipping_moves_as_far_as_decoding(value in trees::value(), tail in any::<u8>()) {
        let packed = value.to_packed();
        let bytes = [packed.clone(), vec![tail]].concat();
        let mut reader = Reader::new(&bytes);
        prop_assert_eq!(reader.skip(), Ok(&packed[..]));
        prop_assert_eq!(reader.position(), packed.len());
    }

    #[test]
    fn cut_values_are_truncated(value in trees::value(), cut in any::<prop::sample::Index>()) {
        let packed = value.to_packed();
        let cut = &packed[..cut.index(packed.len())];
        prop_assert_eq!(check(cut), Err(Malformed::Truncated));
        prop_assert_eq!(Value::from_packed(cut), Err(Malformed::Truncated));
    }

    #[test]
    fn the_check_agrees_with_the_naive_one(
        value in trees::value(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = value.to_packed();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        prop_assert_eq!(check(&bytes).is_ok(), naive_check(&bytes).is_ok());
        if check(&bytes).is_ok() {
            prop_assert_eq!(Reader::new(&bytes).skip(), Ok(&bytes[..]));
        }
    }
}

/// Packs everything in its longest form.
fn pack_long(value: &Value, out: &mut Vec<u8>) {
    let text = |out: &mut Vec<u8>, head: u8, kind: ParticleType, bytes: &[u8]| {
        out.push(head);
        out.extend_from_slice(&(bytes.len() as u32 + 1).to_be_bytes());
        out.push(kind.wire());
        out.extend_from_slice(bytes);
    };
    match value {
        Value::Int(i) => {
            out.push(0xd3);
            out.extend_from_slice(&i.to_be_bytes());
        }
        Value::String(s) => text(out, 0xdb, ParticleType::String, s.as_bytes()),
        Value::Geo(s) => text(out, 0xdb, ParticleType::GeoJson, s.as_bytes()),
        Value::Blob(b) => text(out, 0xc6, ParticleType::Blob, b),
        Value::List { items, ordered } => {
            out.push(0xdd);
            out.extend_from_slice(&(items.len() as u32 + u32::from(*ordered)).to_be_bytes());
            if *ordered {
                out.extend_from_slice(&[0xc9, 0, 0, 0, 0, flags::ORDERED]);
            }
            items.iter().for_each(|item| pack_long(item, out));
        }
        Value::Map { pairs, ordered } => {
            out.push(0xdf);
            out.extend_from_slice(&(pairs.len() as u32 + u32::from(*ordered)).to_be_bytes());
            if *ordered {
                out.extend_from_slice(&[0xc9, 0, 0, 0, 0, flags::ORDERED, 0xc0]);
            }
            for (key, value) in pairs {
                pack_long(key, out);
                pack_long(value, out);
            }
        }
        short => short.pack(out),
    }
}

//! Digests and partitions as the official clients compute them.
//!
//! The expected values were computed with the official Python client 19.3.0
//! (`aerospike.calc_digest(namespace, set, key)`), an implementation of its own.
#![allow(clippy::unwrap_used)]

use cairn_value::key::{check_namespace_name, check_set_name};
use cairn_value::{Digest, Key, PartitionId, UserKey};

fn int(value: i64) -> UserKey {
    UserKey::from(value)
}

fn text(value: &str) -> UserKey {
    UserKey::from(value)
}

fn blob(value: &[u8]) -> UserKey {
    UserKey::from(value)
}

#[test]
fn digests_and_partitions_are_those_of_the_clients() {
    let vectors = [
        ("", int(1), "a443f05d05d962202b59abb402afae1737dbf66a", 932),
        ("", int(0), "b346137ba9189579da520162dfdcd61a10fe37d6", 1715),
        ("", int(-1), "d943ab3514038a3c02fd973a50aa7133e3f400f0", 985),
        ("", int(i64::MAX), "45926e9b11948d236642eda3defaa6214c04dff2", 581),
        ("", int(i64::MIN), "9fa85424a57a42ea2ba5cc7a939880e5a8be6a6b", 2207),
        ("users", text("user:alice"), "b3da10ad981b1b379ef4c26cc6f89d6502210ed7", 2739),
        ("users", int(42), "69e283d0a9dac9b4a08c1f3270d7a6ce357a5517", 617),
        ("", text("text"), "24990ee7f9a846931e61aa504269002dc947f606", 2340),
        ("demo", text("é漢"), "397242c59cbbbfc060b8833645fb1dce449d817d", 569),
        (&"s".repeat(63), text("k"), "2d32f599cfbdc25d4ceaf6ea14185b96e8726243", 557),
        ("users", blob(&[0, 1, 255]), "c8f20ce6ef1806db78a2e0c3d8f72da31d852c61", 712),
        ("", blob(&[0]), "35e4ebc07ab21beef176dffa7d4d7bf8ce5bb673", 1077),
        ("demo", blob(&[97, 98, 99]), "3fb7c68f2c2b17e691675d1249bcc636a484184c", 1855),
        ("demo", text("abc"), "5bb7c351d00567dcdabd54658e1f98e5e964b744", 1883),
        ("demo", text(&"x".repeat(300)), "932f1c2a2cdbd28ddc102c9a5b5380a768146d40", 3987),
    ];
    for (set, user, digest, partition) in vectors {
        let key = Key::new("test", set, user).unwrap();
        assert_eq!(key.digest().to_string(), digest, "{key:?}");
        assert_eq!(key.digest().partition(), PartitionId(partition), "{key:?}");
        assert_eq!(Digest::from_hex(digest), Some(key.digest()));
    }
}

#[test]
fn the_namespace_is_no_part_of_a_digest() {
    let digest = |namespace: &str| Key::new(namespace, "users", "alice").unwrap().digest();
    assert_eq!(digest("test"), digest("bar"));
}

#[test]
fn keys_keep_their_wire_form() {
    for key in [int(-5), text("é"), blob(&[0, 255]), text(""), blob(&[])] {
        assert_eq!(UserKey::from_wire(&key.to_wire()), Ok(key));
    }
    for wire in [&[][..], &[1, 0], &[2, 0, 0, 0, 0, 0, 0, 0, 0], &[3, 0xff], &[99, 1]] {
        assert!(UserKey::from_wire(wire).is_err(), "{wire:?}");
    }
}

#[test]
fn names_have_limits_that_the_error_names() {
    assert!(check_namespace_name(&[b'n'; 31]).is_ok());
    assert!(check_namespace_name(b"").is_err());
    assert!(check_set_name(b"").is_ok());
    assert!(check_set_name(&[b's'; 63]).is_ok());
    let error = check_set_name(&[b's'; 64]).unwrap_err();
    assert!(error.message.contains("64 bytes") && error.message.contains("63"), "{error}");
    assert!(check_namespace_name(&[b'n'; 32]).unwrap_err().message.contains("31"));
}

//! Random and damaged bytes through everything that reads packed values: no panic, no endless
//! loop, no disagreement. `CAIRN_FUZZ_SECONDS` makes it run longer; a failure prints its input.
#![allow(clippy::unwrap_used)]

mod trees;

use std::time::{Duration, Instant};

use cairn_value::collection::{reply_form, stored_form};
use cairn_value::packed::{Head, Reader, check};
use cairn_value::{Particle, ParticleType, Value, order};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Xorshift: good enough to damage bytes, and repeatable.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % sides.max(1)
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.roll(256) as u8).collect()
    }

    fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.roll(4) {
            let at = self.roll(bytes.len() + 1);
            match self.roll(4) {
                0 if at < bytes.len() => bytes[at] = self.roll(256) as u8,
                1 => bytes.insert(at, self.roll(256) as u8),
                2 => bytes.truncate(at),
                _ => {
                    let again = bytes[at..].to_vec();
                    bytes.extend_from_slice(&again[..again.len().min(32)]);
                }
            }
        }
    }
}

/// Everything that takes bytes from outside. An accepted value keeps its promises.
fn read_all(bytes: &[u8], other: &[u8]) {
    let mut reader = Reader::new(bytes);
    while reader.token().is_ok() {}
    let _ = Reader::new(bytes).skip();
    for at in [0, 1, bytes.len(), bytes.len() + 1] {
        let _ = Head::read(bytes, at);
    }
    let accepted = check(bytes).is_ok();
    if accepted {
        assert!(Value::from_packed(bytes).is_ok(), "{bytes:02x?}");
        assert_eq!(order::compare(bytes, bytes), Ok(std::cmp::Ordering::Equal), "{bytes:02x?}");
    }
    let _ = order::compare(bytes, other);
    for kind in [ParticleType::List, ParticleType::Map] {
        let _ = reply_form(kind, bytes);
        let _ = Value::from_particle(Particle::new(kind, bytes));
        if let Ok(stored) = stored_form(kind, bytes) {
            let again = stored_form(kind, &stored).unwrap();
            assert_eq!(again, stored, "the stored form of {bytes:02x?} is not stable");
        }
    }
}

#[test]
fn fuzz_hostile_bytes_are_refused_and_harm_nobody() {
    let seconds = std::env::var("CAIRN_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok());
    let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(2));
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let mut previous = Vec::new();
    let mut rounds = 0u64;
    while Instant::now() < end || rounds < 1000 {
        let len = dice.roll(64);
        let mut bytes = match dice.roll(3) {
            0 => dice.bytes(len),
            _ => trees::value().new_tree(&mut runner).unwrap().current().to_packed(),
        };
        dice.damage(&mut bytes);
        read_all(&bytes, &previous);
        previous = bytes;
        rounds += 1;
    }
}

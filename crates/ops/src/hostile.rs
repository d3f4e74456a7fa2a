//! Hostile input for tests: random and mutated packed calls, for a bounded time.

use std::time::{Duration, Instant};

/// A small generator of pseudo-random numbers (xorshift).
pub struct Noise(u64);

impl Noise {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }
}

/// Calls `try_one` with mutations of the `seeds` and with noise, for `CAIRN_FUZZ_SECONDS` seconds
/// (2 unless set).
pub fn for_a_while(seeds: &[Vec<u8>], mut try_one: impl FnMut(&[u8], &mut Noise)) {
    let seconds = std::env::var("CAIRN_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok());
    let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(2));
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    while Instant::now() < end {
        for _ in 0..100 {
            let mut call = match noise.below(8) {
                0 => {
                    let len = noise.below(40);
                    noise.bytes(len)
                }
                _ => seeds[noise.below(seeds.len())].clone(),
            };
            for _ in 0..noise.below(4) {
                mutate(&mut call, &mut noise);
            }
            try_one(&call, &mut noise);
        }
    }
}

fn mutate(call: &mut Vec<u8>, noise: &mut Noise) {
    let at = noise.below(call.len());
    match noise.below(5) {
        0 if !call.is_empty() => call[at] = noise.next() as u8,
        1 if !call.is_empty() => call[at] ^= 1 << noise.below(8),
        2 => call.truncate(at),
        3 => {
            let extra = [0xcf, 0xd3, 0xff, 0x7f, 0x80, 0x00, 0xdd, 0xc6, 0x9f, 0xc3];
            call.insert(at, extra[noise.below(extra.len())]);
        }
        _ => {
            let number = [i64::MIN, i64::MAX, 1 << 32, -1, 1 << 31, 0][noise.below(6)];
            let mut packed = vec![0xd3];
            packed.extend_from_slice(&number.to_be_bytes());
            let end = (at + 1).min(call.len());
            call.splice(at..end, packed);
        }
    }
}

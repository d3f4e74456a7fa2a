//! Fields of up to 64 bits at any bit offset of a byte string.

/// The field of `bits` bits (64 at most) at bit offset `at`, right-aligned. Bits behind the end of
/// `bytes` read as 0.
pub(crate) fn get(bytes: &[u8], at: usize, bits: usize) -> u64 {
    debug_assert!(bits <= 64);
    let (mut value, mut at, mut left) = (0u64, at, bits);
    while left > 0 {
        let skip = at % 8;
        let take = left.min(8 - skip);
        let byte = bytes.get(at / 8).copied().unwrap_or(0);
        let part = u64::from(byte) >> (8 - skip - take) & mask(take);
        value = value << take | part;
        at += take;
        left -= take;
    }
    value
}

/// Puts the low `bits` bits (64 at most) of `value` at bit offset `at`; what falls behind the end of
/// `bytes` is lost.
pub(crate) fn put(bytes: &mut [u8], at: usize, bits: usize, value: u64) {
    debug_assert!(bits <= 64);
    let (mut at, mut left) = (at, bits);
    while left > 0 {
        let skip = at % 8;
        let take = left.min(8 - skip);
        let part = (value >> (left - take) & mask(take)) as u8;
        let shift = 8 - skip - take;
        if let Some(byte) = bytes.get_mut(at / 8) {
            *byte = *byte & !((mask(take) as u8) << shift) | part << shift;
        }
        at += take;
        left -= take;
    }
}

/// A number whose low `bits` bits are set.
pub(crate) fn mask(bits: usize) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The value of a field of `bits` bits as a signed number.
pub(crate) fn sign_extend(value: u64, bits: usize) -> i64 {
    let shift = 64 - bits.clamp(1, 64);
    (value << shift) as i64 >> shift
}

/// Cuts `bits` bits into fields of 8, the last one shorter: offset and length of each.
pub(crate) fn octets(bits: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..bits).step_by(8).map(move |at| (at, (bits - at).min(8)))
}

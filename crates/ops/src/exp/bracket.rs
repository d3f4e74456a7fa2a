//! Bracket expressions of POSIX patterns as sets of bytes.

use std::fmt::Write as _;

/// A set of bytes.
pub(super) struct ByteSet {
    pub members: [bool; 256],
    /// Written with `^`; the members are what remains.
    pub negated: bool,
}

/// Reads a bracket expression behind its `[`; returns the set and how many bytes it took.
pub(super) fn parse(rest: &[u8]) -> Option<(ByteSet, usize)> {
    let negated = rest.first() == Some(&b'^');
    let mut at = usize::from(negated);
    let start = at;
    let mut members = [false; 256];
    loop {
        let byte = *rest.get(at)?;
        if byte == b']' && at > start {
            break;
        }
        if byte == b'[' && rest.get(at + 1) == Some(&b':') {
            at += 2;
            let len = rest.get(at..)?.windows(2).position(|pair| pair == b":]")?;
            let class = class(rest.get(at..at + len)?)?;
            (0..=255u8).filter(|&b| class(b)).for_each(|b| members[usize::from(b)] = true);
            at += len + 2;
            continue;
        }
        let (low, used) = element(rest.get(at..)?)?;
        at += used;
        let mut high = low;
        if rest.get(at) == Some(&b'-') && rest.get(at + 1).is_some_and(|&next| next != b']') {
            let (end, used) = element(rest.get(at + 1..)?)?;
            high = end;
            at += 1 + used;
        }
        if high < low {
            return None;
        }
        (low..=high).for_each(|b| members[usize::from(b)] = true);
    }
    if negated {
        members.iter_mut().for_each(|member| *member = !*member);
    }
    Some((ByteSet { members, negated }, at + 1))
}

/// One byte, written plainly or as `[.x.]` or `[=x=]`.
fn element(rest: &[u8]) -> Option<(u8, usize)> {
    match rest {
        [b'[', b'.', byte, b'.', b']', ..] | [b'[', b'=', byte, b'=', b']', ..] => Some((*byte, 5)),
        [b'[', b'.' | b'=', ..] => None,
        [byte, ..] => Some((*byte, 1)),
        [] => None,
    }
}

fn class(name: &[u8]) -> Option<fn(u8) -> bool> {
    Some(match name {
        b"alpha" => |b| b.is_ascii_alphabetic(),
        b"digit" => |b| b.is_ascii_digit(),
        b"alnum" => |b| b.is_ascii_alphanumeric(),
        b"upper" => |b| b.is_ascii_uppercase(),
        b"lower" => |b| b.is_ascii_lowercase(),
        b"space" => |b| matches!(b, b'\t'..=b'\r' | b' '),
        b"blank" => |b| matches!(b, b'\t' | b' '),
        b"punct" => |b| b.is_ascii_punctuation(),
        b"print" => |b| matches!(b, b' '..=b'~'),
        b"graph" => |b| b.is_ascii_graphic(),
        b"cntrl" => |b| b.is_ascii_control(),
        b"xdigit" => |b| b.is_ascii_hexdigit(),
        _ => return None,
    })
}

impl ByteSet {
    /// Writes the set as a class of byte ranges.
    pub fn write_to(&self, out: &mut String) {
        if !self.members.contains(&true) {
            out.push_str(r"[^\x00-\xff]");
            return;
        }
        out.push('[');
        let mut from = 0;
        while let Some(low) = (from..256).find(|&b| self.members[b]) {
            let high = (low..256).take_while(|&b| self.members[b]).last().unwrap_or(low);
            // Writing to a string cannot fail.
            let _ = write!(out, r"\x{low:02x}-\x{high:02x}");
            from = high + 1;
        }
        out.push(']');
    }
}

//! The bits of integers. Bit 0 is the most significant one, as in the bit operations.

use super::table::Code;
use super::val::Val;

/// int_and, int_or, int_xor over all arguments.
pub(super) fn fold<'a>(code: Code, mut arguments: impl Iterator<Item = Val<'a>>) -> Val<'a> {
    let Some(Val::Int(mut bits)) = arguments.next() else { return Val::Unknown };
    for argument in arguments {
        let Val::Int(more) = argument else { return Val::Unknown };
        bits = match code {
            Code::IntAnd => bits & more,
            Code::IntOr => bits | more,
            _ => bits ^ more,
        };
    }
    Val::Int(bits)
}

/// The codes of one or two arguments. A shift counts modulo 64.
pub(super) fn apply<'a>(code: Code, first: Val<'a>, second: Val<'a>) -> Val<'a> {
    let Val::Int(bits) = first else { return Val::Unknown };
    let unsigned = bits as u64;
    Val::Int(match (code, second) {
        (Code::IntNot, _) => !bits,
        (Code::Count, _) => i64::from(bits.count_ones()),
        (Code::LeftShift, Val::Int(by)) => bits.wrapping_shl(by as u32),
        (Code::RightShift, Val::Int(by)) => unsigned.wrapping_shr(by as u32) as i64,
        (Code::ArithmeticRightShift, Val::Int(by)) => bits.wrapping_shr(by as u32),
        (Code::LeftScan, Val::Bool(wanted)) => {
            let wanted = if wanted { unsigned } else { !unsigned };
            if wanted == 0 { -1 } else { i64::from(wanted.leading_zeros()) }
        }
        (Code::RightScan, Val::Bool(wanted)) => {
            let wanted = if wanted { unsigned } else { !unsigned };
            if wanted == 0 { -1 } else { 63 - i64::from(wanted.trailing_zeros()) }
        }
        _ => return Val::Unknown,
    })
}

//! Arithmetic on integers, which wraps around, and on doubles, which follows IEEE 754.

use super::table::Code;
use super::val::Val;

/// add, sub, mul, div, min, max: from the left over all arguments. Of one argument, sub is the
/// negation and div the reciprocal.
pub(super) fn fold<'a>(code: Code, mut arguments: impl Iterator<Item = Val<'a>>) -> Val<'a> {
    let Some(first) = arguments.next() else { return Val::Unknown };
    let Some(second) = arguments.next() else {
        return match (code, first) {
            (Code::Sub, Val::Int(value)) => Val::Int(value.wrapping_neg()),
            (Code::Sub, Val::Float(value)) => Val::Float(-value),
            (Code::Div, Val::Int(value)) => step(code, Val::Int(1), Val::Int(value)),
            (Code::Div, Val::Float(value)) => Val::Float(1.0 / value),
            (_, value) => value,
        };
    };
    arguments.fold(step(code, first, second), |sum, value| step(code, sum, value))
}

fn step<'a>(code: Code, left: Val<'a>, right: Val<'a>) -> Val<'a> {
    match (left, right) {
        (Val::Int(x), Val::Int(y)) => integers(code, x, y).map_or(Val::Unknown, Val::Int),
        (Val::Float(x), Val::Float(y)) => Val::Float(floats(code, x, y)),
        _ => Val::Unknown,
    }
}

/// Division by zero is unknown; the smallest integer divided by -1 wraps around to itself, like
/// every other overflow.
fn integers(code: Code, x: i64, y: i64) -> Option<i64> {
    Some(match code {
        Code::Add => x.wrapping_add(y),
        Code::Sub => x.wrapping_sub(y),
        Code::Mul => x.wrapping_mul(y),
        Code::Min => x.min(y),
        Code::Max => x.max(y),
        _ if y == 0 => return None,
        _ => x.wrapping_div(y),
    })
}

fn floats(code: Code, x: f64, y: f64) -> f64 {
    match code {
        Code::Add => x + y,
        Code::Sub => x - y,
        Code::Mul => x * y,
        // A comparison with NaN is false, so the left one stays.
        Code::Min => {
            if y < x {
                y
            } else {
                x
            }
        }
        Code::Max => {
            if y > x {
                y
            } else {
                x
            }
        }
        _ => x / y,
    }
}

/// The codes of one or two arguments.
pub(super) fn apply<'a>(code: Code, first: Val<'a>, second: Val<'a>) -> Val<'a> {
    match (code, first, second) {
        (Code::Pow, Val::Float(x), Val::Float(y)) => Val::Float(x.powf(y)),
        (Code::Log, Val::Float(x), Val::Float(base)) => Val::Float(x.ln() / base.ln()),
        (Code::Mod, Val::Int(_), Val::Int(0)) => Val::Unknown,
        (Code::Mod, Val::Int(x), Val::Int(y)) => Val::Int(x.wrapping_rem(y)),
        (Code::Abs, Val::Int(x), _) => Val::Int(x.wrapping_abs()),
        (Code::Abs, Val::Float(x), _) => Val::Float(x.abs()),
        (Code::Floor, Val::Float(x), _) => Val::Float(x.floor()),
        (Code::Ceil, Val::Float(x), _) => Val::Float(x.ceil()),
        (Code::ToInt, Val::Float(x), _) => Val::Int(to_int(x)),
        (Code::ToFloat, Val::Int(x), _) => Val::Float(x as f64),
        _ => Val::Unknown,
    }
}

/// The integer part; what no integer can hold becomes the smallest integer.
fn to_int(x: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&x) { x as i64 } else { i64::MIN }
}

//! and, or, not, exclusive: in three-valued logic, where a known answer beats an unknown argument.

use super::table::Code;
use super::val::Val;

/// Applies a logic code. Arguments behind the one that decides are not computed.
pub(super) fn apply<'a>(code: Code, mut arguments: impl Iterator<Item = Val<'a>>) -> Val<'a> {
    match code {
        Code::And => any_is(false, arguments),
        Code::Or => any_is(true, arguments),
        Code::Not => match arguments.next() {
            Some(Val::Bool(value)) => Val::Bool(!value),
            _ => Val::Unknown,
        },
        _ => exclusive(arguments),
    }
}

/// `decisive` when any argument is, unknown when any other is unknown, the opposite otherwise.
fn any_is<'a>(decisive: bool, arguments: impl Iterator<Item = Val<'a>>) -> Val<'a> {
    let mut known = true;
    for argument in arguments {
        match argument {
            Val::Bool(value) if value == decisive => return Val::Bool(decisive),
            Val::Bool(_) => {}
            _ => known = false,
        }
    }
    if known { Val::Bool(!decisive) } else { Val::Unknown }
}

/// True when exactly one argument is; unknown when one of them is unknown.
fn exclusive<'a>(arguments: impl Iterator<Item = Val<'a>>) -> Val<'a> {
    let mut true_count = 0;
    for argument in arguments {
        match argument {
            Val::Bool(value) => true_count += usize::from(value),
            _ => return Val::Unknown,
        }
    }
    Val::Bool(true_count == 1)
}

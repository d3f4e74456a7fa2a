//! The table of operation types: one row each. A family that is added takes its rows here.

use cairn_value::{Error, Particle};

use crate::{Applied, Env, Mode, bit, cdt, exp, hll, op, operate::Scope};

/// An operation on one bin: packed arguments and the bin's old value come in.
pub type BinFunction =
    fn(call: &[u8], bin: Option<Particle<'_>>, mode: Mode, env: &Env) -> Result<Applied, Error>;

/// An operation that may look at the whole record, as the operations before it left it.
pub type RecordFunction = fn(
    call: &[u8],
    bin: Option<Particle<'_>>,
    scope: &Scope<'_, '_>,
    mode: Mode,
    env: &Env,
) -> Result<Applied, Error>;

/// What runs when an operation's turn comes.
#[derive(Clone, Copy, Debug)]
pub enum Run {
    /// Answers the bin's value.
    Read,
    /// Sets the bin, or removes it when the value is nil.
    Write,
    /// Adds to a number.
    Increment,
    /// Extends text or bytes at the back.
    Append,
    /// Extends text or bytes at the front.
    Prepend,
    /// Renews the record's metadata.
    Touch,
    /// Removes all bins.
    Delete,
    /// A family that works on its bin alone.
    Bin(BinFunction),
    /// A family that may look at the whole record.
    Record(RecordFunction),
    /// A family that is not there yet.
    Missing,
}

/// One operation type.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its number on the wire.
    pub code: u8,
    /// Its name, for messages.
    pub name: &'static str,
    /// Whether it may change the record.
    pub mode: Mode,
    /// What it does.
    pub run: Run,
}

const fn row(code: u8, name: &'static str, mode: Mode, run: Run) -> Row {
    Row { code, name, mode, run }
}

/// Every operation type there is.
pub const TABLE: &[Row] = &[
    row(op::READ, "read", Mode::Read, Run::Read),
    row(op::WRITE, "write", Mode::Modify, Run::Write),
    row(op::CDT_READ, "list or map read", Mode::Read, Run::Bin(cdt::apply)),
    row(op::CDT_MODIFY, "list or map modify", Mode::Modify, Run::Bin(cdt::apply)),
    row(op::INCREMENT, "increment", Mode::Modify, Run::Increment),
    row(op::EXP_READ, "expression read", Mode::Read, Run::Record(exp::apply)),
    row(op::EXP_MODIFY, "expression write", Mode::Modify, Run::Record(exp::apply)),
    row(op::APPEND, "append", Mode::Modify, Run::Append),
    row(op::PREPEND, "prepend", Mode::Modify, Run::Prepend),
    row(op::TOUCH, "touch", Mode::Modify, Run::Touch),
    row(op::BIT_READ, "bit read", Mode::Read, Run::Bin(bit::apply)),
    row(op::BIT_MODIFY, "bit modify", Mode::Modify, Run::Bin(bit::apply)),
    row(op::DELETE, "delete", Mode::Modify, Run::Delete),
    row(op::HLL_READ, "HyperLogLog read", Mode::Read, Run::Bin(hll::apply)),
    row(op::HLL_MODIFY, "HyperLogLog modify", Mode::Modify, Run::Bin(hll::apply)),
];

/// The row of an operation type.
pub fn find(code: u8) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.code == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_stand_once_and_in_order() {
        assert!(TABLE.windows(2).all(|pair| pair[0].code < pair[1].code));
        assert!(TABLE.iter().all(|row| find(row.code).is_some_and(|found| found.code == row.code)));
    }
}

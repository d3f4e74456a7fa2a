//! Expressions: compiled once, run over a record, with three-valued logic.
//!
//! An expression is a packed list `[code, arguments..]` or a literal. [`Program::compile`] checks
//! structure, number and types of arguments before any record is read; [`table`] says what each
//! code takes and yields. Running a program cannot fail: what cannot be told (a bin is absent or
//! of another type, a division by zero) is unknown, and unknown travels upwards unless logic
//! decides without it.
//!
//! To add a code: a row in [`table`], an arm in the file of its group, a case in the tests.

mod arithmetic;
mod bracket;
mod call;
mod compare;
mod compile;
mod eval;
mod geo;
mod integer;
mod kind;
mod logic;
mod metadata;
mod ops;
mod posix;
mod program;
mod scope;
mod shapes;
pub mod table;
mod val;

pub use kind::Kind;
pub use ops::{apply, apply_modify, apply_read, flag};
pub use posix::{PATTERN_MAX, Pattern};
pub use program::{
    DEPTH_MAX, NODES_MAX, PATTERNS_MAX, Program, SIZE_MAX, VARIABLES_MAX, Verdict, WORK_MAX,
};
pub use scope::{BinLookup, Item, Scope};
pub use val::{Geo, Val};

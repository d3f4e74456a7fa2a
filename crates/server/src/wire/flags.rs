//! Bits of the four info bytes of a message.
#![allow(missing_docs)]

/// Bits of `info1`: reading.
pub mod info1 {
    pub const READ: u8 = 0x01;
    pub const GET_ALL: u8 = 0x02;
    pub const SHORT_QUERY: u8 = 0x04;
    pub const BATCH_INDEX: u8 = 0x08;
    pub const NO_BIN_DATA: u8 = 0x20;
}

/// Bits of `info2`: writing.
pub mod info2 {
    pub const WRITE: u8 = 0x01;
    pub const DELETE: u8 = 0x02;
    pub const GENERATION_EQUAL: u8 = 0x04;
    pub const GENERATION_GREATER: u8 = 0x08;
    /// Accepted and needless: every delete is durable.
    pub const DURABLE_DELETE: u8 = 0x10;
    pub const CREATE_ONLY: u8 = 0x20;
    pub const RESPOND_ALL_OPS: u8 = 0x80;
}

/// Bits of `info4`: transactions and error details.
pub mod info4 {
    /// How much a refused command is to tell: nothing, a subcode, a sentence, all.
    pub const VERBOSITY: u8 = 0x60;
    pub const VERBOSITY_SHIFT: u32 = 5;
}

/// Bits of `info3`: more about writing, and marks in answers.
pub mod info3 {
    pub const LAST: u8 = 0x01;
    pub const PARTITION_DONE: u8 = 0x04;
    pub const UPDATE_ONLY: u8 = 0x08;
    pub const CREATE_OR_REPLACE: u8 = 0x10;
    pub const REPLACE_ONLY: u8 = 0x20;
}

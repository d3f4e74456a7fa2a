//! The bytes of the protocol: headers, fields and operations, parsed without copying, and the
//! writers that build answers in a reusable buffer.
//!
//! ```text
//! frame    version u8 = 2 | type u8 | size u48 BE | body
//! message  header size u8 | info1..4 u8 x4 | result u8 | generation u32 | time to live u32 |
//!          transaction time u32 | fields u16 | operations u16 | fields.. | operations..   (all BE)
//! field    size u32 (type and data) | type u8 | data
//! op       size u32 (all that follows) | op u8 | particle type u8 | 0 u8 | name length u8 | name | value
//! ```
//!
//! Nothing here knows what a command means; it only finds the parts and their bounds.

pub mod compressed;
pub mod details;
pub mod field;
pub mod flags;
pub mod frame;
pub mod message;
pub mod ops;
pub mod reply;

pub use field::{Field, Fields};
pub use frame::{FRAME_HEADER_LEN, FrameHeader, FrameType};
pub use message::{MESSAGE_HEADER_LEN, Message, MessageHeader};
pub use ops::Ops;

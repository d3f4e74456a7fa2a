//! The limits of the data model, each defined once.

/// Longest namespace name in bytes.
pub const NAMESPACE_NAME_MAX: usize = 31;
/// Longest set name in bytes.
pub const SET_NAME_MAX: usize = 63;
/// Longest bin name in bytes.
pub const BIN_NAME_MAX: usize = 15;
/// Most bins in one record.
pub const BINS_MAX: usize = 32_767;
/// Deepest nesting of lists and maps inside one bin.
pub const DEPTH_MAX: usize = 64;
/// Partitions of a namespace.
pub const PARTITIONS: usize = 4096;
/// Largest value that `max-record-size` may take.
pub const RECORD_SIZE_CEILING: usize = 8 * 1024 * 1024;
/// Record size limit of a namespace that does not set one.
pub const RECORD_SIZE_DEFAULT: usize = 1024 * 1024;
/// Longest time to live in seconds: ten years.
pub const TTL_MAX_S: u32 = 3650 * 86_400;

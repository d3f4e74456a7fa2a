//! Placeholder.
pub mod index;

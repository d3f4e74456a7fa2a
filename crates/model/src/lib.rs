//! The contract: a data model as a file that is checked, sized, planned, compared and documented.
//!
//! [`Contract::parse`] reads it; [`rules::check`] finds what the rules of data modelling say about
//! it; [`size`] computes what it costs. This crate does no I/O: files come in as texts, results go
//! out as text, [`json::Json`] and HTML.

pub mod contract;
pub mod cost;
pub mod diagnostic;
pub mod diff;
pub mod doc;
pub mod examples;
pub mod guard;
mod html;
pub mod json;
pub mod name;
pub mod plan;
pub mod quantity;
pub mod reference;
pub mod rules;
pub mod schema;
pub mod size;
pub mod source;
mod table;
pub mod time;
pub mod yaml;

pub use contract::{Contract, Target, Unusable};
pub use diagnostic::{Diagnostic, Severity};

//! The client protocol on sockets: frames, info, record commands, sessions and readiness loops.
//!
//! ```text
//! event_loop  sockets and readiness          (one thread per core)
//!   session   one connection: frames in, answers out, no socket touched
//!     service what a frame asks for
//!       info     text commands about the server
//!       command  commands on records, by family
//!         wire   the bytes
//! ```
//!
//! The thread that read a request runs it to completion and writes its answer. Nothing of the
//! protocol reaches the engine: [`cairn_engine`] sees targets, policies and packed bins.

mod command;
pub mod config;
mod event_loop;
mod http;
pub mod info;
pub mod limits;
mod queries;
mod server;
mod service;
pub mod session;
pub mod wire;

pub use limits::Limits;
pub use server::{Server, ServerConfig};

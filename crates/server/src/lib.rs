//! Adjourn over HTTP.
//!
//! The routes of `/v1`, the event streams, and the doors that they are reached through: a TCP port of this machine and
//! the socket in the data directory. Every route reads something from, or hands something to, a
//! [`Service`](adjourn_runtime::Service). This crate is **not** where anything is decided: what a run takes is said by
//! the core, who gets a slot by the runtime, and a refusal of theirs becomes an answer in one place (`problem/refused.rs`).
//!
//! # Invariants
//!
//! - Reading never drives anything, and a client that goes away changes nothing.
//! - Every error is a `application/problem+json` with a stable `code`, whoever made it.
//! - A stream is pushed by commits, never polled, and begins exactly after the event that its reader saw last.
//! - An event is read and rendered once for all who follow. A reader costs one page of memory at most, however slow it
//!   is; one that takes nothing for a while is let go.
//! - Every stream ends when the server does.
//! - A web page of another origin gets nothing, not even by a name that leads to this machine.
//! - Where others than this machine's user can knock, a request without a token of the right role gets nothing.

mod api;
mod auth;
mod compat;
mod extract;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod mcp;
mod observe;
mod problem;
mod router;
mod serve;
mod server;
mod stream;
mod webhooks;

pub use adjourn_api::Code;
pub use api::dry_run::{dry_run, dry_run_roundtable};
pub use auth::guard::{Door, OtherUsers};
pub use auth::tokens;
pub use problem::Problem;
pub use serve::background::{Background, run_until_idle};
pub use serve::descriptors::raise_descriptor_limit;
pub use serve::drain::{Ending, GRACE_DEFAULT};
pub use serve::error::Error;
pub use serve::listen::{LISTEN_DEFAULT, Listeners, SOCKET_FILE, Socket};
pub use serve::socket_path::connect_socket;
pub use serve::{Options, run, serve, serve_socket};
pub use server::Server;
pub use webhooks::WebhookError;

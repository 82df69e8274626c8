//! Adjourn over HTTP.
//!
//! The routes of `/v1`, the event streams, and the doors that they are reached through: a TCP port of this machine and
//! the socket in the data directory. Every route reads something from, or hands something to, a
//! [`Service`](adjourn_runtime::Service). This crate is **not** where anything is decided: what a run takes is said by
//! the core, who gets a slot by the runtime, and a refusal of theirs becomes an answer in one place (`refused.rs`).
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

mod access;
mod background;
mod body;
mod catalog;
mod chronicle;
mod code;
mod connection;
mod contracts;
mod descriptors;
mod docs;
mod document;
mod drain;
mod error;
mod events;
mod feed;
mod files;
mod follow;
mod form;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod guard;
mod health;
mod http;
mod inbox;
mod jobs;
mod limit;
mod listen;
mod local;
mod logs;
mod mcp;
mod members;
mod metrics;
mod new_run;
mod openapi;
mod pages;
mod peer;
mod problem;
mod query;
mod raw;
mod refused;
mod rehearsal;
mod replies;
mod request_id;
mod roundtables;
mod router;
mod runs;
mod serve;
mod shared;
mod skills;
mod slots;
mod socket_path;
mod sse;
mod streams;
pub mod tokens;
mod traces;
mod uploads;
mod user_name;
mod watchdog;
mod webhooks;

pub use background::{Background, can_go_on, is_at_work, run_until_idle};
pub use code::Code;
pub use descriptors::raise_descriptor_limit;
pub use drain::{Ending, GRACE_DEFAULT};
pub use error::Error;
pub use guard::{Door, OtherUsers};
pub use listen::{LISTEN_DEFAULT, Listeners, SOCKET_FILE, Socket};
pub use problem::Problem;
pub use rehearsal::{rehearse, rehearse_roundtable};
pub use router::Server;
pub use serve::{Options, run, serve, serve_socket};
pub use socket_path::connect_socket;
pub use webhooks::WebhookError;

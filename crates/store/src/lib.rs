//! The journal of Adjourn.
//!
//! A [`Store`] keeps streams of events and the rows that can be looked up, and commits both together. What it promises
//! is the trait and the conformance suite, whatever database is behind it. It never decides anything and never looks
//! into an event.

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod contract;
mod directory;
mod error;
mod feed;
pub mod files;
mod lock;
mod modes;
mod sqlite;

pub use contract::{
    After, Conflict, KeptBecause, OpenCursor, Outcome, Pending, Removal, RoundtableFilter, RunFilter,
    Settled, Store,
};
pub use error::Error;
pub use lock::{LOCK_FILE, UNNAMED_OWNER, owner};
pub use modes::protect;
pub use sqlite::{Examination, Finding, Remedy, SqliteStore};

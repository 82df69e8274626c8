//! The journal of Adjourn.
//!
//! A [`Store`] keeps streams of events and the rows that can be looked up, and commits both together. What it promises
//! is the trait and the conformance suite, whatever database is behind it. It never decides anything and never looks
//! into an event.

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod contract;
pub mod decider;
mod directory;
mod error;
mod feed;
pub mod files;
mod journal;
mod lock;
mod modes;
mod pulse;
mod sqlite;
mod tables;
mod tally;
mod threads;

pub use contract::{
    After, Conflict, KeptBecause, OpenCursor, Outcome, Pending, Removal, RoundtableFilter, RunFilter,
    Settled, Store,
};
pub use decider::{Accepted, Answer, Decider, Denied, News, Request};
pub use error::Error;
pub use journal::Journal;
pub use lock::{LOCK_FILE, UNNAMED_OWNER, owner};
pub use modes::protect;
pub use pulse::{Pulse, STEP_MAX, Stuck};
pub use sqlite::{Examination, Finding, Remedy, SqliteStore};
pub use tables::{
    TableAccepted, TableAnswer, TableDecider, TableDenied, TableRequest, load_readable_roundtable,
    load_roundtable,
};
pub use tally::{Tallied, Tally};
pub use threads::{Committed, Inputs, Steps, Threads, WeakInputs};

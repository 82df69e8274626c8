//! The decider over the SQLite store, from the outside.

// Clippy takes functions that tests share for code that is not a test.
#![allow(clippy::unwrap_used)]

mod bench;
mod decider;
mod roundtables;

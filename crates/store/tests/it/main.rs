//! The SQLite store, from the outside.

// Clippy takes functions that tests share for code that is not a test.
#![allow(clippy::unwrap_used)]

mod bad_input;
mod child;
mod conformance;
mod faults;
mod kill;
mod owner;

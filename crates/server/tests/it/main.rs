//! Tests of the crate as a whole: real connections to a real service, and agents that are small scripts in real
//! processes.

// Whoever calls a function of a test wants it to fail right there.
#![allow(clippy::unwrap_used)]

mod agents_at_the_door;
mod bad_input;
mod bounds;
mod client;
mod contracts;
mod creating;
mod described;
mod doors;
mod edits;
#[cfg(feature = "fuzzing")]
mod fuzzing;
mod hostile;
mod jobs;
mod logs;
mod mcp;
mod metrics;
mod other_users;
mod recordings;
mod requests;
mod reruns;
mod roundtables;
mod runs;
mod stage;
mod streams;
mod tokens;
mod unreadable;
mod uploads;

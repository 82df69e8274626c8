//! How a turn of an agent is executed.
//!
//! One trait: run this turn, tell me what you observe, tell me how it ended. An engine knows nothing of statuses,
//! slots or journals; it never decides what the end of a turn means for its run.

pub mod supervisor;
mod turn;

pub use turn::{Engine, Finished, Probe, Seen, Turn};

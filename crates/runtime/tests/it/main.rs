//! Tests of the crate as a whole.

// Whoever calls a function of a test wants it to fail right there.
#![allow(clippy::unwrap_used)]

mod agents;
mod example_skills;
mod killed;
mod path_of_a_run;
mod recorded;
mod stage;

//! Tests of the crate as a whole: a real journal, real threads, and agents that are small scripts in real processes.

// Whoever calls a function of a test wants it to fail right there.
#![allow(clippy::unwrap_used)]

mod examples;
mod faults;
mod path_of_a_run;
mod queue;
mod scenarios;
mod stage;

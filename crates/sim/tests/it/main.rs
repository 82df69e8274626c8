//! The simulator at work: every crash of a few runs, every planted bug, and two thousand seeds.

// Whoever calls a function of a test wants it to fail right there.
#![allow(clippy::unwrap_used)]

mod clock_steps;
mod conformance;
mod crashes;
mod disk_room;
mod kernel;
mod planted;
mod roundtables;
mod seeds;

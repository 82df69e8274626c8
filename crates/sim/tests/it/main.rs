//! The simulator at work: every crash of a few runs, every planted bug, and two thousand seeds.

// Whoever calls a function of a test wants it to fail right there.
#![allow(clippy::unwrap_used)]

mod conformance;
mod crashes;
mod kernel;
mod planted;
mod seeds;

//! The simulator at work: every crash of a few runs, every planted bug, and two thousand seeds.

mod conformance;
mod crashes;
mod planted;
mod seeds;

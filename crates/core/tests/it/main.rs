//! Tests of the core from outside, in one binary.

mod geometry;
mod ledger;
mod machines;
mod statechart;

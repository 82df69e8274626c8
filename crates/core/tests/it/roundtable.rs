//! The rules of roundtables, one test each, and what holds whatever anybody says.

#![allow(clippy::unwrap_used, reason = "what cannot go on has failed its test")]

mod agents;
mod artifacts;
mod export;
mod next;
mod opening;
mod output;
mod person;
mod person_changes;
mod properties;
mod reconciliation;
mod shapes;
mod strategies;
mod table;
mod topics;
mod watch;

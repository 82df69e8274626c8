//! The rules of runs, one test each.

mod approvals;
mod attempts;
mod canceled_contracts;
mod contracts;
mod deadlines;
mod endings;
mod notices;
mod permissions;
mod questions;
mod restarts;
mod warnings;

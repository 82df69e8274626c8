//! EX: what happened to the world is known, and nothing irreversible happens twice.

mod calls;
mod canceled;
mod graph;
mod questions;
mod refused;

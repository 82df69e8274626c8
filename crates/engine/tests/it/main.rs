//! Agents here are small scripts, and the processes are real.

// Whoever calls a function of a test wants it to fail right there.
#![allow(clippy::unwrap_used)]

mod acp;
mod agent;
mod exec;
mod exec_output;
mod gateway;
mod model;
mod real_agents;
mod reasoning;
mod replay;
mod samples;
mod sandbox;
mod supervisor;
mod tools;
mod turns;

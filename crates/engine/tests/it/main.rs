//! Agents here are small scripts, and the processes are real.

mod agent;
mod exec;
mod exec_output;
mod supervisor;
mod turns;

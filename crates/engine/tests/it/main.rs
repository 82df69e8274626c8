//! Agents here are small scripts, and the processes are real.

mod agent;
mod supervisor;

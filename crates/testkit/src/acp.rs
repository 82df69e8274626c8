//! A scripted agent that speaks the Agent Client Protocol.
//!
//! It is started with the path of a [`Script`] as its only argument, and does in each turn what the script says, or what
//! it finds in its working folder. Its sessions are files, so that a new process can load them: what it does next depends
//! on how many prompts a session has had, which is also what proves that a session was really taken up again.
//!
//! [`main`] is the whole program; a crate that needs one has an example that calls it.

mod act;
mod agent;
mod output;
mod script;
mod session;
mod tools;

pub use agent::main;
pub use script::{Act, Asks, Behaviour, Mcp, Script, TakesUp};

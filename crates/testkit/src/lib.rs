//! What the tests drive real agents with.
//!
//! - `model`: a scripted model. A real HTTP server on loopback that speaks the wire formats of four vendors, streaming
//!   included, and says what a [`Script`](model::Script) tells it to.
//! - [`agents`]: where `cargo xtask agents` put the real agents, and what points each of them at that server.
//! - `mcp`: a scripted tool server, a real process whose tools count what they do, hang, die and ask.
//! - [`mcp_servers`]: where `cargo xtask mcp-servers` put real tool servers that nobody here wrote.
//! - [`fuzz_seeds`]: samples of what is read from others, for fuzzing.
//! - [`cache`]: where that and other foreign programs are installed.
//!
//! - `acp`: a scripted agent. A real process that speaks the real protocol, through the agent's side of its official
//!   crate, and does what a script tells it to, misbehaviour included.
//!
//! It is for tests only and never shipped. It imitates no agent that there is: whatever such an agent prints, the real one
//! printed. And it is not a model: nothing of what it answers depends on what a prompt means.

#[cfg(feature = "acp")]
pub mod acp;
pub mod agents;
pub mod cache;
pub mod fuzz_seeds;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod mcp_servers;
#[cfg(feature = "model")]
pub mod model;

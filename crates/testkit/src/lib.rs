//! What the tests drive real agents with.
//!
//! - `model`: a scripted model. A real HTTP server on loopback that speaks the wire formats of four vendors, streaming
//!   included, and says what a [`Script`](model::Script) tells it to.
//! - [`agents`]: where `cargo xtask agents` put the real agents, and what points each of them at that server.
//! - [`cache`]: where that and other foreign programs are installed.
//!
//! It is for tests only and never shipped. It is not an imitation of an agent: whatever an agent prints, the real one
//! printed. And it is not a model: nothing of what it answers depends on what a prompt means.

pub mod agents;
pub mod cache;
#[cfg(feature = "model")]
pub mod model;

//! How a turn of an agent is executed.
//!
//! One trait: run this turn, tell me what you observe, tell me how it ended. An engine knows nothing of statuses,
//! slots or journals; it never decides what the end of a turn means for its run.
//!
//! Beside the engines there is what some of them are made of: [`model`] asks models over HTTP, [`tools`] holds MCP tool
//! servers, and a [`Gateway`] lets agents that bring their own model call the tools of their turns.
//!
//! # Invariants
//!
//! - When a turn has ended, every process that was started for it is gone, unless it is meant to stay.
//! - An agent's environment is an allow-list, and its secrets are covered in all that leaves this crate.
//! - Memory stays bounded whatever an agent, a model or a tool server sends.

mod acp;
pub mod agent_processes;
pub mod beneath;
mod detail;
mod environment;
mod exec;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod gateway;
mod lines;
mod log;
pub mod model;
mod pattern;
mod peer_socket;
mod program;
mod reasoning;
mod recording;
mod replay;
mod sandbox;
pub mod secrets;
mod sse;
pub mod supervisor;
mod tail;
mod toolbox;
pub mod tools;
mod turn;
mod user_list;

pub use acp::{AcpConfig, AcpEngine, PermissionAnswer, PermissionRule, Serves, ToolKind};
pub use environment::{ShellVariables, allowed_environment};
pub use exec::{ExecConfig, ExecEngine, Permission, Preset};
pub use gateway::Gateway;
pub use log::{LostOutput, log_file};
pub use pattern::Pattern;
pub use peer_socket::{PeerSocket, find_peer_socket};
pub use reasoning::ReasoningEngine;
pub use recording::{Recorder, RecordingError};
pub use replay::{Pace, ReplayEngine};
pub use sandbox::{
    Acceptance, Allowance, Isolation, Protected, Sandbox, SandboxOptions, UnixSockets, Walls, WithoutWalls,
    Writes,
};
pub use sse::{EventTooLong, SseEvent, SseReader};
pub use toolbox::{ASK_THE_USER, ASK_USER, Call, History, NoTools, Stale, Told, Toolbox, asks_the_user};
pub use turn::{Decision, Engine, Finished, Probe, ProfileFound, Seen, Turn};
pub use user_list::{UserList, state_folder};

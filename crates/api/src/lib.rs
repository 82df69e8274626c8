//! What goes over a wire of Adjourn, declared once.
//!
//! Requests and codes are types here, which the server, the command line, the MCP server, the job API and the runtime
//! share. [`read`] turns a text in JSON, TOML or YAML into one of them and reports everything that is wrong with it.
//!
//! This crate does no I/O and decides nothing: whether a request can be met is for the runtime to say.

mod code;
mod local;
pub mod nearest;
pub mod read;
mod replies;
mod roundtable;
mod run;
mod skill_runner;
mod views;

pub use code::Code;
pub use local::{AbsolutePath, Environment, Local};
pub use replies::{
    Answer, ArtifactAction, ArtifactChange, ContractAnswer, EscalateRoundtable, RoundtableAnswer, SettleCall,
};
pub use roundtable::{
    GivenWorkflow, NewFacilitator, NewLimits, NewParticipant, NewRoundtable, NewSeat, NewWorkflow,
};
pub use run::{NewRun, RunOptions};
pub use skill_runner::SkillRunnerOptions;
pub use views::{
    CreatedView, FileView, Files, History, OpenedView, Page, Waiting, WaitingRoundtable, WaitingRun,
};

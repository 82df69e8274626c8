//! Runs agent work: what stands between the journal and the engines.
//!
//! The [kernel](adjourn_kernel) decides when something happens. The [`Runtime`] drives it in production. Around it are the
//! configuration, the skill packages, what a user may ask for, the folders that runs work in, the texts that agents get,
//! and the masking of secrets. It is **not**
//! where a status changes (that is the core), where facts become durable (the store) or where an agent is talked to
//! (the engines).
//!
//! # Invariants
//!
//! - Nothing is done before the fact that announces it is durable.
//! - Who holds a slot is computed from the states of the runs; nobody counts.
//! - Nothing is created for a request that is refused: all of it is checked first, and all problems are named at once.
//! - A path that an agent, a skill or a request names never leads out of the folder that it is meant for.
//! - The text an agent gets is a pure function of what is known, and the same for every engine.
//! - A secret value is never part of a message, a `Debug` or an error.

pub mod config;
mod contracts;
mod creation;
mod disk;
mod driver;
mod folder;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
pub mod prompt;
mod protected;
mod prune;
mod reader;
pub mod request;
pub mod roundtable;
mod runtime;
mod service;
mod turn_inputs;
mod turn_setup;

pub mod bench_engine;
mod delta_hub;
mod severity;
pub mod skill;
mod skill_cache;
mod stats;
pub mod workspace;

pub use contracts::{Contracts, Toolset, TurnTools};
pub use driver::{Delta, Driver};
pub use prune::{CREATE_KEY_DAYS, KeepReason, KeptRoundtable, KeptRun, PruneError, Pruned, prune};
pub use runtime::{EffectHandler, Runtime, RuntimeOptions, WeakRuntime};
pub use service::{
    Created, EngineInfo, Journal, ReplyRequest, Service, ServiceError, Settle, WeakService, can_go_on,
};
pub use severity::Severity;
pub use stats::Stats;
pub use turn_inputs::{OutputContract, PrepareTurns, TurnInputs};
pub use turn_setup::TurnSetup;

//! What a turn needs that is not in the journal.

use std::path::PathBuf;
use std::sync::Arc;

use adjourn_core::{Run, RunError, Schema, Survey};
use adjourn_engine::{Engine, ShellVariables};
use serde_json::Value;

use crate::contracts::Toolset;
use crate::workspace::Workspace;
use adjourn_engine::secrets::Masker;

/// Everything that a turn needs and that is not in the journal.
pub struct TurnInputs {
    /// Who executes it.
    pub engine: Arc<dyn Engine>,
    /// What the agent is told.
    pub prompt: String,
    /// The variables of the shell that asked for the run; none for those of this process.
    pub shell: Option<ShellVariables>,
    /// Where it works.
    pub workspace: PathBuf,
    /// Folders besides that it has to read.
    pub reads: Vec<PathBuf>,
    /// Where its raw output goes.
    pub logs: PathBuf,
    /// What must not be written down.
    pub masker: Masker,
    /// What the result has to be; none for anything.
    pub output: Option<Arc<OutputContract>>,
    /// What the agent was told in the run's first turn, for engines that keep no conversation of their own.
    pub opening: String,
    /// What it may call; none for nothing.
    pub toolset: Option<Toolset>,
}

/// What a result has to be.
pub struct OutputContract {
    /// The schema as it is written.
    pub document: Value,
    /// The schema as it is checked.
    pub schema: Schema,
    /// The keys that name files.
    pub files: Vec<String>,
    /// Where these have to be.
    pub workspace: Workspace,
}

/// Knows what turns need: skills, workspaces, prompts and engines.
pub trait PrepareTurns: Send + Sync + 'static {
    /// What the run's current turn needs.
    fn turn_inputs(&self, run: &Run) -> Result<TurnInputs, RunError>;

    /// What there is of the run's surroundings, after a restart or while its engine is missing. What was left of its process is
    /// gone.
    fn survey(&self, run: &Run) -> Survey;
}

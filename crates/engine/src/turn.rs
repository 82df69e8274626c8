//! What an engine is given and what it gives back.

use std::path::PathBuf;
use std::sync::Arc;

use adjourn_core::{
    ErrorCode, IdempotencyKey, Observation, PermissionRequest, Process, Profile, ResumesBy, RunError, RunId,
    TurnReason,
};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::environment::ShellVariables;
use crate::log::LostOutput;
use crate::secrets::Masker;
use crate::supervisor::StartError;
use crate::toolbox::Toolbox;

/// One turn to execute.
#[derive(Debug, Clone)]
pub struct Turn {
    /// The run it belongs to.
    pub run_id: RunId,
    /// The attempt it belongs to.
    pub attempt: u32,
    /// What the agent is told.
    pub prompt: String,
    /// The conversation to go on with; none for a new one.
    pub handle: Option<String>,
    /// The variables of the shell that asked for the run; none for those of this process.
    pub shell: Option<ShellVariables>,
    /// The folder that the agent works in.
    pub workspace: PathBuf,
    /// Folders besides the workspace that the agent has to read: its skill and its uploads.
    pub reads: Vec<PathBuf>,
    /// The folder for the raw output of this attempt.
    pub logs: PathBuf,
    /// What must not be seen in anything that the agent shows.
    pub masker: Masker,
    /// What becomes of the agent's process when the turn is over.
    pub profile: Profile,
    /// The process that stayed from the turn before, and has to go on.
    pub process: Option<Process>,
    /// What was decided since the turn before about permissions that the agent asked for. Each counts once.
    pub decisions: Vec<Decision>,
    /// Why there is a turn.
    pub reason: TurnReason,
    /// What the run was told in its first turn, for engines that keep no conversation of their own.
    pub opening: String,
    /// What it can call, and where it is written down.
    pub tools: Arc<dyn Toolbox>,
    /// Where it is noted what of its raw output could not be kept.
    pub lost_output: LostOutput,
}

/// What was decided about a permission that an agent asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Which request it answers.
    pub digest: IdempotencyKey,
    /// The agent's own option that was chosen; none is a no.
    pub option: Option<String>,
}

/// What an engine shows while a turn goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// A fact, for the journal.
    Fact(Observation),
    /// Text as it is being written, for whoever watches just now. Never stored.
    Delta(String),
}

/// How a turn ended. Whatever was started for it is gone, unless it is meant to stay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finished {
    /// The agent did its work; this is its last message.
    Completed {
        /// The text of the message.
        text: String,
    },
    /// The agent, or the way to it, failed.
    Failed(RunError),
    /// It was told to stop, and did.
    Stopped,
    /// The agent needs permissions, these besides any that it asked for before. A process that stays waits for them in
    /// its turn, every other one has ended it.
    NeedsPermission(Vec<PermissionRequest>),
    /// Everything that is left to do waits for a person. Only for engines that resume by the journal.
    Suspended,
}

/// What can be found out about an engine without giving it work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// It is installed and answers.
    Ready {
        /// The version it reports.
        version: String,
        /// What it can do with its process while a run waits.
        profile: ProfileFound,
    },
    /// It cannot be used, and why.
    Unusable {
        /// What is wrong and what to do.
        problem: String,
    },
}

/// What an engine can do with its process while a run waits, and how that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileFound {
    /// The best it can do.
    pub profile: Profile,
    /// Why that is.
    pub because: String,
}

impl ProfileFound {
    /// An engine whose next turn is a new process.
    pub fn resumable(because: impl Into<String>) -> Self {
        Self { profile: Profile::Resumable, because: because.into() }
    }

    /// An engine whose process has to stay.
    pub fn sticky_process(because: impl Into<String>) -> Self {
        Self { profile: Profile::StickyProcess, because: because.into() }
    }
}

/// Executes turns.
pub trait Engine: Send + Sync + 'static {
    /// Where it takes up a conversation again.
    fn resumes_by(&self) -> ResumesBy;

    /// Executes a turn: shows what it sees through `seen`, and ends within seconds when `stop` is cancelled.
    ///
    /// The channel is bounded. An engine that cannot show any more waits, and so does its agent.
    fn run(&self, turn: Turn, seen: mpsc::Sender<Seen>, stop: CancellationToken) -> BoxFuture<'_, Finished>;

    /// Waits until no process stays with the run any more, whatever ended it; at once where none does.
    fn gone(&self, _run_id: RunId) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Ends the process that stays with the run; returns when nothing of it is left.
    fn end(&self, _run_id: RunId) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Whether the conversation of `turn` can be taken up again once the agent is there, as far as that can be told without
    /// doing it: false only where it is certain that it cannot.
    fn can_resume(&self, turn: &Turn) -> bool;

    /// Whether it is installed for a run that was asked for from this shell, as far as that can be told without starting it.
    fn is_installed(&self, shell: Option<&ShellVariables>) -> bool;

    /// Whether it plays what another run did, so that no agent works on the request.
    fn plays_a_recording(&self) -> bool {
        false
    }

    /// Finds out whether it can be used here.
    fn probe(&self) -> BoxFuture<'_, Probe>;
}

/// Shows something. That nobody looks any more is no reason to stop: who wants that says so.
pub(crate) async fn show(seen: &mpsc::Sender<Seen>, one: Seen) {
    let _ = seen.send(one).await;
}

pub(crate) fn failed(code: ErrorCode, message: impl Into<String>) -> Finished {
    Finished::Failed(RunError { code, message: message.into() })
}

/// The end of a turn whose agent could not be started.
pub(crate) fn not_started(error: StartError) -> Finished {
    let code = match &error {
        StartError::NoSandbox(_) => ErrorCode::SandboxUnavailable,
        StartError::NotStarted(_) => ErrorCode::EngineNotFound,
        StartError::Io(_) => ErrorCode::Internal,
    };
    failed(code, error.to_string())
}

//! What an engine is given and what it gives back.

use std::path::PathBuf;

use adjourn_core::{Observation, ResumesBy, RunError, RunId};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::secrets::Masker;

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
    /// The folder that the agent works in.
    pub workspace: PathBuf,
    /// The folder for the raw output of this attempt.
    pub logs: PathBuf,
    /// What must not be seen in anything that the agent shows.
    pub masker: Masker,
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
}

/// What can be found out about an engine without giving it work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// It is installed and answers.
    Ready {
        /// The version it reports.
        version: String,
    },
    /// It cannot be used, and why.
    Unusable {
        /// What is wrong and what to do.
        problem: String,
    },
}

/// Executes turns.
pub trait Engine: Send + Sync + 'static {
    /// Where it takes up a conversation again.
    fn resumes_by(&self) -> ResumesBy;

    /// Executes a turn: shows what it sees through `seen`, and ends within seconds when `stop` is cancelled.
    ///
    /// The channel is bounded. An engine that cannot show any more waits, and so does its agent.
    fn run(&self, turn: Turn, seen: mpsc::Sender<Seen>, stop: CancellationToken) -> BoxFuture<'_, Finished>;

    /// Whether the conversation of `turn` can be taken up again, as far as that can be told without doing it.
    fn can_resume(&self, turn: &Turn) -> bool;

    /// Whether it is installed, as far as that can be told without starting it.
    fn is_installed(&self) -> bool;

    /// Finds out whether it can be used here.
    fn probe(&self) -> BoxFuture<'_, Probe>;
}

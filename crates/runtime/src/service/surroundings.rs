//! What surfaces ask of a service besides its runs: engines, skills, files, slots, and how it is.

use std::fs::File;
use std::path::PathBuf;

use adjourn_core::{OutputStream, Run, RunId, Timestamp};
use adjourn_engine::agent_processes::AgentProcesses;
use adjourn_kernel::{Denied, SlotUse, Stuck};

use super::{Service, ServiceError};
use crate::config::Config;
use crate::skill::{self, Installed, NotFound};
use crate::stats::Stats;
use crate::workspace::{Incoming, Workspace, WorkspaceError};

/// An engine that can be named.
#[derive(Debug, Clone)]
pub struct EngineInfo {
    /// The name.
    pub name: String,
    /// `acp`, `exec`, `reasoning` or `replay`.
    pub kind: Option<String>,
    /// Its program is there.
    pub installed: bool,
    /// The walls around its agents; none for an engine that starts no program.
    pub sandbox: Option<String>,
}

impl Service {
    /// The configuration.
    pub fn config(&self) -> &Config {
        self.turn_setup().config()
    }

    /// The processes of the agents that were started here.
    pub fn agents(&self) -> &AgentProcesses {
        self.turn_setup().agents()
    }

    /// Every engine that can be named, by name.
    pub async fn engines(&self) -> Result<Vec<EngineInfo>, ServiceError> {
        let walls = self.turn_setup().walls().await;
        self.off_thread(move |service| {
            let turn_setup = service.turn_setup();
            let info = |name: &str| EngineInfo {
                name: name.to_owned(),
                kind: turn_setup.config().engine(name).map(|engine| engine.kind().to_string()),
                installed: turn_setup.is_installed(name, None),
                sandbox: turn_setup.sandbox(name, &walls),
            };
            Ok(turn_setup.config().engine_names().into_iter().map(info).collect())
        })
        .await
    }

    /// Every skill that can be named, by name. Reads folders.
    pub fn skills(&self) -> Vec<Installed> {
        skill::installed(&self.config().skills)
    }

    /// The folder of a skill. Reads folders.
    pub fn skill_folder(&self, name: &str) -> Result<PathBuf, NotFound> {
        skill::find(name, &self.config().skills)
    }

    /// Makes room for the files of a request.
    pub fn incoming(&self) -> Result<Incoming, WorkspaceError> {
        self.turn_setup().workspaces().incoming()
    }

    /// The folders of a run.
    pub fn workspace(&self, run: &Run) -> Result<Workspace, WorkspaceError> {
        self.turn_setup().workspaces().of(run)
    }

    /// The raw output of an attempt; none where there is none, or none any more.
    pub fn attempt_log(
        &self,
        run_id: RunId,
        attempt: u32,
        stream: OutputStream,
    ) -> Result<Option<File>, WorkspaceError> {
        self.turn_setup().workspaces().log(run_id, attempt, stream)
    }

    /// How the slots are used now.
    pub async fn slots(&self) -> Result<SlotUse, Denied> {
        self.runtime().slots().await
    }

    /// How long things took.
    pub fn stats(&self) -> &Stats {
        self.runtime().stats()
    }

    /// The time, by the clock that the service works with.
    pub fn now(&self) -> Timestamp {
        self.runtime().now()
    }

    /// Begins no turn any more, and waits until those that had begun are over.
    pub async fn drain(&self) {
        self.runtime().drain().await;
        self.driver().at_rest().await;
    }

    /// Whether no turn begins any more.
    pub fn is_draining(&self) -> bool {
        self.runtime().is_draining()
    }

    /// The thread that is stuck in one step, if one is.
    pub fn stuck(&self) -> Option<Stuck> {
        self.runtime().stuck()
    }
}

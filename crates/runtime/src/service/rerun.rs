//! Runs of the same request.

use adjourn_api::RunOptions;
use adjourn_core::{ReplyKey, Run, RunId, canonical};
use adjourn_engine::ShellVariables;
use serde_json::json;

use super::{Created, Service, ServiceError, sha256};
use crate::request::{RunRequest, SkillRef};
use crate::turn_setup::Asked;
use crate::workspace::{Upload, Workspace};

impl Service {
    /// Creates a run by the request that another was created by, or finds the one that the same key created before.
    ///
    /// A key stands for "a rerun of this run", so the same key again finds the same new run, whatever became of the first
    /// one and its files meanwhile. `shell` is the one that asks now.
    pub async fn rerun(
        &self,
        run_id: RunId,
        key: Option<String>,
        shell: Option<ShellVariables>,
    ) -> Result<Created, ServiceError> {
        let digest = sha256(&canonical(&json!({ "rerun": run_id })));
        let key = key.map(|key| ReplyKey { key, digest });
        self.create_once(key, None, move |service| Ok(RunRequest { shell, ..service.request_of(run_id)? }))
            .await
    }

    /// The request that a run was created by, to be made again.
    pub fn request_of(&self, run_id: RunId) -> Result<RunRequest, ServiceError> {
        let run = self.run(run_id)?;
        let workspace = self.turn_setup.workspaces().of(&run)?;
        let files = match self.turn_setup.workspaces().given_uploads(&run)? {
            Some(given) => given,
            // A run from before files were kept as they were given: as its agent left them.
            None => uploads_there(&workspace),
        };
        Ok(again(&run, self.turn_setup.asked(&run)?, &workspace, files))
    }
}

fn uploads_there(workspace: &Workspace) -> Vec<Upload> {
    let there = workspace.uploads_there().into_iter();
    there.filter_map(|from| Some(Upload { name: from.file_name()?.to_str()?.to_owned(), from })).collect()
}

fn again(run: &Run, asked: Asked, workspace: &Workspace, files: Vec<Upload>) -> RunRequest {
    let spec = run.spec();
    let skill = workspace.skill.clone().map(SkillRef::At);
    RunRequest {
        prompt: if skill.is_some() { None } else { asked.prompt },
        skill,
        engine: Some(spec.engine.clone()),
        execution_mode: Some(spec.execution_mode),
        input: asked.input,
        parameter: asked.parameter,
        options: Some(RunOptions {
            interactive_require_user_reply: Some(spec.strict == adjourn_core::Strict::On),
            session_timeout_sec: Some(spec.session_timeout_sec),
            interactive_profile: Some(spec.profile),
            max_attempt: spec.max_attempt,
            hard_timeout_sec: spec.hard_timeout_sec,
            repair_limit: Some(spec.repair_limit),
            priority: Some(spec.priority),
        }),
        labels: spec.labels.clone(),
        continues: None,
        files,
        workspace: None,
        shell: None,
    }
}

//! The result of a job.

use adjourn_core::{Run, RunStatus, WarningCode};
use adjourn_runtime::Service;
use adjourn_runtime::skill::Skill;
use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::api::runs::check_finished;
use crate::extract::query::RunPath;
use crate::problem::Problem;
use crate::server::Server;

pub(super) async fn show(State(server): State<Server>, RunPath(id): RunPath) -> Result<Json<Value>, Problem> {
    let shown = server.blocking(move |service| {
        let run = service.run(id)?;
        check_finished(&run)?;
        Ok(json!({ "request_id": id, "result": result(&run, files(service, &run)) }))
    });
    shown.await.map(Json)
}

fn result(run: &Run, files: Vec<String>) -> Value {
    let warned = |code| run.warnings().iter().any(|warning| warning.code == code);
    let succeeded = run.status() == RunStatus::Succeeded;
    let source = match warned(WarningCode::InteractiveCompletedWithoutDoneMarker) {
        true => "soft_completion",
        false => "done_marker",
    };
    json!({
        "status": if succeeded { "success" } else { run.status().name() },
        "data": run.result(),
        "success_source": succeeded.then_some(source),
        "artifacts": files,
        "repair_level": if warned(WarningCode::OutputRepaired) { "agent" } else { "none" },
        "validation_warnings": run.warnings().iter().map(|warning| warning.code).collect::<Vec<_>>(),
        "error": run.error(),
    })
}

/// The files that the result names where the skill says that it names one. They were looked up beneath the workspace
/// before the result was taken, so there is none among them that is elsewhere; nothing is moved.
fn files(service: &Service, run: &Run) -> Vec<String> {
    let Some(data) = run.result() else { return Vec::new() };
    // Pruned since, or not readable any more: then there are no files to name either.
    let Ok(workspace) = service.workspace(run) else { return Vec::new() };
    let skill = workspace.skill.as_deref().and_then(|folder| Skill::load(folder).ok());
    let output = skill.and_then(|skill| skill.output);
    let keys = output.iter().flat_map(|output| output.files());
    keys.filter_map(|key| data.get(key)?.as_str().map(str::to_owned)).collect()
}

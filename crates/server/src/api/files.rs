//! Files that a run left in its workspace.

use std::io::Read;

use adjourn_api::{Code, FileView, Files};
use adjourn_core::RunId;
use adjourn_runtime::Service;
use adjourn_runtime::workspace::{Listed, Workspace};
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::log_body;
use crate::api::openapi::Refuses;
use crate::extract::query::{Names, RunPath, run_id};
use crate::problem::Problem;
use crate::server::Server;

/// How a route about a run's folder refuses.
const REFUSES: [Code; 4] = [Code::BadRequest, Code::UnknownRun, Code::NoWorkspace, Code::WorkspaceFailed];

pub(crate) fn routes() -> OpenApiRouter<Server> {
    let [bad, run, workspace, failed] = REFUSES;
    OpenApiRouter::new().routes(routes!(list).refuses(&REFUSES)).routes(routes!(content).refuses(&[
        bad,
        run,
        workspace,
        Code::UnknownFile,
        failed,
    ]))
}

/// What a run left in its workspace.
#[utoipa::path(
    get, path = "/v1/runs/{id}/files", tag = "files", operation_id = "runFiles", params(RunPath),
    responses((status = 200, body = Files, description = "Its files, by path.")),
)]
pub(crate) async fn list(State(server): State<Server>, RunPath(id): RunPath) -> Result<Json<Files>, Problem> {
    let listing = server.blocking(move |service| Ok(workspace(service, id)?.files()?)).await?;
    let file = |file: &Listed| FileView {
        path: file.path.to_string_lossy().into_owned(),
        bytes: file.bytes,
        problem: file.problem.map(str::to_owned),
    };
    let items = listing.files.iter().map(file).collect();
    Ok(Json(Files { items, next_cursor: None, truncated: listing.truncated }))
}

/// A file as it is.
///
/// An agent wrote it, so no browser may take it for a page of this server.
#[utoipa::path(
    get, path = "/v1/runs/{id}/files/{*path}", tag = "files", operation_id = "runFile",
    params(RunPath, ("path" = String, Path, description = "Relative to the workspace.")),
    responses((status = 200, body = Vec<u8>, content_type = "application/octet-stream", description = "Its bytes.")),
)]
pub(crate) async fn content(
    State(server): State<Server>,
    Names((id, path)): Names<(String, String)>,
) -> Result<Response, Problem> {
    let id = run_id(&id)?;
    let file = server.blocking(move |service| Ok(workspace(service, id)?.result_file(&path)?)).await?;
    Ok(log_body::response(file.take(u64::MAX)))
}

fn workspace(service: &Service, id: RunId) -> Result<Workspace, Problem> {
    // A run that there never was is told from one whose folder is gone.
    let run = service.run(id)?;
    Ok(service.workspace(&run)?)
}

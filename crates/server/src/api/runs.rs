//! Runs: created, listed, looked at.

use std::future::Future;

use adjourn_core::{InteractionView, ListedRun, Run, RunError, RunId, RunStatus, RunView, Warning};
use adjourn_runtime::request::RunRequest;
use adjourn_runtime::{Created, ServiceError};
use adjourn_store::RunFilter;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::new_run::NewRunForm;
use crate::api::openapi::Refuses;
use crate::api::pages::limit;
use crate::extract::body;
use crate::extract::local::{self, LocalRequest, Reach};
use crate::extract::query::{Parameters, RunPath, run_id};
use crate::extract::uploads::Sent;
use crate::problem::Problem;
use crate::server::Server;
use adjourn_api::read::Document;
use adjourn_api::{Code, CreatedView, NewRun, Page};

pub(crate) fn routes() -> OpenApiRouter<Server> {
    OpenApiRouter::new()
        .routes(routes!(create).refuses(&[
            Code::BadJson,
            Code::BadForm,
            Code::BadRequest,
            Code::BodyTooSlow,
            Code::KeyReused,
            Code::RunPruned,
            Code::NotContinuable,
            Code::BodyTooLarge,
            Code::UnsupportedMediaType,
            Code::Invalid,
            Code::EngineNotFound,
            Code::SkillUnusable,
            Code::QueueFull,
            Code::DiskReserve,
            Code::WorkspaceFailed,
        ]))
        .routes(routes!(rerun).refuses(&[
            Code::BadRequest,
            Code::UnknownRun,
            Code::NoWorkspace,
            Code::KeyReused,
            Code::RunPruned,
            Code::Invalid,
            Code::EngineNotFound,
            Code::SkillUnusable,
            Code::QueueFull,
            Code::DiskReserve,
            Code::WorkspaceFailed,
        ]))
        .routes(routes!(list).refuses(&[Code::BadRequest]))
        .routes(routes!(show).refuses(&[Code::BadRequest, Code::UnknownRun]))
        .routes(routes!(result).refuses(&[Code::BadRequest, Code::UnknownRun, Code::NotFinished]))
        .routes(routes!(interactions).refuses(&[Code::BadRequest, Code::UnknownRun]))
}

fn answer(created: Created) -> Response {
    let location = format!("/v1/runs/{}", created.run.id());
    let view = CreatedView { run: RunView::of(&created.run), notice: created.notice };
    (StatusCode::CREATED, [(header::LOCATION, location)], Json(view)).into_response()
}

/// Creates a run.
///
/// With an idempotency key that created one before, the answer is the same 201, with the run as it is now: whoever
/// sends a request again did not get the first answer, and should not need to know.
#[utoipa::path(
    post, path = "/v1/runs", tag = "runs", operation_id = "createRun",
    params(body::KeyHeader),
    request_body(content((NewRun = "application/json"), (NewRunForm = "multipart/form-data"))),
    responses((status = 201, body = CreatedView, description = "The run.",
        headers(("location" = String, description = "Where the run is.")))),
)]
pub(crate) async fn create(
    State(server): State<Server>,
    Extension(reach): Extension<Reach>,
    headers: HeaderMap,
    Sent { document, files }: Sent,
) -> Result<Response, Problem> {
    let key = body::key(&headers)?;
    let LocalRequest { mut request, record } = local::read(document, reach)?;
    request.files.extend(files.iter().flat_map(|files| files.uploads().to_vec()));
    let service = server.service.clone();
    let created = whole(async move {
        let created = service.create(request, key, record).await;
        drop(files);
        created
    });
    Ok(answer(created.await?))
}

/// Creates a run by the request that another was created by.
#[utoipa::path(
    post, path = "/v1/runs/{id}/rerun", tag = "runs", operation_id = "rerun",
    params(RunPath, body::KeyHeader),
    responses((status = 201, body = CreatedView, description = "The new run.",
        headers(("location" = String, description = "Where the run is.")))),
)]
pub(crate) async fn rerun(
    State(server): State<Server>,
    Extension(reach): Extension<Reach>,
    RunPath(id): RunPath,
    headers: HeaderMap,
    body::OptionalJson(document): body::OptionalJson<Value>,
) -> Result<Response, Problem> {
    let key = body::key(&headers)?;
    let shell = local::take_shell(&mut Document::of(document), reach)?;
    let service = server.service.clone();
    whole(async move { service.rerun(id, key, shell).await }).await.map(answer)
}

/// Creates a run that comes without files.
pub(crate) async fn start(
    server: &Server,
    request: RunRequest,
    key: Option<String>,
) -> Result<Created, Problem> {
    let service = server.service.clone();
    whole(async move { service.create(request, key, None).await }).await
}

/// Creates a run in a task of its own: a client that goes away must not stop halfway what makes the run's folder. The
/// task is spawned at once, so that the future of the request does not hold a second copy of the 10 KB of work.
fn whole(
    creating: impl Future<Output = Result<Created, ServiceError>> + Send + 'static,
) -> impl Future<Output = Result<Created, Problem>> {
    let task = tokio::spawn(creating);
    async { Ok(task.await.map_err(|_| Problem::internal("creating the run stopped halfway"))??) }
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunsQuery {
    #[param(inline)]
    status: Option<RunStatus>,
    /// The name of a skill.
    skill: Option<String>,
    /// `name=value`.
    #[param(pattern = "=", example = "team=billing")]
    label: Option<String>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
    /// Items of a page.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<usize>,
}

impl RunsQuery {
    fn filter(&self) -> Result<RunFilter, Problem> {
        let label = |label: &str| match label.split_once('=') {
            Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
            None => Err(Problem::bad_request("`label` should be `name=value`")),
        };
        Ok(RunFilter {
            status: self.status,
            skill: self.skill.clone(),
            label: self.label.as_deref().map(label).transpose()?,
            before: self.cursor.as_deref().map(run_id).transpose().map_err(|_| bad_cursor())?,
        })
    }
}

pub(crate) fn bad_cursor() -> Problem {
    Problem::bad_request("`cursor` should be the `next_cursor` of the page before")
}

/// Runs, the newest first.
#[utoipa::path(
    get, path = "/v1/runs", tag = "runs", operation_id = "listRuns", params(RunsQuery),
    responses((status = 200, body = Page<ListedRun>, description = "A page of runs.")),
)]
pub(crate) async fn list(
    State(server): State<Server>,
    Parameters(wanted): Parameters<RunsQuery>,
) -> Result<Json<Page<ListedRun>>, Problem> {
    let (limit, filter) = (limit(wanted.limit)?, wanted.filter()?);
    let rows = server.blocking(move |service| Ok(service.listed(&filter, limit + 1)?)).await?;
    Ok(Json(Page::cut(rows, limit, |listed| listed.row.run_id.to_string())))
}

/// A run.
#[utoipa::path(
    get, path = "/v1/runs/{id}", tag = "runs", operation_id = "showRun", params(RunPath),
    responses((status = 200, body = RunView, description = "The run as it is now.")),
)]
pub(crate) async fn show(
    State(server): State<Server>,
    RunPath(id): RunPath,
) -> Result<Json<RunView>, Problem> {
    let view = server.blocking(move |service| Ok(service.view(&service.run(id)?)));
    Ok(Json(view.await?))
}

/// How a run ended.
#[derive(Serialize, ToSchema)]
pub(crate) struct ResultView {
    run_id: RunId,
    status: RunStatus,
    /// What came of it.
    result: Option<Value>,
    error: Option<RunError>,
    warnings: Vec<Warning>,
}

/// How a run ended, and what came of it.
#[utoipa::path(
    get, path = "/v1/runs/{id}/result", tag = "runs", operation_id = "runResult", params(RunPath),
    responses((status = 200, body = ResultView, description = "The result, of a run that has ended.")),
)]
pub(crate) async fn result(
    State(server): State<Server>,
    RunPath(id): RunPath,
) -> Result<Json<ResultView>, Problem> {
    let run = server.blocking(move |service| Ok(service.run(id)?)).await?;
    check_finished(&run)?;
    Ok(Json(ResultView {
        run_id: id,
        status: run.status(),
        result: run.result().cloned(),
        error: run.error().cloned(),
        warnings: run.warnings().to_vec(),
    }))
}

/// Only a run that has ended has a result.
pub(crate) fn check_finished(run: &Run) -> Result<(), Problem> {
    if run.status().is_terminal() {
        return Ok(());
    }
    let detail = format!("{} is {}: it has a result when it has ended", run.id(), run.status());
    Err(Problem::new(Code::NotFinished, detail))
}

/// The questions of a run, and how each was resolved.
#[utoipa::path(
    get, path = "/v1/runs/{id}/interactions", tag = "runs", operation_id = "runInteractions", params(RunPath),
    responses((status = 200, body = Page<InteractionView>, description = "All of them, the oldest first.")),
)]
pub(crate) async fn interactions(
    State(server): State<Server>,
    RunPath(id): RunPath,
) -> Result<Json<Page<InteractionView>>, Problem> {
    let run: Run = server.blocking(move |service| Ok(service.run(id)?)).await?;
    let interactions = run.interactions().iter();
    Ok(Json(Page::whole(interactions.map(|interaction| InteractionView::of(&run, interaction)).collect())))
}

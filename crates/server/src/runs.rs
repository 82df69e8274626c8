//! Runs: created, listed, looked at.

use std::future::Future;

use adjourn_core::{ContractView, InteractionView, Run, RunRow, RunStatus, RunView};
use adjourn_runtime::{Created, ServiceError};
use adjourn_store::RunFilter;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::body;
use crate::guard::Door;
use crate::local::{self, LocalRequest};
use crate::pages::{Page, limit};
use crate::problem::Problem;
use crate::query::{Parameters, RunPath, run_id};
use crate::router::Server;

/// A run that was created.
#[derive(Serialize)]
struct CreatedView {
    #[serde(flatten)]
    run: RunView,
    /// What the asker should know.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

/// Creates a run.
///
/// With an idempotency key that created one before, the answer is the same 201, with the run as it is now: whoever
/// sends a request again did not get the first answer, and should not need to know.
pub(crate) async fn create(
    State(server): State<Server>,
    Extension(door): Extension<Door>,
    headers: HeaderMap,
    body::Json(document): body::Json,
) -> Result<Response, Problem> {
    let key = body::key(&headers)?;
    let LocalRequest { request, record } = local::read(document, door).map_err(Problem::invalid)?;
    let service = server.service.clone();
    whole(async move { service.create(request, key, record).await }).await
}

/// Creates a run by the request that another was created by.
pub(crate) async fn rerun(
    State(server): State<Server>,
    RunPath(id): RunPath,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let key = body::key(&headers)?;
    let request = server.blocking(move |service| Ok(service.request_of(id)?)).await?;
    let service = server.service.clone();
    whole(async move { service.create(request, key, None).await }).await
}

/// Creates a run in a task of its own: a client that goes away must not stop halfway what makes the run's folder.
async fn whole(
    creating: impl Future<Output = Result<Created, ServiceError>> + Send + 'static,
) -> Result<Response, Problem> {
    let created = tokio::spawn(creating).await;
    let created = created.map_err(|_| Problem::internal("creating the run stopped halfway"))??;
    let location = format!("/v1/runs/{}", created.run.id());
    let view = CreatedView { run: RunView::of(&created.run), notice: created.notice };
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(view)).into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    status: Option<RunStatus>,
    skill: Option<String>,
    /// `name=value`.
    label: Option<String>,
    cursor: Option<String>,
    limit: Option<usize>,
}

impl Wanted {
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

pub(crate) async fn list(
    State(server): State<Server>,
    Parameters(wanted): Parameters<Wanted>,
) -> Result<Json<Page<RunRow>>, Problem> {
    let (limit, filter) = (limit(wanted.limit)?, wanted.filter()?);
    let rows = server.blocking(move |service| Ok(service.store().runs(&filter, limit + 1)?)).await?;
    Ok(Json(Page::cut(rows, limit, |row| row.run_id.to_string())))
}

pub(crate) async fn show(
    State(server): State<Server>,
    RunPath(id): RunPath,
) -> Result<Json<RunView>, Problem> {
    let run = server.blocking(move |service| Ok(service.run(id)?)).await?;
    Ok(Json(RunView::of(&run)))
}

/// How a run ended, and what came of it.
pub(crate) async fn result(
    State(server): State<Server>,
    RunPath(id): RunPath,
) -> Result<Json<Value>, Problem> {
    let run = server.blocking(move |service| Ok(service.run(id)?)).await?;
    if !run.status().is_terminal() {
        let detail = format!("{id} is {}: it has a result when it has ended", run.status());
        return Err(Problem::new(StatusCode::CONFLICT, "NOT_FINISHED", detail));
    }
    Ok(Json(json!({
        "run_id": id, "status": run.status(), "result": run.result(), "error": run.error(), "warnings": run.warnings(),
    })))
}

pub(crate) async fn interactions(
    State(server): State<Server>,
    RunPath(id): RunPath,
) -> Result<Json<Page<InteractionView>>, Problem> {
    let run: Run = server.blocking(move |service| Ok(service.run(id)?)).await?;
    Ok(Page::whole(
        run.interactions().iter().map(|interaction| InteractionView::of(&run, interaction)).collect(),
    ))
}

pub(crate) async fn contracts(
    State(server): State<Server>,
    RunPath(id): RunPath,
) -> Result<Json<Page<ContractView>>, Problem> {
    let run = server.blocking(move |service| Ok(service.run(id)?)).await?;
    Ok(Page::whole(run.contracts().map(|contract| ContractView::of(&run, contract)).collect()))
}

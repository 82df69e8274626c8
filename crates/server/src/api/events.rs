//! `GET /v1/runs/{id}/events`: the stream of one run.
//!
//! It stays open while the run waits, and closes after the terminal frame. Whoever comes back after that gets 204,
//! which tells an `EventSource` to stop asking.

use adjourn_api::{Code, History};
use adjourn_core::RunId;
use adjourn_runtime::Service;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::openapi::Refuses;
use crate::api::pages::limit;
use crate::extract::query::{Parameters, RunPath};
use crate::problem::Problem;
use crate::server::Server;
use crate::stream::follower::Follower;
use crate::stream::run_reader::RunReader;
use crate::stream::sse;

pub(crate) fn routes() -> OpenApiRouter<Server> {
    OpenApiRouter::new().routes(routes!(events).refuses(&[Code::BadRequest, Code::UnknownRun]))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventsQuery {
    /// Begin after the frame with this `seq`.
    pub(crate) after: Option<u64>,
    /// Frames of a page; a stream has no limit.
    #[param(minimum = 1, maximum = 500, default = 50)]
    pub(crate) limit: Option<usize>,
}

/// The stream of a run, as server-sent events, or a page of its history.
///
/// The stream stays open while the run waits and closes after the terminal frame. `id:` is the `seq` of a frame. With
/// `Accept: application/json` the answer is a page of history instead.
#[utoipa::path(
    get, path = "/v1/runs/{id}/events", tag = "runs", operation_id = "runEvents",
    params(RunPath, EventsQuery, ("Last-Event-ID" = Option<u64>, Header, description = "Begin after this frame.")),
    responses(
        (status = 200, description = "Frames.", content((String = "text/event-stream"), (History = "application/json"))),
        (status = 204, description = "The run has ended and its reader has seen everything."),
    ),
)]
pub(crate) async fn events(
    State(server): State<Server>,
    RunPath(id): RunPath,
    headers: HeaderMap,
    Parameters(wanted): Parameters<EventsQuery>,
) -> Result<Response, Problem> {
    let after = sse::begin(&headers, wanted.after)?.unwrap_or(0);
    if sse::wants_page(&headers) {
        return page(&server, id, after, limit(wanted.limit)?).await;
    }
    // Deltas are listened for before the journal is read, so that none falls between.
    let deltas = server.service.driver().deltas_of(id);
    let (row, commits) = server
        .blocking(move |service| {
            let commits = service.journal().watch_stream(id.into());
            Ok((service.row(id)?, commits))
        })
        .await?;
    if row.status.is_terminal() && after >= row.seq {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    // A reader that names a frame still to come would not be sent the last one, and wait for it for good.
    let after = after.min(row.seq);
    let reader = RunReader { journal: server.service.journal(), id, engine: row.engine };
    let stream = server.streams.run(reader, row.seq);
    let (shutdown, open) = (server.shutdown.clone(), server.metrics.stream());
    Ok(Follower::new(stream, after, commits, shutdown, open).with_deltas(deltas).response())
}

async fn page(server: &Server, id: RunId, after: u64, limit: usize) -> Result<Response, Problem> {
    let read = server.blocking(move |service: &Service| {
        let reader = RunReader { journal: service.journal(), id, engine: service.row(id)?.engine };
        let (mut frames, _) = reader.frames(after, limit)?;
        frames.truncate(limit);
        Ok(frames)
    });
    let frames = read.await?;
    let next_after = frames.last().map_or(after, |frame| frame.seq);
    Ok(Json(History { events: frames, next_after }).into_response())
}

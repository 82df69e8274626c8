//! The stream of one roundtable. Like a run's, it stays open while the roundtable waits and closes after its end.

use adjourn_api::Code;
use adjourn_core::RoundtableId;
use adjourn_core::roundtable::Frame;
use adjourn_runtime::Service;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::events::EventsQuery;
use crate::api::openapi::Refuses;
use crate::api::pages::limit;
use crate::extract::query::{Parameters, RoundtablePath};
use crate::problem::Problem;
use crate::server::Server;
use crate::stream::follower::Follower;
use crate::stream::roundtable_reader::RoundtableReader;
use crate::stream::sse;

pub(super) fn routes() -> OpenApiRouter<Server> {
    OpenApiRouter::new().routes(routes!(events).refuses(&[Code::BadRequest, Code::UnknownRoundtable]))
}

/// A page of the history of a roundtable.
#[derive(Serialize, ToSchema)]
pub(crate) struct RoundtableHistory {
    events: Vec<Frame>,
    /// Where to go on, now or when there is more.
    next_after: u64,
}

/// The stream of a roundtable, as server-sent events, or a page of its history.
///
/// The stream stays open while the roundtable waits and closes after the terminal frame. `id:` is the `seq` of a frame.
/// With `Accept: application/json` the answer is a page of history instead. What each agent does is in the stream of its
/// run, which `participant.answered` names.
#[utoipa::path(
    get, path = "/v1/roundtables/{id}/events", tag = "roundtables", operation_id = "roundtableEvents",
    params(RoundtablePath, EventsQuery,
        ("Last-Event-ID" = Option<u64>, Header, description = "Begin after this frame.")),
    responses(
        (status = 200, description = "Frames.",
            content((String = "text/event-stream"), (RoundtableHistory = "application/json"))),
        (status = 204, description = "The roundtable has ended and its reader has seen everything."),
    ),
)]
pub(crate) async fn events(
    State(server): State<Server>,
    RoundtablePath(id): RoundtablePath,
    headers: HeaderMap,
    Parameters(wanted): Parameters<EventsQuery>,
) -> Result<Response, Problem> {
    let after = sse::begin(&headers, wanted.after)?.unwrap_or(0);
    if sse::wants_page(&headers) {
        return page(&server, id, after, limit(wanted.limit)?).await;
    }
    let (row, commits, reader) = server
        .blocking(move |service| {
            let commits = service.journal().watch_stream(id.into());
            Ok((service.roundtable_row(id)?, commits, RoundtableReader::new(service, id)?))
        })
        .await?;
    if row.status.is_terminal() && after >= row.seq {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    // A reader that names a frame still to come would not be sent the last one, and wait for it for good.
    let after = after.min(row.seq);
    let stream = server.streams.roundtable(reader, row.seq);
    let (shutdown, open) = (server.shutdown.clone(), server.metrics.stream());
    Ok(Follower::new(stream, after, commits, shutdown, open).response())
}

async fn page(server: &Server, id: RoundtableId, after: u64, limit: usize) -> Result<Response, Problem> {
    let read = server.blocking(move |service: &Service| {
        service.roundtable_row(id)?;
        let (mut frames, _) = RoundtableReader::new(service, id)?.frames(after, limit)?;
        frames.truncate(limit);
        Ok(frames)
    });
    let frames = read.await?;
    let next_after = frames.last().map_or(after, |frame| frame.seq);
    Ok(Json(RoundtableHistory { events: frames, next_after }).into_response())
}

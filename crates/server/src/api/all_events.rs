//! `GET /v1/events`: one stream of the state changes of all runs and roundtables.
//!
//! Its ids are positions in the journal of everything. It begins now; with `?after=0` at the beginning of all.

use adjourn_api::Code;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::openapi::Refuses;
use crate::extract::query::Parameters;
use crate::problem::Problem;
use crate::server::Server;
use crate::stream::follower::Follower;
use crate::stream::sse;

pub(crate) fn routes() -> OpenApiRouter<Server> {
    OpenApiRouter::new().routes(routes!(events).refuses(&[Code::BadRequest]))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct AllEventsQuery {
    /// Begin after this position of the journal; 0 for the beginning of all.
    after: Option<u64>,
}

/// The state changes of all runs and roundtables, as server-sent events.
///
/// `id:` is the position in the journal. Without `after` it begins now.
#[utoipa::path(
    get, path = "/v1/events", tag = "inbox", operation_id = "allEvents",
    params(AllEventsQuery, ("Last-Event-ID" = Option<u64>, Header, description = "Begin after this event.")),
    responses((status = 200, body = String, content_type = "text/event-stream",
        description = "Frames of runs, of the type `conversation.state.changed`; and of roundtables, when one is opened, asks, \
                       is answered or closed.")),
)]
pub(crate) async fn events(
    State(server): State<Server>,
    headers: HeaderMap,
    Parameters(wanted): Parameters<AllEventsQuery>,
) -> Result<Response, Problem> {
    let commits = server.service.journal().watch();
    let after = sse::begin(&headers, wanted.after)?;
    let streams = server.streams.clone();
    let (stream, head) = server
        .blocking(move |service| Ok((streams.all(service.journal())?, service.journal().head()?)))
        .await?;
    let (shutdown, open) = (server.shutdown.clone(), server.metrics.stream());
    let follower = Follower::new(stream, after.unwrap_or(head), commits, shutdown, open);
    Ok(follower.with_positions().response())
}

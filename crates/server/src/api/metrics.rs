//! `GET /metrics`: the metrics of the server, for Prometheus.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::openapi::Refuses;
use crate::problem::Problem;
use crate::server::Server;

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub(crate) fn routes() -> OpenApiRouter<Server> {
    OpenApiRouter::new().routes(routes!(metrics).refuses(&[]))
}

/// What the server counts, for Prometheus.
#[utoipa::path(
    get, path = "/metrics", tag = "health", operation_id = "metrics",
    responses((status = 200, body = String, content_type = "application/openmetrics-text", description = "The metrics.")),
)]
pub(crate) async fn metrics(State(server): State<Server>) -> Result<Response, Problem> {
    let slots = server.service.slots().await?;
    let counts = server.blocking(|service| {
        let journal = service.journal();
        Ok((journal.run_counts()?, journal.roundtable_counts()?))
    });
    let (runs, roundtables) = counts.await?;
    let text = server.metrics.encode(&server.service, &slots, &runs, &roundtables);
    let text = text.map_err(|error| Problem::internal(format!("the metrics: {error}")))?;
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response())
}

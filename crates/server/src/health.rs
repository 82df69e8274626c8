//! Whether the server is there, and whether it can work.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::problem::Problem;
use crate::router::Server;

/// The process answers.
pub(crate) async fn healthz() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

/// The journal can be read, and the server is not about to end.
pub(crate) async fn readyz(State(server): State<Server>) -> Result<Json<Value>, Problem> {
    if server.service.runtime().is_draining() {
        let detail = "the server is about to end, and begins no turn any more";
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "DRAINING", detail));
    }
    server.blocking(|service| Ok(service.store().head()?)).await?;
    Ok(Json(json!({ "status": "ready" })))
}

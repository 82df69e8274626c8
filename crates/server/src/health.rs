//! Whether the server is there, and whether it can work.

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::problem::Problem;
use crate::router::Server;

/// The process answers.
pub(crate) async fn healthz() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

/// The journal can be read.
pub(crate) async fn readyz(State(server): State<Server>) -> Result<Json<Value>, Problem> {
    server.blocking(|service| Ok(service.store().head()?)).await?;
    Ok(Json(json!({ "status": "ready" })))
}

//! Whether the server is there, and whether it can work.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::openapi::Refuses;
use crate::problem::Problem;
use crate::router::Server;

pub(crate) fn routes() -> OpenApiRouter<Server> {
    OpenApiRouter::new().routes(routes!(healthz).refuses(&[])).routes(routes!(readyz).refuses(&[]))
}

/// How the server is.
#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    /// `ok` or `ready`.
    status: &'static str,
}

/// The process answers.
#[utoipa::path(get, path = "/healthz", tag = "health", responses((status = 200, body = Health, description = "It does.")))]
pub(crate) async fn healthz() -> Json<Health> {
    Json(Health { status: "ok" })
}

/// The journal can be read.
#[utoipa::path(get, path = "/readyz", tag = "health", responses((status = 200, body = Health, description = "It can.")))]
pub(crate) async fn readyz(State(server): State<Server>) -> Result<Json<Health>, Problem> {
    server.blocking(|service| Ok(service.store().head()?)).await?;
    Ok(Json(Health { status: "ready" }))
}

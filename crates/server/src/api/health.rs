//! Health: `/healthz` says that the process answers, `/readyz` that it can work.

use adjourn_api::Code;
use adjourn_kernel::{DiskSpace, Room};
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::openapi::Refuses;
use crate::observe::watchdog;
use crate::problem::Problem;
use crate::server::Server;

pub(crate) fn routes() -> OpenApiRouter<Server> {
    OpenApiRouter::new().routes(routes!(healthz).refuses(&[])).routes(routes!(readyz).refuses(&[
        Code::Draining,
        Code::DiskLow,
        Code::Stalled,
    ]))
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

/// The journal can be read, commands are decided and committed, the disk has room for new work, and the server is not about
/// to end.
#[utoipa::path(get, path = "/readyz", tag = "health", responses((status = 200, body = Health, description = "It is ready.")))]
pub(crate) async fn readyz(State(server): State<Server>) -> Result<Json<Health>, Problem> {
    if server.service.is_draining() {
        return Err(Problem::new(Code::Draining, "the server is about to end, and begins no turn any more"));
    }
    if let Some(stuck) = server.service.stuck() {
        return Err(Problem::new(Code::Stalled, watchdog::described(stuck)));
    }
    if let Room::BelowReserve(DiskSpace { free_bytes, reserve_bytes }) = server.service.disk_space().room() {
        let detail = format!(
            "the disk with the data directory has {free_bytes} bytes free, and no turn begins and no run is created \
             while that is less than {reserve_bytes}: make room on it"
        );
        return Err(Problem::new(Code::DiskLow, detail));
    }
    server.blocking(|service| Ok(service.journal().head()?)).await?;
    Ok(Json(Health { status: "ready" }))
}

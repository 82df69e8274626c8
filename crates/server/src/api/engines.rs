//! Engines that are configured, or built in.

use adjourn_api::Page;
use adjourn_runtime::EngineInfo;
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::openapi::Refuses;
use crate::problem::Problem;
use crate::server::Server;

pub(crate) fn routes() -> OpenApiRouter<Server> {
    OpenApiRouter::new().routes(routes!(engines).refuses(&[]))
}

/// An engine.
#[derive(Serialize, ToSchema)]
pub(crate) struct EngineView {
    name: String,
    /// `acp`, `exec`, `reasoning` or `replay`.
    kind: Option<String>,
    /// Its program is there.
    installed: bool,
    /// The walls around its agents here, or `off`; none for engines that start no program.
    sandbox: Option<String>,
}

/// The engines that are configured, or known by themselves.
#[utoipa::path(
    get, path = "/v1/engines", tag = "catalog", operation_id = "listEngines",
    responses((status = 200, body = Page<EngineView>, description = "All of them.")),
)]
pub(crate) async fn engines(State(server): State<Server>) -> Result<Json<Page<EngineView>>, Problem> {
    let view = |EngineInfo { name, kind, installed, sandbox }| EngineView { name, kind, installed, sandbox };
    Ok(Json(Page::whole(server.service.engines().await?.into_iter().map(view).collect())))
}

//! Engines that are configured, or built in.

use adjourn_api::Page;
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
    let walls = server.service.desk().walls().await;
    let engines = server.blocking(move |service| {
        let desk = service.desk();
        let engine = |name: &str| EngineView {
            name: name.to_owned(),
            kind: desk.config().engine(name).map(|engine| engine.kind().to_string()),
            installed: desk.is_installed(name, None),
            sandbox: desk.sandbox(name, &walls),
        };
        Ok(desk.config().engine_names().into_iter().map(engine).collect())
    });
    engines.await.map(Page::whole).map(Json)
}

//! What there is to work with: engines and machines.

use adjourn_chart::{Chart, Format, render};
use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::code::Code;
use crate::openapi::Refuses;
use crate::pages::Page;
use crate::problem::Problem;
use crate::query::{Names, Parameters};
use crate::router::Server;

pub(crate) fn routes() -> OpenApiRouter<Server> {
    OpenApiRouter::new()
        .routes(routes!(engines).refuses(&[]))
        .routes(routes!(statecharts).refuses(&[]))
        .routes(routes!(statechart).refuses(&[Code::BadRequest, Code::UnknownMachine]))
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
    engines.await.map(Page::whole)
}

/// The machines that say what may follow on what.
#[utoipa::path(
    get, path = "/v1/statecharts", tag = "catalog", operation_id = "listStatecharts",
    responses((status = 200, body = Page<Chart>, description = "All of them.")),
)]
pub(crate) async fn statecharts() -> Json<Page<Chart>> {
    Page::whole(Chart::all())
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Drawn {
    /// How it is shown; by default `json`.
    #[param(inline)]
    format: Option<Format>,
}

/// One machine, as data or as a drawing.
#[utoipa::path(
    get, path = "/v1/statecharts/{name}", tag = "catalog", operation_id = "showStatechart",
    params(("name" = String, Path, description = "Its name.", example = "run"), Drawn),
    responses((status = 200, description = "The machine.", content(
        (Chart = "application/json"), (String = "image/svg+xml"), (String = "text/plain; charset=utf-8"),
    ))),
)]
pub(crate) async fn statechart(
    Names(name): Names<String>,
    Parameters(Drawn { format }): Parameters<Drawn>,
) -> Result<Response, Problem> {
    let chart = Chart::named(&name).ok_or_else(|| {
        let names: Vec<_> = Chart::all().iter().map(|chart| chart.name).collect();
        let detail = format!("there is no machine `{name}`, only {}", names.join(", "));
        Problem::new(Code::UnknownMachine, detail)
    })?;
    let format = format.unwrap_or(Format::Json);
    let content_type = match format {
        Format::Json => "application/json",
        Format::Svg => "image/svg+xml",
        Format::Text | Format::Mermaid => "text/plain; charset=utf-8",
    };
    Ok(([(header::CONTENT_TYPE, content_type)], render(&chart, format)).into_response())
}

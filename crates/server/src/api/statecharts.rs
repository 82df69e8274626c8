//! Statecharts: the tables of states and transitions, as data and drawn.

use adjourn_api::{Code, Page};
use adjourn_chart::{Chart, Format, render};
use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::openapi::Refuses;
use crate::extract::query::{Names, Parameters};
use crate::problem::Problem;
use crate::server::Server;

pub(crate) fn routes() -> OpenApiRouter<Server> {
    OpenApiRouter::new()
        .routes(routes!(statecharts).refuses(&[]))
        .routes(routes!(statechart).refuses(&[Code::BadRequest, Code::UnknownMachine]))
}

/// The machines that say what may follow on what.
#[utoipa::path(
    get, path = "/v1/statecharts", tag = "catalog", operation_id = "listStatecharts",
    responses((status = 200, body = Page<Chart>, description = "All of them.")),
)]
pub(crate) async fn statecharts() -> Json<Page<Chart>> {
    Json(Page::whole(Chart::all()))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatechartQuery {
    /// How it is shown; by default `json`.
    #[param(inline)]
    format: Option<Format>,
}

/// One machine, as data or as a drawing.
#[utoipa::path(
    get, path = "/v1/statecharts/{name}", tag = "catalog", operation_id = "showStatechart",
    params(("name" = String, Path, description = "Its name.", example = "run"), StatechartQuery),
    responses((status = 200, description = "The machine.", content(
        (Chart = "application/json"), (String = "image/svg+xml"), (String = "text/plain; charset=utf-8"),
    ))),
)]
pub(crate) async fn statechart(
    Names(name): Names<String>,
    Parameters(StatechartQuery { format }): Parameters<StatechartQuery>,
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

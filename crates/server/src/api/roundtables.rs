//! Roundtables: opened, listed, looked at, and what came out of them.

mod change;
mod events;
mod say;

use adjourn_core::machines::RoundtableStatus;
use adjourn_core::roundtable::{ArtifactId, ArtifactView, RoundtableView};
use adjourn_core::{RoundtableRow, named};
use adjourn_runtime::roundtable::{Opened, RoundtableRequest};
use adjourn_store::RoundtableFilter;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::openapi::Refuses;
use crate::api::pages::limit;
use crate::api::runs::bad_cursor;
use crate::extract::body;
use crate::extract::local::{self, Reach};
use crate::extract::query::{Names, Parameters, RoundtablePath, roundtable_id};
use crate::problem::Problem;
use crate::server::Server;
use adjourn_api::{Code, NewRoundtable, OpenedView, Page};

pub(crate) fn routes() -> OpenApiRouter<Server> {
    OpenApiRouter::new()
        .routes(routes!(open).refuses(&[
            Code::BadJson,
            Code::BadRequest,
            Code::BodyTooSlow,
            Code::KeyReused,
            Code::RoundtablePruned,
            Code::BodyTooLarge,
            Code::UnsupportedMediaType,
            Code::Invalid,
            Code::EngineNotFound,
            Code::DiskReserve,
        ]))
        .routes(routes!(list).refuses(&[Code::BadRequest]))
        .routes(routes!(show).refuses(&[Code::BadRequest, Code::UnknownRoundtable]))
        .routes(routes!(artifacts).refuses(&[Code::BadRequest, Code::UnknownRoundtable]))
        .routes(routes!(artifact).refuses(&[
            Code::BadRequest,
            Code::UnknownRoundtable,
            Code::UnknownArtifact,
        ]))
        .routes(routes!(export).refuses(&[Code::BadRequest, Code::UnknownRoundtable]))
        .merge(events::routes())
        .merge(say::routes())
        .merge(change::routes())
}

/// Opens a roundtable. It is held from then on.
///
/// With an idempotency key that opened one before, the answer is the same 201, with the roundtable as it is now.
#[utoipa::path(
    post, path = "/v1/roundtables", tag = "roundtables", operation_id = "openRoundtable",
    params(body::KeyHeader),
    request_body = NewRoundtable,
    responses((status = 201, body = OpenedView, description = "The roundtable.",
        headers(("location" = String, description = "Where the roundtable is.")))),
)]
pub(crate) async fn open(
    State(server): State<Server>,
    Extension(reach): Extension<Reach>,
    headers: HeaderMap,
    body::Parsed(mut document): body::Parsed,
) -> Result<Response, Problem> {
    let key = body::key(&headers)?;
    let shell = local::take_shell(&mut document, reach)?;
    let request = RoundtableRequest { roundtable: body::read(&document)?, shell };
    let Opened { table, notice } = server.service.open_roundtable(request, key).await?;
    let location = format!("/v1/roundtables/{}", table.id());
    let view = OpenedView { roundtable: RoundtableView::of(&table), notice };
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(view)).into_response())
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoundtablesQuery {
    #[param(inline)]
    status: Option<RoundtableStatus>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
    /// Items of a page.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<usize>,
}

/// Roundtables, the newest first.
#[utoipa::path(
    get, path = "/v1/roundtables", tag = "roundtables", operation_id = "listRoundtables", params(RoundtablesQuery),
    responses((status = 200, body = Page<RoundtableRow>, description = "A page of roundtables.")),
)]
pub(crate) async fn list(
    State(server): State<Server>,
    Parameters(wanted): Parameters<RoundtablesQuery>,
) -> Result<Json<Page<RoundtableRow>>, Problem> {
    let limit = limit(wanted.limit)?;
    let before = wanted.cursor.as_deref().map(roundtable_id).transpose().map_err(|_| bad_cursor())?;
    let filter = RoundtableFilter { status: wanted.status, before };
    let rows = server.blocking(move |service| Ok(service.journal().roundtables(&filter, limit + 1)?)).await?;
    Ok(Json(Page::cut(rows, limit, |row| row.roundtable_id.to_string())))
}

/// A roundtable.
#[utoipa::path(
    get, path = "/v1/roundtables/{id}", tag = "roundtables", operation_id = "showRoundtable",
    params(RoundtablePath),
    responses((status = 200, body = RoundtableView, description = "The roundtable as it is now.")),
)]
pub(crate) async fn show(
    State(server): State<Server>,
    RoundtablePath(id): RoundtablePath,
) -> Result<Json<RoundtableView>, Problem> {
    let table = server.blocking(move |service| Ok(service.roundtable(id)?)).await?;
    Ok(Json(RoundtableView::of(&table)))
}

/// The results of a roundtable.
#[utoipa::path(
    get, path = "/v1/roundtables/{id}/artifacts", tag = "roundtables", operation_id = "listArtifacts",
    params(RoundtablePath),
    responses((status = 200, body = Page<ArtifactView>, description = "All of them, the oldest first.")),
)]
pub(crate) async fn artifacts(
    State(server): State<Server>,
    RoundtablePath(id): RoundtablePath,
) -> Result<Json<Page<ArtifactView>>, Problem> {
    let table = server.blocking(move |service| Ok(service.roundtable(id)?)).await?;
    Ok(Json(Page::whole(table.artifacts().iter().map(ArtifactView::of).collect())))
}

/// One result of a roundtable.
#[utoipa::path(
    get, path = "/v1/roundtables/{id}/artifacts/{artifact}", tag = "roundtables", operation_id = "showArtifact",
    params(RoundtablePath, ("artifact" = ArtifactId, Path, description = "Its name.")),
    responses((status = 200, body = ArtifactView, description = "The artifact, with everything it said before.")),
)]
pub(crate) async fn artifact(
    State(server): State<Server>,
    RoundtablePath(id): RoundtablePath,
    Names(names): Names<(String, String)>,
) -> Result<Json<ArtifactView>, Problem> {
    let table = server.blocking(move |service| Ok(service.roundtable(id)?)).await?;
    let (_, name) = names;
    let unknown = |detail: String| Problem::new(Code::UnknownArtifact, detail);
    let artifact: ArtifactId =
        name.parse().map_err(|bad: adjourn_core::roundtable::BadName| unknown(bad.to_string()))?;
    let found = table.artifact(artifact).map(ArtifactView::of);
    found.map(Json).ok_or_else(|| unknown(format!("{id} has no artifact {artifact}")))
}

named! {
    /// What a roundtable can be exported as.
    pub enum ExportFormat {
        /// A document for people, in Markdown.
        Md = "md",
        /// All of it, for programs.
        Json = "json",
    }
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct WantedExport {
    /// By default `md`.
    #[param(inline)]
    format: Option<ExportFormat>,
}

/// What came out of a roundtable, as a document.
///
/// Requirements, an architecture with decision records, or the summary of a brainstorm, as its workflow has it; with the
/// origin of every artifact, and what is still open. It can be asked for while the roundtable goes on.
#[utoipa::path(
    get, path = "/v1/roundtables/{id}/export", tag = "roundtables", operation_id = "exportRoundtable",
    params(RoundtablePath, WantedExport),
    responses((status = 200, description = "The document.",
        content((String = "text/markdown; charset=utf-8"), (Value = "application/json")))),
)]
pub(crate) async fn export(
    State(server): State<Server>,
    RoundtablePath(id): RoundtablePath,
    Parameters(wanted): Parameters<WantedExport>,
) -> Result<Response, Problem> {
    let format = wanted.format.unwrap_or(ExportFormat::Md);
    let exported = server.blocking(move |service| {
        Ok(match format {
            ExportFormat::Md => {
                let headers = [
                    (header::CONTENT_TYPE, "text/markdown; charset=utf-8"),
                    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
                ];
                (headers, service.export_roundtable_markdown(id)?).into_response()
            }
            ExportFormat::Json => Json(service.export_roundtable_json(id)?).into_response(),
        })
    });
    exported.await
}

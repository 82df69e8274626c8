//! Replies to the questions of a run, and its cancellation.

use adjourn_core::{Action, By, InteractionId, RunView};
use adjourn_runtime::ReplyRequest;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::openapi::Refuses;
use crate::auth::caller::Caller;
use crate::extract::body;
use crate::extract::members::Members;
use crate::extract::query::RunPath;
use crate::problem::Problem;
use crate::problem::code::Code;
use crate::server::Server;

const KEYS: [&str; 3] = ["interaction_id", "response", "action"];

pub(crate) fn routes() -> OpenApiRouter<Server> {
    OpenApiRouter::new()
        .routes(routes!(reply).refuses(&[
            Code::BadJson,
            Code::BadRequest,
            Code::UnknownRun,
            Code::BodyTooSlow,
            Code::NotOpen,
            Code::KeyReused,
            Code::NotAllowedNow,
            Code::Conflict,
            Code::BodyTooLarge,
            Code::UnsupportedMediaType,
            Code::Invalid,
            Code::ToolServerUnavailable,
        ]))
        .routes(routes!(cancel).refuses(&[
            Code::BadRequest,
            Code::UnknownRun,
            Code::NotAllowedNow,
            Code::Conflict,
        ]))
}

// As it is described: it is read by hand, so that everything that is wrong with it is said at once.
/// An answer to a question.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "interaction_id": 1, "response": "SQLite" }))]
pub(crate) struct Answer {
    /// The question. With an `Idempotency-Key` it may be left out: then the question that the key answered before is meant,
    /// or the oldest that is open.
    interaction_id: Option<InteractionId>,
    /// The answer, in the form that the question's `kind` asks for.
    response: Option<Value>,
    /// Of an approval. For `edit`, `response` holds the new arguments.
    action: Option<Action>,
}

/// Answers a question.
///
/// An answer to an open question is never refused for its timing: one that comes while the run is queued or running is
/// kept, and taken up when the turn ends.
#[utoipa::path(
    post, path = "/v1/runs/{id}/reply", tag = "runs", operation_id = "replyToRun",
    params(RunPath, body::KeyHeader),
    request_body = Answer,
    responses((status = 202, body = RunView, description = "The answer is durable. The run as it is now.")),
)]
pub(crate) async fn reply(
    State(server): State<Server>,
    RunPath(id): RunPath,
    caller: Caller,
    headers: HeaderMap,
    body::Json(document): body::Json,
) -> Result<(StatusCode, Json<RunView>), Problem> {
    let key = body::key(&headers)?;
    let answer = read(&document, key)?;
    let run = server.service.reply(id, ReplyRequest { by: caller.by(), ..answer }).await?;
    Ok((StatusCode::ACCEPTED, Json(server.blocking(move |service| Ok(service.view(&run))).await?)))
}

/// Cancels a run. It ends when its processes are gone.
#[utoipa::path(
    post, path = "/v1/runs/{id}/cancel", tag = "runs", operation_id = "cancelRun", params(RunPath),
    responses(
        (status = 202, body = RunView, description = "It is canceled, or ends as soon as its processes have."),
        (status = 200, body = RunView, description = "It was canceled before."),
    ),
)]
pub(crate) async fn cancel(
    State(server): State<Server>,
    RunPath(id): RunPath,
    caller: Caller,
) -> Result<(StatusCode, Json<RunView>), Problem> {
    let before = server.blocking(move |service| Ok(service.row(id)?)).await?;
    let run = server.service.cancel(id, caller.by()).await?;
    let status = if before.status.is_terminal() { StatusCode::OK } else { StatusCode::ACCEPTED };
    Ok((status, Json(RunView::of(&run))))
}

pub(crate) fn read(document: &Value, key: Option<String>) -> Result<ReplyRequest, Problem> {
    let mut members = Members::of(document, &KEYS);
    let action: Option<Action> = members.optional("action");
    let interaction_id = members.interaction(key.as_deref());
    members.finish()?;
    let response = document.get("response").cloned().unwrap_or_default();
    Ok(ReplyRequest { interaction_id, response, action, by: By::USER, key })
}

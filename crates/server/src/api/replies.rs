//! Replies to the questions of a run, and its cancellation.

use adjourn_api::{Answer, Code};
use adjourn_core::RunView;
use adjourn_runtime::ReplyRequest;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::openapi::Refuses;
use crate::auth::caller::Caller;
use crate::extract::body;
use crate::extract::query::RunPath;
use crate::problem::Problem;
use crate::server::Server;

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
    body::Json(answer): body::Json<Answer>,
) -> Result<(StatusCode, Json<RunView>), Problem> {
    let key = body::key(&headers)?;
    let interaction_id = body::interaction(answer.interaction_id, key.as_deref())?;
    let Answer { response, action, .. } = answer;
    let response = response.unwrap_or_default();
    let answer = ReplyRequest { interaction_id, response, action, by: caller.by(), key };
    let run = server.service.reply(id, answer).await?;
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

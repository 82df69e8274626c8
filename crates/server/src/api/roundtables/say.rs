//! Replies to a roundtable, escalation and closing.

use adjourn_api::{Code, EscalateRoundtable, RoundtableAnswer};
use adjourn_core::FieldError;
use adjourn_core::roundtable::RoundtableView;
use adjourn_runtime::roundtable::RoundtableReply;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::openapi::Refuses;
use crate::auth::caller::Caller;
use crate::extract::body;
use crate::extract::query::RoundtablePath;
use crate::problem::Problem;
use crate::server::Server;

/// Bytes of a note: it is in front of every agent in the next round.
const NOTE_BYTES_MAX: usize = 4 * 1024;

pub(super) fn routes() -> OpenApiRouter<Server> {
    OpenApiRouter::new()
        .routes(routes!(reply).refuses(&[
            Code::BadJson,
            Code::BadRequest,
            Code::UnknownRoundtable,
            Code::BodyTooSlow,
            Code::NotOpen,
            Code::KeyReused,
            Code::NotAllowedNow,
            Code::Conflict,
            Code::BodyTooLarge,
            Code::UnsupportedMediaType,
            Code::Invalid,
        ]))
        .routes(routes!(escalate).refuses(&[
            Code::BadJson,
            Code::BadRequest,
            Code::UnknownRoundtable,
            Code::BodyTooSlow,
            Code::NotAllowedNow,
            Code::Conflict,
            Code::BodyTooLarge,
            Code::UnsupportedMediaType,
            Code::Invalid,
        ]))
        .routes(routes!(close).refuses(&[
            Code::BadRequest,
            Code::UnknownRoundtable,
            Code::NotAllowedNow,
            Code::Conflict,
        ]))
}

type Said = Result<(StatusCode, Json<RoundtableView>), Problem>;

/// Answers what a roundtable asks.
#[utoipa::path(
    post, path = "/v1/roundtables/{id}/reply", tag = "roundtables", operation_id = "replyToRoundtable",
    params(RoundtablePath, body::KeyHeader),
    request_body = RoundtableAnswer,
    responses((status = 202, body = RoundtableView,
        description = "The answer is durable. The roundtable as it is now.")),
)]
pub(crate) async fn reply(
    State(server): State<Server>,
    RoundtablePath(id): RoundtablePath,
    caller: Caller,
    headers: HeaderMap,
    body::Json(answer): body::Json<RoundtableAnswer>,
) -> Said {
    let key = body::key(&headers)?;
    let interaction_id = body::interaction(answer.interaction_id, key.as_deref())?;
    let answer = RoundtableReply { interaction_id, response: answer.response, by: caller.by(), key };
    let table = server.service.reply_to_roundtable(id, answer).await?;
    Ok((StatusCode::ACCEPTED, Json(RoundtableView::of(&table))))
}

/// Asks a roundtable to put what is open before a person: at once between rounds, else when the round is recorded.
#[utoipa::path(
    post, path = "/v1/roundtables/{id}/escalate", tag = "roundtables", operation_id = "escalateRoundtable",
    params(RoundtablePath),
    request_body(content = Option<EscalateRoundtable>, description = "Nothing, or what it is about."),
    responses((status = 202, body = RoundtableView, description = "The wish is durable. The roundtable as it is now.")),
)]
pub(crate) async fn escalate(
    State(server): State<Server>,
    RoundtablePath(id): RoundtablePath,
    caller: Caller,
    body::OptionalJson(EscalateRoundtable { note }): body::OptionalJson<EscalateRoundtable>,
) -> Said {
    if let Some(length) = note.as_ref().map(String::len).filter(|length| *length > NOTE_BYTES_MAX) {
        let message = format!("has {length} bytes, at most {NOTE_BYTES_MAX} are taken");
        return Err(Problem::invalid(vec![FieldError::new("/note", message)]));
    }
    let note = note.filter(|note| !note.trim().is_empty());
    let table = server.service.escalate_roundtable(id, caller.by(), note).await?;
    Ok((StatusCode::ACCEPTED, Json(RoundtableView::of(&table))))
}

/// Breaks a roundtable off: its runs are canceled, and a round that is not recorded is dropped.
#[utoipa::path(
    post, path = "/v1/roundtables/{id}/close", tag = "roundtables", operation_id = "closeRoundtable",
    params(RoundtablePath),
    responses(
        (status = 202, body = RoundtableView, description = "It is closed; its runs end as soon as their processes have."),
        (status = 200, body = RoundtableView, description = "Somebody closed it before."),
    ),
)]
pub(crate) async fn close(
    State(server): State<Server>,
    RoundtablePath(id): RoundtablePath,
    caller: Caller,
) -> Said {
    let before = server.blocking(move |service| Ok(service.roundtable_row(id)?)).await?;
    let table = server.service.close_roundtable(id, caller.by()).await?;
    let status = if before.status.is_terminal() { StatusCode::OK } else { StatusCode::ACCEPTED };
    Ok((status, Json(RoundtableView::of(&table))))
}

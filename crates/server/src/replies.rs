//! What people say to a run: answers and cancels.

use adjourn_core::{Action, By, FieldError, InteractionId, RunView};
use adjourn_runtime::ReplyRequest;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::access::Caller;
use crate::body;
use crate::problem::Problem;
use crate::query::RunPath;
use crate::router::Server;

const KEYS: [&str; 3] = ["interaction_id", "response", "action"];

/// Answers a question. Whether the answer fits is for the core to say; here it only has to be one.
pub(crate) async fn reply(
    State(server): State<Server>,
    RunPath(id): RunPath,
    caller: Caller,
    headers: HeaderMap,
    body::Json(document): body::Json,
) -> Result<(StatusCode, Json<RunView>), Problem> {
    let key = body::key(&headers)?;
    let answer = read(&document).map_err(Problem::invalid)?;
    let run = server.service.reply(id, ReplyRequest { key, by: caller.by(), ..answer }).await?;
    Ok((StatusCode::ACCEPTED, Json(RunView::of(&run))))
}

/// Cancels a run: 202, and 200 where that changed nothing because it was canceled long ago.
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

fn read(document: &Value) -> Result<ReplyRequest, Vec<FieldError>> {
    let Value::Object(members) = document else {
        return Err(vec![FieldError::new("", "should be an object")]);
    };
    let unknown = members.keys().filter(|key| !KEYS.contains(&key.as_str()));
    let mut errors: Vec<_> = unknown
        .map(|key| FieldError::new(format!("/{key}"), format!("unknown key: there are {}", KEYS.join(", "))))
        .collect();
    let interaction_id: Option<InteractionId> = member(document, "interaction_id", &mut errors);
    let action: Option<Action> = member(document, "action", &mut errors);
    if interaction_id.is_none() && errors.is_empty() {
        errors.push(FieldError::new("/interaction_id", "is missing: it says which question is answered"));
    }
    let response = document.get("response").cloned().unwrap_or_default();
    match errors.is_empty() {
        true => Ok(ReplyRequest { interaction_id, response, action, by: By::USER, key: None }),
        false => Err(errors),
    }
}

fn member<T: DeserializeOwned>(document: &Value, key: &str, errors: &mut Vec<FieldError>) -> Option<T> {
    let value = document.get(key).filter(|value| !value.is_null())?;
    T::deserialize(value)
        .map_err(|error| errors.push(FieldError::new(format!("/{key}"), error.to_string())))
        .ok()
}

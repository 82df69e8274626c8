//! Replies to a job, and its cancellation.

use adjourn_core::{Action, FieldError, InteractionId, RunId, RunStatus, Subject};
use adjourn_runtime::{ReplyRequest, Service};
use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::auth::caller::Caller;
use crate::extract::body::{self, KEY_RULE, is_key};
use crate::extract::query::RunPath;
use crate::problem::Problem;
use crate::server::Server;

/// The one kind of reply there is here. That project's other one answers questions about logins, which engines here do
/// not ask.
const MODE: &str = "interaction";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JobReply {
    #[serde(default)]
    mode: Option<String>,
    interaction_id: InteractionId,
    #[serde(default)]
    response: Value,
    #[serde(default)]
    idempotency_key: Option<String>,
}

pub(super) async fn reply(
    State(server): State<Server>,
    RunPath(id): RunPath,
    caller: Caller,
    body::Json(reply): body::Json<JobReply>,
) -> Result<Json<Value>, Problem> {
    check(&reply)?;
    let interaction_id = reply.interaction_id;
    let is_approval = server.blocking(move |service| is_approval(service, id, interaction_id)).await?;
    let answer = ReplyRequest {
        interaction_id: Some(interaction_id),
        action: if is_approval { decision(&reply.response) } else { None },
        response: reply.response,
        by: caller.by(),
        key: reply.idempotency_key,
    };
    let run = server.service.reply(id, answer).await?;
    Ok(Json(json!({ "request_id": id, "status": run.status(), "accepted": true, "mode": MODE })))
}

fn check(reply: &JobReply) -> Result<(), Problem> {
    let wrong = |path: &str, message: String| Err(Problem::invalid(vec![FieldError::new(path, message)]));
    if let Some(mode) = reply.mode.as_deref().filter(|mode| *mode != MODE) {
        return wrong("/mode", format!("`{mode}` is not taken here, only `{MODE}`"));
    }
    if reply.idempotency_key.as_deref().is_some_and(|key| !is_key(key)) {
        return wrong("/idempotency_key", KEY_RULE.to_owned());
    }
    Ok(())
}

fn is_approval(service: &Service, id: RunId, interaction_id: InteractionId) -> Result<bool, Problem> {
    let run = service.run(id)?;
    let subject = run.interaction(interaction_id).map(|interaction| interaction.subject);
    Ok(matches!(subject, Some(Subject::Approval(_))))
}

/// These clients know no actions: whoever is asked whether a call may be made says yes or no.
fn decision(response: &Value) -> Option<Action> {
    let yes = response.as_bool()?;
    Some(if yes { Action::Approve } else { Action::Reject })
}

/// Cancels a job. One that has ended is left as it is, which is no error here.
pub(super) async fn cancel(
    State(server): State<Server>,
    RunPath(id): RunPath,
    caller: Caller,
) -> Result<Json<Value>, Problem> {
    let before = server.blocking(move |service| Ok(service.row(id)?)).await?;
    if before.status.is_terminal() {
        return Ok(Json(canceled(id, before.status, Accepted::No)));
    }
    match server.service.cancel(id, caller.by()).await {
        Ok(run) => Ok(Json(canceled(id, run.status(), Accepted::Yes))),
        // It may have ended between the look and the cancel.
        Err(error) => {
            let row = server.blocking(move |service| Ok(service.row(id)?)).await?;
            if !row.status.is_terminal() {
                return Err(error.into());
            }
            Ok(Json(canceled(id, row.status, Accepted::No)))
        }
    }
}

/// Whether a cancel changed anything.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Accepted {
    Yes,
    No,
}

fn canceled(id: RunId, status: RunStatus, accepted: Accepted) -> Value {
    let message = match accepted {
        Accepted::Yes => "the job is canceled when all of its processes are gone".to_owned(),
        Accepted::No => format!("the job is {status}: there is nothing to cancel"),
    };
    json!({
        "request_id": id, "run_id": id, "status": status, "accepted": accepted == Accepted::Yes, "message": message,
    })
}

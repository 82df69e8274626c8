//! Contracts: the effects of runs, their trace, and the routes that settle, answer and cancel one.

use adjourn_core::{Action, ContractView, ExecutionId, GraphView, InteractionId, Run, Settlement, TraceStep};
use adjourn_runtime::{ReplyRequest, Settle};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::openapi::Refuses;
use crate::api::pages::Page;
use crate::auth::caller::Caller;
use crate::extract::body;
use crate::extract::members::Members;
use crate::extract::query::{ContractPath, RunPath};
use crate::problem::Problem;
use crate::problem::code::Code;
use crate::server::Server;

const KEYS: [&str; 2] = ["outcome", "note"];

pub(crate) fn routes() -> OpenApiRouter<Server> {
    OpenApiRouter::new()
        .routes(routes!(list).refuses(&[Code::BadRequest, Code::UnknownRun]))
        .routes(routes!(trace).refuses(&[Code::BadRequest, Code::UnknownRun]))
        .routes(routes!(graph).refuses(&[Code::BadRequest, Code::UnknownRun]))
        .routes(routes!(show).refuses(&[Code::BadRequest, Code::UnknownContract]))
        .routes(routes!(settle).refuses(&[
            Code::BadJson,
            Code::BadRequest,
            Code::UnknownContract,
            Code::BodyTooSlow,
            Code::NothingToSettle,
            Code::BodyTooLarge,
            Code::UnsupportedMediaType,
            Code::Invalid,
        ]))
        .routes(routes!(reply).refuses(&[
            Code::BadJson,
            Code::BadRequest,
            Code::UnknownContract,
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
            Code::UnknownContract,
            Code::NotAllowedNow,
            Code::Conflict,
        ]))
}

/// The effects of a run, and what became of each.
#[utoipa::path(
    get, path = "/v1/runs/{id}/contracts", tag = "contracts", operation_id = "runContracts", params(RunPath),
    responses((status = 200, body = Page<ContractView>, description = "All of them, the oldest first.")),
)]
pub(crate) async fn list(
    State(server): State<Server>,
    RunPath(id): RunPath,
) -> Result<Json<Page<ContractView>>, Problem> {
    let run = server.blocking(move |service| Ok(service.run(id)?)).await?;
    Ok(Page::whole(run.contracts().map(|contract| ContractView::of(&run, contract)).collect()))
}

/// The execution trace of a run: every step of every contract, over all attempts and restarts.
#[utoipa::path(
    get, path = "/v1/runs/{id}/trace", tag = "contracts", operation_id = "runTrace", params(RunPath),
    responses((status = 200, body = Page<TraceStep>, description = "All of them, in the order they were taken.")),
)]
pub(crate) async fn trace(
    State(server): State<Server>,
    RunPath(id): RunPath,
) -> Result<Json<Page<TraceStep>>, Problem> {
    let (_, steps) = server.blocking(move |service| Ok(service.traced(id)?)).await?;
    Ok(Page::whole(steps))
}

/// A run as a graph: what is still to be done, what is over, and the way there.
#[utoipa::path(
    get, path = "/v1/runs/{id}/graph", tag = "contracts", operation_id = "runGraph", params(RunPath),
    responses((status = 200, body = GraphView, description = "The state of the graph as it is now.")),
)]
pub(crate) async fn graph(
    State(server): State<Server>,
    RunPath(id): RunPath,
) -> Result<Json<GraphView>, Problem> {
    let (run, steps) = server.blocking(move |service| Ok(service.traced(id)?)).await?;
    Ok(Json(GraphView::of(&run, steps)))
}

/// A contract.
#[utoipa::path(
    get, path = "/v1/contracts/{execution_id}", tag = "contracts", operation_id = "showContract",
    params(ContractPath),
    responses((status = 200, body = ContractView, description = "The contract as it is now.")),
)]
pub(crate) async fn show(
    State(server): State<Server>,
    ContractPath(id): ContractPath,
) -> Result<Json<ContractView>, Problem> {
    let run = server.blocking(move |service| Ok(service.run_of(id)?)).await?;
    view(&run, id)
}

// As it is described: it is read by hand, so that everything that is wrong with it is said at once.
/// What became of a call whose result was lost.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "outcome": "happened", "note": "it is in the sent folder" }))]
pub(crate) struct Said {
    outcome: Settlement,
    /// What there is to say about it. Of a call that happened, it is the result.
    note: Option<String>,
}

/// Says what became of a call whose result was lost, also after the end of its run.
///
/// A call whose `outcome` is `unknown` keeps others from doing the same until it is settled. The same outcome said again
/// is answered like the first time, and changes nothing.
#[utoipa::path(
    post, path = "/v1/contracts/{execution_id}/settle", tag = "contracts", operation_id = "settleContract",
    params(ContractPath),
    request_body = Said,
    responses((status = 200, body = ContractView, description = "It is settled. The contract as it is now.")),
)]
pub(crate) async fn settle(
    State(server): State<Server>,
    ContractPath(id): ContractPath,
    caller: Caller,
    body::Json(document): body::Json,
) -> Result<Json<ContractView>, Problem> {
    let Said { outcome, note } = read(&document)?;
    let run = server.service.settle(id, Settle { outcome, note, by: caller.by() }).await?;
    view(&run, id)
}

// As it is described.
/// An answer to the question about a contract.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "action": "approve" }))]
pub(crate) struct ContractAnswer {
    /// The question; by default the one about this contract that is open, or that the `Idempotency-Key` answered before.
    interaction_id: Option<InteractionId>,
    /// The answer, in the form that the question's `kind` asks for.
    response: Option<Value>,
    /// Of an approval. For `edit`, `response` holds the new arguments.
    action: Option<Action>,
}

/// Answers the question about a contract.
///
/// The same as answering that question of its run: the same rules, refusals and idempotency.
#[utoipa::path(
    post, path = "/v1/contracts/{execution_id}/reply", tag = "contracts", operation_id = "replyToContract",
    params(ContractPath, body::KeyHeader),
    request_body = ContractAnswer,
    responses((status = 202, body = ContractView, description = "The answer is durable. The contract as it is now.")),
)]
pub(crate) async fn reply(
    State(server): State<Server>,
    ContractPath(id): ContractPath,
    caller: Caller,
    headers: HeaderMap,
    body::Json(document): body::Json,
) -> Result<(StatusCode, Json<ContractView>), Problem> {
    let key = body::key(&headers)?;
    let mut members = Members::of(&document, &["interaction_id", "response", "action"]);
    let action: Option<Action> = members.optional("action");
    let interaction_id: Option<InteractionId> = members.optional("interaction_id");
    members.finish()?;
    let response = document.get("response").cloned().unwrap_or_default();
    let answer = ReplyRequest { interaction_id, response, action, by: caller.by(), key };
    let run = server.service.reply_to_contract(id, answer).await?;
    Ok((StatusCode::ACCEPTED, view(&run, id)?))
}

/// Cancels a contract that waits for a person or has not begun.
///
/// Its question is withdrawn, and the agent is told in its next turn. A call that is being made cannot be canceled by
/// itself, only with its run.
#[utoipa::path(
    post, path = "/v1/contracts/{execution_id}/cancel", tag = "contracts", operation_id = "cancelContract",
    params(ContractPath),
    responses((status = 200, body = ContractView, description = "It is canceled, now or before.")),
)]
pub(crate) async fn cancel(
    State(server): State<Server>,
    ContractPath(id): ContractPath,
    caller: Caller,
) -> Result<Json<ContractView>, Problem> {
    let run = server.service.cancel_contract(id, caller.by()).await?;
    view(&run, id)
}

fn view(run: &Run, id: ExecutionId) -> Result<Json<ContractView>, Problem> {
    let contract =
        run.contract(id).ok_or_else(|| Problem::internal("a contract is not where it is listed"))?;
    Ok(Json(ContractView::of(run, contract)))
}

pub(crate) fn read(said: &Value) -> Result<Said, Problem> {
    let mut members = Members::of(said, &KEYS);
    let note: Option<String> = members.optional("note");
    let outcome: Option<Settlement> = members.required("outcome", "it says what became of the call");
    members.finish()?;
    // What is required and was not found has been said.
    let outcome = outcome.ok_or_else(|| Problem::internal("a member that is required was not read"))?;
    Ok(Said { outcome, note })
}

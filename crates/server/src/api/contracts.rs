//! Contracts: the effects of runs, their trace, and the routes that settle, answer and cancel one.

use adjourn_api::{Code, ContractAnswer, Page, SettleCall};
use adjourn_core::{ContractView, ExecutionId, GraphView, Run, TraceStep};
use adjourn_runtime::{ReplyRequest, Settle};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::openapi::Refuses;
use crate::auth::caller::Caller;
use crate::extract::body;
use crate::extract::query::{ContractPath, RunPath};
use crate::problem::Problem;
use crate::server::Server;

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
    let contracts = run.contracts().map(|contract| ContractView::of(&run, contract));
    Ok(Json(Page::whole(contracts.collect())))
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
    Ok(Json(Page::whole(steps)))
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

/// Says what became of a call whose result was lost, also after the end of its run.
///
/// A call whose `outcome` is `unknown` keeps others from doing the same until it is settled. The same outcome said again
/// is answered like the first time, and changes nothing.
#[utoipa::path(
    post, path = "/v1/contracts/{execution_id}/settle", tag = "contracts", operation_id = "settleContract",
    params(ContractPath),
    request_body = SettleCall,
    responses((status = 200, body = ContractView, description = "It is settled. The contract as it is now.")),
)]
pub(crate) async fn settle(
    State(server): State<Server>,
    ContractPath(id): ContractPath,
    caller: Caller,
    body::Json(SettleCall { outcome, note }): body::Json<SettleCall>,
) -> Result<Json<ContractView>, Problem> {
    let run = server.service.settle(id, Settle { outcome, note, by: caller.by() }).await?;
    view(&run, id)
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
    body::Json(answer): body::Json<ContractAnswer>,
) -> Result<(StatusCode, Json<ContractView>), Problem> {
    let key = body::key(&headers)?;
    let ContractAnswer { interaction_id, response, action } = answer;
    let response = response.unwrap_or_default();
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

//! What runs did to the world: contracts, the trace of them, and what a person says of a call whose result was lost.

use adjourn_core::{ContractView, ExecutionId, GraphView, Run, Settlement, TraceStep};
use adjourn_runtime::Settle;
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::Caller;
use crate::body;
use crate::code::Code;
use crate::members::Members;
use crate::openapi::Refuses;
use crate::pages::Page;
use crate::problem::Problem;
use crate::query::{ContractPath, RunPath};
use crate::router::Server;

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

//! What the SDK asks of a server.

use std::sync::Arc;

use axum::http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};

use super::NAME;
use super::answer::answer;
use super::limits::CALLS_MAX;
use super::sessions::GatewaySession;
use crate::model::ToolOffer;
use crate::toolbox::{Call, Toolbox};

const INSTRUCTIONS: &str = "The tools of the work that you were given. Each call is written down before it is made, and \
    what must not be done twice is not. If you are told that a question is with the user, end your turn: you will go on \
    with the answer.";

const NO_TURN: &str = "no turn of this run is going on";

/// Answers the requests of agents. Which turn one belongs to is known by the place that it came from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Handler;

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(NAME, env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let place = place(&context)?;
        let offers = tools(&place)?.offers().await;
        let offers = offers
            .map_err(|error| ErrorData::internal_error(error.message, Some(json!({"code": error.code}))))?;
        Ok(ListToolsResult::with_all_items(offers.into_iter().map(tool).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let place = place(&context)?;
        let tools = tools(&place)?;
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let mut call = Call { name: request.name.into_owned(), arguments, call_ref: None };
        if place.is_betrayed_by(&call.arguments.to_string()) {
            // The token is not written down: a reader of the journal must not be able to call in the agent's place.
            call.arguments = Value::Null;
            let problem = "the arguments hold the token that you call this with, which is for nobody else";
            return Ok(refused(tools.as_ref(), call, problem.to_owned()).await);
        }
        let Ok(_room) = place.calls.try_acquire() else {
            let problem =
                format!("you make too many calls at once: wait until one of the {CALLS_MAX} is over");
            return Ok(refused(tools.as_ref(), call, problem).await);
        };
        answer(tools.call(call).await).map(CallToolResponse::from)
    }
}

/// Where a request came in: what the door found out is with the head of the HTTP request.
fn place(context: &RequestContext<RoleServer>) -> Result<Arc<GatewaySession>, ErrorData> {
    let place =
        context.extensions.get::<Parts>().and_then(|head| head.extensions.get::<Arc<GatewaySession>>());
    place.cloned().ok_or_else(|| ErrorData::internal_error("the request came in by no door", None))
}

fn tools(place: &GatewaySession) -> Result<Arc<dyn Toolbox>, ErrorData> {
    place.tools().ok_or_else(|| ErrorData::invalid_request(NO_TURN, None))
}

fn tool(offer: ToolOffer) -> Tool {
    let schema = match offer.input_schema {
        Value::Object(schema) => schema,
        // Whatever it is, a tool of this protocol takes an object.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            JsonObject::from_iter([("type".to_owned(), Value::from("object"))])
        }
    };
    Tool::new(offer.name, offer.description, schema)
}

/// Refuses a call that the toolbox is not asked for, and has that written down.
async fn refused(tools: &dyn Toolbox, call: Call, problem: String) -> CallToolResponse {
    tools.refused(call, problem.clone()).await;
    CallToolResult::error(vec![ContentBlock::text(problem)]).into()
}

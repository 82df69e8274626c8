//! The server side of the MCP SDK: dispatches tool calls and resource reads.

use std::sync::Arc;

use adjourn_api::Code;
use axum::http::StatusCode;
use axum::http::request::Parts;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::tool::{IntoCallToolResult, ToolCallContext};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;

use super::resources;
use crate::auth::caller::Caller;
use crate::auth::tokens::Role;
use crate::problem::{Problem, status};
use crate::server::Server;

const INSTRUCTIONS: &str = "Adjourn runs agent work that may stop and ask a person. Start a run with start_run, \
    follow it with wait_for_change, and when its status is waiting_user, show its questions to your user and answer \
    with reply_to_run. A run may wait for days: you need not stay, list_inbox shows later what waits. A roundtable is several \
    agents that discuss a subject: start_roundtable, get_roundtable, reply_roundtable, export_roundtable.";

/// Answers requests of MCP clients. There is one of these for each request.
#[derive(Clone)]
pub(super) struct Handler {
    pub(super) server: Server,
    tools: Arc<ToolRouter<Self>>,
}

impl Handler {
    pub(super) fn new(server: Server) -> Self {
        Self { server, tools: Arc::new(Self::tools()) }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("adjourn", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.get(name).cloned()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.list_all()))
    }

    /// Calls a tool, for a caller that may.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.tools.get(&request.name).is_none() {
            return Err(ErrorData::invalid_params(format!("there is no tool `{}`", request.name), None));
        }
        let caller = caller(&context)?;
        if let Err(problem) = caller.check(role(&request.name)) {
            return problem.into_call_tool_result();
        }
        context.extensions.insert(caller);
        let answer = self.tools.call(ToolCallContext::new(self, request, context)).await?;
        match wrong_arguments(&answer) {
            Some(detail) => Problem::new(Code::Invalid, detail).into_call_tool_result(),
            None => Ok(answer),
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(resources::list(&self.server, request.and_then(|request| request.cursor)).await?)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![resources::template()]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(resources::read(&self.server, &request.uri).await?.into())
    }
}

/// Who calls: what the guard found out is with the head of the HTTP request.
fn caller(context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
    let caller = context.extensions.get::<Parts>().and_then(|head| head.extensions.get::<Caller>());
    caller.cloned().ok_or_else(|| ErrorData::internal_error("the request came in by no door", None))
}

/// The role that a tool takes, which is that of the route that does the same.
fn role(tool: &str) -> Role {
    match tool {
        "list_skills" | "read_run" | "list_inbox" | "wait_for_change" | "get_roundtable"
        | "export_roundtable" => Role::Read,
        "reply_to_run" | "reply_roundtable" => Role::Reply,
        _ => Role::Admin,
    }
}

/// What is wrong with the arguments of a call. The SDK says it as an error that is only a text; ours are never only that.
fn wrong_arguments(answer: &CallToolResponse) -> Option<&str> {
    match answer {
        CallToolResponse::Complete(result)
            if result.is_error == Some(true) && result.structured_content.is_none() =>
        {
            result.content.iter().find_map(|block| block.as_text()).map(|text| text.text.as_str())
        }
        _ => None,
    }
}

/// An error that the model sees: the same code and words as over HTTP, for reading and as they are.
impl IntoCallToolResult for Problem {
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        let document = json!(self.document());
        let text = ["code", "detail"].map(|key| document[key].as_str().unwrap_or_default()).join(": ");
        let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
        result.structured_content = Some(document);
        Ok(result.into())
    }
}

/// What is not a tool has no such place: there it is an error of the protocol.
impl From<Problem> for ErrorData {
    fn from(problem: Problem) -> Self {
        let status = status(problem.code());
        let document = json!(problem.document());
        let detail = document["detail"].as_str().unwrap_or_default().to_owned();
        if status == StatusCode::NOT_FOUND {
            Self::resource_not_found(detail, Some(document))
        } else if status.is_client_error() {
            Self::invalid_params(detail, Some(document))
        } else {
            Self::internal_error(detail, Some(document))
        }
    }
}

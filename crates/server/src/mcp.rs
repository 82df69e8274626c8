//! The MCP server: other agents start runs, read them, answer and cancel them.
//!
//! It is served at `/mcp` as streamable HTTP, and `adjourn mcp` passes what comes on stdio on to there. It has no sessions:
//! each request stands for itself, so a client notices nothing of a restart, and whoever wants to know what is new asks
//! with the cursor of its last answer. The types of the SDK stay in this folder.

mod answers;
mod arguments;
mod changes;
mod handler;
mod resources;
mod roundtable_tools;
mod tools;
mod transcript;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use crate::extract::body;
use crate::problem::Problem;
use crate::server::Server;
use handler::Handler;

type Service = StreamableHttpService<Handler, NeverSessionManager>;

/// The address of the MCP server.
pub(crate) fn routes(server: &Server) -> Router<Server> {
    let handler = Handler::new(server.clone());
    // Who gets in was decided by the guard, before any route.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(body::BODY_BYTES_MAX);
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(handler.clone()), sessions, config);
    Router::new().route("/mcp", post(handle).with_state(service))
}

/// The body is read by us: it has to come in time, and what is wrong with it is said like everywhere else.
async fn handle(State(service): State<Service>, request: Request) -> Result<Response, Problem> {
    let (head, body) = request.into_parts();
    let bytes = body::bytes(Request::from_parts(head.clone(), body), &service).await?;
    let answer = service.handle(Request::from_parts(head, Body::from(bytes))).await;
    Ok(answer.into_response())
}

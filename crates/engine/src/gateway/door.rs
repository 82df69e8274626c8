//! The way in: a token, and no page of a browser.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Extension, Router};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use super::handler::Handler;
use super::limits::BODY_BYTES_MAX;
use super::sessions::{GatewaySession, GatewaySessions};
use super::visitor::Visitor;
use crate::agent_processes::{AgentProcesses, RefusedAttempt};

/// Where it is served.
pub(super) const PATH: &str = "/mcp";

const NO_TOKEN: &str =
    "this is for the agents that adjourn has started, each with the token that it was given";

const OF_ANOTHER_RUN: &str = "this is the token of another run: use the one that you were given";

/// Checks tokens before anything of a request is read.
#[derive(Clone)]
struct Door {
    places: Arc<GatewaySessions>,
    agents: AgentProcesses,
    service: StreamableHttpService<Handler, NeverSessionManager>,
}

/// All that is served at `address`.
pub(super) fn router(address: SocketAddr, places: Arc<GatewaySessions>, agents: AgentProcesses) -> Router {
    // Without sessions, so that an agent notices nothing of who else is there. An answer is a stream, although only one
    // message comes: its beginning is sent at once, and clients that wait five minutes for a header do not give up on a call.
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts([address.to_string()])
        .enforce_origin_validation()
        .with_legacy_session_mode(false)
        .with_max_request_body_bytes(BODY_BYTES_MAX);
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(|| Ok(Handler), sessions, config);
    Router::new().route(PATH, post(enter)).with_state(Door { places, agents, service })
}

async fn enter(
    State(door): State<Door>,
    Extension(visitor): Extension<Visitor>,
    mut request: Request,
) -> Response {
    match door.place(request.headers()) {
        Some(place) if !door.is_of(visitor, &place).await => {
            (StatusCode::FORBIDDEN, OF_ANOTHER_RUN).into_response()
        }
        Some(place) => {
            // Nobody behind the door needs it, and what somebody has can be logged.
            request.headers_mut().remove(header::AUTHORIZATION);
            request.extensions_mut().insert(place);
            door.service.handle(request).await.into_response()
        }
        None => (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], NO_TOKEN).into_response(),
    }
}

impl Door {
    /// Whether a place is the visitor's own. A token of another run is not, wherever it was found: both runs are told.
    async fn is_of(&self, visitor: Visitor, place: &GatewaySession) -> bool {
        let (run_id, inode) = match visitor {
            Visitor::Untold => return true,
            Visitor::Agent { run_id, .. } if run_id == place.run_id => return true,
            Visitor::Agent { run_id, inode } => (run_id, inode),
        };
        if self.agents.owns_socket(place.run_id, inode).await {
            return true;
        }
        let (thief, owner) = (run_id, place.run_id);
        let stole = format!("used the gateway with the token of {owner}, which was refused");
        self.agents.report(RefusedAttempt { run_id: thief, what: stole });
        let robbed = format!("lost its token for the gateway to the agent of {thief}, which was refused");
        self.agents.report(RefusedAttempt { run_id: owner, what: robbed });
        false
    }

    fn place(&self, headers: &HeaderMap) -> Option<Arc<GatewaySession>> {
        let given = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
        let (scheme, token) = given.split_once(' ')?;
        scheme.eq_ignore_ascii_case("Bearer").then(|| self.places.find(token.trim())).flatten()
    }
}

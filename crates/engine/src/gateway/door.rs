//! The way in: a token, and no page of a browser.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use super::handler::Handler;
use super::limits::BODY_BYTES_MAX;
use super::places::{Place, Places};

/// Where it is served.
pub(super) const PATH: &str = "/mcp";

const NO_TOKEN: &str =
    "this is for the agents that adjourn has started, each with the token that it was given";

/// Checks tokens before anything of a request is read.
#[derive(Clone)]
struct Door {
    places: Arc<Places>,
    service: StreamableHttpService<Handler, NeverSessionManager>,
}

/// All that is served at `address`.
pub(super) fn router(address: SocketAddr, places: Arc<Places>) -> Router {
    // Without sessions, so that an agent notices nothing of who else is there. An answer is a stream, although only one
    // message comes: its beginning is sent at once, and clients that wait five minutes for a header do not give up on a call.
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts([address.to_string()])
        .enforce_origin_validation()
        .with_legacy_session_mode(false)
        .with_max_request_body_bytes(BODY_BYTES_MAX);
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(|| Ok(Handler), sessions, config);
    Router::new().route(PATH, post(enter)).with_state(Door { places, service })
}

async fn enter(State(door): State<Door>, mut request: Request) -> Response {
    match door.place(request.headers()) {
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
    fn place(&self, headers: &HeaderMap) -> Option<Arc<Place>> {
        let given = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
        let (scheme, token) = given.split_once(' ')?;
        scheme.eq_ignore_ascii_case("Bearer").then(|| self.places.find(token.trim())).flatten()
    }
}

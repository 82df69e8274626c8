//! The document of all routes, and a page to read it on.
//!
//! The page and its script come from this server, and its policy forbids the browser to ask any other: what somebody
//! reads or tries out here stays here, and it works without a network.

use std::sync::LazyLock;

use axum::Router;
use axum::body::Bytes;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use serde_json::json;
use utoipa::openapi::OpenApi;

use crate::problem::Problem;
use crate::server::Server;

const SCRIPT_PATH: &str = "/docs/scalar.js";

/// Only this server is asked. The script that draws the page writes its own styles, and reads icons from itself.
const POLICY: &str = "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; \
                      img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The script, once for all readers: it has 5 MB.
static SCRIPT: LazyLock<Option<Bytes>> =
    LazyLock::new(|| scalar_api_reference::get_asset("scalar.js").map(Bytes::from));

/// `/openapi.json` and `/docs`.
pub(crate) fn routes(document: &OpenApi) -> Router<Server> {
    let json = serde_json::to_vec(document).expect("the document is plain data, and plain data is JSON");
    let json = Bytes::from(json);
    let page = page();
    Router::new()
        .route(
            "/openapi.json",
            get(async move || ([(header::CONTENT_TYPE, "application/json")], json.clone())),
        )
        .route(
            "/docs",
            get(async move || {
                let headers = [
                    (header::CONTENT_TYPE, "text/html; charset=utf-8"),
                    (header::CONTENT_SECURITY_POLICY, POLICY),
                    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
                ];
                (headers, page.clone())
            }),
        )
        .route(SCRIPT_PATH, get(script))
}

/// Everything that would ask another server is off; the policy is for what a later version turns on.
fn page() -> Bytes {
    let configuration = json!({
        "url": "/openapi.json",
        "withDefaultFonts": false,
        "telemetry": false,
        "agent": { "disabled": true },
        "hideClientButton": true,
        "showDeveloperTools": "never",
    });
    scalar_api_reference::scalar_html(&configuration, Some(SCRIPT_PATH)).into()
}

async fn script() -> Result<impl IntoResponse, Problem> {
    let script = SCRIPT.clone().ok_or_else(|| Problem::internal("the script of this page is missing"))?;
    // A day: it changes with the version of the server only.
    let headers = [(header::CONTENT_TYPE, "text/javascript"), (header::CACHE_CONTROL, "max-age=86400")];
    Ok((headers, script))
}

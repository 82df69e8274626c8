//! The router: every route with its handler, and the layers around them.

use adjourn_api::Code;
use axum::extract::DefaultBodyLimit;
use axum::http::{Method, Uri};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::{Extension, Router};
use utoipa_axum::router::OpenApiRouter;

use crate::api::{
    all_events, contracts, docs, engines, events, files, health, inbox, logs, metrics, openapi, replies,
    roundtables, runs, skills, slots, statecharts,
};
use crate::auth::guard::{Door, Gate, guard};
use crate::compat::jobs;
use crate::extract::body::BODY_BYTES_MAX;
use crate::extract::local::Reach;
use crate::extract::request_id;
use crate::mcp;
use crate::observe::metrics::count;
use crate::problem::Problem;
use crate::server::Server;

impl Server {
    /// All routes, for clients that come by `door`.
    pub fn router(self, door: Door) -> Router {
        let (routes, document) = documented().split_for_parts();
        routes
            .merge(docs::routes(&openapi::finished(document, &door)))
            .merge(jobs::routes())
            .merge(mcp::routes(&self))
            .fallback(no_such_route)
            .method_not_allowed_fallback(no_such_method)
            .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
            .layer(Extension(Reach::of(&door)))
            .layer(from_fn_with_state(
                Gate::new(door, self.service.config(), self.service.agents().clone()),
                guard,
            ))
            .layer(from_fn_with_state(self.metrics.clone(), count))
            .layer(from_fn(request_id::identify))
            .with_state(self)
    }
}

/// The routes that the document describes.
pub(crate) fn documented() -> OpenApiRouter<Server> {
    OpenApiRouter::with_openapi(openapi::document())
        .merge(runs::routes())
        .merge(replies::routes())
        .merge(contracts::routes())
        .merge(events::routes())
        .merge(files::routes())
        .merge(logs::routes())
        .merge(inbox::routes())
        .merge(all_events::routes())
        .merge(roundtables::routes())
        .merge(skills::routes())
        .merge(engines::routes())
        .merge(statecharts::routes())
        .merge(slots::routes())
        .merge(health::routes())
        .merge(metrics::routes())
}

async fn no_such_route(uri: Uri) -> Problem {
    Problem::new(Code::UnknownRoute, format!("there is nothing at `{}`", uri.path()))
}

async fn no_such_method(method: Method, uri: Uri) -> Problem {
    let detail = format!("`{}` does not take {method}: the header `allow` says what it takes", uri.path());
    Problem::new(Code::MethodNotAllowed, detail)
}

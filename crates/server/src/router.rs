//! Which address leads where.

use adjourn_runtime::Service;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use tokio_util::sync::CancellationToken;

use crate::body::BODY_BYTES_MAX;
use crate::guard::{Door, Gate, guard};
use crate::metrics::{self, Metrics};
use crate::problem::Problem;
use crate::{catalog, events, feed, files, health, inbox, replies, runs};

/// What every route has: the service, and the news that the server ends.
#[derive(Clone)]
pub struct Server {
    pub(crate) service: Service,
    /// Ends every stream: an open one would keep the server from ending.
    pub(crate) shutdown: CancellationToken,
    pub(crate) metrics: Metrics,
}

impl Server {
    /// A server of `service` whose streams end with `shutdown`.
    pub fn new(service: Service, shutdown: CancellationToken) -> Self {
        Self { service, shutdown, metrics: Metrics::default() }
    }

    /// All routes, for clients that come by `door`.
    pub fn router(self, door: Door) -> Router {
        Router::new()
            .merge(runs())
            .route("/v1/events", get(feed::events))
            .route("/v1/inbox", get(inbox::list))
            .route("/v1/skills", get(catalog::skills))
            .route("/v1/engines", get(catalog::engines))
            .route("/v1/statecharts", get(catalog::statecharts))
            .route("/v1/statecharts/{name}", get(catalog::statechart))
            .route("/v1/slots", get(catalog::slots))
            .route("/healthz", get(health::healthz))
            .route("/readyz", get(health::readyz))
            .route("/metrics", get(metrics::metrics))
            .fallback(no_such_route)
            .method_not_allowed_fallback(no_such_method)
            .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
            .layer(from_fn_with_state(Gate::new(door, self.service.desk().config()), guard))
            .layer(from_fn_with_state(self.metrics.clone(), metrics::count))
            .with_state(self)
    }

    /// Reads from the journal or the disk, on a thread that may wait.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Service) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let service = self.service.clone();
        let done = tokio::task::spawn_blocking(move || read(&service)).await;
        done.unwrap_or_else(|_| Err(Problem::internal("reading stopped halfway")))
    }
}

fn runs() -> Router<Server> {
    Router::new()
        .route("/v1/runs", get(runs::list).post(runs::create))
        .route("/v1/runs/{id}", get(runs::show))
        .route("/v1/runs/{id}/result", get(runs::result))
        .route("/v1/runs/{id}/interactions", get(runs::interactions))
        .route("/v1/runs/{id}/contracts", get(runs::contracts))
        .route("/v1/runs/{id}/files", get(files::list))
        .route("/v1/runs/{id}/files/{*path}", get(files::content))
        .route("/v1/runs/{id}/events", get(events::events))
        .route("/v1/runs/{id}/reply", post(replies::reply))
        .route("/v1/runs/{id}/cancel", post(replies::cancel))
}

async fn no_such_route(uri: Uri) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "UNKNOWN_ROUTE", format!("there is nothing at `{}`", uri.path()))
}

async fn no_such_method(method: Method, uri: Uri) -> Problem {
    let detail = format!("`{}` does not take {method}: the header `allow` says what it takes", uri.path());
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED", detail)
}

//! Requests by route, and how long their answers took.

use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use super::Metrics;

/// Times of answers that are told apart, in seconds: one that is in memory takes 100 µs, one that waits for a sync on
/// a slow disk 100 ms, and clients give up after 10 s.
const BOUNDS_SEC: [f64; 9] = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.25, 1.0, 10.0];

/// What a request that no route takes is counted under: its path is whatever somebody typed.
const NO_ROUTE: &str = "none";

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    method: &'static str,
    route: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    method: &'static str,
    route: String,
    status: &'static str,
}

#[derive(Debug, Clone)]
struct Times;

impl MetricConstructor<Histogram> for Times {
    fn new_metric(&self) -> Histogram {
        Histogram::new(BOUNDS_SEC)
    }
}

/// Requests that were answered.
#[derive(Debug, Clone)]
pub(super) struct Requests {
    answered: Family<Answered, Counter>,
    /// Until the head of the answer: a stream goes on long after it.
    duration: Family<Route, Histogram, Times>,
}

impl Default for Requests {
    fn default() -> Self {
        Self { answered: Family::default(), duration: Family::new_with_constructor(Times) }
    }
}

impl Requests {
    pub(super) fn register(&self, registry: &mut Registry) {
        let help = "Requests that were answered, by route and class of status";
        registry.register("http_requests", help, self.answered.clone());
        let help = "From the head of a request to the head of its answer";
        registry.register_with_unit("http_request_duration", help, Unit::Seconds, self.duration.clone());
    }
}

/// Counts a request.
pub(crate) async fn count(State(metrics): State<Metrics>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let method = method(request.method());
    let route = request.extensions().get::<MatchedPath>().map_or(NO_ROUTE, MatchedPath::as_str).to_owned();
    let response = next.run(request).await;
    let duration = Route { method, route: route.clone() };
    metrics.requests.duration.get_or_create(&duration).observe(began.elapsed().as_secs_f64());
    metrics
        .requests
        .answered
        .get_or_create(&Answered { method, route, status: class(response.status()) })
        .inc();
    response
}

/// The methods that there are routes for; a client can make up others.
fn method(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::HEAD => "HEAD",
        Method::DELETE => "DELETE",
        _ => "other",
    }
}

fn class(status: StatusCode) -> &'static str {
    match status.as_u16() {
        ..200 => "1xx",
        200..300 => "2xx",
        300..400 => "3xx",
        400..500 => "4xx",
        500.. => "5xx",
    }
}

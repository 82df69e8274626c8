//! The job API of Skill-Runner, on top of the same commands as everything else.
//!
//! Clients that were written for that project go on working with another port. A job is a run under another name: its
//! `request_id` is the run's id, its statuses are the run's, its chat events are the run's frames. Nothing is kept for
//! jobs alone but two labels that say what the client asked for. What is served, and what is not, is in
//! `docs/skill-runner.md`.

mod create;
mod history;
mod job;
mod pending;
mod replies;
pub(crate) mod request;
mod result;
mod stream;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::{get, post};

use crate::server::Server;

/// All routes of that API but `/v1/skills`, which both have.
pub(crate) fn routes() -> Router<Server> {
    Router::new()
        .route("/v1/jobs", post(create::create))
        .route("/v1/jobs/{id}", get(job::show))
        .route("/v1/jobs/{id}/result", get(result::show))
        .route("/v1/jobs/{id}/events", get(stream::events))
        .route("/v1/jobs/{id}/events/history", get(history::page))
        .route("/v1/jobs/{id}/interaction/pending", get(pending::show))
        .route("/v1/jobs/{id}/interaction/reply", post(replies::reply))
        .route("/v1/jobs/{id}/cancel", post(replies::cancel))
        .route("/v1/system/ping", get(|| async { StatusCode::NO_CONTENT }))
}

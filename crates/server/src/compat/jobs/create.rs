//! Creates a job.

use adjourn_api::Code;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use serde_json::{Value, json};

use super::request;
use crate::api::runs;
use crate::extract::body;
use crate::problem::Problem;
use crate::server::Server;

/// Creates a run. It never comes out of a cache: what an agent does is not the same twice.
pub(super) async fn create(
    State(server): State<Server>,
    headers: HeaderMap,
    body::Parsed(document): body::Parsed,
) -> Result<Json<Value>, Problem> {
    let key = body::key(&headers)?;
    let (name, request) = request::read(&document)?;
    server
        .blocking(move |service| {
            service
                .skill_folder(&name)
                .map(drop)
                .map_err(|not_found| Problem::new(Code::UnknownSkill, not_found.to_string()))
        })
        .await?;
    let created = runs::start(&server, request, key).await.map_err(request::refused)?;
    let run = created.run;
    Ok(Json(json!({ "request_id": run.id(), "cache_hit": false, "status": run.status() })))
}

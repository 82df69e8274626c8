//! What a run left in its workspace.

use std::fs::File;
use std::io::Read;

use adjourn_core::RunId;
use adjourn_runtime::Service;
use adjourn_runtime::workspace::Workspace;
use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures::stream;
use serde_json::{Value, json};

use crate::problem::Problem;
use crate::query::{RunPath, run_id};
use crate::router::Server;

/// Bytes of a file that are read at once: what a reader of a file costs.
const CHUNK_BYTES: usize = 64 * 1024;

pub(crate) async fn list(State(server): State<Server>, RunPath(id): RunPath) -> Result<Json<Value>, Problem> {
    let listing = server.blocking(move |service| Ok(workspace(service, id)?.files()?)).await?;
    let files =
        listing.files.iter().map(|file| json!({ "path": file.path.to_string_lossy(), "bytes": file.bytes }));
    let items: Vec<_> = files.collect();
    Ok(Json(json!({ "items": items, "next_cursor": null, "truncated": listing.truncated })))
}

/// A file as it is. An agent wrote it, so no browser may take it for a page of this server.
pub(crate) async fn content(
    State(server): State<Server>,
    Path((id, path)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let id = run_id(&id)?;
    let file = server.blocking(move |service| Ok(workspace(service, id)?.result_file(&path)?)).await?;
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::CONTENT_DISPOSITION, "attachment"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, "sandbox"),
    ];
    Ok((headers, Body::from_stream(stream::try_unfold(file, chunk))).into_response())
}

async fn chunk(mut file: File) -> std::io::Result<Option<(Bytes, File)>> {
    let read = tokio::task::spawn_blocking(move || {
        let mut bytes = vec![0; CHUNK_BYTES];
        let length = file.read(&mut bytes)?;
        bytes.truncate(length);
        Ok((length > 0).then(|| (Bytes::from(bytes), file)))
    });
    read.await.map_err(std::io::Error::other)?
}

fn workspace(service: &Service, id: RunId) -> Result<Workspace, Problem> {
    // A run that there never was is told from one whose folder is gone.
    service.row(id)?;
    Ok(service.desk().workspaces().open(id)?)
}

//! The response body of logs and files: raw bytes, read while they are sent, that a browser does not show as a page.

use std::fs::File;
use std::io::{self, Read, Take};

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures::stream;

const CONTENT_TYPE: &str = "application/octet-stream";

/// Bytes that are read at once: what a reader costs.
const CHUNK_BYTES: usize = 64 * 1024;

/// A response with the rest of `file`.
pub(crate) fn response(file: Take<File>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, CONTENT_TYPE),
        (header::CONTENT_DISPOSITION, "attachment"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, "sandbox"),
    ];
    (headers, Body::from_stream(stream::try_unfold(file, chunk))).into_response()
}

async fn chunk(mut file: Take<File>) -> io::Result<Option<(Bytes, Take<File>)>> {
    let read = tokio::task::spawn_blocking(move || {
        let mut bytes = vec![0; CHUNK_BYTES];
        let length = file.read(&mut bytes)?;
        bytes.truncate(length);
        Ok((length > 0).then(|| (Bytes::from(bytes), file)))
    });
    read.await.map_err(io::Error::other)?
}

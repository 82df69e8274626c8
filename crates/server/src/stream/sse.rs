//! Server-sent events: how a stream looks on the wire, and where it begins.
//!
//! Frames are plain messages, without a name: `EventSource.onmessage` then sees every type of frame, also one that a
//! client does not know yet, and the type is in the frame. Only what is not a frame has a name (`delta`).

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use futures::Stream;
use serde::Serialize;

use crate::problem::Problem;

/// How often a stream shows that it is alive: proxies close what is silent for a minute, and a client that is gone is
/// noticed by it.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(15);

/// Entries of the journal that are read at once: what a reader of a stream costs. An entry is some kilobytes.
pub(crate) const PAGE_ENTRIES: usize = 64;

/// How soon a browser comes back after a stream was cut.
const RETRY_MS: u32 = 1000;

/// A comment, which clients do not see.
pub(crate) const ALIVE: &[u8] = b": alive\n\n";

/// Several events that are sent together.
#[derive(Default)]
pub(crate) struct Events(Vec<u8>);

impl Events {
    /// What a stream begins with: the client learns where it is, even if nothing comes before it is cut.
    pub(crate) fn greeting(after: u64) -> Self {
        Self(format!("retry: {RETRY_MS}\nid: {after}\n\n").into_bytes())
    }

    /// Adds a message. JSON has no line ends outside of strings, and none inside: one line of data is enough.
    pub(crate) fn message(&mut self, id: u64, data: &impl Serialize) -> Result<(), serde_json::Error> {
        self.0.extend_from_slice(format!("id: {id}\ndata: ").as_bytes());
        serde_json::to_writer(&mut self.0, data)?;
        self.0.extend_from_slice(b"\n\n");
        Ok(())
    }

    /// Adds a message that has a name: for clients of another API, which do not look at plain ones.
    pub(crate) fn named_message(
        &mut self,
        name: &str,
        id: u64,
        data: &impl Serialize,
    ) -> Result<(), serde_json::Error> {
        self.0.extend_from_slice(format!("event: {name}\n").as_bytes());
        self.message(id, data)
    }

    /// Adds a comment, which shows in the raw stream, and where the stream is after it.
    pub(crate) fn comment(&mut self, id: u64, text: &str) {
        self.0.extend_from_slice(format!(": {text}\nid: {id}\n\n").as_bytes());
    }

    /// Adds an event with a name and no id: it does not count, and is not sent again.
    pub(crate) fn named(&mut self, name: &str, data: &serde_json::Value) {
        self.0.extend_from_slice(format!("event: {name}\ndata: {data}\n\n").as_bytes());
    }

    pub(crate) fn into_bytes(self) -> Bytes {
        self.0.into()
    }
}

/// A response that is a stream. It is pulled: what its reader does not take is not read from the journal.
pub(crate) fn response(
    parts: impl Stream<Item = Result<Bytes, adjourn_store::Error>> + Send + 'static,
) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache"),
        // Proxies that hold back what they pass on would make a stream of it that stands still.
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, Body::from_stream(parts)).into_response()
}

/// Where a stream begins: after `Last-Event-ID`, else after `?after=`. A browser that comes back sends both.
pub(crate) fn begin(headers: &HeaderMap, after: Option<u64>) -> Result<Option<u64>, Problem> {
    let Some(last) = headers.get("last-event-id").filter(|last| !last.is_empty()) else { return Ok(after) };
    let number = last.to_str().ok().and_then(|text| text.parse().ok());
    number
        .map(Some)
        .ok_or_else(|| Problem::bad_request("`Last-Event-ID` should be the `id` of an event of this stream"))
}

/// Whether a client wants a page of history rather than a stream.
pub(crate) fn wants_page(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    accept.contains("application/json") && !accept.contains("text/event-stream")
}

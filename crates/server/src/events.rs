//! The stream of one run.
//!
//! It stays open while the run waits, and closes after the terminal frame. Whoever comes back after that gets 204,
//! which tells an `EventSource` to stop asking.

use std::sync::Arc;

use adjourn_core::fcmp::Header;
use adjourn_core::{Frame, Record, RunId, StreamId};
use adjourn_runtime::{Delta, Service};
use adjourn_store::{After, Error, Store};
use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use futures::stream;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::metrics::OpenStream;
use crate::pages::limit;
use crate::problem::Problem;
use crate::query::{Parameters, RunPath};
use crate::router::Server;
use crate::sse::{self, ALIVE, Events, HEARTBEAT, PAGE_ENTRIES};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    after: Option<u64>,
    /// Of a page; a stream has no limit.
    limit: Option<usize>,
}

pub(crate) async fn events(
    State(server): State<Server>,
    RunPath(id): RunPath,
    headers: HeaderMap,
    Parameters(wanted): Parameters<Wanted>,
) -> Result<Response, Problem> {
    let after = sse::begin(&headers, wanted.after)?.unwrap_or(0);
    if sse::wants_page(&headers) {
        return page(&server, id, after, limit(wanted.limit)?).await;
    }
    // Deltas are listened for before the journal is read, so that none falls between.
    let deltas = server.service.driver().deltas();
    let (row, commits) = server
        .blocking(move |service| {
            let commits = service.store().watch_stream(id.into());
            Ok((service.row(id)?, commits))
        })
        .await?;
    if row.status.is_terminal() && after >= row.seq {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let store = server.service.store().clone();
    let follower = Follower {
        history: History { store, id, engine: row.engine },
        after,
        greeted: false,
        unread: true,
        ended: false,
        commits,
        deltas,
        shutdown: server.shutdown.clone(),
        _open: server.metrics.stream(),
    };
    Ok(sse::response(stream::try_unfold(follower, Follower::next)))
}

/// `{events, next_after}`: the frames after `after`, and where to go on, now or when there is more.
async fn page(server: &Server, id: RunId, after: u64, limit: usize) -> Result<Response, Problem> {
    let read = server.blocking(move |service: &Service| {
        let history = History { store: service.store().clone(), id, engine: service.row(id)?.engine };
        let mut frames = history.read(after, limit)?;
        frames.truncate(limit);
        Ok(frames)
    });
    let frames = read.await?;
    let next_after = frames.last().map_or(after, |frame| frame.seq);
    Ok(Json(json!({ "events": frames, "next_after": next_after })).into_response())
}

/// The frames of a run that are in the journal.
#[derive(Clone)]
struct History {
    store: Arc<dyn Store>,
    id: RunId,
    engine: String,
}

impl History {
    /// The frames of up to `entries` entries after the frame `after`.
    fn read(&self, after: u64, entries: usize) -> Result<Vec<Frame>, Error> {
        let header = Header { run_id: self.id, engine: &self.engine };
        let mut frames = Vec::new();
        for entry in self.store.read(StreamId::Run(self.id), After::Frame(after), entries)? {
            let record = Record::of(&entry).map_err(|error| Error::Damaged { problem: error.to_string() })?;
            // The first entry may begin before.
            frames.extend(record.frames(header, &entry).into_iter().filter(|frame| frame.seq > after));
        }
        Ok(frames)
    }
}

/// Somebody who reads the stream of a run.
struct Follower {
    history: History,
    /// The last frame that was sent.
    after: u64,
    greeted: bool,
    /// Something may be in the journal that was not read.
    unread: bool,
    /// The terminal frame was sent.
    ended: bool,
    commits: watch::Receiver<u64>,
    deltas: broadcast::Receiver<Delta>,
    shutdown: CancellationToken,
    _open: OpenStream,
}

type Next = Result<Option<(Bytes, Follower)>, Error>;

impl Follower {
    /// What is sent next, as soon as there is something.
    async fn next(mut self) -> Next {
        if !self.greeted {
            self.greeted = true;
            let greeting = Events::greeting(self.after);
            return self.send(greeting.into_bytes());
        }
        while !self.ended && !self.shutdown.is_cancelled() {
            if self.unread {
                let frames = self.read().await?;
                if !frames.is_empty() {
                    return self.send_frames(&frames);
                }
                self.unread = false;
            }
            tokio::select! {
                () = self.shutdown.cancelled() => return Ok(None),
                changed = self.commits.changed() => match changed {
                    Ok(()) => self.unread = true,
                    Err(_) => return Ok(None),
                },
                delta = self.deltas.recv() => match delta {
                    Ok(delta) if delta.run_id == self.history.id => return self.send_delta(&delta),
                    // Of another run, or some were missed: the frame that follows has the whole text.
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return Ok(None),
                },
                () = sleep(HEARTBEAT) => return self.send(Bytes::from_static(ALIVE)),
            }
        }
        Ok(None)
    }

    async fn read(&self) -> Result<Vec<Frame>, Error> {
        let (history, after) = (self.history.clone(), self.after);
        let read = tokio::task::spawn_blocking(move || history.read(after, PAGE_ENTRIES)).await;
        read.unwrap_or_else(|error| Err(Error::Failed { doing: "be read", problem: error.to_string() }))
    }

    fn send_frames(mut self, frames: &[Frame]) -> Next {
        let mut events = Events::default();
        for frame in frames {
            events
                .message(frame.seq, frame)
                .map_err(|error| Error::Damaged { problem: format!("frame {}: {error}", frame.seq) })?;
            self.after = frame.seq;
            self.ended |= frame.data.get("terminal").is_some();
        }
        self.send(events.into_bytes())
    }

    fn send_delta(self, delta: &Delta) -> Next {
        let mut events = Events::default();
        events.named("delta", &json!({ "run_id": delta.run_id, "text": &*delta.text }));
        self.send(events.into_bytes())
    }

    fn send(self, bytes: Bytes) -> Next {
        Ok(Some((bytes, self)))
    }
}

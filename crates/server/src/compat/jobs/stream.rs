//! The chat events of a job as they come.
//!
//! `snapshot` first, then every frame as `chat_event`, and `heartbeat` while there is none. Unlike that project's stream
//! this one has ids, and stays open while the job waits: a client need not ask again to learn that it goes on.

use adjourn_core::{Frame, InteractionId, RunStatus};
use adjourn_store::Error;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use futures::stream;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::extract::query::{Parameters, RunPath};
use crate::observe::metrics::OpenStream;
use crate::problem::Problem;
use crate::server::Server;
use crate::stream::run_reader::RunReader;
use crate::stream::sse::{self, Events, HEARTBEAT, PAGE_ENTRIES};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StreamQuery {
    /// The last event that the client has.
    cursor: Option<u64>,
}

pub(super) async fn events(
    State(server): State<Server>,
    RunPath(id): RunPath,
    headers: HeaderMap,
    Parameters(wanted): Parameters<StreamQuery>,
) -> Result<Response, Problem> {
    let is_back = headers.contains_key("last-event-id");
    let after = sse::begin(&headers, wanted.cursor)?.unwrap_or(0);
    let (run, commits) = server
        .blocking(move |service| {
            let commits = service.journal().watch_stream(id.into());
            Ok((service.run(id)?, commits))
        })
        .await?;
    let has_all = run.status().is_terminal() && after >= run.last_frame();
    if has_all && is_back {
        // An `EventSource` that saw the end would otherwise come back for ever.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let pending = run.open_interactions().next().map(|interaction| interaction.interaction_id);
    let reader = RunReader { journal: server.service.journal(), id, engine: run.spec().engine.clone() };
    let follower = Follower {
        reader,
        after,
        snapshot: Some(snapshot(run.status(), after, pending)),
        unread: true,
        ended: has_all,
        commits,
        shutdown: server.shutdown.clone(),
        _open: server.metrics.stream(),
    };
    Ok(sse::response(stream::try_unfold(follower, Follower::next)))
}

/// What a stream begins with. `cursor` is where it begins and not where the job is: a client that keeps it, and is cut
/// off before the first event, has missed nothing.
fn snapshot(status: RunStatus, cursor: u64, pending: Option<InteractionId>) -> Value {
    let mut snapshot = json!({ "status": status, "cursor": cursor });
    if let Some(pending) = pending {
        snapshot["pending_interaction_id"] = json!(pending);
    }
    snapshot
}

/// Somebody who reads the chat events of a job.
struct Follower {
    reader: RunReader,
    /// The last event that was sent.
    after: u64,
    /// Still to be sent.
    snapshot: Option<Value>,
    /// Something may be in the journal that was not read.
    unread: bool,
    /// The last event of all was sent.
    ended: bool,
    commits: watch::Receiver<u64>,
    shutdown: CancellationToken,
    _open: OpenStream,
}

type Next = Result<Option<(Bytes, Follower)>, Error>;

impl Follower {
    async fn next(mut self) -> Next {
        if let Some(snapshot) = self.snapshot.take() {
            let mut events = Events::greeting(self.after);
            events.named("snapshot", &snapshot);
            return Ok(Some((events.into_bytes(), self)));
        }
        while !self.ended && !self.shutdown.is_cancelled() {
            if self.unread {
                let frames = self.read().await?;
                if !frames.is_empty() {
                    return self.send(&frames);
                }
                self.unread = false;
            }
            tokio::select! {
                () = self.shutdown.cancelled() => return Ok(None),
                changed = self.commits.changed() => match changed {
                    Ok(()) => self.unread = true,
                    Err(_) => return Ok(None),
                },
                () = sleep(HEARTBEAT) => {
                    let mut events = Events::default();
                    events.named("heartbeat", &json!({ "cursor": self.after }));
                    return Ok(Some((events.into_bytes(), self)));
                }
            }
        }
        Ok(None)
    }

    async fn read(&self) -> Result<Vec<Frame>, Error> {
        let (reader, after) = (self.reader.clone(), self.after);
        let read = tokio::task::spawn_blocking(move || reader.frames(after, PAGE_ENTRIES)).await;
        let read =
            read.unwrap_or_else(|error| Err(Error::Failed { doing: "be read", problem: error.to_string() }));
        read.map(|(frames, _)| frames)
    }

    fn send(mut self, frames: &[Frame]) -> Next {
        let mut events = Events::default();
        for frame in frames {
            events
                .named_message("chat_event", frame.seq, frame)
                .map_err(|error| Error::Damaged { problem: format!("frame {}: {error}", frame.seq) })?;
            self.after = frame.seq;
            self.ended |= frame.data.get("terminal").is_some();
        }
        Ok(Some((events.into_bytes(), self)))
    }
}

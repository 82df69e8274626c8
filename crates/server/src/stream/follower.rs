//! A follower: one client that reads a stream, up to its end if it has one.

use std::collections::VecDeque;
use std::sync::Arc;

use adjourn_runtime::Delta;
use adjourn_store::Error;
use axum::body::Bytes;
use axum::response::Response;
use futures::stream;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::observe::metrics::OpenStream;
use crate::stream::cache::{StreamCache, StreamSource};
use crate::stream::sse::{self, ALIVE, Events, HEARTBEAT};

/// A client that reads the stream of a run, of a roundtable, or of all of them.
pub(crate) struct Follower<S> {
    stream: Arc<StreamCache<S>>,
    /// The last frame that was read.
    after: u64,
    /// Events that were read and not yet sent; the bytes are shared with other followers of the stream.
    pending: VecDeque<Bytes>,
    /// Something may be in the journal that was not read.
    unread: bool,
    /// The terminal frame was read.
    ended: bool,
    commits: watch::Receiver<u64>,
    heartbeat: Heartbeat,
    /// Text that the agent is writing; only for a run, as several agents write elsewhere.
    deltas: Option<broadcast::Receiver<Delta>>,
    shutdown: CancellationToken,
    _open: OpenStream,
}

/// What is sent while nothing happens.
#[derive(Debug, Clone, Copy)]
enum Heartbeat {
    /// A sign of life.
    Alive,
    /// Up to where the stream was read.
    Position,
}

type Next<S> = Result<Option<(Bytes, Follower<S>)>, Error>;

impl<S: StreamSource> Follower<S> {
    /// A follower that has read everything up to `after`; `commits` tells it that there is more.
    pub(crate) fn new(
        stream: Arc<StreamCache<S>>,
        after: u64,
        commits: watch::Receiver<u64>,
        shutdown: CancellationToken,
        open: OpenStream,
    ) -> Self {
        Self {
            stream,
            after,
            pending: VecDeque::from([Events::greeting(after).into_bytes()]),
            unread: true,
            ended: false,
            commits,
            heartbeat: Heartbeat::Alive,
            deltas: None,
            shutdown,
            _open: open,
        }
    }

    /// Also sends the text that the agent is writing.
    pub(crate) fn with_deltas(self, deltas: broadcast::Receiver<Delta>) -> Self {
        Self { deltas: Some(deltas), ..self }
    }

    /// Says with each heartbeat up to where the stream was read: where most of what is committed is not sent, a client that
    /// comes back need not read that again.
    pub(crate) fn with_positions(self) -> Self {
        Self { heartbeat: Heartbeat::Position, ..self }
    }

    /// The stream as it is sent.
    pub(crate) fn response(self) -> Response {
        sse::response(stream::try_unfold(self, Self::next))
    }

    /// What is sent next, as soon as there is something.
    async fn next(mut self) -> Next<S> {
        loop {
            if let Some(bytes) = self.pending.pop_front() {
                return self.send(bytes);
            }
            if self.ended || self.shutdown.is_cancelled() {
                return Ok(None);
            }
            if self.unread {
                self.read().await?;
                continue;
            }
            tokio::select! {
                () = self.shutdown.cancelled() => return Ok(None),
                changed = self.commits.changed() => match changed {
                    Ok(()) => self.unread = true,
                    Err(_) => return Ok(None),
                },
                delta = written(&mut self.deltas) => match delta {
                    Ok(delta) => return self.send_delta(&delta),
                    // Some were missed: the frame that follows has the whole text.
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return Ok(None),
                },
                () = sleep(HEARTBEAT) => {
                    let bytes = match self.heartbeat {
                        Heartbeat::Alive => Bytes::from_static(ALIVE),
                        Heartbeat::Position => Events::greeting(self.after).into_bytes(),
                    };
                    return self.send(bytes);
                }
            }
        }
    }

    async fn read(&mut self) -> Result<(), Error> {
        let commit = *self.commits.borrow_and_update();
        let page = self.stream.next(self.after, commit).await?;
        self.unread = !page.is_all;
        self.after = page.upto;
        for event in page.events {
            self.ended |= event.is_last;
            self.pending.push_back(event.bytes);
        }
        Ok(())
    }

    fn send_delta(self, delta: &Delta) -> Next<S> {
        let mut events = Events::default();
        events.named("delta", &json!({ "run_id": delta.run_id, "text": &*delta.text }));
        self.send(events.into_bytes())
    }

    fn send(self, bytes: Bytes) -> Next<S> {
        Ok(Some((bytes, self)))
    }
}

async fn written(deltas: &mut Option<broadcast::Receiver<Delta>>) -> Result<Delta, RecvError> {
    match deltas {
        Some(deltas) => deltas.recv().await,
        None => std::future::pending().await,
    }
}

//! One stream of all state changes.
//!
//! Its ids are positions in the journal of everything. It begins now; with `?after=0` at the beginning of all.

use std::collections::HashMap;
use std::sync::Arc;

use adjourn_core::fcmp::Header;
use adjourn_core::{Entry, Event, Frame, FrameType, Record, RunId, StreamId};
use adjourn_store::{Error, Store};
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use futures::stream;
use serde::Deserialize;
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::metrics::OpenStream;
use crate::problem::Problem;
use crate::query::Parameters;
use crate::router::Server;
use crate::sse::{self, Events, HEARTBEAT, PAGE_ENTRIES};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    after: Option<u64>,
}

pub(crate) async fn events(
    State(server): State<Server>,
    headers: HeaderMap,
    Parameters(wanted): Parameters<Wanted>,
) -> Result<Response, Problem> {
    let store = server.service.store().clone();
    let commits = store.watch();
    let after = match sse::begin(&headers, wanted.after)? {
        Some(after) => after,
        None => server.blocking(|service| Ok(service.store().head()?)).await?,
    };
    let follower = Follower {
        store,
        after,
        greeted: false,
        unread: true,
        commits,
        shutdown: server.shutdown.clone(),
        _open: server.metrics.stream(),
    };
    Ok(sse::response(stream::try_unfold(follower, Follower::next)))
}

/// A state change, and its position in the journal of everything.
struct Changed {
    position: u64,
    frame: Frame,
}

/// Somebody who reads the stream.
struct Follower {
    store: Arc<dyn Store>,
    /// The position up to which everything was read.
    after: u64,
    greeted: bool,
    /// Something may be in the journal that was not read.
    unread: bool,
    commits: watch::Receiver<u64>,
    shutdown: CancellationToken,
    _open: OpenStream,
}

type Next = Result<Option<(Bytes, Follower)>, Error>;

impl Follower {
    async fn next(mut self) -> Next {
        if !self.greeted {
            self.greeted = true;
            return self.greet();
        }
        while !self.shutdown.is_cancelled() {
            if self.unread {
                let (changes, upto) = self.read().await?;
                self.unread = upto.is_some();
                self.after = upto.unwrap_or(self.after);
                let events = write(&changes)?;
                if !events.is_empty() {
                    return Ok(Some((events.into_bytes(), self)));
                }
                continue;
            }
            tokio::select! {
                () = self.shutdown.cancelled() => return Ok(None),
                changed = self.commits.changed() => match changed {
                    Ok(()) => self.unread = true,
                    Err(_) => return Ok(None),
                },
                // Not only a sign of life: whoever comes back need not read again what held no change.
                () = sleep(HEARTBEAT) => return self.greet(),
            }
        }
        Ok(None)
    }

    fn greet(self) -> Next {
        Ok(Some((Events::greeting(self.after).into_bytes(), self)))
    }

    async fn read(&self) -> Result<(Vec<Changed>, Option<u64>), Error> {
        let (store, after) = (self.store.clone(), self.after);
        let read = tokio::task::spawn_blocking(move || read(store.as_ref(), after)).await;
        read.unwrap_or_else(|error| Err(Error::Failed { doing: "be read", problem: error.to_string() }))
    }
}

/// The changes of the next entries after `after`, and up to where that is; none where there are no more.
fn read(store: &dyn Store, after: u64) -> Result<(Vec<Changed>, Option<u64>), Error> {
    let entries = store.read_all(after, PAGE_ENTRIES)?;
    let mut engines = HashMap::new();
    let mut changes = Vec::new();
    for entry in &entries {
        if let StreamId::Run(run_id) = entry.stream {
            let engine = match engines.get(&run_id) {
                Some(engine) => engine,
                None => engines
                    .entry(run_id)
                    .or_insert(store.run(run_id)?.map(|row| row.engine).unwrap_or_default()),
            };
            changes.extend(
                changes_of(entry, run_id, engine)?.into_iter().filter(|change| change.position > after),
            );
        }
    }
    Ok((changes, entries.last().map(|entry| entry.position)))
}

fn changes_of(entry: &Entry, run_id: RunId, engine: &str) -> Result<Vec<Changed>, Error> {
    let record = Record::of(entry).map_err(|error| Error::Damaged { problem: error.to_string() })?;
    let frames = record.frames(Header { run_id, engine }, entry);
    let frames = frames.into_iter().filter(|frame| frame.kind == FrameType::StateChanged);
    // The position of an entry is that of its last event.
    let before = entry.position - u64::from(entry.events);
    let changes = (1..).zip(&record.events).filter(|(_, event)| matches!(event, Event::StatusChanged { .. }));
    Ok(changes.zip(frames).map(|((place, _), frame)| Changed { position: before + place, frame }).collect())
}

fn write(changes: &[Changed]) -> Result<Events, Error> {
    let mut events = Events::default();
    for Changed { position, frame } in changes {
        events
            .message(*position, frame)
            .map_err(|error| Error::Damaged { problem: format!("event {position}: {error}") })?;
    }
    Ok(events)
}

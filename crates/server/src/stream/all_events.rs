//! Reads the state changes of all runs and roundtables from the journal, and sends them to a client.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use adjourn_core::fcmp::Header;
use adjourn_core::{Entry, Event, Frame, FrameType, Record, RoundtableId, RunId, StreamId, roundtable};
use adjourn_store::{Error, Store};
use axum::body::Bytes;
use axum::response::Response;
use futures::stream;
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::observe::metrics::OpenStream;
use crate::stream::cache::{EventPage, RenderedEvent, StreamCache, StreamSource};
use crate::stream::roundtable_reader;
use crate::stream::sse::{self, Events, HEARTBEAT, PAGE_ENTRIES};

/// Reads the state changes of all runs and roundtables from the journal.
pub(crate) struct AllEventsReader {
    store: Arc<dyn Store>,
    /// The engines of runs that were seen lately: each frame names its own.
    engines: Mutex<HashMap<RunId, Arc<str>>>,
}

/// A state change, and its position in the journal of everything.
pub(crate) struct StateChange {
    pub(crate) position: u64,
    pub(crate) frame: StateChangeFrame,
}

/// A state change as a frame.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum StateChangeFrame {
    Run(Frame),
    Roundtable(roundtable::Frame),
    /// An entry that cannot be read: shown as a comment.
    #[serde(skip_serializing)]
    Unreadable(StreamId),
}

/// Runs whose engine is remembered. When there are more, all are looked up again.
const ENGINES_MAX: usize = 4096;

impl AllEventsReader {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, engines: Mutex::default() }
    }

    fn engine(&self, run_id: RunId) -> Result<Arc<str>, Error> {
        let known = self.engines().get(&run_id).cloned();
        if let Some(engine) = known {
            return Ok(engine);
        }
        // A run that was removed meanwhile has no row.
        let engine: Arc<str> = self.store.run(run_id)?.map(|row| row.engine).unwrap_or_default().into();
        let mut engines = self.engines();
        if engines.len() >= ENGINES_MAX {
            engines.clear();
        }
        engines.insert(run_id, engine.clone());
        Ok(engine)
    }

    fn engines(&self) -> MutexGuard<'_, HashMap<RunId, Arc<str>>> {
        // Nothing in here panics halfway through a change.
        self.engines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AllEventsReader {
    /// The changes of runs in the next entries after `after`, and up to where that is; none where there are no more.
    pub(crate) fn frames(&self, after: u64) -> Result<(Vec<Frame>, Option<u64>), Error> {
        let (changes, entries) = self.next(after)?;
        let frames = changes.into_iter().filter_map(|changed| match changed.frame {
            StateChangeFrame::Run(frame) => Some(frame),
            StateChangeFrame::Roundtable(_) | StateChangeFrame::Unreadable(_) => None,
        });
        Ok((frames.collect(), entries.last().map(|entry| entry.position)))
    }

    /// The next entries after `after`, and their changes with the position of each.
    fn next(&self, after: u64) -> Result<(Vec<StateChange>, Vec<Entry>), Error> {
        let entries = self.store.read_all(after, PAGE_ENTRIES)?;
        let mut found = Vec::new();
        for entry in &entries {
            let changes = match entry.stream {
                StreamId::Run(run_id) => self.run_changes(entry, run_id),
                StreamId::Roundtable(id) => self.roundtable_changes(entry, id),
            };
            let changes = match changes {
                // One entry that cannot be read is left out, and the feed goes on behind it.
                Err(Error::Damaged { .. }) => {
                    let frame = StateChangeFrame::Unreadable(entry.stream);
                    vec![StateChange { position: entry.position, frame }]
                }
                changes => changes?,
            };
            found.extend(changes.into_iter().filter(|changed| changed.position > after));
        }
        Ok((found, entries))
    }

    fn run_changes(&self, entry: &Entry, run_id: RunId) -> Result<Vec<StateChange>, Error> {
        let record = Record::of(entry).map_err(|error| Error::Damaged { problem: error.to_string() })?;
        let is_change = |event: &Event| matches!(event, Event::StatusChanged { .. });
        if !record.events.iter().any(is_change) {
            return Ok(Vec::new());
        }
        let engine = self.engine(run_id)?;
        let frames = record.frames(Header { run_id, engine: &engine }, entry);
        let frames = frames.into_iter().filter(|frame| frame.kind == FrameType::StateChanged);
        // The position of an entry is that of its last event.
        let before = entry.position - u64::from(entry.events);
        let places = (1..).zip(&record.events).filter(|(_, event)| is_change(event));
        Ok(places
            .zip(frames)
            .map(|((place, _), frame)| StateChange {
                position: before + place,
                frame: StateChangeFrame::Run(frame),
            })
            .collect())
    }

    fn roundtable_changes(&self, entry: &Entry, id: RoundtableId) -> Result<Vec<StateChange>, Error> {
        let changes = roundtable_reader::state_changes(self.store.as_ref(), entry, id)?;
        let change = |(position, frame)| StateChange { position, frame: StateChangeFrame::Roundtable(frame) };
        Ok(changes.into_iter().map(change).collect())
    }
}

impl StreamSource for AllEventsReader {
    fn read(&self, after: u64) -> Result<EventPage, Error> {
        let (changes, entries) = self.next(after)?;
        let events = changes.iter().map(rendered).collect::<Result<_, _>>()?;
        let upto = entries.last().map_or(after, |entry| entry.position);
        Ok(EventPage { events, upto, is_all: entries.len() < PAGE_ENTRIES })
    }
}

fn rendered(StateChange { position, frame }: &StateChange) -> Result<RenderedEvent, Error> {
    let mut events = Events::default();
    if let StateChangeFrame::Unreadable(stream) = frame {
        let text = format!("an entry of {stream} at position {position} cannot be read and is left out");
        events.comment(*position, &text);
        return Ok(RenderedEvent { id: *position, bytes: events.into_bytes(), is_last: false });
    }
    let written = events.message(*position, frame);
    written.map_err(|error| Error::Damaged { problem: format!("event {position}: {error}") })?;
    Ok(RenderedEvent { id: *position, bytes: events.into_bytes(), is_last: false })
}

/// A client that reads the stream of all events.
pub(crate) struct AllEventsFollower {
    stream: Arc<StreamCache<AllEventsReader>>,
    /// The position up to which everything was read.
    after: u64,
    /// Events that were read and not yet sent; the bytes are shared with other followers of the stream.
    pending: VecDeque<Bytes>,
    greeted: bool,
    /// Something may be in the journal that was not read.
    unread: bool,
    commits: watch::Receiver<u64>,
    shutdown: CancellationToken,
    _open: OpenStream,
}

type Next = Result<Option<(Bytes, AllEventsFollower)>, Error>;

impl AllEventsFollower {
    /// A follower that has read everything up to `after`; `commits` tells it that there is more.
    pub(crate) fn new(
        stream: Arc<StreamCache<AllEventsReader>>,
        after: u64,
        commits: watch::Receiver<u64>,
        shutdown: CancellationToken,
        open: OpenStream,
    ) -> Self {
        Self {
            stream,
            after,
            pending: VecDeque::new(),
            greeted: false,
            unread: true,
            commits,
            shutdown,
            _open: open,
        }
    }

    /// The stream as it is sent.
    pub(crate) fn response(self) -> Response {
        sse::response(stream::try_unfold(self, Self::next))
    }

    async fn next(mut self) -> Next {
        if !self.greeted {
            self.greeted = true;
            return self.greet();
        }
        loop {
            if let Some(bytes) = self.pending.pop_front() {
                return Ok(Some((bytes, self)));
            }
            if self.shutdown.is_cancelled() {
                return Ok(None);
            }
            if self.unread {
                let commit = *self.commits.borrow_and_update();
                let page = self.stream.next(self.after, commit).await?;
                self.unread = !page.is_all;
                self.after = page.upto;
                self.pending.extend(page.events.into_iter().map(|event| event.bytes));
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
    }

    fn greet(self) -> Next {
        Ok(Some((Events::greeting(self.after).into_bytes(), self)))
    }
}

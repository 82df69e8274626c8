//! Reads the state changes of all runs and roundtables from the journal.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use adjourn_core::fcmp::Header;
use adjourn_core::{Entry, Event, Frame, FrameType, Record, RoundtableId, RunId, StreamId, roundtable};
use adjourn_runtime::Journal;
use adjourn_store::Error;
use serde::Serialize;

use crate::stream::cache::{EventPage, RenderedEvent, StreamSource};
use crate::stream::roundtable_reader;
use crate::stream::sse::{Events, PAGE_ENTRIES};

/// Reads the state changes of all runs and roundtables from the journal.
pub(crate) struct AllEventsReader {
    journal: Journal,
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
    pub(crate) fn new(journal: Journal) -> Self {
        Self { journal, engines: Mutex::default() }
    }

    fn engine(&self, run_id: RunId) -> Result<Arc<str>, Error> {
        let known = self.engines().get(&run_id).cloned();
        if let Some(engine) = known {
            return Ok(engine);
        }
        // A run that was removed meanwhile has no row.
        let engine: Arc<str> = self.journal.run(run_id)?.map(|row| row.engine).unwrap_or_default().into();
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
        let entries = self.journal.all_entries(after, PAGE_ENTRIES)?;
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
        let changes = roundtable_reader::state_changes(&self.journal, entry, id)?;
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

//! Reads the stream of a run from the journal.

use adjourn_core::fcmp::Header;
use adjourn_core::{Frame, Record, RunId, StreamId};
use adjourn_runtime::Journal;
use adjourn_store::{After, Error};

use crate::stream::cache::{EventPage, RenderedEvent, StreamSource};
use crate::stream::sse::PAGE_ENTRIES;

/// Reads the frames of a run from the journal.
#[derive(Clone)]
pub(crate) struct RunReader {
    pub(crate) journal: Journal,
    pub(crate) id: RunId,
    pub(crate) engine: String,
}

impl RunReader {
    /// The frames of up to `limit` entries after the frame `after`, and how many entries there were.
    pub(crate) fn frames(&self, after: u64, limit: usize) -> Result<(Vec<Frame>, usize), Error> {
        let header = Header { run_id: self.id, engine: &self.engine };
        let entries = self.journal.entries(StreamId::Run(self.id), After::Frame(after), limit)?;
        let mut frames = Vec::new();
        for entry in &entries {
            // One that cannot be read is left out. A run that had not ended says so in a warning of its own.
            let Ok(record) = Record::<adjourn_core::Event>::of(entry) else { continue };
            // The first entry may begin before.
            frames.extend(record.frames(header, entry).into_iter().filter(|frame| frame.seq > after));
        }
        Ok((frames, entries.len()))
    }
}

impl StreamSource for RunReader {
    fn read(&self, after: u64) -> Result<EventPage, Error> {
        let (frames, entries) = self.frames(after, PAGE_ENTRIES)?;
        let upto = frames.last().map_or(after, |frame| frame.seq);
        let rendered = |frame: &Frame| RenderedEvent::of(frame.seq, frame, &frame.data);
        let events = frames.iter().map(rendered).collect::<Result<_, _>>()?;
        Ok(EventPage { events, upto, is_all: entries < PAGE_ENTRIES })
    }
}

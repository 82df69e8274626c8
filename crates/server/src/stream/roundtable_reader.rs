//! Reads the stream of a roundtable, and its state changes, from the journal.

use adjourn_core::roundtable::{Event, Frame, render};
use adjourn_core::{Entry, Record, RoundtableId, StreamId};
use adjourn_runtime::{Journal, Service};
use adjourn_store::{After, Error};

use crate::stream::cache::{EventPage, RenderedEvent, StreamSource};
use crate::stream::sse::PAGE_ENTRIES;

/// Reads the frames of a roundtable from the journal.
pub(crate) struct RoundtableReader {
    journal: Journal,
    pub(crate) id: RoundtableId,
    /// The facilitator's, which every frame names.
    engine: String,
}

impl RoundtableReader {
    pub(crate) fn new(service: &Service, id: RoundtableId) -> Result<Self, Error> {
        let journal = service.journal();
        Ok(Self { engine: facilitator(&journal, id)?, journal, id })
    }

    /// The frames of up to `limit` entries after the frame `after`, and how many entries there were.
    pub(crate) fn frames(&self, after: u64, limit: usize) -> Result<(Vec<Frame>, usize), Error> {
        let entries = self.journal.entries(StreamId::Roundtable(self.id), After::Frame(after), limit)?;
        let mut frames = Vec::new();
        for entry in &entries {
            // One that cannot be read is left out.
            let Ok(record) = read(entry) else { continue };
            let rendered = render(self.id, &self.engine, record.place, entry.at, &record.events);
            // The first entry may begin before.
            frames.extend(rendered.into_iter().filter(|frame| frame.seq > after));
        }
        Ok((frames, entries.len()))
    }
}

impl StreamSource for RoundtableReader {
    fn read(&self, after: u64) -> Result<EventPage, Error> {
        let (frames, entries) = self.frames(after, PAGE_ENTRIES)?;
        let upto = frames.last().map_or(after, |frame| frame.seq);
        let rendered = |frame: &Frame| RenderedEvent::of(frame.seq, frame, &frame.data);
        let events = frames.iter().map(rendered).collect::<Result<_, _>>()?;
        Ok(EventPage { events, upto, is_all: entries < PAGE_ENTRIES })
    }
}

/// The state changes of an entry, each with its position in the journal of everything.
pub(crate) fn state_changes(
    journal: &Journal,
    entry: &Entry,
    id: RoundtableId,
) -> Result<Vec<(u64, Frame)>, Error> {
    let record = read(entry)?;
    if !record.events.iter().any(is_change) {
        return Ok(Vec::new());
    }
    let engine = facilitator(journal, id)?;
    // The position of an entry is that of its last event.
    let before = entry.position - u64::from(entry.events);
    let mut found = Vec::new();
    let mut place = record.place;
    for (number, event) in (1..).zip(&record.events) {
        let frames = render(id, &engine, place, entry.at, std::slice::from_ref(event));
        for frame in frames {
            place.frame = frame.seq;
            (place.attempt, place.local) = (frame.meta.attempt, frame.meta.local_seq);
            if is_change(event) {
                found.push((before + number, frame));
            }
        }
    }
    Ok(found)
}

/// Whether it says that the roundtable began, waits, goes on or is over. How far a round got is in its own stream.
fn is_change(event: &Event) -> bool {
    match event {
        Event::Opened(_)
        | Event::InteractionOpened { .. }
        | Event::InteractionAnswered { .. }
        | Event::Closed(_) => true,
        Event::RoundOpened { .. }
        | Event::ActivationStarted { .. }
        | Event::ResumeFellBack { .. }
        | Event::FacilitatorLost { .. }
        | Event::FocusRecorded { .. }
        | Event::AnswerRecorded { .. }
        | Event::ParticipantMissing { .. }
        | Event::ResponsesCollected
        | Event::SynthesisRecorded { .. }
        | Event::ArtifactCreated(_)
        | Event::ArtifactChanged { .. }
        | Event::ConflictOpened(_)
        | Event::ConflictResolved { .. }
        | Event::QuestionOpened(_)
        | Event::QuestionResolved { .. }
        | Event::TopicChanged { .. }
        | Event::RoundRecorded { .. }
        | Event::NextDecided(_)
        | Event::EscalationRequested(_)
        | Event::SetAside(_)
        | Event::EscalationRaised(_)
        | Event::InteractionWithdrawn { .. } => false,
    }
}

/// The engine that plays the facilitator of a roundtable, which every frame names: it is in the first entry.
fn facilitator(journal: &Journal, id: RoundtableId) -> Result<String, Error> {
    let first = journal.entries(id.into(), After::START, 1)?;
    let Some(first) = first.first() else { return Ok(String::new()) };
    let Ok(record) = read(first) else { return Ok(String::new()) };
    let opened = record
        .events
        .into_iter()
        .find_map(|event| if let Event::Opened(spec) = event { Some(spec.facilitator.engine) } else { None });
    Ok(opened.unwrap_or_default())
}

fn read(entry: &Entry) -> Result<Record<Event>, Error> {
    Record::of(entry).map_err(|error| Error::Damaged { problem: error.to_string() })
}

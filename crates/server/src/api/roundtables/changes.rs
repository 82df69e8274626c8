//! The state changes of a roundtable, for the stream of all events.

use adjourn_core::roundtable::{Event, Record, render};
use adjourn_core::{Entry, RoundtableId};
use adjourn_store::{After, Error, Store};

use crate::api::all_events::{StateChange, StateChangeFrame};

/// The state changes of an entry, each with its position in the journal of everything.
pub(crate) fn changes(store: &dyn Store, entry: &Entry, id: RoundtableId) -> Result<Vec<StateChange>, Error> {
    let record = read(entry)?;
    if !record.events.iter().any(is_change) {
        return Ok(Vec::new());
    }
    let engine = facilitator(store, id)?;
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
                found.push(StateChange {
                    position: before + number,
                    frame: StateChangeFrame::Roundtable(frame),
                });
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
pub(super) fn facilitator(store: &dyn Store, id: RoundtableId) -> Result<String, Error> {
    let first = store.read(id.into(), After::START, 1)?;
    let Some(first) = first.first() else { return Ok(String::new()) };
    let Ok(record) = read(first) else { return Ok(String::new()) };
    let opened = record
        .events
        .into_iter()
        .find_map(|event| if let Event::Opened(spec) = event { Some(spec.facilitator.engine) } else { None });
    Ok(opened.unwrap_or_default())
}

pub(super) fn read(entry: &Entry) -> Result<Record, Error> {
    Record::of(entry).map_err(|error| Error::Damaged { problem: error.to_string() })
}

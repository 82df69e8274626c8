//! From decisions to what is committed, and back.

use serde::{Deserialize, Serialize};

use super::Roundtable;
use super::command::open_key;
use super::event::Event;
use super::frame::{self, Frame};
use super::interaction::Interaction;
use crate::interaction::ReplyKey;
use crate::projection::place_as_list;
use crate::{
    BadEntry, Change, Claim, Entry, Holder, Item, OpenInteraction, Place, RoundtableId, RoundtableRow,
    StreamId,
};

/// The events of one entry, and where its first frame stands. What an entry's payload holds, as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Frame, round and frames of the round before this entry.
    #[serde(rename = "p", with = "place_as_list")]
    pub place: Place,
    /// What happened.
    #[serde(rename = "e")]
    pub events: Vec<Event>,
}

/// A [`Record`] that is only written and so need not own its events.
#[derive(Serialize)]
struct RecordToWrite<'a> {
    #[serde(rename = "p", with = "place_as_list")]
    place: Place,
    #[serde(rename = "e")]
    events: &'a [Event],
}

impl Record {
    /// Reads the payload of an entry.
    pub fn of(entry: &Entry) -> Result<Self, BadEntry> {
        serde_json::from_slice(&entry.payload).map_err(|source| BadEntry::Unreadable {
            stream: entry.stream,
            seq: entry.seq,
            source,
        })
    }

    /// The frames of an entry.
    pub fn frames(&self, table: &Roundtable, entry: &Entry) -> Vec<Frame> {
        frame::render(table.id, &table.spec.facilitator.engine, self.place, entry.at, &self.events)
    }
}

impl Roundtable {
    /// The state that the entries of a roundtable's stream add up to; none where there are none.
    pub fn fold<'a>(
        id: RoundtableId,
        entries: impl IntoIterator<Item = &'a Entry>,
    ) -> Result<Option<Self>, BadEntry> {
        let mut table = None;
        for entry in entries {
            table = Some(Self::fold_on(id, table, entry)?);
        }
        Ok(table)
    }

    /// The state after one more entry.
    pub fn fold_on(id: RoundtableId, table: Option<Self>, entry: &Entry) -> Result<Self, BadEntry> {
        let record = Record::of(entry)?;
        let (mut table, events) = match (table, record.events.split_first()) {
            (Some(table), _) => (table, record.events.as_slice()),
            (None, Some((first, rest))) => (Self::opened(id, entry.at, first)?, rest),
            (None, None) => return Err(BadEntry::NoBeginning { stream: entry.stream }),
        };
        for event in events {
            table.apply(entry.at, event)?;
        }
        Ok(table)
    }
}

/// What has to be committed so that the roundtable `before` becomes `after` by `events`, and was opened with `key`.
pub fn item(
    before: Option<&Roundtable>,
    key: Option<&ReplyKey>,
    events: &[Event],
    after: &Roundtable,
) -> Item {
    let mut changes = vec![Change::Roundtable(row(after))];
    changes.extend(key.map(|key| Change::Claimed(claim(key, after.id))));
    changes.extend(interaction_changes(events, after));
    let record = RecordToWrite { place: before.map(Roundtable::place).unwrap_or_default(), events };
    Item {
        stream: StreamId::Roundtable(after.id),
        expected_seq: before.map_or(0, Roundtable::seq),
        at: after.updated_at,
        events: u32::try_from(events.len()).expect("a command causes far fewer than four billion events"),
        last_frame: after.frame,
        payload: serde_json::to_vec(&record).expect("events are plain data, and plain data is JSON"),
        changes,
    }
}

/// The rows that a roundtable has in every list: what its whole stream says about them.
pub fn rows_of_roundtable(table: &Roundtable) -> Vec<Change> {
    let waiting = table.interactions().iter().filter(|interaction| interaction.is_open());
    let questions = waiting.map(|interaction| Change::InteractionOpened(open(table, interaction)));
    std::iter::once(Change::Roundtable(row(table))).chain(questions).collect()
}

fn claim(key: &ReplyKey, id: RoundtableId) -> Claim {
    let holder = Holder { stream: id.into(), execution_id: None, digest: Some(key.digest.clone()) };
    Claim { key: open_key(&key.key), holder }
}

fn row(table: &Roundtable) -> RoundtableRow {
    let spec = table.spec();
    RoundtableRow {
        roundtable_id: table.id,
        status: table.status,
        subject: spec.subject.clone(),
        workflow: spec.workflow.clone(),
        strategy: spec.strategy.clone(),
        rounds: table.recorded_rounds(),
        close_reason: table.closing.as_ref().map(|closing| closing.reason.name().to_owned()),
        seq: table.frame,
        created_at: table.created_at,
        updated_at: table.updated_at,
        labels: spec.labels.clone(),
    }
}

/// A question that was opened and closed at the same moment was never there to be looked up.
fn interaction_changes(events: &[Event], after: &Roundtable) -> Vec<Change> {
    let mut changes = Vec::new();
    for event in events {
        match event {
            Event::InteractionOpened { id, .. } => {
                let interaction = after.interaction(*id).filter(|interaction| interaction.is_open());
                changes.extend(
                    interaction.map(|interaction| Change::InteractionOpened(open(after, interaction))),
                );
            }
            Event::InteractionAnswered { id, .. } | Event::InteractionWithdrawn { id } => {
                changes.push(Change::InteractionClosed(after.id.into(), *id));
            }
            Event::Opened(_)
            | Event::RoundOpened { .. }
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
            | Event::EscalationRaised(_)
            | Event::Closed(_) => {}
        }
    }
    changes
}

/// A roundtable waits for as long as it takes: its questions have no deadline.
fn open(table: &Roundtable, interaction: &Interaction) -> OpenInteraction {
    OpenInteraction {
        stream: table.id.into(),
        interaction_id: interaction.interaction_id,
        question: interaction.question.clone(),
        created_at: interaction.created_at,
        deadline_at: None,
    }
}

//! From decisions to what is committed, and back.

use serde::{Deserialize, Serialize};

use super::Roundtable;
use super::command::open_key;
use super::event::Event;
use super::frame::{self, Frame};
use super::interaction::Interaction;
use super::set_aside::SetAside;
use crate::interaction::ReplyKey;
use crate::projection::place_as_list;
use crate::run::damage_in_short;
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
    pub fn fold_on(id: RoundtableId, mut table: Option<Self>, entry: &Entry) -> Result<Self, BadEntry> {
        fold_entry(id, &mut table, entry)?;
        table.ok_or(BadEntry::NoBeginning { stream: entry.stream })
    }
}

/// Adds one entry to the state before it.
fn fold_entry(id: RoundtableId, table: &mut Option<Roundtable>, entry: &Entry) -> Result<(), BadEntry> {
    let record = Record::of(entry)?;
    let stream = entry.stream;
    if let Some(Event::SetAside(set_aside)) = record.events.first() {
        *table = Some(Roundtable::salvaged(table.take(), id, set_aside));
    }
    let before = table.as_ref().map_or(0, Roundtable::seq);
    if before + u64::from(entry.events) != entry.seq {
        return Err(match before {
            0 => BadEntry::NoBeginning { stream },
            _ => BadEntry::Gap { stream, seq: entry.seq, before },
        });
    }
    let mut events = record.events.iter();
    if table.is_none() {
        let first = events.next().ok_or(BadEntry::NoBeginning { stream })?;
        *table = Some(Roundtable::opened(id, entry.at, first)?);
    }
    let Some(table) = table else { return Err(BadEntry::NoBeginning { stream }) };
    for event in events {
        table.apply(entry.at, event)?;
    }
    Ok(())
}

/// The fold of a roundtable's stream, entry by entry, over parts that cannot be read. The same as for a run.
#[derive(Debug)]
pub struct Folding {
    id: RoundtableId,
    table: Option<Roundtable>,
    /// The first entry that could not be read, unless the stream was set aside after it.
    damage: Option<BadEntry>,
    /// The place of the last event of the stream so far.
    seq: u64,
    /// The number of the last frame of the stream so far.
    frame: u64,
}

impl Folding {
    /// The fold of the empty stream.
    pub fn new(id: RoundtableId) -> Self {
        Self { id, table: None, damage: None, seq: 0, frame: 0 }
    }

    /// Adds one entry. After one that cannot be read, others count only from [`Event::SetAside`] on.
    pub fn add(&mut self, entry: &Entry) {
        self.seq = self.seq.max(entry.seq);
        self.frame = self.frame.max(entry.last_frame);
        let begins_again = || {
            Record::of(entry).is_ok_and(|record| matches!(record.events.first(), Some(Event::SetAside(_))))
        };
        if self.damage.is_some() && !begins_again() {
            return;
        }
        self.damage = fold_entry(self.id, &mut self.table, entry).err();
    }

    /// The place of the last event of the stream so far, readable or not.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// What is wrong with the stream, if something is.
    pub fn damage(&self) -> Option<&BadEntry> {
        self.damage.as_ref()
    }

    /// The state, none where there are no entries; or the damage.
    pub fn finish(self) -> Result<Option<Roundtable>, BadEntry> {
        match self.damage {
            None => Ok(self.table),
            Some(damage) => Err(damage),
        }
    }

    /// What can be said of a damaged roundtable whose row is `row`, and where its stream stands.
    pub fn salvage(self, row: RoundtableRow) -> (Roundtable, SetAside) {
        let problem =
            self.damage.map_or_else(|| "an entry is missing".to_owned(), |damage| damage.to_string());
        let frame = self.frame.max(row.seq);
        let set_aside = SetAside { seq: self.seq, frame, row, problem: damage_in_short(&problem) };
        (Roundtable::salvaged(self.table, self.id, &set_aside), set_aside)
    }
}

/// What has to be committed so that the roundtable `before` becomes `after` by `events`, and was opened with `key`.
pub fn item(
    before: Option<&Roundtable>,
    key: Option<&ReplyKey>,
    events: &[Event],
    after: &Roundtable,
) -> Item {
    let is_set_aside = events.iter().any(|event| matches!(event, Event::SetAside(_)));
    let mut changes: Vec<_> = is_set_aside.then(|| Change::SetAside(after.id.into())).into_iter().collect();
    changes.push(Change::Roundtable(row(after)));
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
            | Event::Closed(_)
            | Event::SetAside(_) => {}
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

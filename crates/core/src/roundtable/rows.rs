//! The rows that are written with a roundtable's events, and the roundtable as a [`Stream`].

use super::command::{Command, open_key};
use super::decide::Draft;
use super::event::Event;
use super::frame::{self, Frame};
use super::interaction::Interaction;
use super::refusal::Refusal;
use super::{Roundtable, set_aside};
use crate::interaction::ReplyKey;
use crate::machines::RoundtableStatus;
use crate::stream::{BadEvent, Decided, Record, SetAside, Stream, StreamRow};
use crate::{
    Change, Claim, ClaimKey, Entry, Holder, Known, Notice, OpenInteraction, Place, RoundtableId,
    RoundtableRow, Timestamp, Wanted,
};

impl Record<Event> {
    /// The frames of an entry.
    pub fn frames(&self, table: &Roundtable, entry: &Entry) -> Vec<Frame> {
        frame::render(table.id, &table.spec.facilitator.engine, self.place, entry.at, &self.events)
    }
}

impl StreamRow for RoundtableRow {
    fn last_frame(&self) -> u64 {
        self.seq
    }

    fn is_over(&self) -> bool {
        self.status.is_terminal()
    }

    fn into_change(self) -> Change {
        Change::Roundtable(self)
    }
}

impl Stream for Roundtable {
    type Id = RoundtableId;
    type Command = Command;
    type Event = Event;
    type Refusal = Refusal;
    type Row = RoundtableRow;

    fn id(&self) -> RoundtableId {
        self.id
    }

    fn seq(&self) -> u64 {
        self.seq
    }

    fn place(&self) -> Place {
        self.place()
    }

    fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    fn is_over(&self) -> bool {
        self.status == RoundtableStatus::Closed
    }

    fn keys(_state: Option<&Self>, command: &Command) -> Vec<ClaimKey> {
        Self::wants(command)
    }

    fn decide_on(
        id: RoundtableId,
        state: Option<&Self>,
        command: &Command,
        known: &Known,
    ) -> Result<Decided<Self>, Refusal> {
        Self::decide_with(id, state, command, known)
    }

    fn claims(command: &Command, id: RoundtableId) -> Vec<Claim> {
        match command {
            Command::Open(open) => open.key.iter().map(|key| claim(key, id)).collect(),
            _ => Vec::new(),
        }
    }

    fn created_before(refusal: &Refusal) -> Option<RoundtableId> {
        match refusal {
            Refusal::OpenedBefore(earlier) => Some(*earlier),
            _ => None,
        }
    }

    fn created_and_removed(_command: &Command, earlier: RoundtableId) -> Refusal {
        Refusal::UnknownRoundtable(earlier)
    }

    fn begin(id: RoundtableId, at: Timestamp, event: &Event) -> Result<Self, BadEvent> {
        Self::opened(id, at, event)
    }

    fn apply_event(&mut self, at: Timestamp, event: &Event) -> Result<(), BadEvent> {
        self.apply(at, event)
    }

    fn row(&self) -> RoundtableRow {
        row(self)
    }

    fn changes(_before: Option<&Self>, events: &[Event], after: &Self) -> Vec<Change> {
        interaction_changes(events, after)
    }

    fn rows(&self) -> Vec<Change> {
        rows_of_roundtable(self)
    }

    fn notice(_before: Option<&Self>, _events: &[Event], _after: &Self, _wanted: Wanted) -> Option<Notice> {
        None
    }

    fn set_aside_in(event: &Event) -> Option<&SetAside<RoundtableRow>> {
        match event {
            Event::SetAside(set_aside) => Some(set_aside),
            _ => None,
        }
    }

    fn salvaged(readable: Option<Self>, id: RoundtableId, set_aside: &SetAside<RoundtableRow>) -> Self {
        set_aside::salvaged(readable, id, set_aside)
    }

    fn end_unreadable(
        &self,
        set_aside: SetAside<RoundtableRow>,
        known: &Known,
    ) -> Result<Decided<Self>, Refusal> {
        set_aside::end_unreadable(Draft::new(self, known.now), set_aside)
    }

    fn ends_unreadable(command: &Command) -> bool {
        matches!(command, Command::Fail { .. })
    }
}

fn rows_of_roundtable(table: &Roundtable) -> Vec<Change> {
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

//! The rows that are written with a run's events, and the run as a [`Stream`].

use super::decide::Draft;
use super::set_aside::end_unreadable;
use super::{Command, Create, Event, Known, Refusal, Run, create_key, successor_key};
use crate::fcmp::{self, Frame, Header};
use crate::stream::{BadEvent, Decided, Record, SetAside, Stream, StreamRow};
use crate::{
    Change, Claim, ClaimKey, Entry, Holder, Notice, OpenInteraction, Place, RunId, RunRow, Timestamp, Wanted,
};

impl Record<Event> {
    /// The frames of an entry.
    pub fn frames(&self, header: Header<'_>, entry: &Entry) -> Vec<Frame> {
        fcmp::render(header, self.place, entry.at, &self.events)
    }
}

impl StreamRow for RunRow {
    fn last_frame(&self) -> u64 {
        self.seq
    }

    fn is_over(&self) -> bool {
        self.status.is_terminal()
    }

    fn into_change(self) -> Change {
        Change::Run(self)
    }
}

impl Stream for Run {
    type Id = RunId;
    type Command = Command;
    type Event = Event;
    type Refusal = Refusal;
    type Row = RunRow;

    fn id(&self) -> RunId {
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
        self.status.is_terminal()
    }

    fn keys(state: Option<&Self>, command: &Command) -> Vec<ClaimKey> {
        Self::wants(state, command)
    }

    fn decide_on(
        id: RunId,
        state: Option<&Self>,
        command: &Command,
        known: &Known,
    ) -> Result<Decided<Self>, Refusal> {
        match state {
            Some(run) => run.decide(command, known),
            None => Self::create(id, command, known),
        }
    }

    fn claims(command: &Command, id: RunId) -> Vec<Claim> {
        creation(command).map(|create| creation_claims(create, id)).unwrap_or_default()
    }

    fn created_before(refusal: &Refusal) -> Option<RunId> {
        match refusal {
            Refusal::CreatedBefore(earlier) => Some(*earlier),
            _ => None,
        }
    }

    fn created_and_removed(command: &Command, earlier: RunId) -> Refusal {
        match creation(command).and_then(|create| create.key.as_ref()) {
            Some(key) => Refusal::CreatedAndRemoved { key: key.key.clone(), run: earlier },
            // No other command finds a run by its key.
            None => Refusal::UnknownRun(earlier),
        }
    }

    fn begin(id: RunId, at: Timestamp, event: &Event) -> Result<Self, BadEvent> {
        Self::created(id, at, event)
    }

    fn apply_event(&mut self, at: Timestamp, event: &Event) -> Result<(), BadEvent> {
        self.apply(at, event)
    }

    fn row(&self) -> RunRow {
        row(self)
    }

    fn changes(before: Option<&Self>, events: &[Event], after: &Self) -> Vec<Change> {
        let mut changes = interaction_changes(events, after);
        contract_changes(before, after, &mut changes);
        changes
    }

    fn rows(&self) -> Vec<Change> {
        rows_of_run(self)
    }

    fn notice(before: Option<&Self>, events: &[Event], after: &Self, wanted: Wanted) -> Option<Notice> {
        Notice::of(before, events, after, wanted)
    }

    fn set_aside_in(event: &Event) -> Option<&SetAside<RunRow>> {
        match event {
            Event::SetAside(set_aside) => Some(set_aside),
            _ => None,
        }
    }

    fn salvaged(readable: Option<Self>, id: RunId, set_aside: &SetAside<RunRow>) -> Self {
        super::set_aside::salvaged(readable, id, set_aside)
    }

    fn end_unreadable(&self, set_aside: SetAside<RunRow>, known: &Known) -> Result<Decided<Self>, Refusal> {
        end_unreadable(Draft::new(self, known), set_aside)
    }

    fn ends_unreadable(command: &Command) -> bool {
        super::set_aside::ends_unreadable(command)
    }
}

/// The creation of a run, where a command is one.
fn creation(command: &Command) -> Option<&Create> {
    match command {
        Command::Create(create) => Some(create),
        _ => None,
    }
}

fn rows_of_run(run: &Run) -> Vec<Change> {
    let open = run.open_interactions().filter_map(|interaction| opened(run, interaction.interaction_id));
    let contracts = run.contracts().map(|contract| Change::Contract(contract.row(run.id())));
    std::iter::once(Change::Run(row(run))).chain(open).chain(contracts).collect()
}

fn creation_claims(create: &Create, run_id: RunId) -> Vec<Claim> {
    let holder = move |digest| Holder { stream: run_id.into(), execution_id: None, digest };
    let key = create
        .key
        .iter()
        .map(move |key| Claim { key: create_key(&key.key), holder: holder(Some(key.digest.clone())) });
    let successor = create
        .spec
        .continues
        .iter()
        .map(move |continued| Claim { key: successor_key(continued.run_id), holder: holder(None) });
    key.chain(successor).collect()
}

/// A question that was opened and closed at the same moment was never there to be looked up.
fn interaction_changes(events: &[Event], after: &Run) -> Vec<Change> {
    let mut changes = Vec::new();
    for event in events {
        match event {
            Event::InteractionOpened { id, .. } | Event::DeadlineMoved { id, .. } => {
                changes.extend(opened(after, *id));
            }
            Event::InteractionAnswered { id, .. }
            | Event::InteractionExpired { id, .. }
            | Event::InteractionWithdrawn { id, .. } => {
                changes.push(Change::InteractionClosed(after.id().into(), *id));
            }
            // Deadlines may have fallen away.
            Event::ProcessLost => {
                let open = after.open_interactions().map(|interaction| interaction.interaction_id);
                changes.extend(open.filter_map(|id| opened(after, id)));
            }
            Event::Created(_)
            | Event::StatusChanged { .. }
            | Event::TurnStarted { .. }
            | Event::Observed(_)
            | Event::RepairStarted { .. }
            | Event::Warned(_)
            | Event::ContractCreated(_)
            | Event::ContractChanged { .. }
            | Event::ContractSettled { .. }
            | Event::CallRefused(_)
            | Event::ToolsListed(_)
            | Event::ToolChanged { .. }
            | Event::EndRequested(_)
            | Event::TurnOver
            | Event::ResultRecorded(_)
            | Event::SetAside(_) => {}
        }
    }
    changes
}

fn opened(run: &Run, id: crate::InteractionId) -> Option<Change> {
    let interaction = run.interaction(id).filter(|interaction| interaction.is_open())?;
    Some(Change::InteractionOpened(OpenInteraction {
        stream: run.id().into(),
        interaction_id: id,
        question: interaction.question.clone(),
        created_at: interaction.created_at,
        deadline_at: interaction.deadline_at,
    }))
}

/// Keys are freed before others are claimed, so that an edit to the same call does not stand in its own way.
fn contract_changes(before: Option<&Run>, after: &Run, changes: &mut Vec<Change>) {
    let mut claimed = Vec::new();
    for contract in after.contracts() {
        let earlier = before.and_then(|run| run.contract(contract.spec.execution_id));
        if earlier.is_some_and(|earlier| earlier.updated_at == contract.updated_at && earlier == contract) {
            continue;
        }
        changes.push(Change::Contract(contract.row(after.id())));
        let held = earlier.is_some_and(crate::Contract::holds_its_key);
        match (held, contract.holds_its_key()) {
            (false, true) => claimed.push(Change::Claimed(contract.claim(after.id()))),
            (true, false) => changes.push(Change::Released(contract.spec.claim_key())),
            (true, true) | (false, false) => {}
        }
    }
    changes.extend(claimed);
}

fn row(run: &Run) -> RunRow {
    let spec = run.spec();
    RunRow {
        run_id: run.id(),
        status: run.status(),
        skill: spec.skill.clone(),
        engine: spec.engine.clone(),
        attempt_number: run.attempt_number(),
        priority: spec.priority,
        error_code: run.error().map(|error| error.code.to_string()),
        seq: run.last_frame(),
        created_at: run.created_at(),
        updated_at: run.updated_at(),
        labels: spec.labels.clone(),
    }
}

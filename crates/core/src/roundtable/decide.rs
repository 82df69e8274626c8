//! What follows from a command. One file for each kind of command.

mod agents;
mod artifact;
mod focus;
mod open;
mod person;
mod proposals;
mod record;

pub use agents::FACILITATOR_LOSSES_MAX;

use super::Roundtable;
use super::command::{Command, open_key};
use super::event::{Closing, Event, Unsettled};
use super::interaction::Matter;
use super::refusal::Refusal;
use super::round::Round;
use crate::interaction::{By, ReplyKey};
use crate::machine::Machine;
use crate::machines::{RoundStep, RoundtableMachine, RoundtableTrigger, TopicStatus};
use crate::stream::Decided;
use crate::{ClaimKey, InteractionId, Known, Question, RoundtableId, Timestamp};

impl Roundtable {
    /// The keys whose holders have to be known when a command is decided.
    pub fn wants(command: &Command) -> Vec<ClaimKey> {
        opening_key(command).map(|key| open_key(&key.key)).into_iter().collect()
    }

    /// Decides a command to the roundtable `id`, which is not there `before` its opening.
    pub fn decide_with(
        id: RoundtableId,
        before: Option<&Self>,
        command: &Command,
        known: &Known,
    ) -> Result<Decided<Self>, Refusal> {
        if let Some(key) = opening_key(command)
            && let Some(holder) = known.holder(&open_key(&key.key))
        {
            return Err(match holder.stream.roundtable() {
                Some(earlier) if holder.digest.as_ref() == Some(&key.digest) => {
                    Refusal::OpenedBefore(earlier)
                }
                Some(_) | None => Refusal::KeyReused { key: key.key.clone() },
            });
        }
        match before {
            Some(table) => table.decide(command, known.now),
            None => Self::open(id, command, known.now),
        }
    }

    /// Decides the opening of the roundtable `id`.
    pub fn open(id: RoundtableId, command: &Command, now: Timestamp) -> Result<Decided<Self>, Refusal> {
        match command {
            Command::Open(open) => open::open(id, open, now),
            Command::OpenRound
            | Command::StartActivation { .. }
            | Command::RecordFocus { .. }
            | Command::RecordAnswer { .. }
            | Command::RecordSynthesis { .. }
            | Command::ReportLost { .. }
            | Command::RecordRound
            | Command::Reply(_)
            | Command::Escalate(_)
            | Command::ChangeArtifact(_)
            | Command::Close(_)
            | Command::Fail { .. } => Err(Refusal::UnknownRoundtable(id)),
        }
    }

    /// Decides a command. The roundtable itself does not change.
    pub fn decide(&self, command: &Command, now: Timestamp) -> Result<Decided<Self>, Refusal> {
        let mut draft = Draft::new(self, now);
        match command {
            Command::Open(_) => return Err(Refusal::RoundtableExists(self.id)),
            Command::OpenRound => open::open_round(&mut draft)?,
            Command::StartActivation { purpose, run_id, start } => {
                agents::start(&mut draft, purpose, *run_id, start)?;
            }
            Command::RecordFocus { run_id, ask } => agents::focus(&mut draft, *run_id, ask)?,
            Command::RecordAnswer { run_id, said } => agents::answer(&mut draft, *run_id, said)?,
            Command::RecordSynthesis { run_id, synthesis } => {
                agents::synthesis(&mut draft, *run_id, synthesis)?;
            }
            Command::ReportLost { run_id, reason } => agents::lost(&mut draft, *run_id, reason)?,
            Command::RecordRound => record::record(&mut draft)?,
            Command::Reply(reply) => person::reply(&mut draft, reply)?,
            Command::Escalate(wish) => person::escalate(&mut draft, wish)?,
            Command::ChangeArtifact(wanted) => artifact::change(&mut draft, wanted)?,
            Command::Close(by) => person::close(&mut draft, by)?,
            Command::Fail { problem } => draft.fail(problem)?,
        }
        Ok(draft.decided())
    }
}

/// The key that an opening was asked for with.
fn opening_key(command: &Command) -> Option<&ReplyKey> {
    match command {
        Command::Open(open) => open.key.as_ref(),
        Command::OpenRound
        | Command::StartActivation { .. }
        | Command::RecordFocus { .. }
        | Command::RecordAnswer { .. }
        | Command::RecordSynthesis { .. }
        | Command::ReportLost { .. }
        | Command::RecordRound
        | Command::Reply(_)
        | Command::Escalate(_)
        | Command::ChangeArtifact(_)
        | Command::Close(_)
        | Command::Fail { .. } => None,
    }
}

/// A decision in the making: the state so far, and the events that made it so.
pub(super) struct Draft {
    pub(super) table: Roundtable,
    pub(super) events: Vec<Event>,
    pub(super) now: Timestamp,
}

impl Draft {
    pub(super) fn new(table: &Roundtable, now: Timestamp) -> Self {
        Self { table: table.clone(), events: Vec::new(), now }
    }

    pub(super) fn decided(self) -> Decided<Roundtable> {
        Decided { events: self.events, state: self.table }
    }

    /// Adds an event to the decision and to the state.
    pub(super) fn emit(&mut self, event: Event) {
        self.table.apply(self.now, &event).expect("an event that follows from a state applies to that state");
        self.events.push(event);
    }

    /// Refuses what a closed table does not take.
    fn active(&self) -> Result<(), Refusal> {
        match &self.table.closing {
            Some(closing) => Err(Refusal::Closed(closing.reason)),
            None => Ok(()),
        }
    }

    /// The round that is going on, if it is at `wanted`.
    fn round_at(&self, wanted: RoundStep) -> Result<&Round, Refusal> {
        self.active()?;
        let round = self.table.current.as_ref().ok_or(Refusal::NoRound)?;
        if round.step == wanted { Ok(round) } else { Err(Refusal::WrongStep { step: round.step, wanted }) }
    }

    /// Asks a person.
    fn ask(&mut self, matter: Matter, question: Question) {
        let asked = u32::try_from(self.table.interactions.len()).unwrap_or(u32::MAX);
        let id = InteractionId(asked.saturating_add(1));
        self.emit(Event::InteractionOpened { id, matter, question });
    }

    fn withdraw_pending(&mut self) {
        if let Some(id) = self.table.pending().map(|pending| pending.interaction_id) {
            self.emit(Event::InteractionWithdrawn { id });
        }
    }

    /// Ends the roundtable, or refuses. What is unsettled then is said with it.
    fn close(&mut self, reason: RoundtableTrigger, by: &By, problem: Option<String>) -> Result<(), Refusal> {
        RoundtableMachine::step(self.table.status, reason, by.actor())?;
        self.withdraw_pending();
        let unsettled = self.table.unsettled();
        self.emit(Event::Closed(Closing { reason, by: by.clone(), problem, unsettled }));
        Ok(())
    }

    pub(super) fn fail(&mut self, problem: &str) -> Result<(), Refusal> {
        self.close(RoundtableTrigger::Fail, &By::SYSTEM, Some(problem.to_owned()))
    }
}

impl Roundtable {
    /// What is not settled.
    pub fn unsettled(&self) -> Unsettled {
        let open = self.topics.iter().filter(|topic| topic.status != TopicStatus::Closed);
        Unsettled {
            topics: open.map(|topic| topic.id.clone()).collect(),
            conflicts: self.open_conflicts().map(|conflict| conflict.about.conflict_id).collect(),
            questions: self.open_questions().map(|question| question.about.question_id).collect(),
        }
    }
}

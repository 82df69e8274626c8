//! Rounds: what a roundtable needs to go on, decided as soon as it can be.
//!
//! What comes next is a pure function of the roundtable's state ([`Roundtable::todo`]). Opening and recording a round is
//! decided in the batch of the fact that caused it. Agents are runs: one is [prepared](Effect::PrepareActivation), announced
//! in the journal of the roundtable, and [created](Effect::CreateActivation) after that is durable. What a run said is
//! recorded when its end is durable, so that no roundtable ever stands on a run that is not there after a crash. A restart
//! looks at every active roundtable once and goes on from there: nothing else has to be known.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use adjourn_core::machines::RoundtableStatus;
use adjourn_core::roundtable::{Command, Event, Purpose, Refusal, Roundtable, Todo};
use adjourn_core::{By, Command as RunCommand, RoundtableId, Run, RunId};
use adjourn_store::{Error, RoundtableFilter, Store};

use super::{Begins, Effect, Kernel, NotCreated, Preparation, RETRY_AFTER_SEC, Ticket};
use crate::clock::Steady;
use crate::decider::{News, Request};
use crate::denied::{Accepted, Answer, Denied};

/// Active roundtables that are looked at in one step after a restart.
const SWEEP_PAGE: usize = 64;

/// Whose command to a roundtable it was.
pub(super) enum RoundtableTicket<U> {
    /// Somebody asked and gets the answer.
    Asked(U),
    /// The kernel wanted the roundtable to go on.
    Step(RoundtableId),
    /// The kernel reported what became of an agent.
    Report(RoundtableId),
    /// The kernel wanted the words of this run recorded.
    Hear(RoundtableId, RunId),
}

/// What is going on around roundtables. All of it can be found out again after a restart.
pub(super) struct Roundtables {
    /// Agents that are being prepared.
    preparing: BTreeMap<RoundtableId, Purpose>,
    /// Agents that could not be asked when they were prepared. Those after them are not kept waiting.
    not_now: BTreeSet<(RoundtableId, Purpose)>,
    /// Announced runs that are being created.
    creating: BTreeMap<RunId, RoundtableId>,
    /// Roundtables that something could not be done for, and are looked at again.
    again: BTreeSet<RoundtableId>,
    /// When they are.
    look_at: Option<Steady>,
    /// The places at which what comes next was refused: a second time at the same one is a mistake of ours.
    refused_at: BTreeMap<RoundtableId, u64>,
    /// The active roundtables that a restart left behind and that were not looked at yet.
    sweep: Sweep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sweep {
    From(Option<RoundtableId>),
    Done,
}

impl Roundtables {
    pub(super) fn begin() -> Self {
        Self {
            preparing: BTreeMap::new(),
            not_now: BTreeSet::new(),
            creating: BTreeMap::new(),
            again: BTreeSet::new(),
            look_at: None,
            refused_at: BTreeMap::new(),
            sweep: Sweep::From(None),
        }
    }

    /// How much is remembered.
    pub(super) fn len(&self) -> usize {
        self.preparing.len()
            + self.not_now.len()
            + self.creating.len()
            + self.again.len()
            + self.refused_at.len()
    }

    /// When roundtables are looked at again.
    pub(super) fn look_at(&self) -> Option<Steady> {
        self.look_at
    }

    /// Whether a restart left roundtables that were not looked at yet.
    pub(super) fn is_sweeping(&self) -> bool {
        self.sweep != Sweep::Done
    }

    /// Forgets a roundtable that is closed. A run that is being created is heard of all the same.
    fn forget(&mut self, id: RoundtableId) {
        self.preparing.remove(&id);
        self.not_now.retain(|(of, _)| *of != id);
        self.again.remove(&id);
        self.refused_at.remove(&id);
    }

    /// The next active roundtables that a restart left behind.
    fn next_page(&mut self, store: &dyn Store) -> Result<Vec<RoundtableId>, Error> {
        let Sweep::From(before) = self.sweep else { return Ok(Vec::new()) };
        let filter = RoundtableFilter { status: Some(RoundtableStatus::Active), before };
        let page = store.roundtables(&filter, SWEEP_PAGE)?;
        let last = page.last().filter(|_| page.len() == SWEEP_PAGE);
        self.sweep = last.map_or(Sweep::Done, |last| Sweep::From(Some(last.roundtable_id)));
        Ok(page.into_iter().map(|row| row.roundtable_id).collect())
    }
}

impl<T, U> Kernel<T, U> {
    /// Takes a request to a roundtable. Its answer comes when it is durable.
    pub fn ask_roundtable(&mut self, id: RoundtableId, command: Command, ticket: U) {
        if matches!(self.roundtable_decider.state(id), Err(Error::Damaged { .. })) {
            self.end_unreadable_roundtable(id);
        }
        self.offer_to_roundtable(id, command, RoundtableTicket::Asked(ticket));
        self.plan();
    }

    /// Says what was found out about an agent that is needed, as [`Effect::PrepareActivation`] asked.
    pub fn activation_prepared(&mut self, id: RoundtableId, purpose: Purpose, found: Preparation) {
        if self.roundtables.preparing.get(&id) != Some(&purpose) {
            return;
        }
        self.roundtables.preparing.remove(&id);
        match found {
            Preparation::Ready { run_id, start } => {
                let command = Command::StartActivation { purpose, run_id, start };
                self.offer_to_roundtable(id, command, RoundtableTicket::Report(id));
            }
            Preparation::NotNow => {
                self.roundtables.not_now.insert((id, purpose));
                self.look_again_in_a_moment();
                self.look_at_roundtable(id);
            }
        }
        self.plan();
    }

    /// Says what came of the creation of a run, as [`Effect::CreateActivation`] asked.
    pub fn activation_created(&mut self, run_id: RunId, created: Result<(), NotCreated>) {
        let Some(id) = self.roundtables.creating.remove(&run_id) else { return };
        match created {
            Ok(()) => self.look_at_roundtable(id),
            // There may be room by now, and nothing else tells of it.
            Err(NotCreated::NoRoom) if self.admits_run_of(id, run_id) => self.look_at_roundtable(id),
            Err(NotCreated::NoRoom | NotCreated::NotNow) => self.look_again_at(id),
            Err(NotCreated::Lost(reason)) => {
                let command = Command::ReportLost { run_id, reason };
                self.offer_to_roundtable(id, command, RoundtableTicket::Report(id));
            }
        }
        self.plan();
    }

    /// Whether a run that a roundtable announced may be created now.
    fn admits_run_of(&mut self, id: RoundtableId, run_id: RunId) -> bool {
        let Ok(Some(roundtable)) = self.roundtable_decider.state(id) else { return false };
        let activation = roundtable.current().and_then(|round| round.activation(run_id));
        let seat = activation.and_then(|activation| roundtable.spec().seat(&activation.purpose.role()));
        seat.is_some_and(|seat| self.admit(&seat.engine).is_ok())
    }

    /// Answers to requests to roundtables that may be told now.
    pub fn take_roundtable_answers(&mut self) -> Vec<(U, Answer<Roundtable>)> {
        std::mem::take(&mut self.roundtable_answers)
    }

    /// Looks at the next roundtables that a restart left behind, and at those that it is time for.
    pub(super) fn tick_roundtables(&mut self) {
        if self.retry_at.is_some() {
            return;
        }
        match self.roundtables.next_page(self.store.as_ref()) {
            Ok(page) => page.into_iter().for_each(|id| self.look_at_roundtable(id)),
            Err(_) => self.retry_later(),
        }
        if self.roundtables.look_at.is_some_and(|at| at <= self.now.steady) {
            self.look_at_roundtables_again();
        }
    }

    /// A run left the queue: roundtables that found it full may have a run created now.
    pub(super) fn queue_has_room(&mut self) {
        if !self.roundtables.again.is_empty() {
            self.look_at_roundtables_again();
        }
    }

    /// Looks at the roundtables that something could not be done for.
    pub(super) fn look_at_roundtables_again(&mut self) {
        self.roundtables.look_at = None;
        let not_now = std::mem::take(&mut self.roundtables.not_now).into_iter().map(|(id, _)| id);
        let again: BTreeSet<_> =
            std::mem::take(&mut self.roundtables.again).into_iter().chain(not_now).collect();
        for id in again {
            self.look_at_roundtable(id);
        }
    }

    /// Takes note of what became of roundtables, and has each of them go on as far as it can be decided now.
    pub(super) fn absorb_roundtables(&mut self) {
        while self.roundtable_decider.has_news() {
            let changed: BTreeSet<_> = self.roundtable_decider.take_news().iter().map(News::id).collect();
            changed.into_iter().for_each(|id| self.look_at_roundtable(id));
        }
    }

    /// Takes the answers of the decider, and with them the effects that they announce.
    pub(super) fn collect_roundtables(&mut self) {
        let answers: Vec<_> = self.roundtable_decider.take_answers().collect();
        for (ticket, answer) in answers {
            if let Ok(accepted) = &answer {
                self.announce_roundtable(accepted);
            }
            match ticket {
                RoundtableTicket::Asked(ticket) => self.roundtable_answers.push((ticket, answer)),
                RoundtableTicket::Step(id) => {
                    if let Some(refusal) = self.refusal(id, answer) {
                        self.step_refused(id, &refusal);
                    }
                }
                RoundtableTicket::Report(id) => {
                    if self.refusal(id, answer).is_some() {
                        self.look_again_at(id);
                    }
                }
                RoundtableTicket::Hear(id, run_id) => match self.refusal(id, answer) {
                    // The run ended well, and what it said is of no use.
                    Some(refusal @ Refusal::Invalid(_)) => {
                        let command = Command::ReportLost { run_id, reason: refusal.to_string() };
                        self.offer_to_roundtable(id, command, RoundtableTicket::Report(id));
                    }
                    Some(_) => self.look_again_at(id),
                    None => {}
                },
            }
        }
    }

    /// Takes note of a run that is durable like this: its roundtable records what it said, or has it canceled if it is closed.
    pub(super) fn run_of_roundtable_changed(&mut self, run: &Run) {
        let Some(id) = run.spec().roundtable else { return };
        match self.roundtable_decider.state(id) {
            Ok(Some(roundtable)) if roundtable.status() == RoundtableStatus::Closed => {
                // A closing that is not committed yet may fail. The run is canceled when it is durable.
                if self.roundtable_decider.is_durable(id) {
                    self.cancel_abandoned(id, run);
                }
            }
            Ok(Some(roundtable)) if run.status().is_terminal() => self.step_roundtable(&roundtable),
            Ok(_) => {}
            Err(_) => self.look_again_at(id),
        }
    }

    fn announce_roundtable(&mut self, accepted: &Accepted<Roundtable>) {
        if accepted.events.is_empty() {
            return;
        }
        let id = accepted.state.id();
        if accepted.events.iter().any(|event| matches!(event, Event::Closed(_))) {
            self.effects.push(Effect::ForgetRoundtable(id));
        }
        // What stands on durable facts only can be done now.
        self.look_at_roundtable(id);
    }

    /// Cancels a run of a roundtable that is closed.
    fn cancel_abandoned(&mut self, id: RoundtableId, run: &Run) {
        if !run.status().is_terminal() && run.ending().is_none() && !self.recovery.is_due(run.id()) {
            self.offer(run.id(), RunCommand::Cancel(By::SYSTEM), Ticket::CancelAbandoned(id));
        }
    }

    /// Cancels the runs that were at work when the roundtable was closed. One that is being created is canceled when it is
    /// there.
    fn cancel_all_abandoned(&mut self, roundtable: &Roundtable) {
        for run_id in roundtable.abandoned() {
            match self.decider.state(*run_id) {
                Ok(Some(run)) => self.cancel_abandoned(roundtable.id(), &run),
                Ok(None) | Err(Error::Damaged { .. }) => {}
                Err(_) => self.look_again_at(roundtable.id()),
            }
        }
    }

    /// Has a roundtable go on as its journal has it.
    pub(super) fn look_at_roundtable(&mut self, id: RoundtableId) {
        match self.roundtable_decider.state(id) {
            Ok(Some(roundtable)) => self.step_roundtable(&roundtable),
            Ok(None) => self.roundtables.forget(id),
            Err(Error::Damaged { .. }) => self.end_unreadable_roundtable(id),
            Err(_) => {
                self.roundtables.again.insert(id);
                self.retry_later();
            }
        }
    }

    /// Does what the roundtable needs next.
    fn step_roundtable(&mut self, roundtable: &Arc<Roundtable>) {
        let id = roundtable.id();
        if self.retry_at.is_some() {
            self.roundtables.again.insert(id);
            return;
        }
        match roundtable.todo() {
            Todo::OpenRound => self.offer_to_roundtable(id, Command::OpenRound, RoundtableTicket::Step(id)),
            Todo::RecordRound => {
                self.offer_to_roundtable(id, Command::RecordRound, RoundtableTicket::Step(id));
            }
            Todo::Agents { to_start, at_work } => self.see_to_agents(roundtable, to_start, at_work),
            Todo::Wait(_) => {}
            // A closing that is not committed yet may fail, and then what is going on goes on.
            Todo::Nothing if !self.roundtable_decider.is_durable(id) => {}
            Todo::Nothing => {
                self.roundtables.forget(id);
                self.cancel_all_abandoned(roundtable);
            }
        }
    }

    /// Records what those said who are done, and prepares those who are not at work yet. The end of a run is recorded when it
    /// is durable, and an agent is started for what is durable: both have to be there after a crash.
    fn see_to_agents(&mut self, roundtable: &Arc<Roundtable>, to_start: Vec<Purpose>, at_work: Vec<RunId>) {
        let id = roundtable.id();
        for run_id in at_work {
            if self.roundtables.creating.contains_key(&run_id) || !self.decider.is_durable(run_id) {
                continue;
            }
            match self.decider.state(run_id) {
                Ok(Some(run)) if run.status().is_terminal() => {
                    if let Some(command) = roundtable.hear(&run) {
                        self.offer_to_roundtable(id, command, RoundtableTicket::Hear(id, run_id));
                        // What comes next depends on what was just said.
                        return;
                    }
                }
                // A run that cannot be read is ended by its own recovery.
                Ok(Some(_)) | Err(Error::Damaged { .. }) => {}
                Ok(None) => self.create_activation(roundtable, run_id),
                Err(_) => {
                    self.look_again_at(id);
                    return;
                }
            }
        }
        let not_now = &self.roundtables.not_now;
        if let Some(purpose) = to_start.into_iter().find(|purpose| !not_now.contains(&(id, purpose.clone())))
            && self.can_begin(id)
        {
            self.roundtables.preparing.insert(id, purpose.clone());
            self.effects.push(Effect::PrepareActivation { roundtable: roundtable.clone(), purpose });
        }
    }

    /// Whether an agent may be started for a roundtable now: one after the other, so that they come into the queue in the
    /// order in which they sit.
    fn can_begin(&self, id: RoundtableId) -> bool {
        self.begins == Begins::Turns
            && self.roundtable_decider.is_durable(id)
            && !self.roundtables.again.contains(&id)
            && !self.roundtables.preparing.contains_key(&id)
            && !self.roundtables.creating.values().any(|of| *of == id)
    }

    fn create_activation(&mut self, roundtable: &Arc<Roundtable>, run_id: RunId) {
        let id = roundtable.id();
        if self.can_begin(id) {
            self.roundtables.creating.insert(run_id, id);
            self.effects.push(Effect::CreateActivation { roundtable: roundtable.clone(), run_id });
        }
    }

    /// The refusal of a command that the kernel wanted. One that failed in the journal is tried again later.
    fn refusal(&mut self, id: RoundtableId, answer: Answer<Roundtable>) -> Option<Refusal> {
        match answer {
            Ok(_) => None,
            Err(Denied::Refused(refusal)) => Some(refusal),
            Err(Denied::Failed(error)) if matches!(*error, Error::Damaged { .. }) => None,
            Err(Denied::Failed(_) | Denied::QueueFull { .. } | Denied::DiskReserve { .. }) => {
                self.roundtables.again.insert(id);
                self.retry_later();
                None
            }
        }
    }

    /// A step is refused where the roundtable is not what it was. Twice on the same state, it would be refused for ever.
    fn step_refused(&mut self, id: RoundtableId, refusal: &Refusal) {
        let Ok(Some(roundtable)) = self.roundtable_decider.state(id) else { return };
        if roundtable.status() == RoundtableStatus::Closed {
            return;
        }
        if self.roundtables.refused_at.insert(id, roundtable.seq()) == Some(roundtable.seq()) {
            let problem = format!("what it needs next is refused: {refusal}");
            self.offer_to_roundtable(id, Command::Fail { problem }, RoundtableTicket::Step(id));
        } else {
            self.step_roundtable(&roundtable);
        }
    }

    fn end_unreadable_roundtable(&mut self, id: RoundtableId) {
        let problem = "its journal cannot be read".to_owned();
        self.offer_to_roundtable(id, Command::Fail { problem }, RoundtableTicket::Step(id));
    }

    /// Something could not be done for a roundtable: it is looked at again in a moment.
    pub(super) fn look_again_at(&mut self, id: RoundtableId) {
        self.roundtables.again.insert(id);
        self.look_again_in_a_moment();
    }

    fn look_again_in_a_moment(&mut self) {
        let next = self.now.steady.plus_seconds(RETRY_AFTER_SEC);
        self.roundtables.look_at.get_or_insert(next);
    }

    fn offer_to_roundtable(&mut self, id: RoundtableId, command: Command, ticket: RoundtableTicket<U>) {
        let (at, boot) = (self.now.wall, Some(self.now.boot()));
        self.roundtable_decider.offer(Request { id, command, at, boot, ticket });
    }
}

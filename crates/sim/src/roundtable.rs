//! Roundtables in the simulated world: the people who open them and answer, the handlers of their effects, and the agents.

mod activation;
mod person;
mod speech;

use std::collections::BTreeMap;

use adjourn_core::machines::RoundtableTrigger;
use adjourn_core::roundtable::{Command, Roundtable};
use adjourn_core::{RoundtableId, RunId};
use adjourn_kernel::{Answer, Denied};

pub(crate) use self::person::RoundtableReaction;
use crate::plan::{Act, Plan};
use crate::report::{Step, Violation};
use crate::simulation::{Simulation, Todo};

/// What those around roundtables know.
#[derive(Default)]
pub(crate) struct RoundtableClients {
    /// The plan that each roundtable was asked for by, also those that never came to be.
    plans: BTreeMap<RoundtableId, usize>,
    /// How many openings of each plan have their answer.
    served: BTreeMap<usize, u32>,
    /// The roundtable that each key opened.
    opened: BTreeMap<(String, usize), RoundtableId>,
    /// Requests that nobody answered yet.
    outstanding: BTreeMap<u64, RoundtableAsk>,
    /// What the agents do, by attempt.
    scripts: BTreeMap<RunId, Vec<Vec<Act>>>,
    ids: u128,
}

/// A request to a roundtable.
#[derive(Debug, Clone)]
pub(crate) struct RoundtableAsk {
    id: RoundtableId,
    command: Command,
    from: AskedBy,
}

/// The one who gets an answer.
#[derive(Debug, Clone)]
enum AskedBy {
    /// Somebody who wants the roundtable of this plan.
    Opener(usize),
    /// A person, who did this.
    Person(RoundtableReaction),
    /// A planted bug, which does not care.
    Bug,
}

impl RoundtableClients {
    /// Forgets the requests that nobody will answer any more, and gives them.
    pub(crate) fn crash(&mut self) -> Vec<RoundtableAsk> {
        std::mem::take(&mut self.outstanding).into_values().collect()
    }

    /// What the agent of a run does, by attempt.
    pub(crate) fn script(&self, run_id: RunId) -> Option<&Vec<Vec<Act>>> {
        self.scripts.get(&run_id)
    }

    fn are_served(&self, plan: &Plan) -> bool {
        let served = |index: usize| self.served.get(&index).copied().unwrap_or(0);
        plan.roundtables.iter().enumerate().all(|(index, plan)| served(index) >= plan.asks)
    }
}

impl Simulation {
    /// Asks the kernel something about a roundtable.
    fn ask_roundtable(&mut self, ticket: RoundtableAsk) {
        let (now, number) = (self.now(), self.number());
        let Some(kernel) = &mut self.kernel else { return };
        let (id, command) = (ticket.id, ticket.command.clone());
        self.roundtables.outstanding.insert(number, ticket);
        self.watch.saw_time(now.wall);
        kernel.look(now);
        kernel.ask_roundtable(id, command, number);
    }

    pub(crate) fn roundtable_answered(&mut self, number: u64, answer: Answer<Roundtable>) -> Step {
        let ticket = self.roundtables.outstanding.remove(&number);
        let ticket = ticket.ok_or_else(|| {
            Violation::new("a request is answered once", format!("request {number} is answered again"))
        })?;
        self.log(|| {
            let told = match &answer {
                Ok(accepted) => format!("ok, with {:?}", accepted.events),
                Err(denied) => denied.to_string(),
            };
            format!("  {:?} of {} by {:?}: {told}", ticket.command, ticket.id, ticket.from)
        });
        if let Ok(accepted) = &answer {
            let rule = "an answer is told when it is durable";
            self.watch.is_durable(self.durable().as_ref(), accepted.state.as_ref(), rule)?;
        }
        match ticket.from.clone() {
            AskedBy::Opener(index) => self.opened(index, answer)?,
            AskedBy::Person(reaction) => self.reacted_at_roundtable(reaction, &ticket.command, &answer),
            AskedBy::Bug => {}
        }
        Ok(())
    }

    /// Nobody heard what became of a request: everything stopped meanwhile.
    pub(crate) fn unheard_of_roundtable(&mut self, ticket: RoundtableAsk) {
        let delay = 1000 + self.draw_delay(3000);
        match ticket.from {
            AskedBy::Opener(index) => self.later(delay, Todo::Open(index)),
            AskedBy::Person(reaction) => self.later(delay, Todo::ReactAtRoundtable(reaction)),
            AskedBy::Bug => {}
        }
    }

    /// Whether everything that was to happen to roundtables has happened.
    pub(crate) fn roundtables_are_over(&self) -> bool {
        self.roundtables.are_served(&self.plan)
            && self.roundtables.outstanding.is_empty()
            && self.watch.handlers_are_idle()
            && self.mirror.roundtables.active().next().is_none()
    }

    /// The active roundtables, for a message.
    pub(crate) fn active_roundtables(&self) -> impl Iterator<Item = String> {
        self.mirror.roundtables.active().map(|one| format!("{} has to {:?}", one.id(), one.todo()))
    }

    pub(crate) fn count_roundtables(&mut self) {
        for roundtable in self.mirror.roundtables.states.values() {
            let Some(closing) = roundtable.closing() else { continue };
            self.counts.add(match closing.reason {
                RoundtableTrigger::Conclude => "roundtables that concluded",
                RoundtableTrigger::ExhaustRounds => "roundtables without a round left",
                RoundtableTrigger::CloseByUser => "roundtables that a person closed",
                RoundtableTrigger::Fail => "roundtables that failed",
            });
        }
    }

    fn is_journal_trouble(answer: &Answer<Roundtable>) -> bool {
        match answer {
            Err(Denied::Failed(_) | Denied::QueueFull { .. } | Denied::DiskReserve { .. }) => true,
            Ok(_) | Err(Denied::Refused(_)) => false,
        }
    }
}

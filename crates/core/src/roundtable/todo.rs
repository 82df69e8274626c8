//! What has to be done for a roundtable to go on. After a restart there is nothing else to know.

use super::Roundtable;
use super::round::{Purpose, Round};
use crate::machines::{RoundStep, RoundtableStatus};
use crate::{InteractionId, RunId};

/// What has to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Todo {
    /// Begin the next round.
    OpenRound,
    /// See to the agents of the current step.
    Agents {
        /// What nobody is at work on yet, in the order in which it should be started.
        to_start: Vec<Purpose>,
        /// The runs that were announced and have not been heard of. One that does not exist has to be created.
        at_work: Vec<RunId>,
    },
    /// Apply what was proposed, and record the round.
    RecordRound,
    /// Wait for the answer of a person.
    Wait(InteractionId),
    /// Nothing, ever: it is closed.
    Nothing,
}

impl Roundtable {
    /// What has to be done.
    pub fn todo(&self) -> Todo {
        match (self.status, self.pending(), &self.current) {
            (RoundtableStatus::Closed, _, _) => Todo::Nothing,
            (RoundtableStatus::Active, Some(pending), _) => Todo::Wait(pending.interaction_id),
            (RoundtableStatus::Active, None, None) => Todo::OpenRound,
            (RoundtableStatus::Active, None, Some(round)) => round.todo(),
        }
    }

    /// The runs that were at work when their round was dropped, because the roundtable was closed. They have to be canceled.
    pub fn abandoned(&self) -> &[RunId] {
        &self.abandoned
    }
}

impl Round {
    fn todo(&self) -> Todo {
        let wanted: Vec<_> = match self.step {
            RoundStep::Question => vec![Purpose::Ask],
            RoundStep::Responses => self.awaited().cloned().map(Purpose::Answer).collect(),
            RoundStep::Synthesis => vec![Purpose::Synthesis],
            RoundStep::Artifacts | RoundStep::Recorded => return Todo::RecordRound,
        };
        let to_start = wanted.into_iter().filter(|purpose| self.at_work(purpose).is_none()).collect();
        Todo::Agents { to_start, at_work: self.runs_at_work() }
    }

    pub(super) fn runs_at_work(&self) -> Vec<RunId> {
        let at_work = self.activations.iter().filter(|activation| activation.outcome.is_none());
        at_work.map(|activation| activation.run_id).collect()
    }
}

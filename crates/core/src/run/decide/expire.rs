//! Deadlines: when a question has one, and what its passing means.

use serde_json::Value;

use super::super::Run;
use super::super::event::{ContractDetail, EndCause, Event};
use super::super::spec::Strict;
use super::{Draft, Refusal, clock, contract, end};
use crate::interaction::Subject;
use crate::{Actor, ContractTrigger, ExecutionId, InteractionId, RunStatus, RunTrigger, Timestamp};

/// When something happens without an answer. Where only a person may answer and nothing is held, never.
pub(super) fn deadline(run: &Run, subject: Subject, now: Timestamp) -> Option<Timestamp> {
    let session = || session_timeout(run).map(|seconds| now.plus_seconds(seconds));
    match subject {
        Subject::Recovery(_) => None,
        Subject::Form(id) => run.own_timeout(id).map(|seconds| now.plus_seconds(seconds)).or_else(session),
        Subject::Turn | Subject::Approval(_) | Subject::Elicitation(_) | Subject::Permission(_) => session(),
    }
}

/// The seconds after which the run does something about a question; none where it waits for as long as it takes.
fn session_timeout(run: &Run) -> Option<u32> {
    let something_happens = run.spec.strict == Strict::Off || run.stays();
    something_happens.then_some(run.spec.session_timeout_sec)
}

impl Run {
    /// The seconds that the agent itself gave the question of this contract, where they end before the run's own timeout does
    /// something.
    pub fn own_timeout(&self, id: ExecutionId) -> Option<u32> {
        let own = self.contract(id)?.spec.timeout_seconds?;
        session_timeout(self).is_none_or(|session| own < session).then_some(own)
    }
}

/// The deadline of a question has come.
pub(super) fn expire(draft: &mut Draft, id: InteractionId) -> Result<(), Refusal> {
    super::reply::open_one(&draft.run, id)?;
    if draft.run.ending.is_some() {
        return Err(Refusal::NotDue(id));
    }
    // A clock that was set forward makes a deadline look as if it had come.
    clock::move_deadlines(draft);
    let interaction = super::reply::open_one(&draft.run, id)?;
    let subject = interaction.subject;
    if interaction.deadline_at.is_none_or(|deadline| deadline > draft.known.now) {
        return if draft.events.is_empty() { Err(Refusal::NotDue(id)) } else { Ok(()) };
    }
    match subject {
        Subject::Form(call) if draft.run.own_timeout(call).is_some() => {
            give_up(draft, call)?;
            decide_alone(draft, id, Value::Null)
        }
        Subject::Turn | Subject::Form(_) => match draft.run.spec.strict {
            Strict::Off => {
                let response = interaction.question.default_answer();
                if let Subject::Form(call) = subject {
                    contract::complete_alone(draft, call, response.clone())?;
                }
                decide_alone(draft, id, response)
            }
            // The run cannot fail by a wait it is not in; when it waits again, the question is still overdue.
            Strict::On if draft.run.status != RunStatus::WaitingUser => Err(Refusal::NotDue(id)),
            Strict::On => {
                draft.emit(Event::InteractionExpired { id, response: Value::Null });
                end::request(draft, EndCause::WaitTimedOut)
            }
        },
        Subject::Approval(call) | Subject::Elicitation(call) => {
            give_up(draft, call)?;
            decide_alone(draft, id, Value::Null)
        }
        Subject::Permission(_) => decide_alone(draft, id, Value::Null),
        Subject::Recovery(_) => Err(Refusal::NotDue(id)),
    }
}

fn give_up(draft: &mut Draft, call: ExecutionId) -> Result<(), Refusal> {
    let detail = ContractDetail::Error("nobody answered in time".to_owned());
    draft.step_contract(call, ContractTrigger::Timeout, Actor::AutoDecide, Some(detail))
}

fn decide_alone(draft: &mut Draft, id: InteractionId, response: Value) -> Result<(), Refusal> {
    draft.emit(Event::InteractionExpired { id, response });
    match draft.run.status {
        RunStatus::WaitingUser => draft.step(RunTrigger::AutoDecided, Actor::AutoDecide),
        // Taken up when the turn that goes on now is over.
        RunStatus::Queued | RunStatus::Running => Ok(()),
        RunStatus::Succeeded | RunStatus::Failed | RunStatus::Canceled => {
            unreachable!("a run that ended has no open question")
        }
    }
}

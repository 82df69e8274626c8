//! Deadlines: when a question has one, and what its passing means.

use serde_json::Value;

use super::super::Run;
use super::super::event::{ContractDetail, EndCause, Event};
use super::super::spec::Strict;
use super::{Draft, Refusal, clock, end};
use crate::interaction::Subject;
use crate::{Actor, ContractTrigger, ExecutionId, InteractionId, RunStatus, RunTrigger, Timestamp};

/// When something happens without an answer. Where only a person may answer and nothing is held, never.
pub(super) fn deadline(run: &Run, subject: Subject, now: Timestamp) -> Option<Timestamp> {
    let session = || now.plus_seconds(run.spec.session_timeout_sec);
    let something_happens = run.spec.strict == Strict::Off || run.stays();
    match subject {
        Subject::Recovery(_) => None,
        Subject::Form(id) => match run.contract(id).and_then(|contract| contract.spec.timeout_seconds) {
            Some(seconds) => Some(now.plus_seconds(seconds)),
            None => something_happens.then(session),
        },
        Subject::Turn | Subject::Approval(_) | Subject::Elicitation(_) | Subject::Permission(_) => {
            something_happens.then(session)
        }
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
        Subject::Turn => match draft.run.spec.strict {
            Strict::Off => {
                let response = interaction.question.default_answer();
                decide_alone(draft, id, response)
            }
            // The run cannot fail by a wait it is not in; when it waits again, the question is still overdue.
            Strict::On if draft.run.status != RunStatus::WaitingUser => Err(Refusal::NotDue(id)),
            Strict::On => {
                draft.emit(Event::InteractionExpired { id, response: Value::Null });
                end::request(draft, EndCause::WaitTimedOut)
            }
        },
        Subject::Approval(call) | Subject::Form(call) | Subject::Elicitation(call) => {
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

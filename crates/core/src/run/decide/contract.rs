//! Contracts: recorded before anything happens, dispatched after the commit, and ended once.

use serde_json::Value;

use super::super::command::{AskAgain, ContractReport, RequestContract};
use super::super::event::{ContractDetail, Event};
use super::{Draft, Refusal, attempts};
use crate::completion::AUTO_DECISIONS_MAX;
use crate::interaction::{By, Subject};
use crate::{
    Actor, ContractAction, ContractSpec, ContractStatus, ContractTrigger, ExecutionId, ExecutionMode, Holder,
    Outcome, ToolDigests,
};

/// Records an effect, and puts it to a person where one has to allow it.
pub(super) fn request(draft: &mut Draft, request: &RequestContract) -> Result<(), Refusal> {
    super::turn::fence(&draft.run, request.turn)?;
    begins_nothing_after_the_end(draft)?;
    let id = request.spec.execution_id;
    // Only a person's edit is approved by its origin; whatever a turn asks for is not.
    record(draft, ContractSpec { edited_from: None, ..request.spec.clone() })?;
    let (subject, question, asker) = match (&request.spec.action, &request.approval) {
        (ContractAction::EcsRequest(question), _) => (Subject::Form(id), question, Actor::EcsNode),
        (ContractAction::ToolCall(_), Some(question)) => (Subject::Approval(id), question, Actor::ToolNode),
        (ContractAction::ToolCall(_), None) => return Ok(()),
    };
    if subject.is_agents_own() && attempts::are_used_up(&draft.run) {
        // No attempt is left that could be given the answer. The contract stays as it is, and the run fails when the turn ends.
        return Ok(());
    }
    draft.step_contract(id, ContractTrigger::Start, asker, None)?;
    let is_alone = subject.is_agents_own() && draft.run.spec.execution_mode == ExecutionMode::Auto;
    if is_alone && draft.run.auto_decisions >= AUTO_DECISIONS_MAX {
        let problem =
            format!("{AUTO_DECISIONS_MAX} questions of this run were decided already: decide yourself");
        let detail = ContractDetail::Error(problem);
        return draft.step_contract(id, ContractTrigger::Reject, Actor::AutoDecide, Some(detail));
    }
    draft.step_contract(id, ContractTrigger::Suspend, asker, None)?;
    let asked = draft.open(subject, question.clone());
    if is_alone {
        let response = question.default_answer();
        draft.emit(Event::InteractionAnswered {
            id: asked,
            response: response.clone(),
            action: None,
            by: By::AUTO_DECIDE,
            key: None,
        });
        complete_alone(draft, id, response)?;
    }
    Ok(())
}

/// Completes the contract of a question that Adjourn answered in place of a person.
pub(super) fn complete_alone(draft: &mut Draft, id: ExecutionId, response: Value) -> Result<(), Refusal> {
    draft.step_contract(id, ContractTrigger::Resume, Actor::AutoDecide, None)?;
    let result = ContractDetail::Result(response);
    draft.step_contract(id, ContractTrigger::Succeed, Actor::AutoDecide, Some(result))
}

/// Writes down which tools the run may call, the first time they are listed.
pub(super) fn list_tools(draft: &mut Draft, turn: u32, tools: &ToolDigests) -> Result<(), Refusal> {
    super::turn::fence(&draft.run, turn)?;
    if draft.run.tools.is_none() {
        draft.emit(Event::ToolsListed(tools.clone()));
    }
    Ok(())
}

/// Puts a call to a person whose tool changed: an earlier yes was to another tool.
pub(super) fn ask_again(draft: &mut Draft, again: &AskAgain) -> Result<(), Refusal> {
    let AskAgain { turn, id, definition, question } = again;
    let id = *id;
    super::turn::fence(&draft.run, *turn)?;
    begins_nothing_after_the_end(draft)?;
    let contract = draft.run.contract(id).ok_or(Refusal::UnknownContract(id))?;
    if contract.dispatched_at.is_some() {
        return Err(Refusal::Dispatched(id));
    }
    let is_held = match contract.status {
        ContractStatus::Waiting => contract.is_cleared() && contract.paused.is_none(),
        ContractStatus::Pending => {
            draft.step_contract(id, ContractTrigger::Start, Actor::ToolNode, None)?;
            draft.step_contract(id, ContractTrigger::Suspend, Actor::ToolNode, None)?;
            true
        }
        ContractStatus::Running
        | ContractStatus::Completed
        | ContractStatus::Failed
        | ContractStatus::Rejected
        | ContractStatus::Cancelled => false,
    };
    if !is_held {
        // Its question is open already, or there is nothing left to ask.
        return Err(Refusal::NotApproved(id));
    }
    draft.emit(Event::ToolChanged { id, definition: definition.clone() });
    draft.open(Subject::Approval(id), question.clone());
    Ok(())
}

/// Writes a contract down, unless the same irreversible effect may have happened.
pub(super) fn record(draft: &mut Draft, spec: ContractSpec) -> Result<(), Refusal> {
    if draft.run.contract(spec.execution_id).is_some() {
        return Err(Refusal::ContractExists(spec.execution_id));
    }
    if spec.irreversible
        && let Some(holder) = holder(draft, &spec)
    {
        return Err(Refusal::Held(holder));
    }
    draft.emit(Event::ContractCreated(Box::new(spec)));
    Ok(())
}

/// Who holds the contract's key: of its own run the state knows best, of others only what is committed counts.
fn holder(draft: &Draft, spec: &ContractSpec) -> Option<Holder> {
    let key = spec.claim_key();
    let own = draft.run.contracts().find(|other| other.holds_its_key() && other.spec.claim_key() == key);
    let others = draft.known.holder(&key).filter(|holder| holder.stream != draft.run.id().into());
    own.map(|contract| contract.claim(draft.run.id()).holder).or_else(|| others.cloned())
}

/// Whoever canceled a run may rely on it: from then on nothing more is done to the world.
fn begins_nothing_after_the_end(draft: &Draft) -> Result<(), Refusal> {
    if draft.run.ending.is_some() { Err(Refusal::Ending) } else { Ok(()) }
}

/// The call is made right after this commit.
pub(super) fn dispatch(draft: &mut Draft, id: ExecutionId) -> Result<(), Refusal> {
    begins_nothing_after_the_end(draft)?;
    let contract = draft.run.contract(id).ok_or(Refusal::UnknownContract(id))?;
    if let ContractAction::EcsRequest(_) = contract.spec.action {
        return Err(Refusal::NotApproved(id));
    }
    let trigger = match contract.status {
        // After a crash in doubt an approved call waits as well: for what became of it, not for being made.
        ContractStatus::Waiting if contract.dispatched_at.is_some() => return Err(Refusal::Dispatched(id)),
        ContractStatus::Waiting if !contract.is_cleared() => return Err(Refusal::NotApproved(id)),
        ContractStatus::Waiting => ContractTrigger::Resume,
        ContractStatus::Pending
        | ContractStatus::Running
        | ContractStatus::Completed
        | ContractStatus::Failed
        | ContractStatus::Rejected
        | ContractStatus::Cancelled => ContractTrigger::Start,
    };
    draft.step_contract(id, trigger, beginner(trigger), Some(ContractDetail::Dispatched))
}

/// Who begins a call: the node that runs tools, or the runner that takes up a graph which waited for a person.
fn beginner(trigger: ContractTrigger) -> Actor {
    if trigger == ContractTrigger::Resume { Actor::GraphRunner } else { Actor::ToolNode }
}

/// The call is over.
pub(super) fn report(draft: &mut Draft, id: ExecutionId, report: &ContractReport) -> Result<(), Refusal> {
    begin_unmade(draft, id, report)?;
    let contract = draft.run.contract(id).ok_or(Refusal::UnknownContract(id))?;
    let (trigger, detail) = match report {
        ContractReport::NeedsInput { question, state } => {
            let (question, state) = ((**question).clone(), ContractDetail::Paused(state.clone()));
            draft.step_contract(id, ContractTrigger::Suspend, Actor::ToolNode, Some(state))?;
            draft.open(Subject::Elicitation(id), question);
            return Ok(());
        }
        ContractReport::Succeeded(result) => {
            (ContractTrigger::Succeed, ContractDetail::Result(result.clone()))
        }
        ContractReport::Failed(message) => (ContractTrigger::Fail, ContractDetail::Error(message.clone())),
        ContractReport::Rejected(message) => {
            (ContractTrigger::Reject, ContractDetail::Error(message.clone()))
        }
        // Only what must not be repeated has to stay in doubt; the rest is simply tried again.
        ContractReport::Lost(message) if contract.is_in_doubt() => {
            (ContractTrigger::Fail, ContractDetail::Unknown(message.clone()))
        }
        ContractReport::Lost(message) => (ContractTrigger::Fail, ContractDetail::Error(message.clone())),
    };
    draft.step_contract(id, trigger, Actor::ToolNode, Some(detail))
}

/// A call that turned out to be impossible before it was dispatched begins and ends in one commit: at no moment it may have
/// happened.
fn begin_unmade(draft: &mut Draft, id: ExecutionId, report: &ContractReport) -> Result<(), Refusal> {
    let is_unmade = match report {
        ContractReport::Failed(_) | ContractReport::Rejected(_) => true,
        ContractReport::Succeeded(_) | ContractReport::Lost(_) | ContractReport::NeedsInput { .. } => false,
    };
    let contract = draft.run.contract(id).ok_or(Refusal::UnknownContract(id))?;
    let trigger = match contract.status {
        ContractStatus::Pending if is_unmade => ContractTrigger::Start,
        ContractStatus::Waiting if is_unmade && contract.is_cleared() => ContractTrigger::Resume,
        ContractStatus::Pending
        | ContractStatus::Waiting
        | ContractStatus::Running
        | ContractStatus::Completed
        | ContractStatus::Failed
        | ContractStatus::Rejected
        | ContractStatus::Cancelled => return Ok(()),
    };
    draft.step_contract(id, trigger, beginner(trigger), None)
}

/// A person says what became of a call whose result was lost.
pub(super) fn settle(
    draft: &mut Draft,
    id: ExecutionId,
    happened: bool,
    note: Option<&String>,
    by: &By,
) -> Result<(), Refusal> {
    let contract = draft.run.contract(id).ok_or(Refusal::UnknownContract(id))?;
    if contract.outcome != Outcome::Unknown {
        return Err(Refusal::NothingToSettle(id));
    }
    draft.emit(Event::ContractSettled { id, happened, note: note.cloned(), by: by.clone() });
    Ok(())
}

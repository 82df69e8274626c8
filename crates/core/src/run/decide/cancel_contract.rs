//! A person cancels one contract: what waits or has not begun is given up, and the agent is told in its next turn.

use super::super::event::{ContractDetail, Event};
use super::{Draft, Refusal};
use crate::interaction::By;
use crate::{Actor, ContractStatus, ContractTrigger, ExecutionId, InteractionId, RunStatus, RunTrigger};

/// Cancels a contract, or refuses with what can be done instead.
pub(super) fn cancel(draft: &mut Draft, id: ExecutionId, by: &By) -> Result<(), Refusal> {
    let contract = draft.run.contract(id).ok_or(Refusal::UnknownContract(id))?;
    match contract.status {
        // Asked for twice is asked for once.
        ContractStatus::Cancelled => return Ok(()),
        // The call may be at its tool server, and nothing takes it back from there.
        ContractStatus::Running => return Err(Refusal::AtWork(id)),
        // A crash left it in doubt. Whether it happened has to be known before anything else is decided about it.
        ContractStatus::Waiting if contract.dispatched_at.is_some() => return Err(Refusal::InDoubt(id)),
        ContractStatus::Pending => {
            draft.step_contract(id, ContractTrigger::Start, Actor::System, None)?;
        }
        // The table refuses what has ended otherwise.
        ContractStatus::Waiting
        | ContractStatus::Completed
        | ContractStatus::Failed
        | ContractStatus::Rejected => {}
    }
    let withdrawn = withdraw(draft, id, by);
    let detail = ContractDetail::Error("a person canceled it".to_owned());
    draft.step_contract(id, ContractTrigger::Cancel, by.actor(), Some(detail))?;
    // What a person decided goes to the next turn, like an answer: now, or when the turn that goes on is over.
    if withdrawn && draft.run.status == RunStatus::WaitingUser && draft.run.ending.is_none() {
        draft.step(RunTrigger::ReplyAccepted, by.actor())?;
    }
    Ok(())
}

/// Withdraws the open questions about a contract, and says whether there were any.
fn withdraw(draft: &mut Draft, id: ExecutionId, by: &By) -> bool {
    let open = draft.run.open_interactions().filter(|it| it.subject.execution_id() == Some(id));
    let open: Vec<InteractionId> = open.map(|it| it.interaction_id).collect();
    // The table of a contract that ended refuses right after this, and then nothing of it is kept.
    for id in &open {
        draft.emit(Event::InteractionWithdrawn { id: *id, by: Some(by.clone()) });
    }
    !open.is_empty()
}

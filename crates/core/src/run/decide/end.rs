//! The end of a run: nothing is left open, and the change of status comes last.

use super::super::Run;
use super::super::event::{ContractDetail, EndCause, Event};
use super::{Draft, Refusal};
use crate::interaction::ByKind;
use crate::{Actor, ContractStatus, ContractTrigger, ErrorCode, RunError, RunTrigger};

/// Ends the run, or, while a process stays with it, asks for its end: a slot is free only when its process is gone.
pub(super) fn request(draft: &mut Draft, cause: EndCause) -> Result<(), Refusal> {
    if draft.run.stays() {
        draft.emit(Event::EndRequested(cause));
        Ok(())
    } else {
        finish(draft, &cause)
    }
}

/// Ends a run whose end was asked for: its process is gone now.
pub(super) fn complete(draft: &mut Draft) -> Result<(), Refusal> {
    match draft.run.ending.clone() {
        Some(cause) => finish(draft, &cause),
        None => Ok(()),
    }
}

fn finish(draft: &mut Draft, cause: &EndCause) -> Result<(), Refusal> {
    match cause {
        EndCause::Canceled(by) => {
            let actor = match by.kind {
                ByKind::User => Actor::User,
                ByKind::AutoDecide | ByKind::System => Actor::System,
            };
            finish_with(draft, RunTrigger::RunCanceled, actor, None)
        }
        EndCause::WaitTimedOut => {
            let error = RunError {
                code: ErrorCode::InteractionWaitTimeout,
                message: format!(
                    "nobody answered within {} seconds, and the waiting process was ended",
                    draft.run.spec.session_timeout_sec
                ),
            };
            finish_with(draft, RunTrigger::WaitTimedOut, Actor::System, Some(error))
        }
        EndCause::TurnSucceeded => finish_with(draft, RunTrigger::TurnSucceeded, Actor::Engine, None),
        EndCause::TurnFailed(error) => {
            finish_with(draft, RunTrigger::TurnFailed, Actor::Engine, Some(error.clone()))
        }
    }
}

/// Withdraws what is open, gives up what is begun, and ends the run.
pub(super) fn finish_with(
    draft: &mut Draft,
    trigger: RunTrigger,
    actor: Actor,
    error: Option<RunError>,
) -> Result<(), Refusal> {
    let open: Vec<_> = draft.run.open_interactions().map(|interaction| interaction.interaction_id).collect();
    for id in open {
        draft.emit(Event::InteractionWithdrawn { id, by: None });
    }
    give_up_contracts(draft)?;
    draft.step_with(trigger, actor, error)
}

fn give_up_contracts(draft: &mut Draft) -> Result<(), Refusal> {
    let living: Vec<_> = draft
        .run
        .contracts()
        .filter(|contract| !contract.status.is_terminal())
        .map(|contract| (contract.spec.execution_id, contract.status, contract.is_in_doubt()))
        .collect();
    for (id, status, in_doubt) in living {
        if status == ContractStatus::Pending {
            draft.step_contract(id, ContractTrigger::Start, Actor::System, None)?;
        }
        let detail = if in_doubt {
            ContractDetail::Unknown("the run ended before the result was there".to_owned())
        } else {
            ContractDetail::Error("the run ended".to_owned())
        };
        draft.step_contract(id, ContractTrigger::Cancel, Actor::System, Some(detail))?;
    }
    Ok(())
}

impl Run {
    /// A process stays with the run after its turn.
    pub(super) fn stays(&self) -> bool {
        self.profile == super::super::spec::Profile::StickyProcess && self.process.is_some()
    }
}

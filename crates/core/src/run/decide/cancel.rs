//! Canceling a run, and the end of the process that waited with it.

use super::super::event::{EndCause, Event, Process};
use super::{Draft, Refusal, end};
use crate::interaction::By;
use crate::{Actor, ErrorCode, RunError, RunStatus, RunTrigger};

/// Ends the run at once where nothing of it is alive, else as soon as its process is gone.
pub(super) fn cancel(draft: &mut Draft, by: &By) -> Result<(), Refusal> {
    let cause = EndCause::Canceled(by.clone());
    match draft.run.status {
        // Asked for twice is asked for once.
        RunStatus::Canceled => Ok(()),
        _ if draft.run.ending.is_some() => Ok(()),
        RunStatus::Running => {
            draft.emit(Event::EndRequested(cause));
            Ok(())
        }
        // The table refuses where the run has ended otherwise.
        RunStatus::Queued | RunStatus::WaitingUser | RunStatus::Succeeded | RunStatus::Failed => {
            end::request(draft, cause)
        }
    }
}

/// A process that stayed with the run is gone.
pub(super) fn process_ended(draft: &mut Draft, process: Process, loadable: bool) -> Result<(), Refusal> {
    if draft.run.process != Some(process) {
        return Ok(());
    }
    let is_at_work = draft.run.status == RunStatus::Running && !draft.run.turn_over;
    if draft.run.ending.is_some() && !is_at_work {
        return end::complete(draft);
    }
    if draft.run.status == RunStatus::Running {
        // The turn reports its own end, after which no process stays. It may have one of its own by now, in place of this one.
        if draft.run.stays() {
            draft.emit(Event::ProcessLost);
        }
        return Ok(());
    }
    if loadable && draft.run.handle.is_some() {
        draft.emit(Event::ProcessLost);
        return Ok(());
    }
    let error = RunError {
        code: ErrorCode::InteractionProcessLost,
        message: "the process that waited with the run died, and its conversation cannot be loaded again"
            .to_owned(),
    };
    end::finish_with(draft, RunTrigger::ProcessLost, Actor::System, Some(error))
}

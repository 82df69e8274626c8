//! After a restart: whatever the journal says is what may have happened.

use super::super::RESTARTS_MAX;
use super::super::Run;
use super::super::command::Survey;
use super::super::event::{ContractDetail, Event};
use super::super::spec::ResumesBy;
use super::{Draft, Refusal, clock, end};
use crate::interaction::Subject;
use crate::{
    Actor, ContractStatus, ContractTrigger, ErrorCode, RunError, RunStatus, RunTrigger, Warning, WarningCode,
    recovery,
};

/// Puts a run right whose owner was stopped. No process of it is left: the ones that were have been ended.
pub(super) fn recover(draft: &mut Draft, survey: Survey) -> Result<(), Refusal> {
    match draft.run.status {
        RunStatus::Succeeded | RunStatus::Failed | RunStatus::Canceled => return Ok(()),
        RunStatus::Queued | RunStatus::Running | RunStatus::WaitingUser => {}
    }
    if draft.run.ending.is_some() {
        return end::complete(draft);
    }
    if let Some(error) = obstacle(&draft.run, survey) {
        return end::finish_with(draft, RunTrigger::RestartReconcileFailed, Actor::Recovery, Some(error));
    }
    if draft.run.stays() {
        draft.emit(Event::ProcessLost);
    }
    if !survey.engine {
        warn_of_absent_engine(draft);
    }
    clock::move_deadlines(draft);
    let calls = settle_calls(draft)?;
    let trigger = match (draft.run.status, calls) {
        (RunStatus::WaitingUser, _) => RunTrigger::RestartPreserveWaiting,
        (RunStatus::Running, Calls::Known) => RunTrigger::RestartRequeued,
        (RunStatus::Running, Calls::InDoubt) => RunTrigger::RestartNeedsInput,
        // Its next turn waits for a slot as before, and at its end for the answers that are missing.
        (RunStatus::Queued | RunStatus::Succeeded | RunStatus::Failed | RunStatus::Canceled, _) => {
            return Ok(());
        }
    };
    draft.step(trigger, Actor::Recovery)
}

/// Says that the engine is not there: once until the run's next turn, however many restarts find it so.
fn warn_of_absent_engine(draft: &mut Draft) {
    if draft.run.engine_missed {
        return;
    }
    let message = format!(
        "the engine `{}` is not installed or not configured here: the run is kept, takes its answers, and goes on \
         when the engine is there",
        draft.run.spec.engine
    );
    draft.emit(Event::Warned(Warning { code: WarningCode::EngineNotFound, message }));
}

/// What keeps the run from ever going on. An engine that is not there now is no such thing.
fn obstacle(run: &Run, survey: Survey) -> Option<RunError> {
    let is_waiting = run.status == RunStatus::WaitingUser;
    let interrupted = |message: &str| {
        // A run that only waits was not interrupted: what it lost is the way back into its conversation.
        let code = if is_waiting { ErrorCode::SessionResumeFailed } else { ErrorCode::RestartInterrupted };
        Some(RunError { code, message: message.to_owned() })
    };
    if is_waiting && let Some(problem) = unanswerable(run) {
        return interrupted(problem);
    }
    if !survey.workspace {
        return interrupted("after a restart the workspace is not there any more");
    }
    if run.status == RunStatus::Running && run.restarts >= RESTARTS_MAX {
        return interrupted(&format!("the attempt was interrupted by {} restarts", RESTARTS_MAX + 1));
    }
    if run.spec.resumes_by == ResumesBy::Journal || run.turn == 0 {
        return None;
    }
    match run.handle {
        Some(_) if survey.handle => None,
        Some(_) => Some(RunError {
            code: ErrorCode::SessionResumeFailed,
            message: "after a restart the agent does not know its conversation any more".to_owned(),
        }),
        // Only the first attempt can begin from nothing: every later one goes on in a conversation.
        None if !may_begin_anew(run) => Some(RunError {
            code: ErrorCode::SessionResumeFailed,
            message: "after a restart there is no handle to resume the conversation by".to_owned(),
        }),
        None if was_dispatched(run) => {
            interrupted("the turn was cut off after it had begun a call, and left no handle to go on by")
        }
        None => None,
    }
}

/// What is wrong with the questions of a run that waits, if no answer could make it go on.
fn unanswerable(run: &Run) -> Option<&'static str> {
    if run.open_interactions().next().is_none() {
        return Some("after a restart there is no question that the run could be waiting on");
    }
    let is_orphan = |subject: Subject| {
        let contract = subject.execution_id().map(|id| run.contract(id));
        contract.is_some_and(|contract| contract.is_none_or(|it| it.status != ContractStatus::Waiting))
    };
    let has_orphan = run.open_interactions().any(|open| is_orphan(open.subject));
    has_orphan.then_some("after a restart its question belongs to no call that waits for the answer")
}

/// Whether the run is in its first attempt, which is going on or was cut off and waits for its slot again.
fn may_begin_anew(run: &Run) -> bool {
    let was_cut_off = run.status == RunStatus::Queued && run.interrupted;
    run.attempt_number == 1 && (run.status == RunStatus::Running || was_cut_off)
}

/// Something may have had its effect, so that the turn must not simply begin again.
fn was_dispatched(run: &Run) -> bool {
    run.contracts().any(|contract| contract.dispatched_at.is_some())
}

/// What is known of the calls that were in flight.
#[derive(Clone, Copy)]
enum Calls {
    /// What became of each of them.
    Known,
    /// A person has to say what became of some.
    InDoubt,
}

/// Settles the calls that nobody will report any more: by a person, where they must not be repeated. A run that waits or
/// is queued can have some too, if its turn was over before they were.
fn settle_calls(draft: &mut Draft) -> Result<Calls, Refusal> {
    let begun: Vec<_> = draft
        .run
        .contracts()
        .filter(|contract| !contract.status.is_terminal())
        .map(|contract| (contract.spec.execution_id, contract.status, contract.is_in_doubt()))
        .collect();
    let mut in_doubt = Vec::new();
    for (id, status, doubt) in begun {
        match status {
            ContractStatus::Running if doubt => {
                draft.step_contract(id, ContractTrigger::Suspend, Actor::Recovery, None)?;
                in_doubt.push(id);
            }
            ContractStatus::Running => {
                let error = ContractDetail::Error("interrupted by a restart".to_owned());
                draft.step_contract(id, ContractTrigger::Fail, Actor::Recovery, Some(error))?;
            }
            // Nobody is left who would dispatch it: the agent's call died with its process.
            ContractStatus::Pending
                if draft.run.spec.resumes_by == ResumesBy::Handle && !is_cleared(&draft.run, id) =>
            {
                draft.step_contract(id, ContractTrigger::Start, Actor::Recovery, None)?;
                let error = ContractDetail::Error("interrupted by a restart before it began".to_owned());
                draft.step_contract(id, ContractTrigger::Cancel, Actor::Recovery, Some(error))?;
            }
            ContractStatus::Pending
            | ContractStatus::Waiting
            | ContractStatus::Completed
            | ContractStatus::Failed
            | ContractStatus::Rejected
            | ContractStatus::Cancelled => {}
        }
    }
    let calls = if in_doubt.is_empty() { Calls::Known } else { Calls::InDoubt };
    for id in in_doubt {
        let question = draft.run.contract(id).map(recovery::question).ok_or(Refusal::UnknownContract(id))?;
        draft.open(Subject::Recovery(id), question);
    }
    Ok(calls)
}

fn is_cleared(run: &Run, id: crate::ExecutionId) -> bool {
    run.contract(id).is_some_and(crate::Contract::is_cleared)
}

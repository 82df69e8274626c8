//! Going on after a part of a run's journal that cannot be read. See [`SetAside`].
//!
//! Whatever the unreadable part said about irreversible calls is lost. So each of them that may have been made counts as
//! made: its outcome is unknown and it keeps its key.

use super::decide::Draft;
use super::event::{ContractDetail, Event};
use super::{Command, Run, RunSpec};
use crate::stream::{Decided, SetAside};
use crate::{
    Actor, ContractStatus, ContractTrigger, ErrorCode, ExecutionMode, RunError, RunId, RunRow, RunTrigger,
    Timestamp,
};

impl SetAside<RunRow> {
    /// The error that the run ends with.
    pub fn error(&self) -> RunError {
        RunError {
            code: ErrorCode::JournalUnreadable,
            message: format!("a part of the run's journal cannot be read: {}", self.problem),
        }
    }
}

/// The state of a run that is readable only in part.
pub(super) fn salvaged(readable: Option<Run>, id: RunId, set_aside: &SetAside<RunRow>) -> Run {
    let row = &set_aside.row;
    let mut run = readable.unwrap_or_else(|| {
        let spec = RunSpec {
            skill: row.skill.clone(),
            priority: row.priority,
            labels: row.labels.clone(),
            ..RunSpec::new(row.engine.clone(), ExecutionMode::Auto)
        };
        Run::with_spec(id, row.created_at, &spec)
    });
    run.rebase(row.updated_at, set_aside);
    run
}

impl Run {
    /// Takes status and places from the row. Doing so twice is doing it once.
    pub(super) fn rebase(&mut self, at: Timestamp, set_aside: &SetAside<RunRow>) {
        let SetAside { seq, frame, row, .. } = set_aside;
        self.status = row.status;
        self.seq = *seq;
        self.frame = *frame;
        self.local_frame = 0;
        self.message_frame = None;
        self.attempt_number = row.attempt_number;
        self.updated_at = at;
        self.process = None;
        self.ending = None;
        if row.status.is_terminal() && row.error_code.is_some() {
            self.error.get_or_insert_with(|| set_aside.error());
        }
    }
}

/// The end of a run whose journal cannot be read. `draft` begins with its salvaged state.
pub(super) fn end_unreadable(
    mut draft: Draft<'_>,
    set_aside: SetAside<RunRow>,
) -> Result<Decided<Run>, super::Refusal> {
    let error = set_aside.error();
    draft.emit(Event::SetAside(Box::new(set_aside)));
    let open: Vec<_> = draft.run.open_interactions().map(|open| open.interaction_id).collect();
    for id in open {
        draft.emit(Event::InteractionWithdrawn { id, by: None });
    }
    end_contracts(&mut draft)?;
    draft.step_with(RunTrigger::RestartReconcileFailed, Actor::Recovery, Some(error))?;
    draft.decided()
}

/// Ends every contract that was not over, as far as the readable part says.
fn end_contracts(draft: &mut Draft) -> Result<(), super::Refusal> {
    let living: Vec<_> = draft
        .run
        .contracts()
        .filter(|contract| !contract.status.is_terminal())
        .map(|contract| (contract.spec.execution_id, contract.status, contract.spec.irreversible))
        .collect();
    for (id, status, irreversible) in living {
        if status == ContractStatus::Pending {
            draft.step_contract(id, ContractTrigger::Start, Actor::System, None)?;
        }
        let detail = if irreversible {
            ContractDetail::Unknown("the journal cannot be read: the call may have been made".to_owned())
        } else {
            ContractDetail::Error("the journal of the run cannot be read".to_owned())
        };
        draft.step_contract(id, ContractTrigger::Cancel, Actor::System, Some(detail))?;
    }
    Ok(())
}

/// Whether a command is one of those that end a run which cannot be read. The others are refused until it is ended.
pub(super) fn ends_unreadable(command: &Command) -> bool {
    match command {
        Command::StartTurn | Command::Expire(_) | Command::MoveDeadlines | Command::Recover(_) => true,
        Command::Create(_)
        | Command::Observe { .. }
        | Command::EndTurn { .. }
        | Command::Reply(_)
        | Command::Cancel(_)
        | Command::ReportProcessEnded { .. }
        | Command::RequestContract(_)
        | Command::DispatchContract(_)
        | Command::ReportContract { .. }
        | Command::SettleContract { .. }
        | Command::CancelContract { .. }
        | Command::Warn(_)
        | Command::RefuseCall { .. }
        | Command::ListTools { .. }
        | Command::AskAgain(_) => false,
    }
}

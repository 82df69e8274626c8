//! Going on after a part of a run's journal that cannot be read.
//!
//! A stream with an entry that cannot be read has no state, so nothing can be decided about its run, not even its end.
//! [`Event::SetAside`] is the way out: an event whose fold needs nothing of what is before it. It carries the run's row,
//! which was written in the commit of the last entry and says where the stream stood. The state after it is what could
//! be read before the damage, with status, attempt and places of the row. The events that end the run follow in the same
//! commit, decided in the ordinary way, so that its last status change is in the stream like any other.
//!
//! Whatever the unreadable part said about irreversible calls is lost. So each of them that may have been made counts as
//! made: its outcome is unknown and it keeps its key.

use serde::{Deserialize, Serialize};

use super::decide::{Decided, Draft};
use super::event::{ContractDetail, Event};
use super::{Command, Known, Run, RunSpec};
use crate::{
    Actor, ContractStatus, ContractTrigger, ErrorCode, ExecutionMode, RunError, RunId, RunRow, RunTrigger,
    Timestamp, excerpt,
};

/// Bytes of the description of a damage: a parser may repeat a part of what it cannot read.
const PROBLEM_BYTES_MAX: usize = 400;

/// Where a run stood when a part of its journal was found to be unreadable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetAside {
    /// The place of the last event in the stream.
    #[serde(deserialize_with = "crate::projection::count::deserialize")]
    pub seq: u64,
    /// The number of the last frame of the stream.
    #[serde(deserialize_with = "crate::projection::count::deserialize")]
    pub frame: u64,
    /// The run's row.
    pub row: RunRow,
    /// What cannot be read, and why.
    pub problem: String,
}

impl SetAside {
    /// The error that the run ends with.
    pub fn error(&self) -> RunError {
        RunError {
            code: ErrorCode::JournalUnreadable,
            message: format!("a part of the run's journal cannot be read: {}", self.problem),
        }
    }
}

impl Run {
    /// The state of a run whose journal is readable only in part: `readable` is what the entries before the damage add up
    /// to, none where the first is damaged.
    pub fn salvaged(readable: Option<Self>, id: RunId, set_aside: &SetAside) -> Self {
        let row = &set_aside.row;
        let mut run = readable.unwrap_or_else(|| {
            let spec = RunSpec {
                skill: row.skill.clone(),
                priority: row.priority,
                labels: row.labels.clone(),
                ..RunSpec::new(row.engine.clone(), ExecutionMode::Auto)
            };
            Self::with_spec(id, row.created_at, &spec)
        });
        run.rebase(row.updated_at, set_aside);
        run
    }

    /// Takes status and places from the row. Doing so twice is doing it once.
    pub(super) fn rebase(&mut self, at: Timestamp, set_aside: &SetAside) {
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

    /// The end of a run whose journal cannot be read. `self` is the [salvaged](Self::salvaged) state.
    pub fn set_aside(&self, set_aside: SetAside, known: &Known) -> Result<Decided, super::Refusal> {
        let mut draft = Draft::new(self, known);
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

/// A description of a damage that is short enough to be kept.
pub(crate) fn damage_in_short(problem: &str) -> String {
    excerpt::head(problem, PROBLEM_BYTES_MAX)
}

/// Whether a command is one of those that end a run which cannot be read. The others are refused until it is ended.
pub fn ends_unreadable(command: &Command) -> bool {
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

//! Hearing a run that played a role and has ended: what it said, or that it is lost.

use serde::de::DeserializeOwned;

use super::command::Command;
use super::proposal::{Ask, Synthesis};
use super::round::Purpose;
use super::{Position, Roundtable};
use crate::{Run, RunId, RunStatus};

impl Roundtable {
    /// The command that records what an ended run said, or that it said nothing that can be used. None where the run is not
    /// at work for the round that is going on.
    pub fn hear(&self, run: &Run) -> Option<Command> {
        let activation = self.current.as_ref()?.activation(run.id())?;
        if activation.outcome.is_some() {
            return None;
        }
        let run_id = run.id();
        let said = match &activation.purpose {
            Purpose::Ask => said::<Ask>(run).map(|ask| Command::RecordFocus { run_id, ask }),
            Purpose::Answer(_) => said::<Position>(run).map(|said| Command::RecordAnswer { run_id, said }),
            Purpose::Synthesis => {
                said::<Synthesis>(run).map(|synthesis| Command::RecordSynthesis { run_id, synthesis })
            }
        };
        Some(said.unwrap_or_else(|reason| Command::ReportLost { run_id, reason }))
    }
}

impl Command {
    /// The run whose words this command records.
    pub fn heard_run(&self) -> Option<RunId> {
        match self {
            Self::RecordFocus { run_id, .. }
            | Self::RecordAnswer { run_id, .. }
            | Self::RecordSynthesis { run_id, .. } => Some(*run_id),
            Self::Open(_)
            | Self::OpenRound
            | Self::StartActivation { .. }
            | Self::ReportLost { .. }
            | Self::RecordRound
            | Self::Reply(_)
            | Self::Escalate(_)
            | Self::ChangeArtifact(_)
            | Self::Close(_)
            | Self::Fail { .. } => None,
        }
    }
}

/// The document that a run came to, or why there is none.
fn said<T: DeserializeOwned>(run: &Run) -> Result<T, String> {
    match (run.status(), run.error(), run.result()) {
        (RunStatus::Succeeded, _, Some(result)) => {
            serde_path_to_error::deserialize(result).map_err(|error| {
                format!("what it printed cannot be used: `{}`: {}", error.path(), error.inner())
            })
        }
        (RunStatus::Succeeded, _, None) => Err("it printed nothing".to_owned()),
        (RunStatus::Canceled, _, _) => Err("its run was canceled".to_owned()),
        (_, Some(error), _) => Err(format!("{}: {}", error.code, error.message)),
        (status, None, _) => Err(format!("its run is {status}")),
    }
}

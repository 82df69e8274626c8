//! What a command comes to, as an exit status that scripts depend on.

use std::process::ExitCode;

use adjourn_core::RunStatus;
use clap::error::ErrorKind;

use crate::text::clean;

/// Wrong use has status 2, as clap has it.
const REFUSED: u8 = 5;

/// What a command comes to when nothing went wrong with the command itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The run succeeded, or what was asked for is done.
    Done,
    /// The run failed, or the skill has errors.
    Failed,
    /// The run was left, and waits or will be taken up again.
    Left,
    /// The run was canceled.
    Canceled,
}

impl Exit {
    /// What it means for a command that its run has this status.
    pub(crate) fn of(status: RunStatus) -> Self {
        match status {
            RunStatus::Succeeded => Self::Done,
            RunStatus::Failed => Self::Failed,
            RunStatus::Canceled => Self::Canceled,
            RunStatus::Queued | RunStatus::Running | RunStatus::WaitingUser => Self::Left,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Done => Self::SUCCESS,
            Exit::Failed => Self::from(1),
            Exit::Left => Self::from(3),
            Exit::Canceled => Self::from(4),
        }
    }
}

/// A complaint about what was typed that clap could not see.
pub(crate) fn wrong_use(message: impl std::fmt::Display) -> anyhow::Error {
    clap::Error::raw(ErrorKind::ValueValidation, format!("{}\n", clean(&message.to_string()))).into()
}

/// Says what went wrong, and gives the exit status for it.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if let Some(usage) = error.downcast_ref::<clap::Error>() {
        // Prints like every other complaint about the command line, and exits with 2.
        usage.exit();
    }
    let error = clean(&format!("{error:#}"));
    anstream::eprintln!("{}error:{:#} {error}", crate::style::BAD, crate::style::BAD);
    ExitCode::from(REFUSED)
}

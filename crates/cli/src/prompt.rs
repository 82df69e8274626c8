//! Asks a person at a terminal.

mod asking_process;
mod contract;
mod plain;
mod terminal;
mod while_open;

use std::io::IsTerminal;

use adjourn_core::{InteractionView, Source};
use inquire::{InquireError, Select};
use serde::{Deserialize, Serialize};

pub(crate) use asking_process::{Asks, SUBCOMMAND, main};
pub(crate) use terminal::{OnTerminal, on_terminal};
pub(crate) use while_open::{Watching, ask_while_open, resolution_text};

use crate::answer::Given;

/// What a person did when asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Asked<T> {
    /// They answered.
    Answer(T),
    /// They pressed Ctrl-C or Esc.
    Interrupted,
}

/// Whether there is a person to ask.
pub(crate) fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks a question until there is an answer that fits it.
pub(crate) fn ask(interaction: &InteractionView) -> anyhow::Result<Asked<Given>> {
    let question = &interaction.question;
    asked(match (interaction.approval(), interaction.source) {
        (Some(call), _) => contract::approval(question, &call),
        (None, Source::Recovery) => contract::recovery(question),
        (None, Source::Permission) => contract::permission(question).map(Given::plain),
        (None, Source::Turn | Source::Contract | Source::Escalation | Source::Checkpoint) => {
            plain::plain(question).map(Given::plain)
        }
    })
}

/// What to do with something that a person does not want to watch any longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choose {
    GoOn,
    Leave,
    End,
}

/// What is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watched {
    Run,
    Roundtable,
}

/// What it does while its person is asked what to do with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    Works,
    Waits,
}

/// Asks what to do with it. Whoever does not want to answer leaves it.
pub(crate) fn what_now(watched: Watched, doing: Doing) -> anyhow::Result<Choose> {
    let (go_on, leave) = match doing {
        Doing::Waits => ("go back to the question", "leave it waiting: it can be answered later"),
        Doing::Works => ("go on", "leave it running: it goes on without you"),
    };
    let (title, end) = match watched {
        Watched::Run => ("What about the run?", "cancel the run"),
        Watched::Roundtable => ("What about the roundtable?", "close the roundtable: break it off"),
    };
    let options = vec![go_on, leave, end];
    match asked(Select::new(title, options).without_help_message().raw_prompt())? {
        Asked::Answer(chosen) if chosen.index == 0 => Ok(Choose::GoOn),
        Asked::Answer(chosen) if chosen.index == 2 => Ok(Choose::End),
        Asked::Answer(_) | Asked::Interrupted => Ok(Choose::Leave),
    }
}

pub(crate) type Prompted<T> = Result<T, InquireError>;

pub(crate) fn asked<T>(prompted: Prompted<T>) -> anyhow::Result<Asked<T>> {
    match prompted {
        Ok(answer) => Ok(Asked::Answer(answer)),
        Err(InquireError::OperationCanceled | InquireError::OperationInterrupted) => Ok(Asked::Interrupted),
        Err(error) => Err(error.into()),
    }
}

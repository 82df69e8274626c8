//! The process that asks one question at the terminal.
//!
//! Nothing ends a read from a terminal but the end of its process. So a question that may be resolved by somebody else while
//! its person thinks about it is asked by a process of its own: this binary again, with the terminal as its stdin and stderr,
//! and a socket as its stdout. On the socket it is told what to ask and says what was answered. When the other end is closed,
//! the question is withdrawn: it leaves the terminal as it was and ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use adjourn_core::InteractionView;
use anyhow::Context;
use rustix::stdio::stdin;
use rustix::termios::{OptionalActions, QueueSelector, tcflush, tcgetattr, tcsetattr};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Asked;
use crate::commands::ask_roundtable;

/// The argument that makes this binary ask a question. It is for this binary itself, and not in its help.
pub(crate) const SUBCOMMAND: &str = "ask-at-terminal";

/// Ends the line that a prompt was drawn on, takes everything below it away, and shows the cursor.
const LEAVE_PROMPT: &[u8] = b"\r\n\x1b[J\x1b[?25h";

/// A question, and how it is asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Asks {
    /// A question of a run, answered with a [`Given`](crate::answer::Given).
    Run(Box<InteractionView>),
    /// A question of a roundtable, answered with its form.
    Roundtable(Box<InteractionView>),
}

/// What comes back: what the person did, or why they could not be asked.
pub(super) type Outcome<T> = Result<Asked<T>, String>;

/// Asks what it is told to, and says what was answered.
pub(crate) fn main() -> ExitCode {
    match ask() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The other end reads why from the way it ended; a terminal that is gone shows nothing.
            let _ = writeln!(std::io::stderr(), "the question cannot be asked: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn ask() -> anyhow::Result<()> {
    let mut wire = UnixStream::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    let mut lines = BufReader::new(wire.try_clone()?);
    let mut line = String::new();
    lines.read_line(&mut line)?;
    let asks: Asks = serde_json::from_str(&line).context("the question cannot be read")?;
    let before = tcgetattr(stdin()).ok();
    // Keys that were pressed before the question was there are no answer to it.
    let _ = tcflush(stdin(), QueueSelector::IFlush);
    std::thread::spawn(move || {
        // Nothing more is said: this returns when the other end is closed.
        let _ = lines.read(&mut [0]);
        if let Some(before) = before {
            // A terminal that is gone needs nothing.
            let _ = tcsetattr(stdin(), OptionalActions::Now, &before);
        }
        let _ = std::io::stderr().write_all(LEAVE_PROMPT);
        std::process::exit(0);
    });
    let outcome: Outcome<Value> = match asks {
        Asks::Run(open) => told(super::ask(&open))?,
        Asks::Roundtable(open) => told(ask_roundtable(&open))?,
    };
    wire.write_all(&serde_json::to_vec(&outcome)?)?;
    Ok(())
}

fn told<T: Serialize>(asked: anyhow::Result<Asked<T>>) -> anyhow::Result<Outcome<Value>> {
    Ok(match asked {
        Ok(Asked::Answer(answer)) => Ok(Asked::Answer(serde_json::to_value(answer)?)),
        Ok(Asked::Interrupted) => Ok(Asked::Interrupted),
        Err(error) => Err(format!("{error:#}")),
    })
}

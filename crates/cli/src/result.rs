//! The end of a command that was with a run: what came of it.

use adjourn_core::{InteractionId, InteractionView, RunStatus, RunView};

use crate::data::Global;
use crate::exit::Exit;
use crate::output::{print, print_json, value_text};
use crate::question::{OpenQuestion, question_text, reply_commands};
use crate::style::{self, styled};
use crate::text::{age, clean, indented};
use crate::usage::usage_text;

/// Who works on a run that is left before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GoesOn {
    /// Its owner, as before.
    WithOwner,
    /// An owner in the background, which takes its turn up again.
    InBackground,
    /// Nobody, until there is a next owner.
    WithNextOwner,
}

/// Shows what came of a run: its result on stdout, everything else on stderr.
///
/// `open` are its questions that wait, of which `shown` is on the screen already.
pub(crate) fn show(
    global: &Global,
    run: &RunView,
    open: &[InteractionView],
    shown: Option<InteractionId>,
    goes_on: GoesOn,
) -> anyhow::Result<Exit> {
    anstream::eprintln!("{}", headline(run));
    match run.status {
        RunStatus::Failed => {
            if let Some(error) = &run.error {
                let problem = clean(&format!("{}: {}", error.code, error.message));
                anstream::eprintln!("{}", indented(&problem, "  "));
            }
            anstream::eprintln!("more of it: {}", global.command(&format!("show {}", run.run_id)));
        }
        RunStatus::WaitingUser => ask_later(global, run, open, shown),
        RunStatus::Queued if run.blocked_by.is_some() => {
            anstream::eprintln!(
                "{}\nto end it instead: {}",
                blocked_text(run),
                global.command(&format!("cancel {}", run.run_id))
            );
        }
        RunStatus::Queued | RunStatus::Running => {
            anstream::eprintln!("{}", who_goes_on(global, run, goes_on));
        }
        RunStatus::Succeeded | RunStatus::Canceled => {}
    }
    if global.json {
        print_json(run)?;
    } else if let Some(result) = &run.result {
        print(&format!("{}\n", clean(&value_text(result))))?;
    }
    Ok(Exit::of(run.status))
}

/// The run's id, what became of it, and what it took.
fn headline(run: &RunView) -> String {
    let mut parts = vec![
        styled(style::BOLD, run.run_id),
        styled(style::status(run.status), run.status),
        age(run.created_at, run.updated_at),
    ];
    if run.attempt_number > 1 {
        parts.push(format!("{} attempts", run.attempt_number));
    }
    parts.extend(usage_text(run.usage));
    parts.join("  ")
}

/// What a blocked run waits for.
pub(crate) fn blocked_text(run: &RunView) -> String {
    let engine = clean(&run.engine);
    format!("its engine `{engine}` is not installed or not configured here; it goes on by itself when it is")
}

/// Who works on a run that is not watched any longer.
pub(crate) fn who_goes_on(global: &Global, run: &RunView, goes_on: GoesOn) -> String {
    let follow = || global.command(&format!("events {} --follow", run.run_id));
    match goes_on {
        GoesOn::WithOwner => format!("it goes on; to see how: {}", follow()),
        GoesOn::InBackground => format!("it goes on in the background; to see how: {}", follow()),
        GoesOn::WithNextOwner => {
            "it is taken up again by the next command that runs, answers or cancels something here".to_owned()
        }
    }
}

/// The questions that are open, each with the command that answers it.
fn ask_later(global: &Global, run: &RunView, open: &[InteractionView], shown: Option<InteractionId>) {
    for interaction in open {
        let question = OpenQuestion::one_of(interaction, open.len());
        if shown != Some(interaction.interaction_id) {
            anstream::eprintln!("{} {}", styled(style::ASKS, "?"), question_text(interaction));
        }
        match reply_commands(global, run.run_id, question).as_slice() {
            [only] => anstream::eprintln!("answer it with: {only}"),
            several => {
                anstream::eprintln!("answer it with one of these:\n{}", indented(&several.join("\n"), "  "));
            }
        }
    }
}

//! The end of a command that was with a run: what came of it.

use adjourn_core::{InteractionId, Run, RunStatus, RunView};

use crate::data::Global;
use crate::exit::Exit;
use crate::output::{print, print_json, value_text};
use crate::question::{OpenQuestion, question_text, reply_command};
use crate::style::{self, styled};
use crate::text::{age, clean, indented};
use crate::usage::usage_text;

/// Shows what came of a run: its result on stdout, everything else on stderr.
///
/// `shown` is the question that is on the screen already.
pub(crate) fn show(global: &Global, run: &Run, shown: Option<InteractionId>) -> anyhow::Result<Exit> {
    anstream::eprintln!("{}", headline(run));
    match run.status() {
        RunStatus::Failed => {
            if let Some(error) = run.error() {
                anstream::eprintln!(
                    "{}",
                    indented(&clean(&format!("{}: {}", error.code, error.message)), "  ")
                );
            }
            anstream::eprintln!("more of it: {}", global.command(&format!("show {}", run.id())));
        }
        RunStatus::WaitingUser => ask_later(global, run, shown),
        RunStatus::Queued | RunStatus::Running => {
            anstream::eprintln!(
                "it is taken up again by the next command that runs, answers or cancels something here"
            );
        }
        RunStatus::Succeeded | RunStatus::Canceled => {}
    }
    if global.json {
        print_json(&RunView::of(run))?;
    } else if let Some(result) = run.result() {
        print(&format!("{}\n", clean(&value_text(result))))?;
    }
    Ok(Exit::of(run.status()))
}

/// The run's id, what became of it, and what it took.
fn headline(run: &Run) -> String {
    let mut parts = vec![
        styled(style::BOLD, run.id()),
        styled(style::status(run.status()), run.status()),
        age(run.created_at(), run.updated_at()),
    ];
    if run.attempt_number() > 1 {
        parts.push(format!("{} attempts", run.attempt_number()));
    }
    parts.extend(usage_text(run.usage()));
    parts.join("  ")
}

/// The questions that are open, each with the command that answers it.
fn ask_later(global: &Global, run: &Run, shown: Option<InteractionId>) {
    let open: Vec<_> = run.open_interactions().collect();
    for interaction in &open {
        let question = OpenQuestion::one_of(interaction, open.len());
        if shown != Some(interaction.interaction_id) {
            anstream::eprintln!("{} {}", styled(style::ASKS, "?"), question_text(&interaction.question));
        }
        anstream::eprintln!("answer it with: {}", reply_command(global, run.id(), question));
    }
}

//! `adjourn inbox`: everything that waits for a person.

use std::collections::HashMap;

use adjourn_api::{Waiting, WaitingRoundtable, WaitingRun};
use adjourn_core::{InteractionView, RunId};
use clap::Args;

use crate::client::{Client, Role};
use crate::commands::roundtable;
use crate::data::{Global, now};
use crate::exit::Exit;
use crate::output::{print, print_json};
use crate::question::{OpenQuestion, question_text, reply_commands};
use crate::style::{self, styled};
use crate::text::{age, clean, indented, one_line, until};

/// Characters that are shown of what a roundtable is about.
const SUBJECT_CHARS_MAX: usize = 60;

/// Show everything that waits for a person, the oldest first
#[derive(Debug, Args)]
pub(super) struct Inbox {}

impl Inbox {
    pub(super) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        let open = Client::connect(global, Role::Reads).await?.inbox().await?;
        if global.json {
            print_json(&open)?;
        } else if open.items.is_empty() {
            anstream::eprintln!("nothing waits");
        } else {
            let mut of_run = HashMap::<RunId, usize>::new();
            for one in &open.items {
                if let Waiting::Run(WaitingRun { run_id, .. }) = *one {
                    *of_run.entry(run_id).or_default() += 1;
                }
            }
            let entries: Vec<_> = open.items.iter().map(|one| entry(global, one, &of_run)).collect();
            print(&entries.join("\n"))?;
        }
        Ok(Exit::Done)
    }
}

/// A question, whose it is, and the commands that answer it. `of_run` says how many each run has.
fn entry(global: &Global, waiting: &Waiting, of_run: &HashMap<RunId, usize>) -> String {
    let (id, about, question, commands, interaction) = match waiting {
        Waiting::Run(WaitingRun { run_id, skill, interaction, .. }) => {
            let count = of_run.get(run_id).copied().unwrap_or(1);
            let commands = reply_commands(global, *run_id, OpenQuestion::one_of(interaction, count));
            let skill = skill.as_deref().map(clean);
            (run_id.to_string(), skill, question_text(interaction), commands, interaction)
        }
        Waiting::Roundtable(WaitingRoundtable { roundtable_id, subject, interaction }) => {
            let command = roundtable::reply_command(global, *roundtable_id, interaction);
            let subject = one_line(subject, SUBJECT_CHARS_MAX);
            let question = roundtable::question_text(interaction);
            (roundtable_id.to_string(), Some(subject), question, vec![command], interaction)
        }
    };
    let InteractionView { created_at, deadline_at, .. } = interaction;
    let now = now();
    let about = about.map(|about| format!("  {about}")).unwrap_or_default();
    let deadline = deadline_at.map(|at| format!(", decided without an answer {}", until(at, now)));
    format!(
        "{}{about}  asked {} ago{}\n{}\n{}\n",
        styled(style::ASKS, id),
        age(*created_at, now),
        deadline.unwrap_or_default(),
        indented(&question, "  "),
        indented(&styled(style::DIM, commands.join("\n")), "  "),
    )
}

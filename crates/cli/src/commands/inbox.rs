//! `adjourn inbox`: everything that waits for a person.

use std::collections::HashMap;

use adjourn_core::{InteractionView, RunId};
use clap::Args;

use crate::client::{Client, Role, Waiting};
use crate::data::{Global, now};
use crate::exit::Exit;
use crate::output::{print, print_json};
use crate::question::{OpenQuestion, question_text, reply_commands};
use crate::style::{self, styled};
use crate::text::{age, indented, until};

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
                *of_run.entry(one.run_id).or_default() += 1;
            }
            let entries: Vec<_> =
                open.items.iter().map(|one| entry(global, one, of_run[&one.run_id])).collect();
            print(&entries.join("\n"))?;
        }
        Ok(Exit::Done)
    }
}

fn entry(global: &Global, waiting: &Waiting, of_run: usize) -> String {
    let Waiting { run_id, skill, interaction, .. } = waiting;
    let InteractionView { created_at, deadline_at, .. } = interaction;
    let now = now();
    let skill = skill.as_ref().map(|skill| format!("  {skill}")).unwrap_or_default();
    let deadline = deadline_at.map(|at| format!(", decided without an answer {}", until(at, now)));
    let commands = reply_commands(global, *run_id, OpenQuestion::one_of(interaction, of_run));
    format!(
        "{}{skill}  asked {} ago{}\n{}\n{}\n",
        styled(style::ASKS, run_id),
        age(*created_at, now),
        deadline.unwrap_or_default(),
        indented(&question_text(interaction), "  "),
        indented(&styled(style::DIM, commands.join("\n")), "  "),
    )
}

//! `adjourn inbox`: everything that waits for a person.

use std::collections::HashMap;

use adjourn_core::{OpenInteraction, RunId};
use adjourn_store::{OpenCursor, Store};
use clap::Args;

use crate::data::{Global, now};
use crate::exit::Exit;
use crate::output::{print, print_json};
use crate::question::{OpenQuestion, question_text, reply_command};
use crate::style::{self, styled};
use crate::text::{age, indented, until};

/// Questions that are read at once.
const PAGE: usize = 1000;

/// Show everything that waits for a person, the oldest first
#[derive(Debug, Args)]
pub(super) struct Inbox {}

impl Inbox {
    pub(super) fn run(self, global: &Global) -> anyhow::Result<Exit> {
        let store = global.reader()?;
        let open = all(&store)?;
        if global.json {
            print_json(&open)?;
        } else if open.is_empty() {
            anstream::eprintln!("nothing waits");
        } else {
            let mut of_run = HashMap::<RunId, usize>::new();
            for one in &open {
                *of_run.entry(one.run_id).or_default() += 1;
            }
            let mut entries = Vec::new();
            for one in &open {
                entries.push(entry(global, &store, one, of_run[&one.run_id])?);
            }
            print(&entries.join("\n"))?;
        }
        Ok(Exit::Done)
    }
}

fn all(store: &dyn Store) -> anyhow::Result<Vec<OpenInteraction>> {
    let mut open = Vec::new();
    let mut after = None;
    loop {
        let page = store.open_interactions(after, PAGE)?;
        let Some(last) = page.last() else { return Ok(open) };
        after = Some(OpenCursor::after(last));
        open.extend(page);
    }
}

fn entry(
    global: &Global,
    store: &dyn Store,
    open: &OpenInteraction,
    of_run: usize,
) -> anyhow::Result<String> {
    let OpenInteraction { run_id, interaction_id, question, created_at, deadline_at } = open;
    let now = now();
    let row = store.run(*run_id)?;
    let skill = row.and_then(|row| row.skill).map(|skill| format!("  {skill}")).unwrap_or_default();
    let deadline = deadline_at.map(|at| format!(", decided without an answer {}", until(at, now)));
    let which = OpenQuestion { interaction_id: (of_run > 1).then_some(*interaction_id), question };
    Ok(format!(
        "{}{skill}  asked {} ago{}\n{}\n{}\n",
        styled(style::ASKS, run_id),
        age(*created_at, now),
        deadline.unwrap_or_default(),
        indented(&question_text(question), "  "),
        indented(&styled(style::DIM, reply_command(global, *run_id, which)), "  "),
    ))
}

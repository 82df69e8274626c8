//! `adjourn show`: one run, everything that a person wants to know of it.

use std::fmt::Write as _;

use adjourn_core::{By, ByKind, ContractView, InteractionView, RunStatus, RunView, Via};
use adjourn_runtime::workspace::WorkspaceError;
use clap::Args;
use serde_json::json;

use crate::client::{Client, Role};
use crate::contract;
use crate::data::{Global, now};
use crate::exit::Exit;
use crate::find::find;
use crate::output::{print, print_json, value_text};
use crate::question::{OpenQuestion, question_text, reply_commands};
use crate::result::blocked_text;
use crate::style::{self, styled};
use crate::text::{age, clean, indented, moment, one_line, until};
use crate::usage::usage_text;

/// Characters of the task or an earlier question in one line.
const LINE_CHARS_MAX: usize = 100;

/// Show a run: its status, its questions, its result
#[derive(Debug, Args)]
pub(super) struct Show {
    /// The run: its id, or an end of it that no other run has
    #[arg(value_name = "RUN")]
    run: String,
}

impl Show {
    pub(super) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        let mut client = Client::connect(global, Role::Reads).await?;
        let run = find(&mut client, &self.run).await?;
        let interactions = client.interactions(run.run_id).await?;
        if global.json {
            let mut document = json!(run);
            document["interactions"] = json!(interactions);
            print_json(&document)?;
        } else {
            let contracts = client.contracts(run.run_id).await?;
            print(&text(global, &run, &interactions, &contracts))?;
        }
        Ok(Exit::Done)
    }
}

/// Lines with a name in front, and parts below a heading.
#[derive(Default)]
struct Page(String);

impl Page {
    fn line(&mut self, name: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.0, "{}{value}", styled(style::DIM, format!("{name:<11}")));
    }

    fn part(&mut self, heading: &str, text: &str) {
        let _ = writeln!(self.0, "\n{}\n{}", styled(style::BOLD, heading), indented(text, "  "));
    }
}

fn text(
    global: &Global,
    run: &RunView,
    interactions: &[InteractionView],
    contracts: &[ContractView],
) -> String {
    let mut page = Page::default();
    facts(global, run, &mut page);
    if let Some(count) = contract::count(contracts) {
        let trace = styled(style::DIM, global.command(&format!("trace {}", run.run_id)));
        page.line("contracts", format!("{count}  {trace}"));
    }
    for warning in &run.warnings {
        let message = clean(&format!("{}: {}", warning.code, warning.message));
        page.line("warning", styled(style::ODD, message));
    }
    if let Some(error) = &run.error {
        page.part("Error", &styled(style::BAD, clean(&format!("{}: {}", error.code, error.message))));
    }
    let (open, earlier): (Vec<_>, Vec<_>) =
        interactions.iter().partition(|interaction| interaction.is_open());
    if !earlier.is_empty() {
        let earlier: Vec<_> = earlier.into_iter().map(asked_and_answered).collect();
        page.part("Asked", &earlier.join("\n"));
    }
    for interaction in &open {
        let question = OpenQuestion::one_of(interaction, open.len());
        let commands = reply_commands(global, run.run_id, question).join("\n");
        let waits = match interaction.deadline_at {
            Some(at) => format!(", decided without an answer {}", until(at, now())),
            None => String::new(),
        };
        let heading = format!("Asks ({} ago{waits})", age(interaction.created_at, now()));
        let question = styled(style::ASKS, question_text(interaction));
        page.part(&heading, &format!("{question}\n\n{}", styled(style::DIM, commands)));
    }
    if let Some(result) = &run.result {
        page.part("Result", &clean(&value_text(result)));
    }
    page.0
}

fn facts(global: &Global, run: &RunView, page: &mut Page) {
    page.line("run", styled(style::BOLD, run.run_id));
    page.line("status", styled(style::status(run.status), run.status));
    if let Some(skill) = &run.skill {
        page.line("skill", clean(skill));
    }
    if let Some(prompt) = &run.prompt {
        page.line("task", one_line(prompt, LINE_CHARS_MAX));
    }
    let profile = run.interactive_profile.kind;
    page.line("engine", format!("{}, {}, {profile}", clean(&run.engine), run.execution_mode));
    let attempts = run.max_attempt.map(|most| format!(" of {most}")).unwrap_or_default();
    page.line("attempt", format!("{}{attempts}", run.attempt_number));
    if run.restarts > 0 {
        page.line("restarts", run.restarts);
    }
    if let Some(continued) = run.continues {
        page.line("continues", continued);
    }
    for (name, value) in &run.labels {
        page.line("label", clean(&format!("{name}={value}")));
    }
    page.line("created", format!("{} ({} ago)", moment(run.created_at), age(run.created_at, now())));
    let changed = if run.status.is_terminal() { "ended" } else { "changed" };
    let took = age(run.created_at, run.updated_at);
    page.line(changed, format!("{} (after {took})", moment(run.updated_at)));
    if let Some(usage) = usage_text(run.usage) {
        page.line("usage", usage);
    }
    match global.workspace(run.run_id) {
        Some(Ok(workspace)) => page.line("workspace", clean(&workspace.work.display().to_string())),
        Some(Err(WorkspaceError::Missing(_))) => page.line("workspace", "none"),
        Some(Err(error)) => page.line("workspace", clean(&error.to_string())),
        None => {}
    }
    if let Some(code) = run.blocked_by {
        page.line("blocked by", format!("{code}: {}", blocked_text(run)));
    } else if matches!(run.status, RunStatus::Queued | RunStatus::Running) {
        page.line(
            "note",
            "it is worked on by whoever owns the data directory, or taken up by the next who does",
        );
    }
}

/// A question and what became of it, in two lines.
fn asked_and_answered(interaction: &InteractionView) -> String {
    let asked = one_line(&interaction.question.prompt, LINE_CHARS_MAX);
    let answered = match (&interaction.resolved_by, interaction.resolved_at) {
        (Some(by), Some(at)) => {
            let response = interaction.response.as_ref().filter(|response| !response.is_null());
            let response = response.map(value_text).unwrap_or_default();
            let response = one_line(&response, LINE_CHARS_MAX);
            format!("{response} ({}, {}, {})", interaction.status, who(by), moment(at))
        }
        (Some(_) | None, _) => interaction.status.to_string(),
    };
    format!("{}. {asked}\n   > {answered}", interaction.interaction_id)
}

fn who(by: &By) -> String {
    match (by.kind, &by.name) {
        (ByKind::User, Some(name)) => match by.via {
            Some(Via::Token) => format!("{} by token", clean(name)),
            Some(Via::Socket | Via::Session) | None => clean(name),
        },
        (ByKind::User, None) => "a person".to_owned(),
        (ByKind::AutoDecide, _) => "no one in time".to_owned(),
        (ByKind::System, _) => "adjourn".to_owned(),
    }
}

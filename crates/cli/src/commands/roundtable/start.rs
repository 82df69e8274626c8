//! `adjourn roundtable start`: opens a roundtable and stays with it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use adjourn_api::{GivenWorkflow, NewFacilitator, NewLimits, NewParticipant, NewRoundtable, NewWorkflow};
use adjourn_core::FieldError;
use adjourn_core::roundtable::Memory;
use anyhow::anyhow;
use clap::Args;

use super::ended::where_to_look;
use super::watch::watch;
use crate::client::{Client, Close, Refused, Role, new_key};
use crate::data::Global;
use crate::exit::{Exit, wrong_use};
use crate::output::{print, print_json};
use crate::result::GoesOn;
use crate::style::{self, styled};
use crate::tail::Tail;
use crate::text::clean;

/// Open a roundtable, and stay with it
///
/// Shows the rounds, asks where the table needs you, and prints the document that comes out to stdout.
#[derive(Debug, Args)]
pub(super) struct Start {
    /// What is discussed
    #[arg(value_name = "SUBJECT")]
    subject: String,

    /// What has to be settled, and by whom: specs, design, brainstorm, or a YAML file of your own [default: specs]
    #[arg(long, value_name = "NAME|FILE")]
    workflow: Option<String>,

    /// How it is discussed: standard, debate, disney, consensus-driven or six-hats [default: the workflow's]
    #[arg(long, value_name = "STRATEGY")]
    strategy: Option<String>,

    /// The engine of everybody, or, as ROLE=ENGINE, of one role; may be given several times [default: the first that is
    /// installed here]
    #[arg(long = "engine", value_name = "ENGINE|ROLE=ENGINE")]
    engines: Vec<String>,

    /// Rounds before it may end by itself [default: the workflow's]
    #[arg(long, value_name = "N")]
    min_rounds: Option<u32>,

    /// Rounds after which it ends [default: the workflow's]
    #[arg(long, value_name = "N")]
    max_rounds: Option<u32>,

    /// Whether the facilitator takes up its own conversation: resume or fresh [default: the workflow's]
    #[arg(long, value_name = "MEMORY")]
    facilitator_memory: Option<Memory>,

    /// The roles that take part, separated by commas [default: the workflow's]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    participants: Vec<String>,

    /// Pause after each round, and ask how to go on
    #[arg(long)]
    interactive: bool,

    /// A file with what everybody has to know beforehand
    #[arg(long, value_name = "FILE")]
    context: Option<PathBuf>,

    /// Print the roundtable's id and leave it to work in the background
    #[arg(long)]
    detach: bool,
}

impl Start {
    pub(super) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        let request = self.request()?;
        Client::dry_run_roundtable(global, &request).await.map_err(|error| self.complaint(error))?;
        let role = if self.detach { Role::Leaves } else { Role::Works };
        let mut client = Client::connect(global, role).await?;
        let opened = match client.open_roundtable(&request, &new_key()).await {
            Ok(opened) => opened,
            Err(error) => {
                client.close(Close::CutOff).await?;
                return Err(self.complaint(error));
            }
        };
        if let Some(notice) = &opened.notice {
            anstream::eprintln!("{} {}", styled(style::ODD, "note:"), clean(notice));
        }
        let table = opened.roundtable;
        if !self.detach {
            return watch(client, Tail::from_start(table)).await;
        }
        anstream::eprintln!("{}", where_to_look(global, table.roundtable_id, GoesOn::WithOwner));
        if global.json {
            print_json(&table)?;
        } else {
            print(&format!("{}\n", table.roundtable_id))?;
        }
        Ok(Exit::Left)
    }

    fn request(&self) -> anyhow::Result<NewRoundtable> {
        let (engine, engines) = self.engines()?;
        let participants = self.participants.iter().map(|role| NewParticipant::Role(role.trim().to_owned()));
        let limits =
            NewLimits { min_rounds: self.min_rounds, max_rounds: self.max_rounds, ..NewLimits::default() };
        let facilitator = |memory| NewFacilitator { engine: None, memory: Some(memory) };
        Ok(NewRoundtable {
            workflow: self.workflow.as_deref().map(workflow).transpose()?,
            strategy: self.strategy.clone(),
            engine,
            engines: Some(engines).filter(|engines| !engines.is_empty()),
            facilitator: self.facilitator_memory.map(facilitator),
            participants: Some(participants.collect()).filter(|all: &Vec<_>| !all.is_empty()),
            interactive: self.interactive.then_some(true),
            context: self.context.as_deref().map(|file| read("--context", file)).transpose()?,
            limits: Some(limits).filter(|limits| *limits != NewLimits::default()),
            ..NewRoundtable::new(&self.subject)
        })
    }
}

impl Start {
    /// The engine of everybody, and those of single roles.
    fn engines(&self) -> anyhow::Result<(Option<String>, BTreeMap<String, String>)> {
        let (mut of_all, mut of_roles) = (None, BTreeMap::new());
        for given in &self.engines {
            let twice = match given.split_once('=') {
                Some((role, engine)) => {
                    let before = of_roles.insert(role.trim().to_owned(), engine.trim().to_owned());
                    before.map(|_| format!("--engine: `{}` has two engines", role.trim()))
                }
                None => {
                    let before = of_all.replace(given.trim().to_owned());
                    before.map(|before| format!("--engine: both `{before}` and `{given}` are for everybody"))
                }
            };
            if let Some(twice) = twice {
                return Err(wrong_use(twice));
            }
        }
        Ok((of_all, of_roles))
    }
}

/// A workflow by its name, or the text of the user's own: what has a place or an ending is a file.
fn workflow(given: &str) -> anyhow::Result<NewWorkflow> {
    let file = Path::new(given);
    if !given.contains('/') && file.extension().is_none() && !file.is_file() {
        return Ok(NewWorkflow::Named(given.to_owned()));
    }
    let yaml = read("--workflow", file)?;
    Ok(NewWorkflow::Given(GivenWorkflow { yaml, file: Some(given.to_owned()) }))
}

fn read(option: &str, file: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(file)
        .map_err(|error| wrong_use(format!("{option}: {} cannot be read: {error}", file.display())))
}

impl Start {
    /// The error of a request that was refused, with the options that it came from.
    fn complaint(&self, error: anyhow::Error) -> anyhow::Error {
        match error.downcast_ref::<Refused>() {
            Some(refused) if refused.is_complaint() => {
                let lines = refused.errors.iter().map(|error| self.line(error));
                anyhow!("{}", lines.collect::<Vec<_>>().join("\n"))
            }
            Some(_) | None => error,
        }
    }

    /// What is wrong, by the option that says it. What no option says comes with the workflow.
    fn line(&self, error: &FieldError) -> String {
        let rounds = [("/limits/min_rounds", "--min-rounds"), ("/limits/max_rounds", "--max-rounds")];
        match rounds.iter().find(|(path, _)| *path == error.path) {
            Some((_, option)) if self.min_rounds.is_some() || self.max_rounds.is_some() => {
                format!("{option} {}", error.message)
            }
            Some(_) | None => line(error),
        }
    }
}

fn line(FieldError { path, message }: &FieldError) -> String {
    let (first, rest) =
        path.trim_start_matches('/').split_once('/').unwrap_or((path.trim_start_matches('/'), ""));
    match first {
        "subject" => format!("SUBJECT {message}"),
        "participants" => format!("--participants: {message}"),
        "workflow" | "strategy" | "engine" | "context" => format!("--{first}: {message}"),
        "engines" => format!("--engine {rest}=…: {message}"),
        "facilitator" if rest == "memory" => format!("--facilitator-memory: {message}"),
        "agenda" | "limits" if rest.is_empty() => format!("--workflow: {first} {message}"),
        "agenda" | "limits" => format!("--workflow: {first}/{rest} {message}"),
        _ => format!("{path}: {message}"),
    }
}

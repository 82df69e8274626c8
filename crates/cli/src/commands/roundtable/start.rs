//! `adjourn roundtable start`: opens a roundtable and stays with it.

use std::path::{Path, PathBuf};

use adjourn_core::FieldError;
use anyhow::anyhow;
use clap::Args;
use serde_json::{Map, Value, json};

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

    /// The engine of everybody [default: the first that is installed here]
    #[arg(long, value_name = "ENGINE")]
    engine: Option<String>,

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
        Client::rehearse_roundtable(global, &request).await.map_err(complaint)?;
        let role = if self.detach { Role::Leaves } else { Role::Works };
        let mut client = Client::connect(global, role).await?;
        let opened = match client.open_roundtable(request, &new_key()).await {
            Ok(opened) => opened,
            Err(error) => {
                client.close(Close::CutOff).await?;
                return Err(complaint(error));
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

    fn request(&self) -> anyhow::Result<Value> {
        let mut document = Map::from_iter([("subject".to_owned(), json!(self.subject))]);
        let mut set = |key: &str, value: Option<Value>| {
            document.extend(value.map(|value| (key.to_owned(), value)));
        };
        set("workflow", self.workflow.as_deref().map(workflow).transpose()?);
        set("strategy", self.strategy.as_ref().map(|strategy| json!(strategy)));
        set("engine", self.engine.as_ref().map(|engine| json!(engine)));
        let participants: Vec<_> = self.participants.iter().map(|role| role.trim()).collect();
        set("participants", (!participants.is_empty()).then(|| json!(participants)));
        set("interactive", self.interactive.then_some(json!(true)));
        let context = self.context.as_deref().map(|file| read("--context", file)).transpose()?;
        set("context", context.map(Value::from));
        Ok(document.into())
    }
}

/// A workflow by its name, or the text of the user's own: what has a place or an ending is a file.
fn workflow(given: &str) -> anyhow::Result<Value> {
    let file = Path::new(given);
    if !given.contains('/') && file.extension().is_none() && !file.is_file() {
        return Ok(json!(given));
    }
    Ok(json!({ "file": given, "yaml": read("--workflow", file)? }))
}

fn read(option: &str, file: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(file)
        .map_err(|error| wrong_use(format!("{option}: {} cannot be read: {error}", file.display())))
}

/// The error of a request that was refused, with the options that it came from.
fn complaint(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref::<Refused>() {
        Some(Refused { code, errors, .. }) if code == "INVALID" && !errors.is_empty() => {
            anyhow!("{}", errors.iter().map(line).collect::<Vec<_>>().join("\n"))
        }
        Some(_) | None => error,
    }
}

/// What is wrong, by the option that says it. Agenda and limits come with the workflow.
fn line(FieldError { path, message }: &FieldError) -> String {
    let (first, rest) =
        path.trim_start_matches('/').split_once('/').unwrap_or((path.trim_start_matches('/'), ""));
    match first {
        "subject" => format!("SUBJECT {message}"),
        "participants" => format!("--participants: {message}"),
        "workflow" | "strategy" | "engine" | "context" => format!("--{first}: {message}"),
        "agenda" | "limits" if rest.is_empty() => format!("--workflow: {first} {message}"),
        "agenda" | "limits" => format!("--workflow: {first}/{rest} {message}"),
        _ => format!("{path}: {message}"),
    }
}

//! `adjourn run`: starts a run and stays with it.

mod complaint;

use std::path::PathBuf;

use adjourn_core::{ExecutionMode, Profile};
use adjourn_runtime::request::{RunRequest, SkillRef};
use adjourn_runtime::workspace::Upload;
use anyhow::bail;
use clap::Args;
use serde_json::{Map, Value, json};

use self::complaint::complaint;
use crate::data::Global;
use crate::exit::{Exit, wrong_use};
use crate::stay::{Answers, stay};
use crate::style::{self, styled};
use crate::tail::Tail;

/// Start a run of a skill, and stay with it
///
/// Shows what the agent does, asks what it asks, and goes on. The result goes to stdout, everything else to stderr.
#[derive(Debug, Args)]
pub(super) struct RunCommand {
    /// The skill: its folder, or its name if it is in one of the configured folders
    #[arg(value_name = "SKILL", required_unless_present = "prompt")]
    skill: Option<String>,

    /// What to do, without a skill
    #[arg(long, value_name = "TEXT", conflicts_with = "skill")]
    prompt: Option<String>,

    /// The engine [default: the first of the skill's that is installed here]
    #[arg(long, value_name = "ENGINE")]
    engine: Option<String>,

    /// Whether the agent may ask: auto or interactive [default: the skill's]
    #[arg(long, value_name = "MODE")]
    mode: Option<ExecutionMode>,

    /// The input, as JSON or as @FILE
    #[arg(long, value_name = "JSON|@FILE")]
    input: Option<String>,

    /// A parameter; a value that is JSON is taken as such
    #[arg(long = "param", value_name = "K=V")]
    params: Vec<String>,

    /// What becomes of the agent's process while the run waits: resumable or sticky_process
    #[arg(long, value_name = "PROFILE")]
    profile: Option<Profile>,

    /// Let questions be decided without a person when their time is over
    #[arg(long)]
    no_strict: bool,

    /// How long a question waits
    #[arg(long, value_name = "SEC")]
    session_timeout: Option<u32>,

    /// How many attempts an interactive run has
    #[arg(long, value_name = "N")]
    max_attempt: Option<u32>,

    /// How long one turn of the agent may take
    #[arg(long, value_name = "SEC")]
    hard_timeout: Option<u32>,

    /// Who goes first in the queue: higher does
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    priority: Option<i32>,

    /// Something to find the run by
    #[arg(long = "label", value_name = "K=V")]
    labels: Vec<String>,

    /// A file that the agent gets
    #[arg(long = "file", value_name = "NAME=PATH")]
    files: Vec<String>,

    /// A folder to work in, which is never removed [default: a new one]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// An answer to a question, given beforehand; several are used in order
    #[arg(long = "answer", value_name = "TEXT")]
    answers: Vec<String>,

    /// Record what the agent does into a file, to be played again
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Leave the run to work by itself (not yet: it comes with the server)
    #[arg(long, hide = true)]
    detach: bool,
}

impl RunCommand {
    pub(super) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        if self.detach {
            bail!("there is nobody to leave the run to: --detach comes with the server");
        }
        let request = self.request()?;
        let (service, _threads) = global.service()?;
        let created = service.create(request, None, self.record).await.map_err(complaint)?;
        if let Some(notice) = created.notice {
            anstream::eprintln!("{} {notice}", styled(style::ODD, "note:"));
        }
        let run_id = created.run.id();
        anstream::eprintln!("{}  on {}", styled(style::BOLD, run_id), created.run.spec().engine);
        let tail = Tail::new(service.store().as_ref(), run_id);
        stay(global, &service, run_id, tail, Answers::new(self.answers)).await
    }

    fn request(&self) -> anyhow::Result<RunRequest> {
        let mut options = Map::new();
        let mut set = |key: &str, value: Option<Value>| {
            options.extend(value.map(|value| (key.to_owned(), value)));
        };
        set("interactive_require_user_reply", self.no_strict.then_some(json!(false)));
        set("session_timeout_sec", self.session_timeout.map(Value::from));
        set("interactive_profile", self.profile.map(|profile| json!({ "kind": profile })));
        set("max_attempt", self.max_attempt.map(Value::from));
        set("hard_timeout_sec", self.hard_timeout.map(Value::from));
        set("priority", self.priority.map(Value::from));
        let parameter = pairs("--param", &self.params)?.map(|(name, value)| {
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
            (name.to_owned(), value)
        });
        let parameter: Map<_, _> = parameter.collect();
        let labels = pairs("--label", &self.labels)?.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let files = pairs("--file", &self.files)?
            .map(|(name, path)| Upload { name: name.to_owned(), from: PathBuf::from(path) });
        Ok(RunRequest {
            skill: self.skill.as_deref().map(SkillRef::typed),
            prompt: self.prompt.clone(),
            engine: self.engine.clone(),
            execution_mode: self.mode.map(|mode| mode.to_string()),
            input: self.input.as_deref().map_or(Ok(Value::Null), |given| json_or_file("--input", given))?,
            parameter: if parameter.is_empty() { Value::Null } else { Value::Object(parameter) },
            options: if options.is_empty() { Value::Null } else { Value::Object(options) },
            labels: labels.collect(),
            continues: None,
            files: existing(files.collect())?,
            workspace: self.workspace.clone(),
        })
    }
}

/// Both sides of each `K=V`.
fn pairs<'a>(
    option: &str,
    given: &'a [String],
) -> anyhow::Result<impl Iterator<Item = (&'a str, &'a str)> + use<'a>> {
    if let Some(wrong) = given.iter().find(|pair| !pair.contains('=')) {
        return Err(wrong_use(format!(
            "{option} {wrong}: it should be a name and a value, as in {option} name=value"
        )));
    }
    Ok(given.iter().filter_map(|pair| pair.split_once('=')))
}

/// The value that is given as JSON, or in a file.
fn json_or_file(option: &str, given: &str) -> anyhow::Result<Value> {
    let (text, place) = match given.strip_prefix('@') {
        None => (given.to_owned(), option.to_owned()),
        Some(file) => {
            let text = std::fs::read_to_string(file)
                .map_err(|error| wrong_use(format!("{option}: {file} cannot be read: {error}")))?;
            (text, format!("{option}: {file}"))
        }
    };
    serde_json::from_str(&text).map_err(|error| {
        let hint = if given.starts_with(['{', '[', '@']) { "" } else { "; a file is given as @FILE" };
        wrong_use(format!("{place} is not JSON: {error}{hint}"))
    })
}

/// The files, if each of them is one.
fn existing(files: Vec<Upload>) -> anyhow::Result<Vec<Upload>> {
    for Upload { name, from } in &files {
        let problem = match std::fs::metadata(from) {
            Ok(found) if found.is_file() => continue,
            Ok(_) => "is not a file".to_owned(),
            Err(error) => format!("cannot be read: {error}"),
        };
        return Err(wrong_use(format!("--file {name}: {} {problem}", from.display())));
    }
    Ok(files)
}

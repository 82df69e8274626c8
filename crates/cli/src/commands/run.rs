//! `adjourn run`: starts a run and stays with it.

mod complaint;

mod request;

use std::path::PathBuf;

use adjourn_api::{Code, CreatedView};
use adjourn_core::{ExecutionMode, Profile};
use clap::Args;

use self::complaint::complaint;
use self::request::Request;
use crate::attach::{Answers, stay};
use crate::client::{Client, Close, Refused, Role, new_key};
use crate::data::Global;
use crate::exit::Exit;
use crate::output::{print, print_json};
use crate::result::{GoesOn, who_goes_on};
use crate::style::{self, styled};
use crate::tail::Tail;
use crate::text::clean;

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

    /// How often an output that breaks its schema is sent back within one attempt
    #[arg(long, value_name = "N")]
    repair_limit: Option<u32>,

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

    /// Print the run's id and leave it to work in the background
    #[arg(long, conflicts_with = "answers")]
    detach: bool,
}

impl RunCommand {
    pub(super) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        let mut request = self.request(global)?;
        if let Err(error) = Client::dry_run(global, &request.document).await {
            let Some(played) = self.played(&request, &error) else { return Err(complaint(error)) };
            if Client::dry_run(global, &played.document).await.is_err() {
                return Err(complaint(error));
            }
            request = played;
        }
        let role = if self.detach { Role::Leaves } else { Role::Works };
        let mut client = Client::connect(global, role).await?;
        let created = match self.create(&mut client, request).await {
            Ok(created) => created,
            Err(error) => {
                client.close(Close::CutOff).await?;
                return Err(complaint(error));
            }
        };
        if let Some(notice) = &created.notice {
            anstream::eprintln!("{} {}", styled(style::ODD, "note:"), clean(notice));
        }
        if self.detach {
            return leave(global, &created);
        }
        let run = created.run;
        anstream::eprintln!("{}  on {}", styled(style::BOLD, run.run_id), clean(&run.engine));
        stay(client, Tail::from_start(run), Answers::new(self.answers)).await
    }
}

impl RunCommand {
    async fn create(&self, client: &mut Client<'_>, request: Request) -> anyhow::Result<CreatedView> {
        let Request { document, files } = request.clone();
        let error = match client.create(document, files, &new_key()).await {
            Ok(created) => return Ok(created),
            Err(error) => error,
        };
        let Some(Request { document, files }) = self.played(&request, &error) else { return Err(error) };
        // Where that is refused too, the skill has no recording, and the first error says what to do.
        client.create(document, files, &new_key()).await.map_err(|_| error)
    }

    /// The request for the skill's recording. Only for somebody who wants to see the skill and has no agent: what was asked
    /// with an input is not answered by a recording of something else.
    fn played(&self, request: &Request, error: &anyhow::Error) -> Option<Request> {
        let no_engine =
            error.downcast_ref::<Refused>().is_some_and(|it| it.code == Some(Code::EngineNotFound));
        let asks_nothing = self.input.is_none() && self.params.is_empty() && self.files.is_empty();
        let mut played = request.clone();
        played.document["engine"] = "replay".into();
        (no_engine && asks_nothing && self.skill.is_some()).then_some(played)
    }
}

fn leave(global: &Global, created: &CreatedView) -> anyhow::Result<Exit> {
    let run = &created.run;
    anstream::eprintln!("{}", who_goes_on(global, run, GoesOn::WithOwner));
    if global.json {
        print_json(run)?;
    } else {
        print(&format!("{}\n", run.run_id))?;
    }
    Ok(Exit::Left)
}

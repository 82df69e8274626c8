//! Records the runs that the skills of this repository carry, and the roundtable that is built in: `cargo xtask recordings
//! [NAME]…` calls it.
//!
//! Each is a run of a real agent through the real service, with a model that says what is written in
//! `xtask/recordings/SKILL.json`. So what a recording shows is what that agent showed, and nobody edits one.

mod history;
mod play;
mod table;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use adjourn_core::{By, Run, RunId, RunStatus, StreamId};
use adjourn_engine::secrets::Secret;
use adjourn_engine::supervisor::{self, Supervisor};
use adjourn_kernel::SystemClock;
use adjourn_runtime::config::{Config, EngineConfig, How};
use adjourn_runtime::request::{RunRequest, SkillRef};
use adjourn_runtime::{ReplyRequest, Service};
use adjourn_testkit::agents;
use adjourn_testkit::model::{ModelServer, Outcome};
use serde_json::Value;

use play::Play;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1).peekable();
    // The agents are started under this very program.
    if args.peek().is_some_and(|arg| arg == supervisor::SUBCOMMAND) {
        return supervisor::main();
    }
    match record_all(args.map(|arg| arg.to_string_lossy().into_owned()).collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[tokio::main]
async fn record_all(mut names: Vec<String>) -> Result<()> {
    if names.is_empty() {
        names = play::names()?;
    }
    for name in names {
        let recorded = if name == table::NAME { table::record().await } else { record(&name).await };
        let recorded = recorded.map_err(|error| format!("{name}: {error}"))?;
        println!("{}", recorded.display());
    }
    Ok(())
}

/// Records the run of one skill, and gives back where the recording is.
async fn record(name: &str) -> Result<PathBuf> {
    let play = Play::load(name)?;
    let (skill, folder) = (play::repository().join("skills").join(name), tempfile::tempdir()?);
    let [home, data, work] = ["home", "data", "work"].map(|name| folder.path().join(name));
    fs::create_dir(&home)?;
    let server = ModelServer::start(play.script.clone())?;
    let config = config(&play, &home, &server.url())?;
    let workspace = history::make(&play.history, &work)?;
    let recording = folder.path().join("recording.jsonl");

    let (service, threads) =
        Service::open_with(&data, config, Supervisor::current_exe()?, Arc::new(SystemClock))?;
    let request = RunRequest {
        skill: Some(SkillRef::At(skill.clone())),
        engine: Some(play.engine.clone()),
        input: play::example_input(&skill)?,
        workspace,
        ..RunRequest::default()
    };
    let run_id = service.create(request, None, Some(recording.clone())).await?.run.id();
    let run = to_its_end(&service, run_id, play.answers).await?;
    drop(service);
    threads.join();

    if run.status() != RunStatus::Succeeded {
        return Err(format!("the run is {}: {:?}", run.status(), run.error()).into());
    }
    let refused = server.outcomes().into_iter().find(|outcome| matches!(outcome, Outcome::Refused(_)));
    if let Some(refused) = refused {
        return Err(format!("the model was asked what it has no answer to: {refused:?}").into());
    }
    let target = skill.join("assets/recording.jsonl");
    fs::copy(recording, &target)?;
    Ok(target)
}

/// The configuration in which the agent of the play talks to the model at `url`.
fn config(play: &Play, home: &Path, url: &str) -> Result<Config> {
    let program = agents::binary(&play.engine)
        .ok_or_else(|| format!("{0} is not installed: `cargo xtask agents {0}`", play.engine))?;
    let mut engine = EngineConfig::built_in(&play.engine).ok_or("there is no such engine")?;
    if let How::Exec { command, .. } = &mut engine.how {
        *command = vec![program.display().to_string()];
    }
    let environment = agents::point(&play.engine, home, url)?;
    engine.env.extend(environment.into_iter().map(|(name, value)| (name, Secret::new(value))));
    Ok(Config { engines: BTreeMap::from([(play.engine.clone(), engine)]), ..Config::default() })
}

/// Answers one question after the other until the run has ended.
async fn to_its_end(service: &Service, run_id: RunId, answers: Vec<Value>) -> Result<Run> {
    let mut answers = answers.into_iter();
    let mut changes = service.store().watch_stream(StreamId::Run(run_id));
    loop {
        changes.mark_unchanged();
        let run = service.run(run_id)?;
        match run.status() {
            RunStatus::Queued | RunStatus::Running => changes.changed().await?,
            RunStatus::WaitingUser => {
                let question = run.open_interactions().next().ok_or("it waits for nothing")?;
                eprintln!("  {} ({})", question.question.prompt, question.question.kind);
                let response = answers.next().ok_or("the play has no answer to this")?;
                let (interaction_id, key) = (Some(question.interaction_id), None);
                let reply = ReplyRequest { interaction_id, response, action: None, by: By::USER, key };
                service.reply(run_id, reply).await?;
            }
            RunStatus::Succeeded | RunStatus::Failed | RunStatus::Canceled => return Ok(run),
        }
    }
}

//! The acp engine with the scripted agent of the test kit: a real process that speaks the real protocol.

mod bad;
mod permissions;
mod serving;
mod staying;
mod talking;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use adjourn_core::{ErrorCode, Observation, RunError};
use adjourn_engine::{AcpConfig, AcpEngine, Engine, Finished, Gateway, Seen, Turn};
use adjourn_testkit::acp::{Act, Behaviour, Mcp, Script, TakesUp};

use crate::agent::{Stage, supervisor};
use crate::turns::{Going, turn};

/// An agent that does these things, one list for each prompt.
pub(crate) fn script(stage: &Stage, prompts: Vec<Vec<Act>>) -> Script {
    Script {
        sessions: stage.path().join("sessions"),
        takes_up: TakesUp::Resume,
        behaviour: Behaviour::Prompts(prompts),
        modes: Vec::new(),
        models: Vec::new(),
        mcp: Mcp::Http,
    }
}

/// The configuration of an agent with this script.
pub(crate) fn config(stage: &Stage, script: &Script) -> AcpConfig {
    let file = stage.path().join("script.json");
    fs::write(&file, serde_json::to_vec(script).unwrap()).unwrap();
    let mut config = AcpConfig::new(vec![program().display().to_string(), file.display().to_string()]);
    config.env.extend([stage.mark()]);
    config
}

/// Cargo builds examples with the tests, and puts them here.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join("examples/engine_acp_agent")
}

fn engine(stage: &Stage, script: &Script) -> Arc<dyn Engine> {
    Arc::new(AcpEngine::new(config(stage, script), supervisor(), Gateway::new()))
}

/// Plays the first turn of an agent that does these things.
async fn play(stage: &Stage, acts: Vec<Act>) -> (Vec<Seen>, Finished) {
    let engine = engine(stage, &script(stage, vec![acts]));
    Going::start(engine, turn(stage, "do it")).until_it_ends().await
}

pub(crate) fn say(text: &str) -> Act {
    Act::Say(text.to_owned())
}

fn completed(text: &str) -> Finished {
    Finished::Completed { text: text.to_owned() }
}

pub(crate) fn failure(finished: Finished) -> (ErrorCode, String) {
    match finished {
        Finished::Failed(RunError { code, message }) => (code, message),
        other => panic!("it did not fail: {other:?}"),
    }
}

fn facts(seen: &[Seen]) -> Vec<&Observation> {
    seen.iter()
        .filter_map(|seen| match seen {
            Seen::Fact(fact) => Some(fact),
            Seen::Delta(_) => None,
        })
        .collect()
}

pub(crate) fn handle(seen: &[Seen]) -> Option<String> {
    facts(seen).into_iter().find_map(|fact| match fact {
        Observation::Handle(handle) => Some(handle.clone()),
        _ => None,
    })
}

pub(crate) fn process(seen: &[Seen]) -> adjourn_core::Process {
    let found = facts(seen).into_iter().find_map(|fact| match fact {
        Observation::Process(process) => Some(*process),
        _ => None,
    });
    found.expect("a process is shown")
}

/// The next turn of the conversation that left `seen`.
fn next_turn(stage: &Stage, seen: &[Seen], prompt: &str) -> Turn {
    Turn { handle: handle(seen), attempt: 2, ..turn(stage, prompt) }
}

//! The real agents that speak ACP through the service, each with the scripted model.

use std::collections::BTreeMap;
use std::path::Path;

use adjourn_core::{Event, Observation, Profile, Record, Run, RunStatus};
use adjourn_engine::Probe;
use adjourn_runtime::config::{EngineConfig, How, Permission, SandboxConfig};
use adjourn_store::After;
use adjourn_testkit::agents::{self, ACP, Acp};
use adjourn_testkit::model::{ModelServer, Outcome, Reply, Script};
use serde_json::json;

use crate::agents::{DONE, Props, QUESTION, last_prompt, story};

pub(crate) fn acp(agent: &str) -> &'static Acp {
    ACP.iter().find(|acp| acp.agent == agent).expect("it speaks ACP")
}

pub(crate) fn engine(program: &Path, acp: &Acp, profile: Profile) -> EngineConfig {
    let args = acp.args.iter().map(|arg| (*arg).to_owned());
    EngineConfig {
        how: How::Acp {
            command: [program.display().to_string()].into_iter().chain(args).collect(),
            permissions: Vec::new(),
            serves: Vec::new(),
            model: None,
        },
        profile: Some(profile),
        permission: Permission::Workspace,
        env: BTreeMap::new(),
        pass_env: Vec::new(),
        sandbox: SandboxConfig::default(),
    }
}

/// What became of a run that asks once.
struct Told {
    waiting: Run,
    /// The agent's processes while the run waited.
    staying: Vec<String>,
    done: Run,
    /// How many processes the journal knows of.
    processes: usize,
    story: Vec<String>,
}

/// A run that asks, waits, and goes on with its answer. None where the agent is not installed.
async fn asks_and_goes_on(agent: &str, profile: Profile) -> Option<Told> {
    let acp = acp(agent);
    let program = agents::binary_for_test(agent)?;
    let server = ModelServer::start(Script::new([Reply::text(QUESTION), Reply::text(DONE)])).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let props = Props::new(acp.like, folder.path());
    let stage = props.open_engine(engine(&program, acp, profile), &server.url());

    let run_id = stage.create(props.request()).await;
    let waiting = stage.settled_in_time(run_id).await;
    assert_eq!(waiting.status(), RunStatus::WaitingUser, "{:?}", waiting.error());
    let question = &waiting.open_interactions().next().unwrap().question;
    assert_eq!(question.prompt, "Which colour?");
    let staying = props.processes();

    stage.answer(run_id, json!("blue")).await;
    let done = stage.settled_in_time(run_id).await;
    assert_eq!((done.status(), done.error()), (RunStatus::Succeeded, None));
    assert_eq!(done.result(), Some(&json!({"colour": "blue"})));
    assert_eq!(server.outcomes(), [Outcome::Reply(0), Outcome::Reply(1)], "it is one conversation");
    assert!(last_prompt(&server).contains("Which colour?"), "the question is told with its answer");
    assert_eq!(props.processes(), [""; 0]);
    let story = story(&stage.frames(run_id));
    let entries = stage.service.store().read(run_id.into(), After::START, usize::MAX).unwrap();
    let events = entries.iter().flat_map(|entry| Record::of(entry).unwrap().events);
    let processes = events.filter(|event| matches!(event, Event::Observed(Observation::Process(_)))).count();
    stage.close().await;
    Some(Told { waiting, staying, done, processes, story })
}

async fn waits_without_a_process(agent: &str) {
    let Some(told) = asks_and_goes_on(agent, Profile::Resumable).await else { return };
    assert_eq!((told.waiting.holds_slot(), told.staying), (false, vec![]), "nothing is held meanwhile");
    assert_eq!(told.processes, 2, "each turn has its own");
    assert_eq!(told.done.handle(), told.waiting.handle(), "it is the same conversation");
    let messages = told.story.iter().filter(|line| *line == "assistant.message.final").count();
    assert_eq!(messages, 2, "nothing is told twice: {:#?}", told.story);
}

async fn goes_on_in_its_process(agent: &str) {
    let Some(told) = asks_and_goes_on(agent, Profile::StickyProcess).await else { return };
    assert!(told.waiting.holds_slot() && !told.staying.is_empty());
    assert_eq!((told.done.profile(), told.processes), (Profile::StickyProcess, 1), "it is the same process");
}

#[tokio::test]
async fn ip_03_claude_agent_acp_waits_without_a_process_and_goes_on_in_a_new_one() {
    waits_without_a_process("claude-agent-acp").await;
}

#[tokio::test]
async fn ip_03_codex_acp_waits_without_a_process_and_goes_on_in_a_new_one() {
    waits_without_a_process("codex-acp").await;
}

#[tokio::test]
async fn ip_03_opencode_waits_without_a_process_and_goes_on_in_a_new_one() {
    waits_without_a_process("opencode").await;
}

#[tokio::test]
async fn ip_05_claude_agent_acp_goes_on_in_the_same_process() {
    goes_on_in_its_process("claude-agent-acp").await;
}

#[tokio::test]
async fn ip_05_codex_acp_goes_on_in_the_same_process() {
    goes_on_in_its_process("codex-acp").await;
}

#[tokio::test]
async fn ip_05_gemini_goes_on_in_the_same_process() {
    goes_on_in_its_process("gemini").await;
}

#[tokio::test]
async fn ip_05_opencode_goes_on_in_the_same_process() {
    goes_on_in_its_process("opencode").await;
}

/// The same skill, unchanged, through the command line of an agent and through ACP.
async fn is_the_same_both_ways(exec: &str, acp: &str) {
    let Some(program) = agents::binary_for_test(exec) else { return };
    let Some(spoken) = asks_and_goes_on(acp, Profile::Resumable).await else { return };
    let server = ModelServer::start(Script::new([Reply::text(QUESTION), Reply::text(DONE)])).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let props = Props::new(exec, folder.path());
    let stage = props.open(&program, &server.url());
    let run_id = stage.create(props.request()).await;
    stage.settled_in_time(run_id).await;
    stage.answer(run_id, json!("blue")).await;
    let called = stage.settled_in_time(run_id).await;
    assert_eq!(called.result(), spoken.done.result());
    assert_eq!(story(&stage.frames(run_id)), spoken.story);
    stage.close().await;
}

#[tokio::test]
async fn ip_02_a_skill_gives_the_same_through_codex_exec_and_codex_acp() {
    is_the_same_both_ways("codex", "codex-acp").await;
}

#[tokio::test]
async fn ip_02_a_skill_gives_the_same_through_claude_and_claude_agent_acp() {
    is_the_same_both_ways("claude", "claude-agent-acp").await;
}

#[tokio::test]
async fn ip_02_a_skill_gives_the_same_through_opencode_run_and_opencode_acp() {
    is_the_same_both_ways("opencode", "opencode").await;
}

/// What the agent turns out to be able to do, without a model.
async fn profile_of(agent: &str) -> Option<Profile> {
    let acp = acp(agent);
    let program = agents::binary_for_test(agent)?;
    let folder = tempfile::tempdir().unwrap();
    let props = Props::new(acp.like, folder.path());
    let stage = props.open_engine(engine(&program, acp, Profile::Resumable), "http://127.0.0.1:9");
    let found = stage.service.turn_setup().engine(&props.agent).unwrap().probe().await;
    stage.close().await;
    match found {
        Probe::Ready { profile, .. } => Some(profile.profile),
        Probe::Unusable { problem } => panic!("{problem}"),
    }
}

#[tokio::test]
async fn each_agent_is_found_out_to_have_its_profile() {
    for (agent, expected) in [
        ("claude-agent-acp", Profile::Resumable),
        ("codex-acp", Profile::Resumable),
        ("opencode", Profile::Resumable),
        // It says that it can load a conversation, and finds none that it had.
        ("gemini", Profile::StickyProcess),
    ] {
        if let Some(profile) = profile_of(agent).await {
            assert_eq!(profile, expected, "{agent}");
        }
    }
}

//! The whole service is killed while a real agent is in the middle of its second turn, or has only just begun its first.

use std::env;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use adjourn_core::{RunId, RunStatus, StreamId};
use adjourn_runtime::prompt::GO_ON;
use adjourn_testkit::agents;
use adjourn_testkit::model::{Fault, ModelServer, Outcome, Reply, Script};
use serde_json::json;

use crate::agents::{DONE, Props, QUESTION, last_prompt};
use crate::skill_stage::{PATIENCE, Stage};

const AGENT: &str = "ADJOURN_TEST_AGENT";
const FOLDER: &str = "ADJOURN_TEST_FOLDER";
const MODEL: &str = "ADJOURN_TEST_MODEL";

/// What the child prints before the id of its run.
const CREATED: &str = "created ";

/// What a child prints when its agent has named its conversation.
const NAMED: &str = "named";

/// A process that is killed at the latest when the test fails.
struct Mortal(Child);

impl Mortal {
    fn kill(&mut self) {
        // It may have ended before.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Mortal {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A service in a process of its own, with a run of this agent. Gives the lines that it prints.
fn start_child(
    test: &str,
    agent: &str,
    model: &str,
    folder: &Path,
) -> (Mortal, RunId, impl Iterator<Item = String> + use<>) {
    let child = Command::new(env::current_exe().unwrap())
        .args(["--ignored", "--exact", test, "--nocapture"])
        .envs([(AGENT, agent), (MODEL, model)])
        .env(FOLDER, folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = Mortal(child.unwrap());
    let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines().map_while(Result::ok);
    let run_id = lines.find_map(|line| line.strip_prefix(CREATED).map(ToOwned::to_owned));
    let run_id = run_id.expect("the child has a run").parse().unwrap();
    (child, run_id, lines)
}

/// Kills the service, and returns when its agent is gone too.
async fn kill_with_agent(mut child: Mortal, props: &Props) {
    child.kill();
    let killed = Instant::now();
    while !props.processes().is_empty() {
        assert!(killed.elapsed() < Duration::from_secs(10), "the agent outlived its service");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn is_taken_up_again(agent: &str) {
    let Some(program) = agents::binary_for_test(agent) else { return };
    // Half of the second answer, then nothing more; after the restart, all of it.
    let second = Reply::text(DONE).after(Fault::Stall, 1);
    let server = ModelServer::start(Script::new([Reply::text(QUESTION), second])).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let props = Props::new(agent, folder.path());

    let (child, run_id, _lines) =
        start_child("killed::child_with_a_service", agent, &server.url(), folder.path());
    let stalled = server.wait_for(|asked| asked.outcome == Outcome::Reply(1), PATIENCE);
    assert!(stalled.is_some(), "the second turn never came to the model");
    assert!(!props.processes().is_empty());
    kill_with_agent(child, &props).await;

    let stage = props.open(&program, &server.url());
    let done = stage.settled_in_time(run_id).await;
    assert_eq!((done.status(), done.error()), (RunStatus::Succeeded, None));
    assert_eq!(done.result(), Some(&json!({"colour": "blue"})));
    assert_eq!((done.attempt_number(), done.restarts()), (2, 1));
    assert_eq!(server.outcomes(), [Outcome::Reply(0), Outcome::Reply(1), Outcome::Reply(1)]);
    let told = last_prompt(&server);
    assert!(told.contains(&GO_ON[..40]), "it is told to go on: {told}");
    assert_eq!(told.matches("Paint the shed. Ask for the colour.").count(), 1, "and not told the task again");
    stage.close().await;
}

#[tokio::test]
#[ignore = "a process that another test starts"]
async fn child_with_a_service() {
    let given = |name| env::var(name).ok();
    let (Some(agent), Some(folder), Some(url)) = (given(AGENT), given(FOLDER), given(MODEL)) else { return };
    let props = Props::new(&agent, &PathBuf::from(folder));
    let stage = props.open(&agents::binary(&agent).unwrap(), &url);
    let run_id = stage.create(props.request()).await;
    println!("\n{CREATED}{run_id}");
    stage.settled(run_id).await;
    stage.answer(run_id, json!("blue")).await;
    // Until it is killed.
    stage.settled(run_id).await;
}

#[tokio::test]
async fn claude_is_taken_up_again_after_the_service_was_killed() {
    is_taken_up_again("claude").await;
}

#[tokio::test]
async fn codex_is_taken_up_again_after_the_service_was_killed() {
    is_taken_up_again("codex").await;
}

#[tokio::test]
async fn gemini_is_taken_up_again_after_the_service_was_killed() {
    is_taken_up_again("gemini").await;
}

#[tokio::test]
async fn opencode_is_taken_up_again_after_the_service_was_killed() {
    is_taken_up_again("opencode").await;
}

/// Killed as soon as it has named its conversation, the agent may not have kept its task. Not for opencode, which names its
/// conversation only when its model has begun to answer.
async fn knows_its_task_after_an_early_end(agent: &str) {
    let Some(program) = agents::binary_for_test(agent) else { return };
    // Connections are taken by the kernel and never answered, so nothing comes of the first turn.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let props = Props::new(agent, folder.path());
    let (child, run_id, mut lines) =
        start_child("killed::child_that_waits_for_a_name", agent, &url, folder.path());
    assert!(lines.any(|line| line == NAMED), "the agent never named its conversation");
    kill_with_agent(child, &props).await;

    let server = ModelServer::start(Script::new([Reply::text(DONE)])).unwrap();
    let stage = props.open(&program, &server.url());
    let done = stage.settled_in_time(run_id).await;
    assert_eq!((done.status(), done.error()), (RunStatus::Succeeded, None));
    assert_eq!((done.attempt_number(), done.restarts()), (1, 1));
    let told = last_prompt(&server);
    let task = "Paint the shed. Ask for the colour.";
    let times = told.matches(task).count();
    eprintln!("{agent} was told its task {times} times in one conversation");
    assert!((1..=2).contains(&times), "{told}");
    assert!(told.contains(&GO_ON[..40]), "{told}");
    stage.close().await;
}

#[tokio::test]
#[ignore = "a process that another test starts"]
async fn child_that_waits_for_a_name() {
    let given = |name| env::var(name).ok();
    let (Some(agent), Some(folder), Some(url)) = (given(AGENT), given(FOLDER), given(MODEL)) else { return };
    let props = Props::new(&agent, &PathBuf::from(folder));
    let stage = props.open(&agents::binary(&agent).unwrap(), &url);
    let run_id = stage.create(props.request()).await;
    println!("\n{CREATED}{run_id}");
    tokio::time::timeout(PATIENCE, named(&stage, run_id)).await.expect("it never names its conversation");
    println!("\n{NAMED}");
    // Until it is killed.
    stage.settled(run_id).await;
}

async fn named(stage: &Stage, run_id: RunId) {
    let mut changes = stage.service.store().watch_stream(StreamId::Run(run_id));
    while stage.service.run(run_id).unwrap().handle().is_none() {
        changes.changed().await.unwrap();
    }
}

#[tokio::test]
async fn claude_knows_its_task_after_it_was_killed_at_its_first_word() {
    knows_its_task_after_an_early_end("claude").await;
}

#[tokio::test]
async fn codex_knows_its_task_after_it_was_killed_at_its_first_word() {
    knows_its_task_after_an_early_end("codex").await;
}

#[tokio::test]
async fn gemini_knows_its_task_after_it_was_killed_at_its_first_word() {
    knows_its_task_after_an_early_end("gemini").await;
}

//! Processes that stay between turns.

use std::time::Duration;

use adjourn_core::{ErrorCode, Profile, RunId};
use adjourn_engine::{Engine, Finished, Seen, Turn};
use adjourn_testkit::acp::{Act, Script, TakesUp};
use rustix::process::{Pid, Signal, kill_process};

use super::{completed, engine, failure, handle, process, say, script};
use crate::agent::{PATIENCE, Stage, until};
use crate::turns::{Going, turn};

fn sticky(stage: &Stage) -> Turn {
    Turn { profile: Profile::StickyProcess, ..turn(stage, "go") }
}

/// The turn after the one that showed `seen`.
fn next(stage: &Stage, seen: &[Seen]) -> Turn {
    Turn { process: Some(process(seen)), handle: handle(seen), attempt: 2, ..sticky(stage) }
}

/// The end of a process is noticed, or the test fails.
async fn is_gone(engine: &dyn Engine, run_id: RunId) {
    tokio::time::timeout(PATIENCE, engine.gone(run_id)).await.expect("its end is noticed");
}

/// Kills the agent, by the number that it has outside of its sandbox.
fn kill_agent(stage: &Stage) {
    for pid in stage.processes() {
        kill_process(Pid::from_raw(pid.try_into().unwrap()).unwrap(), Signal::KILL).unwrap();
    }
}

fn text(finished: Finished) -> String {
    match finished {
        Finished::Completed { text } => text,
        other => panic!("it is not done: {other:?}"),
    }
}

#[tokio::test]
async fn the_same_process_serves_the_next_turn_and_is_gone_when_it_is_ended() {
    let stage = Stage::new();
    let engine = engine(&stage, &script(&stage, vec![vec![Act::SayPid]]));
    let (first, finished) = Going::start(engine.clone(), sticky(&stage)).until_it_ends().await;
    let pid = text(finished);
    assert!(!stage.processes().is_empty());
    let (second, finished) = Going::start(engine.clone(), next(&stage, &first)).until_it_ends().await;
    assert_eq!(text(finished), pid);
    assert!(handle(&second).is_none(), "nothing new is told of it");
    let log = stage.path().join("logs/attempt-2.stdout");
    assert!(std::fs::read_to_string(log).unwrap().contains(&pid[..1]), "each attempt has its own log");
    let run_id = turn(&stage, "").run_id;
    engine.end(run_id).await;
    assert_eq!(stage.processes(), [0; 0]);
    is_gone(&*engine, run_id).await;
}

#[tokio::test]
async fn one_that_dies_while_nobody_talks_to_it_is_noticed() {
    let stage = Stage::new();
    let engine = engine(&stage, &script(&stage, vec![vec![Act::SayPid]]));
    let (first, finished) = Going::start(engine.clone(), sticky(&stage)).until_it_ends().await;
    assert!(matches!(finished, Finished::Completed { .. }));
    let run_id = turn(&stage, "").run_id;
    let still_there = tokio::time::timeout(Duration::from_millis(50), engine.gone(run_id)).await;
    assert!(still_there.is_err());
    kill_agent(&stage);
    is_gone(&*engine, run_id).await;
    assert_eq!(stage.processes(), [0; 0]);
    let (_, finished) = Going::start(engine.clone(), next(&stage, &first)).until_it_ends().await;
    assert!(matches!(finished, Finished::Completed { .. }), "a new one took up the conversation");
    engine.end(run_id).await;
}

#[tokio::test]
async fn one_that_dies_and_cannot_be_loaded_again_is_lost() {
    let stage = Stage::new();
    let script = Script { takes_up: TakesUp::Never, ..script(&stage, vec![vec![Act::SayPid]]) };
    let engine = engine(&stage, &script);
    let (first, _) = Going::start(engine.clone(), sticky(&stage)).until_it_ends().await;
    kill_agent(&stage);
    is_gone(&*engine, turn(&stage, "").run_id).await;
    let (code, _) = failure(Going::start(engine, next(&stage, &first)).until_it_ends().await.1);
    assert_eq!(code, ErrorCode::InteractionProcessLost);
}

#[tokio::test]
async fn one_whose_engine_is_dropped_ends_with_its_children() {
    let stage = Stage::new();
    let engine = engine(&stage, &script(&stage, vec![vec![Act::Fork, say("forked")]]));
    let (_, finished) = Going::start(engine.clone(), sticky(&stage)).until_it_ends().await;
    assert_eq!(finished, completed("forked"));
    until(|| stage.path().join("forked").exists().then_some(())).await;
    drop(engine);
    until(|| stage.processes().is_empty().then_some(())).await;
}

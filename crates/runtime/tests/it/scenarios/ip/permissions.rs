//! Permissions that an agent asks for, through the whole service.

use adjourn_core::{FrameType, InteractionStatus, RunStatus, Source};
use adjourn_testkit::acp::{Act, Asks, TakesUp};
use serde_json::json;

use super::{RESUMABLE, STICKY, agents, finish, options, stage};
use crate::stage::{Actor, Stage};

fn asks(titles: &[&str]) -> Act {
    let one = |title: &&str| Asks {
        title: (*title).to_owned(),
        kind: "execute".to_owned(),
        input: json!({ "command": title }),
        path: None,
    };
    Act::Ask(titles.iter().map(one).collect())
}

/// What the agent said it was told.
fn thoughts(run: Actor<'_>) -> String {
    let frames = run.frames();
    let thoughts = frames.iter().filter(|frame| frame.kind == FrameType::Reasoning);
    thoughts.map(|frame| frame.data.to_string()).collect()
}

/// Waits until so many questions are open.
fn open(run: Actor<'_>, count: usize) {
    run.until("open questions", |run| {
        let waits = run.status() == RunStatus::WaitingUser;
        (waits && run.open_interactions().count() == count).then_some(())
    });
}

#[test]
fn a_sticky_process_waits_for_a_permission_in_its_turn() {
    let stage = stage(STICKY);
    let run = stage.start(json!({}));
    run.turn(1).acts(&[asks(&["git push"]), finish("pushed")]);
    let question = run.waits();
    assert_eq!(question.subject.source(), Source::Permission);
    assert!(question.question.prompt.contains("git push"), "{}", question.question.prompt);
    assert_eq!((run.state().holds_slot(), agents(&stage).len()), (true, 1));
    run.reply("allow").unwrap();
    let state = run.ends();
    assert_eq!((state.status(), state.attempt_number()), (RunStatus::Succeeded, 1));
    assert!(thoughts(run).contains("git push: allow"), "{}", thoughts(run));
    assert!(!run.had_turn(2), "the agent was given no other prompt");
}

#[test]
fn a_resumable_run_ends_its_turn_and_the_same_request_passes_after_a_yes() {
    let stage = stage(RESUMABLE);
    let run = stage.start(json!({}));
    run.turn(1).acts(&[asks(&["git push"]), finish("pushed")]);
    run.waits();
    assert_eq!((run.state().holds_slot(), stage.processes()), (false, vec![]));
    run.reply("allow").unwrap();
    let turn = run.turn(2);
    assert!(
        turn.prompt.contains("git push") && turn.prompt.contains("it will pass this once"),
        "{}",
        turn.prompt
    );
    turn.acts(&[asks(&["git push"]), finish("pushed")]);
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
    assert!(thoughts(run).contains("git push: allow"), "{}", thoughts(run));
}

#[test]
fn several_permissions_are_answered_each_by_its_number_in_any_order() {
    let stage = stage(STICKY);
    let run = stage.start(json!({}));
    run.turn(1).acts(&[asks(&["push", "tag", "publish"]), finish("done")]);
    open(run, 3);
    run.reply_to(3, "allow").unwrap();
    run.reply_to(1, "reject").unwrap();
    run.reply_to(2, "always").unwrap();
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
    let told = thoughts(run);
    for expected in ["push: reject", "tag: always", "publish: allow"] {
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn several_permissions_of_a_resumable_run_are_asked_once_each() {
    let stage = stage(RESUMABLE);
    let run = stage.start(json!({}));
    run.turn(1).acts(&[asks(&["push", "tag"]), finish("done")]);
    open(run, 2);
    run.reply_to(2, "allow").unwrap();
    run.turn(2).acts(&[asks(&["push", "tag"]), finish("done")]);
    open(run, 1);
    assert_eq!(run.state().interactions().len(), 2, "what is open is not asked again");
    run.reply_to(1, "reject").unwrap();
    run.turn(3).acts(&[asks(&["push"]), finish("done")]);
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
    assert!(thoughts(run).contains("push: reject"));
}

#[test]
fn no_answer_is_a_no_and_the_run_goes_on() {
    let stage = stage(STICKY);
    let run = stage.start(options(true));
    run.turn(1).acts(&[asks(&["git push"]), finish("not pushed")]);
    run.waits();
    stage.advance(60);
    let state = run.ends();
    assert_eq!(state.status(), RunStatus::Succeeded);
    assert_eq!(state.interactions()[0].status, InteractionStatus::Expired);
    assert!(thoughts(run).contains("git push: reject"));
}

#[test]
fn a_permission_of_a_run_that_lost_its_process_is_asked_for_again_and_passes() {
    let stage = stage(STICKY);
    let run = stage.start(json!({}));
    run.turn(1).acts(&[asks(&["git push"]), finish("pushed")]);
    run.waits();
    stage.restart();
    run.reply("allow").unwrap();
    run.turn(2).acts(&[asks(&["git push"]), finish("pushed")]);
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
    assert!(thoughts(run).contains("git push: allow"));
}

#[test]
fn rules_of_the_engine_answer_without_asking_anybody() {
    let rules = "permissions = [{ kind = \"execute\", answer = \"deny\" }]";
    let stage = Stage::acp(TakesUp::Resume, "", rules);
    let run = stage.start(json!({}));
    run.turn(1).acts(&[asks(&["git push"]), finish("not pushed")]);
    let state = run.ends();
    assert_eq!((state.status(), state.interactions().len()), (RunStatus::Succeeded, 0));
    assert!(thoughts(run).contains("git push: reject"));
}

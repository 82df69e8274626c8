//! XX: runs that are canceled, in whatever they do, and runs that continue others.

use std::time::{Duration, Instant};

use adjourn_core::{Refusal, RunStatus};
use adjourn_runtime::ServiceError;
use serde_json::json;

use crate::stage::{Stage, refusal, request, until};

/// What a cancel may take.
const CANCEL_MAX: Duration = Duration::from_secs(5);

/// A daemon that does not want to end, in a session of its own. Once it is there, so is the file `daemon`.
const DAEMON: &str = "setsid sh -c 'trap \"\" TERM; echo >daemon; while :; do sleep 1; done' &\n\
                      until [ -e daemon ]; do sleep 0.01; done\n";

#[test]
fn xx_10_a_canceled_run_is_gone_with_all_that_it_started() {
    let stage = Stage::new();
    let run = stage.start(json!({}));
    run.turn(1).does(&format!("{DAEMON} echo >ready; wait"));
    let ready = run.work().join("ready");
    until("the daemon", || ready.exists().then_some(()));
    assert!(stage.processes().len() >= 3, "the supervisor, the agent and its daemon");

    let began = Instant::now();
    // Its agent is still there: it is canceled when that is gone.
    assert_eq!(run.cancel().unwrap().status(), RunStatus::Running);
    run.cancel().unwrap();
    assert_eq!(run.ends().status(), RunStatus::Canceled);
    assert_eq!(stage.processes(), [0; 0]);
    assert!(began.elapsed() < CANCEL_MAX, "took {:?}", began.elapsed());
    assert_eq!(run.cancel().unwrap().status(), RunStatus::Canceled);
    assert_eq!(run.changes(), ["queued → running: turn.started", "running → canceled: run.canceled"]);
}

#[test]
fn xx_10_a_cancel_that_a_restart_interrupts_is_carried_out() {
    let stage = Stage::new();
    let run = stage.start(json!({}));
    run.turn(1).does("trap '' TERM; echo >ready; while :; do sleep 1; done");
    let ready = run.work().join("ready");
    until("the agent", || ready.exists().then_some(()));
    run.cancel().unwrap();
    stage.restart();
    assert_eq!(run.ends().status(), RunStatus::Canceled);
    assert_eq!(stage.processes(), [0; 0]);
    assert_eq!(run.changes(), ["queued → running: turn.started", "running → canceled: run.canceled"]);
}

#[test]
fn xx_10_a_run_that_is_queued_or_waits_is_canceled_at_once() {
    let stage = Stage::with_slots(1);
    let waiting = stage.start(json!({}));
    waiting.asks_first("Which database?");
    let running = stage.start(json!({}));
    let others_turn = running.turn(1);
    let queued = stage.start(json!({}));
    for run in [queued, waiting] {
        assert_eq!(run.cancel().unwrap().status(), RunStatus::Canceled);
        let head = stage.store().head().unwrap();
        assert_eq!(run.cancel().unwrap().status(), RunStatus::Canceled);
        assert_eq!(stage.store().head().unwrap(), head, "the second cancel changes nothing");
    }
    assert_eq!(waiting.state().open_interactions().count(), 0);
    others_turn.finishes("done");
    running.ends();
    assert!(!queued.had_turn(1) && !waiting.had_turn(2));
    assert!(matches!(refusal(running.cancel()), Refusal::Machine(_)), "it has succeeded");
}

#[test]
fn xx_13_an_auto_run_repairs_its_output_within_the_attempt_and_then_fails() {
    let stage = Stage::new();
    let auto = |limit| stage.start(json!({ "execution_mode": "auto", "options": { "repair_limit": limit } }));
    let repaired = auto(2);
    repaired.turn(1).says(r#"{"answer": 7}"#);
    let second = repaired.turn(2);
    assert!(
        second.prompt.contains("cannot be used") && second.prompt.contains("/answer"),
        "{}",
        second.prompt
    );
    second.says("I do not know.");
    repaired.turn(3).says(r#"{"answer": "SQLite"}"#);
    let state = repaired.ends();
    assert_eq!((state.status(), state.attempt_number(), state.repairs()), (RunStatus::Succeeded, 1, 2));
    assert_eq!(repaired.changes(), ["queued → running: turn.started", "running → succeeded: turn.succeeded"]);
    assert_eq!(state.warnings()[0].code, adjourn_core::WarningCode::OutputRepaired);

    let hopeless = auto(1);
    hopeless.turn(1).says(r#"{"answer": 7}"#);
    hopeless.turn(2).says(r#"{"answer": 8}"#);
    hopeless.ends();
    assert_eq!(hopeless.code(), Some(adjourn_core::ErrorCode::OutputSchemaInvalid));
}

#[test]
fn xx_13_an_interactive_run_repairs_only_what_claims_to_be_done_and_then_asks() {
    let stage = Stage::new();
    let run = stage.start(json!({ "options": { "repair_limit": 1 } }));
    let wrong = r#"{"__SKILL_DONE__": true, "answer": 7}"#;
    run.turn(1).says(wrong);
    run.turn(2).says(wrong);
    run.waits();
    run.reply("It should be a text.").unwrap();
    run.turn(3).says(r#"{"answer": 7}"#);
    run.until("the second question", |run| (run.interactions().len() == 2).then_some(()));
    assert_eq!((run.status(), run.had_turn(4)), (RunStatus::WaitingUser, false));
    let superseded = run.stream().iter().filter(|it| *it == "assistant.message.superseded").count();
    assert_eq!((superseded, run.state().attempt_number()), (1, 2));
}

#[test]
fn xx_13_a_cancel_in_the_middle_of_a_repair_stays() {
    let stage = Stage::new();
    let run = stage.start(json!({}));
    run.turn(1).says(r#"{"__SKILL_DONE__": true, "answer": 7}"#);
    let repair = run.turn(2);
    run.cancel().unwrap();
    repair.finishes("SQLite");
    assert_eq!(run.ends().status(), RunStatus::Canceled);
    stage.restart();
    stage.nudge();
    assert_eq!(run.changes(), ["queued → running: turn.started", "running → canceled: run.canceled"]);
    assert!(!run.had_turn(3));
}

#[test]
fn xx_21_a_run_is_continued_once() {
    let stage = Stage::new();
    let first = stage.start(json!({}));
    first.turn(1).finishes("SQLite");
    first.ends();
    let continues = json!({ "continues": first.id.to_string() });
    let service = stage.service();
    let created = stage.wait(async {
        let create = || service.create(request(continues.clone()), None, None);
        <[_; 2]>::from(tokio::join!(create(), create()))
    });
    drop(service);
    let (won, lost): (Vec<_>, Vec<_>) = created.into_iter().partition(Result::is_ok);
    let [Ok(won)] = &won[..] else { panic!("one of two is created") };
    let second = stage.actor(won.run.id());
    for lost in lost.into_iter().map(|lost| lost.map(drop)).chain([stage.request(continues).map(drop)]) {
        let refused = refusal(lost);
        assert!(
            matches!(refused, Refusal::Continued { run, successor } if run == first.id && successor == second.id.into()),
            "{refused}"
        );
    }
    assert_eq!(stage.run_folders().len(), 2, "of what was refused nothing is left");

    // It goes on in the same folder and the same conversation.
    second.turn(2).does("printf '{\"__SKILL_DONE__\": true, \"answer\": \"%s\"}' $ADJOURN_HANDLE");
    assert_eq!(second.ends().result(), Some(&json!({ "answer": first.state().handle().unwrap() })));
}

#[test]
fn xx_21_a_run_that_has_not_ended_is_not_continued() {
    let stage = Stage::new();
    let first = stage.start(json!({}));
    first.asks_first("Which database?");
    let refused = stage.request(json!({ "continues": first.id.to_string() })).map(drop);
    assert!(matches!(refused, Err(ServiceError::NotContinuable { run, .. }) if run == first.id));
    assert_eq!(stage.run_folders().len(), 1);
}

#[test]
fn xx_21_when_a_run_waits_nothing_of_its_turn_is_left() {
    let stage = Stage::new();
    let run = stage.start(json!({}));
    run.turn(1).does(&format!("{DAEMON} echo 'Which database?'"));
    run.waits();
    assert_eq!(stage.processes(), [0; 0]);
    assert!(run.work().join("daemon").exists() && run.state().process().is_none());
}

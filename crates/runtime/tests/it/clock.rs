//! The wall clock is set while a service works, or while nobody does.

use adjourn_core::{RunStatus, Timestamp};
use serde_json::json;

use crate::stage::{Actor, Stage};

/// A run that asked something, with a minute to answer.
fn asked(stage: &Stage) -> Actor<'_> {
    let options = json!({ "interactive_require_user_reply": false, "session_timeout_sec": 60 });
    let run = stage.start(json!({ "options": options }));
    run.asks_first("Which database?");
    run
}

fn deadline(run: &Actor<'_>) -> Timestamp {
    run.state().wait_deadline_at().unwrap()
}

/// Waits until the deadline has moved by a step of the clock. The run waits still.
fn moves(run: &Actor<'_>, before: Timestamp, step: i64) {
    let after = before.plus_millis(step * 1000);
    let moved =
        run.until("the deadline moves", |run| (run.wait_deadline_at() == Some(after)).then(|| run.clone()));
    assert_eq!(moved.status(), RunStatus::WaitingUser, "set by {step} s");
}

#[test]
fn a_question_has_its_minute_when_the_clock_is_set_back_or_forward() {
    for step in [-7200, 3 * 3600] {
        let stage = Stage::new();
        let run = asked(&stage);
        let before = deadline(&run);
        stage.set_clock(step);
        stage.advance(59);
        moves(&run, before, step);
        let open = stage.store().open_interactions(None, 10).unwrap();
        assert_eq!(open[0].deadline_at, Some(deadline(&run)), "lists show the same time");
        let frame = run.frames().into_iter().find(|frame| frame.data["code"] == "DEADLINE_MOVED").unwrap();
        assert_eq!(frame.data["deadline_at"], deadline(&run).to_string(), "the stream does too");
        stage.advance(1);
        run.turn(2).finishes("SQLite");
        run.ends();
    }
}

#[test]
fn a_question_has_its_minute_when_the_clock_is_set_while_nobody_is_at_work() {
    for step in [-7200, 3 * 3600] {
        let stage = Stage::new();
        let (id, before) = {
            let run = asked(&stage);
            (run.id, deadline(&run))
        };
        stage.close();
        stage.set_clock(step);
        stage.advance_closed(59);
        stage.open();
        let run = stage.actor(id);
        moves(&run, before, step);
        stage.advance(1);
        run.turn(2).finishes("SQLite");
        run.ends();
    }
}

#[test]
fn a_turn_is_stopped_in_its_time_when_the_clock_is_set_back() {
    let stage = Stage::new();
    let run = stage.start(json!({ "options": { "hard_timeout_sec": 60 } }));
    run.turn(1);
    stage.set_clock(-7200);
    stage.advance(59);
    assert_eq!(run.status(), RunStatus::Running);
    stage.advance(1);
    let ended = run.ends();
    assert_eq!(ended.error().unwrap().code.name(), "ENGINE_TIMEOUT");
}

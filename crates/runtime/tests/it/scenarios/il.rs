//! IL: interactive runs.

use adjourn_core::{ByKind, ErrorCode, QuestionKind, RunStatus, WarningCode};
use serde_json::json;

use crate::stage::{Stage, done};

#[test]
fn il_01_a_turn_that_completes_nothing_leaves_a_question_on_disk() {
    let stage = Stage::new();
    let run = stage.start(json!({}));
    run.turn(1).says("I looked around. Which database should it be?");
    let question = run.waits();
    assert_eq!(question.question.prompt, "I looked around. Which database should it be?");
    stage.restart();
    let open = stage.store().open_interactions(None, 9).unwrap();
    assert_eq!(open.len(), 1);
    assert_eq!((open[0].stream, &open[0].question), (run.id.into(), &question.question));
}

#[test]
fn il_01_an_engine_that_failed_asks_nothing() {
    let stage = Stage::new();
    let run = stage.start(json!({}));
    run.turn(1).does("echo 'Which database?'; exit 1");
    run.ends();
    assert_eq!(run.code(), Some(ErrorCode::EngineExitNonzero));
    assert!(run.state().interactions().is_empty());
}

#[test]
fn il_02_a_malformed_question_is_asked_in_the_words_of_the_agent() {
    let stage = Stage::new();
    let run = stage.start(json!({}));
    run.turn(1).says(r#"Please choose. {"ask_user": {"kind": "choose_one", "options": "all of them"}}"#);
    let question = run.waits().question;
    assert_eq!((question.kind, question.prompt.as_str()), (QuestionKind::OpenText, "Please choose."));
    assert_eq!(run.state().warnings()[0].code, WarningCode::AskUserMalformed);
    run.reply("the first").unwrap();
    run.turn(2).finishes("the first");
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
}

#[test]
fn il_03_a_run_that_waits_frees_its_slot_for_the_next_one() {
    let stage = Stage::with_slots(1);
    let first = stage.start(json!({}));
    first.turn(1);
    let second = stage.start(json!({}));
    assert_eq!(second.status(), RunStatus::Queued);
    first.turn(1).asks("Which database?");
    second.turn(1);
    assert_eq!((first.status(), second.status()), (RunStatus::WaitingUser, RunStatus::Running));
}

#[test]
fn il_04_a_resumed_run_stays_queued_until_a_slot_is_free() {
    let stage = Stage::with_slots(1);
    let resumed = stage.start(json!({}));
    resumed.asks_first("Which database?");
    let other = stage.start(json!({}));
    let others_turn = other.turn(1);
    resumed.reply("SQLite").unwrap();
    stage.nudge();
    assert_eq!((resumed.status(), resumed.had_turn(2)), (RunStatus::Queued, false));

    others_turn.finishes("done");
    resumed.turn(2).finishes("SQLite");
    resumed.ends();
    let (resumed, other) = (resumed.id, other.id);
    let last: Vec<_> = stage.history().split_off(3);
    let expected = [(resumed, "queued"), (other, "succeeded"), (resumed, "running"), (resumed, "succeeded")];
    assert_eq!(last, expected.map(|(run, to)| (run, to.to_owned())));
}

#[test]
fn il_05_a_strict_run_waits_for_a_person_however_long_it_takes() {
    let stage = Stage::new();
    let options = |strict| json!({ "options": { "interactive_require_user_reply": strict, "session_timeout_sec": 60 } });
    let (strict, other) = (stage.start(options(true)), stage.start(options(false)));
    strict.asks_first("Which database?");
    other.asks_first("Which database?");
    stage.advance(365 * 24 * 60 * 60);
    // Asked later and decided: the time of the strict one has passed as well.
    other.turn(2);
    assert_eq!(strict.status(), RunStatus::WaitingUser);
    assert_eq!(strict.state().wait_deadline_at(), None);
    strict.reply("SQLite").unwrap();
    strict.turn(2);
}

#[test]
fn il_06_past_its_time_a_question_of_a_run_that_is_not_strict_is_decided() {
    let stage = Stage::new();
    let options = json!({ "interactive_require_user_reply": false, "session_timeout_sec": 60 });
    let run = stage.start(json!({ "options": options }));
    run.turn(1).says(r#"{"ask_user": {"prompt": "Which?", "options": ["SQLite", "PostgreSQL"]}}"#);
    run.waits();
    stage.advance(60);
    let turn = run.turn(2);
    assert!(turn.prompt.contains("Nobody was there to answer") && turn.prompt.contains("> SQLite"));
    turn.finishes("SQLite");
    let state = run.ends();
    assert_eq!(state.status(), RunStatus::Succeeded);
    let resolution = state.interactions()[0].resolution.clone().unwrap();
    assert_eq!((resolution.response, resolution.by.kind), (json!("SQLite"), ByKind::AutoDecide));
}

#[test]
fn il_07_an_auto_run_succeeds_with_an_output_that_meets_its_schema() {
    let stage = Stage::new();
    let run = stage.start(json!({ "execution_mode": "auto" }));
    run.turn(1).says(r#"{"answer": "SQLite"}"#);
    let state = run.ends();
    assert_eq!(state.status(), RunStatus::Succeeded);
    assert_eq!((state.result(), state.warnings()), (Some(&json!({ "answer": "SQLite" })), &[][..]));
}

#[test]
fn il_08_an_interactive_run_succeeds_when_it_is_marked_as_done_and_valid() {
    let stage = Stage::new();
    let run = stage.start(json!({}));
    run.turn(1).says(&format!("All done.\n```json\n{}\n```", done("SQLite")));
    let state = run.ends();
    assert_eq!(state.status(), RunStatus::Succeeded);
    assert_eq!((state.result(), state.warnings()), (Some(&json!({ "answer": "SQLite" })), &[][..]));
}

#[test]
fn il_09_a_valid_output_without_the_marker_succeeds_with_a_warning() {
    let stage = Stage::new();
    let run = stage.start(json!({}));
    run.turn(1).says(r#"{"answer": "SQLite"}"#);
    let state = run.ends();
    assert_eq!(state.status(), RunStatus::Succeeded);
    let warnings: Vec<_> = state.warnings().iter().map(|warning| warning.code).collect();
    assert_eq!(warnings, [WarningCode::InteractiveCompletedWithoutDoneMarker]);
    assert_eq!(state.attempt_number(), 1, "and costs no further turn");
    assert!(run.stream().contains(&"diagnostic.warning".to_owned()));
}

#[test]
fn il_09_never_where_the_agent_is_not_done_or_asked_or_has_no_schema() {
    let stage = Stage::new();
    let valid = r#"{"answer": "SQLite"}"#;
    for text in [
        format!(r#"{valid} {{"__SKILL_DONE__": false}}"#),
        format!(r#"{valid} {{"ask_user": {{"prompt": "Right?"}}}}"#),
        format!(r#"{valid} {{"ask_user": 7}}"#),
    ] {
        let run = stage.start(json!({}));
        run.turn(1).says(&text);
        run.waits();
    }
    let bare = stage.start(json!({ "skill": null, "prompt": "Choose a database." }));
    bare.turn(1).says(valid);
    bare.waits();
}

#[test]
fn il_10_the_last_attempt_without_a_result_fails() {
    let stage = Stage::new();
    let run = stage.start(json!({ "options": { "max_attempt": 2 } }));
    run.asks_first("Which database?");
    run.reply("SQLite").unwrap();
    run.turn(2).asks("And which version?");
    run.ends();
    assert_eq!(run.code(), Some(ErrorCode::InteractiveMaxAttemptExceeded));
    assert_eq!(run.state().interactions().len(), 1, "what nobody can answer any more is not asked");
}

#[test]
fn il_10_the_last_attempt_may_succeed_and_auto_runs_have_no_last_one() {
    let stage = Stage::new();
    let run = stage.start(json!({ "options": { "max_attempt": 1 } }));
    run.turn(1).finishes("SQLite");
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
    let auto = stage.start(json!({ "execution_mode": "auto", "options": { "max_attempt": 1 } }));
    auto.turn(1).asks("Which database?");
    auto.turn(2).finishes("SQLite");
    assert_eq!(auto.ends().status(), RunStatus::Succeeded);
}

//! IL: interactive runs.

use adjourn_core::{ByKind, ErrorCode, QuestionKind, RunStatus, WarningCode};
use serde_json::{Value, json};

use crate::stage::ways::{Does, Way, every_way};
use crate::stage::{Stage, done};

fn which() -> Does {
    Does::Asks(json!({ "prompt": "Which database?", "options": ["PostgreSQL", "SQLite"] }))
}

fn strict(strict: bool) -> Value {
    json!({ "options": { "interactive_require_user_reply": strict, "session_timeout_sec": 60 } })
}

every_way! {
    #[test]
    fn il_01_a_turn_that_asks_leaves_a_question_on_disk(way: Way) {
        let scene = way.scene(&[which()]);
        let run = scene.waiting(json!({}));
        let question = run.waits();
        assert_eq!(question.question.prompt, "Which database?");
        assert_eq!(question.subject.execution_id().is_some(), way.is_by_tool());
        scene.stage.restart();
        let open = scene.stage.store().open_interactions(None, 9).unwrap();
        assert_eq!(open.len(), 1, "the words that the agent ended with are no question");
        assert_eq!((open[0].stream, &open[0].question), (run.id.into(), &question.question));
    }

    #[test]
    fn il_02_a_question_that_cannot_be_read_is_asked_in_the_words_of_the_agent(way: Way) {
        let scene = way.scene(&[Does::AsksBadly("Please choose."), Does::Finishes("the first")]);
        let run = scene.waiting(json!({}));
        let question = run.waits().question;
        assert_eq!(question.kind, QuestionKind::OpenText);
        // The scripted ACP agent also says what it was told.
        assert!(question.prompt.ends_with("Please choose."), "{}", question.prompt);
        let printed = run.state().warnings().iter().any(|one| one.code == WarningCode::AskUserMalformed);
        assert_eq!(printed, !way.is_by_tool(), "a call that is refused is told to the agent itself");
        run.reply("the first").unwrap();
        scene.plays(&run, 2);
        assert_eq!(run.ends().status(), RunStatus::Succeeded);
    }

    #[test]
    fn il_03_a_run_that_waits_frees_its_slot_for_the_next_one(way: Way) {
        let scene = way.scene_with("[slots]\ntotal = 1", &[which()]);
        let first = scene.waiting(json!({}));
        let second = scene.holds_a_slot();
        assert_eq!((first.status(), second.status()), (RunStatus::WaitingUser, RunStatus::Running));
        assert!(!first.state().holds_slot());
    }

    #[test]
    fn il_04_a_resumed_run_stays_queued_until_a_slot_is_free(way: Way) {
        let scene = way.scene_with("[slots]\ntotal = 1", &[which(), Does::Finishes("SQLite")]);
        let resumed = scene.waiting(json!({}));
        let other = scene.holds_a_slot();
        resumed.reply("SQLite").unwrap();
        scene.stage.nudge();
        assert_eq!((resumed.status(), resumed.state().turn()), (RunStatus::Queued, 1));

        other.cancel().unwrap();
        scene.plays(&resumed, 2);
        resumed.ends();
        let (resumed, other) = (resumed.id, other.id);
        let last: Vec<_> = scene.stage.history().split_off(3);
        let expected =
            [(resumed, "queued"), (other, "canceled"), (resumed, "running"), (resumed, "succeeded")];
        assert_eq!(last, expected.map(|(run, to)| (run, to.to_owned())));
    }

    #[test]
    fn il_05_a_strict_run_waits_for_a_person_however_long_it_takes(way: Way) {
        let scene = way.scene(&[which(), Does::Finishes("SQLite")]);
        let (waits, other) = (scene.waiting(strict(true)), scene.waiting(strict(false)));
        scene.stage.advance(365 * 24 * 60 * 60);
        // Asked later and decided: the time of the strict one has passed as well.
        scene.plays(&other, 2);
        other.ends();
        assert_eq!(waits.status(), RunStatus::WaitingUser);
        assert_eq!(waits.state().wait_deadline_at(), None);
        waits.reply("SQLite").unwrap();
        scene.plays(&waits, 2);
        assert_eq!(waits.ends().status(), RunStatus::Succeeded);
    }

    #[test]
    fn il_06_past_its_time_a_question_of_a_run_that_is_not_strict_is_decided(way: Way) {
        let scene = way.scene(&[which(), Does::Finishes("PostgreSQL")]);
        let run = scene.waiting(strict(false));
        scene.stage.advance(60);
        let heard = scene.heard(&run, 2);
        let is_told = heard.contains("Nobody was there to answer") || heard.contains("assumed");
        assert!(is_told && heard.contains("PostgreSQL"), "{heard}");
        scene.plays(&run, 2);
        let state = run.ends();
        assert_eq!(state.status(), RunStatus::Succeeded);
        let resolution = state.interactions()[0].resolution.clone().unwrap();
        assert_eq!((resolution.response, resolution.by.kind), (json!("PostgreSQL"), ByKind::AutoDecide));
    }

    #[test]
    fn il_07_an_auto_run_that_asked_is_answered_and_succeeds(way: Way) {
        let scene = way.scene(&[which(), Does::Finishes("PostgreSQL")]);
        let run = scene.stage.start(json!({ "execution_mode": "auto" }));
        scene.plays(&run, 1);
        scene.plays(&run, 2);
        let state = run.ends();
        assert_eq!(state.status(), RunStatus::Succeeded);
        // A call is told the answer in the same turn, which may have to be repaired, because it ended with other words.
        assert_eq!(state.turn(), if way.is_by_tool() { 1 } else { 2 });
        assert_eq!(state.interactions()[0].resolution.as_ref().unwrap().by.kind, ByKind::AutoDecide);
    }

    #[test]
    fn il_08_an_answered_run_succeeds_when_it_is_marked_as_done_and_valid(way: Way) {
        let scene = way.scene(&[which(), Does::Finishes("SQLite")]);
        let run = scene.waiting(json!({}));
        run.reply("SQLite").unwrap();
        assert!(scene.heard(&run, 2).contains("SQLite"));
        scene.plays(&run, 2);
        let state = run.ends();
        assert_eq!((state.status(), state.attempt_number()), (RunStatus::Succeeded, 2));
        assert_eq!(state.result(), Some(&json!({ "answer": "SQLite" })));
    }

    #[test]
    fn il_09_an_answered_run_succeeds_without_the_marker_with_a_warning(way: Way) {
        let scene = way.scene(&[which(), Does::Says(r#"{"answer": "SQLite"}"#)]);
        let run = scene.waiting(json!({}));
        run.reply("SQLite").unwrap();
        scene.plays(&run, 2);
        let state = run.ends();
        assert_eq!(state.status(), RunStatus::Succeeded);
        let warnings: Vec<_> = state.warnings().iter().map(|warning| warning.code).collect();
        assert_eq!(warnings, [WarningCode::InteractiveCompletedWithoutDoneMarker]);
    }

    #[test]
    fn il_10_a_question_in_the_last_attempt_fails_the_run(way: Way) {
        let again = Does::Asks(json!({ "prompt": "And which version?" }));
        let scene = way.scene(&[which(), again]);
        let run = scene.waiting(json!({ "options": { "max_attempt": 2 } }));
        run.reply("SQLite").unwrap();
        scene.plays(&run, 2);
        run.ends();
        assert_eq!(run.code(), Some(ErrorCode::InteractiveMaxAttemptExceeded));
        assert_eq!(run.state().interactions().len(), 1, "what nobody can answer any more is not asked");
        assert_eq!(run.state().attempt_number(), 2);
    }
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

#[test]
fn il_01_words_that_complete_nothing_are_a_question() {
    let stage = Stage::new();
    let run = stage.start(json!({}));
    run.turn(1).says("I looked around. Which database should it be?");
    assert_eq!(run.waits().question.prompt, "I looked around. Which database should it be?");
}

#[test]
fn il_10_the_limit_of_the_skill_counts_and_a_request_can_only_lower_it() {
    let stage = Stage::new();
    let runner = json!({ "id": "survey", "execution_modes": ["interactive", "auto"], "max_attempt": 2 });
    std::fs::write(stage.path().join("skills/survey/assets/runner.json"), runner.to_string()).unwrap();
    stage.request(json!({ "options": { "max_attempt": 3 } })).map(|run| run.id).unwrap_err();
    for (options, attempts) in [(json!({}), 2), (json!({ "max_attempt": 1 }), 1)] {
        let run = stage.start(json!({ "options": options }));
        for attempt in 1..attempts {
            run.turn(attempt).asks("Which database?");
            run.until("the question", |run| (run.interactions().len() == attempt as usize).then_some(()));
            run.waits();
            run.reply("SQLite").unwrap();
        }
        run.turn(attempts).asks("And which version?");
        run.ends();
        assert_eq!(run.code(), Some(ErrorCode::InteractiveMaxAttemptExceeded), "{options}");
        assert_eq!(run.state().attempt_number(), attempts, "{options}");
    }
}

//! Attempts, completion and repair.

use adjourn_core::{
    ContractStatus, ErrorCode, ExecutionMode, Profile, Question, ResumesBy, RunStatus, WarningCode,
};
use serde_json::json;

use crate::case::{ASKS, Case, DONE, WRONG};

fn warnings(run: &Case) -> Vec<WarningCode> {
    run.run().warnings().iter().map(|warning| warning.code).collect()
}

#[test]
fn every_answer_to_a_turn_opens_an_attempt() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    for question in 1..=50 {
        run.ends(ASKS).answers(question, "on").starts();
        assert_eq!(run.run().attempt_number(), question + 1);
    }
}

#[test]
fn the_last_attempt_without_a_result_fails() {
    let mut run = Case::with(ExecutionMode::Interactive, |spec| spec.max_attempt = Some(2));
    run.starts_with_handle().ends(ASKS).answers(1, "a").starts().ends(ASKS);
    assert_eq!(run.code(), Some(ErrorCode::InteractiveMaxAttemptExceeded));
}

#[test]
fn the_last_attempt_with_a_result_succeeds() {
    let mut run = Case::with(ExecutionMode::Interactive, |spec| spec.max_attempt = Some(1));
    run.starts().ends(DONE);
    assert_eq!(run.status(), RunStatus::Succeeded);
}

#[test]
fn auto_mode_ignores_max_attempt() {
    let mut run = Case::with(ExecutionMode::Auto, |spec| spec.max_attempt = Some(1));
    run.starts_with_handle().ends(ASKS).starts().ends(ASKS);
    assert_eq!(run.status(), RunStatus::Queued);
}

#[test]
fn approvals_do_not_count_towards_max_attempt_and_answers_do_however_the_agent_asked() {
    for resumes_by in [ResumesBy::Handle, ResumesBy::Journal] {
        let mut run = Case::with(ExecutionMode::Interactive, |spec| {
            spec.max_attempt = Some(3);
            spec.resumes_by = resumes_by;
        });
        run.starts_with_handle();
        run.asks_to_send("ann");
        run.suspends().answers(1, "no").starts();
        assert_eq!((run.run().attempt_number(), run.run().turn()), (1, 2), "the attempt goes on");
        run.asks_form(Question::open_text("What?"), None);
        run.suspends().answers(2, "this").starts();
        assert_eq!(run.run().attempt_number(), 2);
        run.ends(ASKS);
        assert_eq!((run.status(), run.open()), (RunStatus::WaitingUser, vec![3]));
        run.answers(3, "a").starts();
        assert_eq!(run.run().attempt_number(), 3);
        let unasked = run.asks_form(Question::open_text("And?"), None);
        assert_eq!((run.contract_status(unasked), run.open()), (ContractStatus::Pending, vec![]));
        run.suspends();
        assert_eq!(run.code(), Some(ErrorCode::InteractiveMaxAttemptExceeded));
        assert_eq!(run.contract_status(unasked), ContractStatus::Cancelled);
        assert_eq!(run.run().attempt_number(), 3, "never more than there are");
    }
}

#[test]
fn in_the_last_attempt_a_question_fails_the_run_even_if_the_turn_claims_to_be_done() {
    let mut run = Case::with(ExecutionMode::Interactive, |spec| spec.max_attempt = Some(1));
    run.starts_with_handle();
    run.asks_form(Question::open_text("What?"), None);
    run.ends(DONE);
    assert_eq!(run.code(), Some(ErrorCode::InteractiveMaxAttemptExceeded));
}

#[test]
fn an_answer_that_came_before_the_restart_opens_its_attempt_and_none_beyond_the_last() {
    let mut run = Case::with(ExecutionMode::Interactive, |spec| spec.max_attempt = Some(2));
    run.starts_with_handle();
    let forms = ["One?", "Two?"].map(|prompt| run.asks_form(Question::open_text(prompt), None));
    run.answers(1, "1").restarts().starts();
    assert_eq!((run.run().attempt_number(), run.open()), (2, vec![2]));
    run.answers(2, "2").restarts().starts();
    assert_eq!(run.run().attempt_number(), 2, "there is no third");
    run.ends(DONE);
    assert_eq!(run.code(), Some(ErrorCode::InteractiveMaxAttemptExceeded));
    assert_eq!(forms.map(|form| run.contract_status(form)), [ContractStatus::Completed; 2]);
}

#[test]
fn an_engine_that_failed_is_failed_and_never_a_question() {
    for profile in [Profile::Resumable, Profile::StickyProcess] {
        let mut run = Case::with(ExecutionMode::Interactive, |spec| spec.profile = profile);
        run.starts_with_handle().breaks();
        assert_eq!(run.code(), Some(ErrorCode::EngineExitNonzero));
        assert!(run.run().interactions().is_empty());
    }
}

#[test]
fn a_turn_that_only_looks_done_completes_with_a_warning_where_there_is_a_schema() {
    let mut checked = Case::interactive();
    checked.starts_with_handle().ends_checked(r#"{"n": 1}"#);
    assert_eq!(checked.status(), RunStatus::Succeeded);
    assert_eq!(warnings(&checked), [WarningCode::InteractiveCompletedWithoutDoneMarker]);

    let mut unchecked = Case::interactive();
    unchecked.starts_with_handle().ends(r#"{"n": 1}"#);
    assert_eq!(unchecked.status(), RunStatus::WaitingUser);
}

#[test]
fn a_turn_that_asks_does_not_look_done() {
    let asks_too = r#"{"n": 1} {"ask_user": {"prompt": "Right?"}}"#;
    for text in [ASKS, asks_too, r#"{"n": 1} {"ask_user": 5}"#] {
        let mut run = Case::interactive();
        run.starts_with_handle().ends_checked(text);
        assert_eq!(run.status(), RunStatus::WaitingUser, "{text}");
    }
}

#[test]
fn a_turn_that_left_a_question_open_is_not_done() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    run.asks_form(Question::open_text("What?"), None);
    run.ends_checked(DONE);
    assert_eq!((run.status(), run.open()), (RunStatus::WaitingUser, vec![1]));
}

#[test]
fn what_claims_to_be_done_is_repaired_in_its_attempt() {
    for mode in [ExecutionMode::Auto, ExecutionMode::Interactive] {
        let mut run = Case::with(mode, |_| {});
        run.starts_with_handle().ends_checked(WRONG);
        assert_eq!((run.status(), run.run().repairs()), (RunStatus::Running, 1));
        run.ends_checked(DONE);
        assert_eq!(run.run().result(), Some(&json!({"n": 1})));
        assert_eq!((warnings(&run), run.run().attempt_number()), (vec![WarningCode::OutputRepaired], 1));
    }
}

#[test]
fn what_does_not_claim_to_be_done_is_repaired_in_auto_mode_only() {
    let mut auto = Case::auto();
    auto.starts_with_handle().ends_checked("I wonder.");
    assert_eq!((auto.status(), auto.run().repairs()), (RunStatus::Running, 1));

    let mut interactive = Case::interactive();
    interactive.starts_with_handle().ends_checked("I wonder.");
    assert_eq!((interactive.status(), interactive.run().repairs()), (RunStatus::WaitingUser, 0));
}

#[test]
fn after_the_last_repair_auto_fails_and_interactive_asks() {
    let after_repairs = |mode| {
        let mut run = Case::with(mode, |spec| spec.repair_limit = 2);
        run.starts_with_handle().ends_checked(WRONG).ends_checked(WRONG).ends_checked(WRONG);
        run
    };
    assert_eq!(after_repairs(ExecutionMode::Auto).code(), Some(ErrorCode::OutputSchemaInvalid));
    assert_eq!(after_repairs(ExecutionMode::Interactive).status(), RunStatus::WaitingUser);
}

#[test]
fn a_new_attempt_has_its_own_repairs() {
    let mut run = Case::interactive();
    run.starts_with_handle().ends_checked(WRONG).ends_checked(ASKS).answers(1, "a").starts();
    assert_eq!(run.run().repairs(), 0);
}

#[test]
fn a_turn_that_waits_for_nothing_is_a_fault_of_ours() {
    let mut run = Case::interactive();
    run.starts_with_handle().suspends();
    assert_eq!(run.code(), Some(ErrorCode::Internal));
}

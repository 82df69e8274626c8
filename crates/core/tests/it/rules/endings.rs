//! The end: nothing is left open, and a process is gone before its run is.

use adjourn_core::{
    Command, ContractReport, ContractStatus, ErrorCode, ExecutionMode, Observation, Outcome, Process,
    Profile, Question, Refusal, RefusalKind, RunStatus,
};

use crate::case::{ASKS, Case, DONE};

fn sticky() -> Case {
    Case::with(ExecutionMode::Interactive, |spec| spec.profile = Profile::StickyProcess)
}

#[test]
fn a_run_that_waits_is_canceled_at_once() {
    let mut run = Case::interactive();
    run.starts_with_handle().ends(ASKS).cancels();
    assert_eq!(run.status(), RunStatus::Canceled);
    assert!(run.open().is_empty());
}

#[test]
fn a_run_whose_turn_goes_on_is_canceled_when_the_turn_is_over() {
    let mut run = Case::interactive();
    run.starts().cancels();
    assert_eq!(run.status(), RunStatus::Running);
    run.ends(DONE);
    assert_eq!(run.status(), RunStatus::Canceled);
    assert_eq!(run.run().result(), None);
}

#[test]
fn a_repair_is_not_started_after_a_cancel() {
    let mut run = Case::auto();
    run.starts().cancels().ends_checked("nothing");
    assert_eq!((run.status(), run.run().repairs()), (RunStatus::Canceled, 0));
}

#[test]
fn a_cancel_in_mid_repair_stays_a_cancel() {
    let mut run = Case::auto();
    run.starts().ends_checked("nothing");
    assert_eq!((run.status(), run.run().repairs()), (RunStatus::Running, 1));
    run.cancels().ends_checked("nothing");
    assert_eq!((run.status(), run.run().repairs()), (RunStatus::Canceled, 1));
}

#[test]
fn canceling_twice_is_canceling_once_and_other_ends_are_final() {
    let mut run = Case::interactive();
    run.cancels();
    assert_eq!(run.tries(Command::Cancel(adjourn_core::By::USER)), Ok(Vec::new()));

    let mut done = Case::interactive();
    done.starts().ends(DONE);
    let refused = done.tries(Command::Cancel(adjourn_core::By::USER)).unwrap_err();
    assert_eq!(refused.kind(), RefusalKind::Conflict);
}

#[test]
fn an_end_that_waited_for_its_process_is_as_final_as_any() {
    let mut run = sticky();
    run.starts_with_process().ends(DONE).process_ends();
    assert_eq!(run.status(), RunStatus::Succeeded);
    let refused = run.tries(Command::Cancel(adjourn_core::By::USER)).unwrap_err();
    assert_eq!(refused.to_string(), "a run that is succeeded takes no `run.canceled`: it is final");
}

#[test]
fn a_sticky_run_ends_when_its_process_has() {
    let mut run = sticky();
    run.starts_with_process().ends(DONE);
    assert_eq!(run.status(), RunStatus::Running);
    assert!(run.run().holds_slot());
    run.process_ends();
    assert_eq!(run.status(), RunStatus::Succeeded);
    assert!(!run.run().holds_slot());
}

#[test]
fn a_canceled_turn_that_leaves_its_process_alive_does_not_end_the_run() {
    let mut run = sticky();
    run.starts_with_process().cancels().ends(DONE);
    assert_eq!(run.status(), RunStatus::Running);
    run.process_ends();
    assert_eq!(run.status(), RunStatus::Canceled);
}

#[test]
fn an_end_that_is_reported_twice_does_not_outrun_the_process() {
    let mut run = sticky();
    run.starts_with_process().ends(DONE).ends(DONE);
    assert_eq!(run.status(), RunStatus::Running);
    assert!(run.run().process().is_some());
}

#[test]
fn a_process_that_dies_in_its_turn_is_not_waited_for_afterwards() {
    let mut run = sticky();
    run.starts_with_process().process_ends().ends(ASKS);
    assert_eq!(run.status(), RunStatus::WaitingUser);
    assert!(!run.run().holds_slot());

    let mut failed = sticky();
    failed.starts_with_process().process_ends().breaks();
    assert_eq!(failed.status(), RunStatus::Failed);
}

#[test]
fn a_run_that_has_to_end_takes_no_turn_and_begins_no_call() {
    let mut run = sticky();
    run.starts_with_process();
    let recorded = run.requests(run.send("ann"));
    run.cancels();
    assert_eq!(run.tries(Command::DispatchContract(recorded)), Err(Refusal::Ending));
    assert_eq!(run.try_request(run.send("bob"), None), Err(Refusal::Ending));
    assert_eq!(run.try_request(run.send("cid"), Some(Question::confirm("Send?"))), Err(Refusal::Ending));
    run.process_ends().suspends();
    assert_eq!(run.contract_status(recorded), ContractStatus::Cancelled);

    let mut waiting = sticky();
    waiting.starts_with_process().ends(ASKS).answers(1, "a").cancels();
    assert_eq!(waiting.tries(Command::StartTurn), Err(Refusal::Ending));
}

#[test]
fn an_answer_to_a_run_that_has_to_end_is_kept_and_changes_nothing_else() {
    let mut run = sticky();
    run.starts_with_process().ends(ASKS).cancels().answers(1, "a");
    assert_eq!(run.status(), RunStatus::WaitingUser);
    run.process_ends();
    assert_eq!((run.status(), run.run().unused_answers().count()), (RunStatus::Canceled, 1));
}

#[test]
fn the_result_of_a_call_is_taken_although_the_run_has_to_end() {
    let mut run = Case::interactive();
    run.starts();
    let call = run.sends("ann");
    run.cancels().reports(call, ContractReport::Succeeded("sent".into())).ends(DONE);
    assert_eq!(run.contract_status(call), ContractStatus::Completed);
    assert_eq!(run.contract(call).outcome, Outcome::Known);
}

#[test]
fn a_sticky_process_that_dies_gives_up_the_slot_where_its_session_can_be_loaded() {
    let mut run = sticky();
    run.starts_with_process().ends(ASKS);
    assert!(run.run().holds_slot());
    run.process_ends();
    assert_eq!((run.status(), run.run().profile()), (RunStatus::WaitingUser, Profile::Resumable));
    assert!(!run.run().holds_slot());
}

#[test]
fn a_sticky_process_that_dies_takes_the_run_along_where_it_cannot() {
    for (handle, loadable) in [(true, false), (false, true)] {
        let mut run = sticky();
        run.starts().shows(vec![Observation::Process(Process { pid: 7, started: 1 })]);
        if handle {
            run.shows(vec![Observation::Handle("handle".to_owned())]);
        }
        let process = Process { pid: 7, started: 1 };
        run.ends(ASKS).does(Command::ReportProcessEnded { process, loadable });
        assert_eq!(run.code(), Some(ErrorCode::InteractionProcessLost));
    }
}

#[test]
fn a_late_word_of_an_earlier_process_says_nothing_about_the_one_that_is_there() {
    let mut run = sticky();
    run.starts_with_process().shows(vec![Observation::Process(Process { pid: 8, started: 2 })]).ends(ASKS);
    let before = run.run().clone();
    run.does(Command::ReportProcessEnded { process: Process { pid: 7, started: 1 }, loadable: false });
    assert_eq!(run.run(), &before);
    run.process_ends();
    assert!(!run.run().holds_slot());
}

#[test]
fn a_sticky_run_keeps_its_slot_through_the_queue() {
    let mut run = sticky();
    run.starts_with_process().ends(ASKS).answers(1, "a");
    assert_eq!(run.status(), RunStatus::Queued);
    assert!(run.run().holds_slot());
}

#[test]
fn the_end_withdraws_questions_and_gives_up_contracts() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    let waiting = run.asks_to_send("ann");
    let pending = run.requests(run.send("bob"));
    let dispatched = run.sends("cid");
    run.breaks();
    assert_eq!(run.code(), Some(ErrorCode::EngineExitNonzero));
    assert!(run.open().is_empty());
    for call in [waiting, pending, dispatched] {
        assert_eq!(run.contract_status(call), ContractStatus::Cancelled);
    }
    assert_eq!(run.contract(pending).dispatched_at, None);
    assert_eq!(run.contract(pending).outcome, Outcome::Known);
    assert_eq!(run.contract(dispatched).outcome, Outcome::Unknown);
}

#[test]
fn a_report_of_a_turn_that_is_over_is_dropped() {
    let mut run = Case::interactive();
    run.starts_with_handle().ends(ASKS).answers(1, "a").starts();
    let end = adjourn_core::TurnEnd::Suspended;
    let refused = run.tries(Command::EndTurn { turn: 1, observations: Vec::new(), end });
    assert_eq!(refused, Err(Refusal::Stale { given: 1, current: 2 }));
    let refused = run.tries(Command::Observe { turn: 1, observations: Vec::new() });
    assert_eq!(refused, Err(Refusal::Stale { given: 1, current: 2 }));
}

#[test]
fn a_continued_run_has_one_successor() {
    let mut run = Case::interactive();
    run.starts_with_handle().ends(DONE);
    let first = run.id;
    let continued = adjourn_core::Continued { run_id: first, root: first, handle: Some("handle".to_owned()) };
    run.creates(2, ExecutionMode::Auto, |spec| spec.continues = Some(continued.clone())).unwrap();
    assert_eq!(run.run().handle(), Some("handle"));
    let second = run.id;
    let refused = run.creates(3, ExecutionMode::Auto, |spec| spec.continues = Some(continued));
    assert_eq!(refused, Err(Refusal::Continued { run: first, successor: second.into() }));
}

#[test]
fn tokens_beyond_all_counting_are_no_reason_to_panic() {
    let mut run = Case::interactive();
    let usage = adjourn_core::Usage { input_tokens: u64::MAX, output_tokens: u64::MAX, cost_usd: None };
    run.starts().shows(vec![Observation::Usage(usage), Observation::Usage(usage)]);
    assert_eq!(run.run().usage(), usage);
}

#[test]
fn a_process_that_dies_while_its_turn_is_stopped_does_not_end_the_run_before_the_turn() {
    // The turn may have started another process by then, in place of the one that died.
    let mut run = Case::with(ExecutionMode::Interactive, |spec| spec.profile = Profile::StickyProcess);
    run.starts_with_process().cancels().process_ends();
    assert_eq!((run.status(), run.run().holds_slot()), (RunStatus::Running, true));
    run.suspends();
    assert_eq!(run.status(), RunStatus::Canceled);

    let mut over = Case::with(ExecutionMode::Interactive, |spec| spec.profile = Profile::StickyProcess);
    over.starts_with_process().cancels().suspends();
    assert_eq!((over.status(), over.run().holds_slot()), (RunStatus::Running, true));
    over.process_ends();
    assert_eq!(over.status(), RunStatus::Canceled);
}

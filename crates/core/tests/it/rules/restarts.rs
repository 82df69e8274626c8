//! After a restart: whatever the journal says is what may have happened.

use adjourn_core::{
    Actor, Command, ContractStatus, ContractTrigger, ErrorCode, Event, ExecutionMode, Known, Observation,
    Outcome, Process, Profile, Refusal, ResumesBy, Run, RunStatus, Survey, TurnReason, WarningCode,
};
use serde_json::json;

use crate::case::{ASKS, Case, DONE};

fn reason(run: &mut Case) -> TurnReason {
    match &run.tries(Command::StartTurn).expect("a slot is free")[0] {
        adjourn_core::Event::TurnStarted { reason, .. } => *reason,
        other => panic!("a turn begins with its start, not with {other:?}"),
    }
}

#[test]
fn a_run_that_waits_goes_on_waiting_and_can_be_answered() {
    let mut run = Case::interactive();
    run.starts_with_handle().ends(ASKS).restarts();
    assert_eq!((run.status(), run.open()), (RunStatus::WaitingUser, vec![1]));
    run.answers(1, "a");
    assert_eq!(run.status(), RunStatus::Queued);
}

#[test]
fn a_run_that_waits_fails_when_its_surroundings_are_gone() {
    let intact = Survey::INTACT;
    let workspace = Survey { workspace: false, ..intact };
    let handle = Survey { handle: false, ..intact };
    for survey in [workspace, handle] {
        let mut run = Case::interactive();
        run.starts_with_handle().ends(ASKS).does(Command::Recover(survey));
        assert_eq!(run.code(), Some(ErrorCode::SessionResumeFailed));
        assert!(run.open().is_empty());
    }
}

#[test]
fn a_run_that_waits_on_a_question_of_no_open_call_fails() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    let id = run.asks_to_send("ann");
    run.suspends();
    let (now, intact) = (run.run().updated_at(), Command::Recover(Survey::INTACT));
    let known = Known::at(now);
    let status = |run: &Run| run.decide(&intact, &known).map(|decided| decided.state.status());
    assert_eq!(status(run.run()), Ok(RunStatus::WaitingUser));
    // No command leads here: an entry was lost, or another program wrote one.
    let mut orphaned = run.run().clone();
    let (from, to) = (ContractStatus::Waiting, ContractStatus::Cancelled);
    let (trigger, actor) = (ContractTrigger::Cancel, Actor::Recovery);
    let changed = Event::ContractChanged { id, from, to, trigger, actor, detail: None };
    orphaned.apply(now, &changed).unwrap();
    let failed = orphaned.decide(&intact, &known).unwrap().state;
    let error = failed.error().map(|error| error.code);
    assert_eq!((failed.status(), error), (RunStatus::Failed, Some(ErrorCode::SessionResumeFailed)));
    assert_eq!(failed.open_interactions().count(), 0);
}

#[test]
fn a_queued_run_stays_queued_and_fails_only_without_its_surroundings() {
    let mut run = Case::interactive();
    run.restarts();
    assert_eq!(run.status(), RunStatus::Queued);
    run.does(Command::Recover(Survey { workspace: false, ..Survey::INTACT }));
    assert_eq!(run.code(), Some(ErrorCode::RestartInterrupted));
}

#[test]
fn an_engine_that_is_missing_fails_no_run_and_is_warned_of_once_until_the_next_turn() {
    let missing = || Command::Recover(Survey { engine: false, ..Survey::INTACT });
    let mut run = Case::interactive();
    run.starts_with_handle().ends(ASKS).does(missing()).does(missing());
    assert_eq!((run.status(), run.open()), (RunStatus::WaitingUser, vec![1]));
    run.answers(1, "a").does(missing());
    assert_eq!(run.status(), RunStatus::Queued);
    let codes: Vec<_> = run.run().warnings().iter().map(|warning| warning.code).collect();
    assert_eq!(codes, [WarningCode::EngineNotFound]);
    run.starts().does(missing());
    assert_eq!(run.status(), RunStatus::Queued, "a turn that was cut off goes on later");
    assert_eq!(run.run().warnings().len(), 2, "the engine was there meanwhile");
}

#[test]
fn a_run_that_ended_is_left_alone() {
    let mut run = Case::interactive();
    run.starts().ends(DONE);
    assert_eq!(run.tries(Command::Recover(Survey::INTACT)), Ok(Vec::new()));
}

#[test]
fn a_running_run_goes_on_in_its_attempt_with_its_repairs() {
    let mut run = Case::auto();
    run.starts_with_handle().ends_checked("nothing").restarts();
    assert_eq!(run.status(), RunStatus::Queued);
    assert_eq!(reason(&mut run), TurnReason::GoOn);
    let run = run.run();
    assert_eq!((run.attempt_number(), run.repairs(), run.restarts(), run.turn()), (1, 1, 1, 2));
}

#[test]
fn the_fourth_restart_of_an_attempt_fails_it() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    for _ in 0..3 {
        run.restarts().starts();
    }
    run.restarts();
    assert_eq!(run.code(), Some(ErrorCode::RestartInterrupted));
}

#[test]
fn a_new_attempt_has_its_own_restarts() {
    let mut run = Case::interactive();
    run.starts_with_handle().restarts().starts().ends(ASKS).answers(1, "a").starts();
    assert_eq!(run.run().restarts(), 0);
}

#[test]
fn a_turn_that_settles_an_approval_has_its_own_restarts() {
    let mut run = Case::interactive();
    run.starts_with_handle().restarts().starts();
    run.asks_to_send("ann");
    run.suspends().answers(1, "no").starts();
    assert_eq!((run.run().restarts(), run.run().attempt_number()), (0, 1));
}

#[test]
fn without_a_handle_the_first_turn_begins_afresh_only_if_nothing_was_dispatched() {
    let mut fresh = Case::interactive();
    fresh.starts();
    fresh.requests(fresh.send("ann"));
    fresh.restarts();
    assert_eq!(fresh.status(), RunStatus::Queued);

    let mut dispatched = Case::interactive();
    dispatched.starts();
    let call = dispatched.sends("ann");
    dispatched.restarts();
    assert_eq!(dispatched.code(), Some(ErrorCode::RestartInterrupted));
    assert_eq!(dispatched.contract(call).outcome, Outcome::Unknown);
}

#[test]
fn without_a_handle_a_later_turn_has_no_conversation_to_go_on_in() {
    let mut run = Case::with(ExecutionMode::Interactive, |spec| spec.profile = Profile::StickyProcess);
    run.starts().shows(vec![Observation::Process(Process { pid: 7, started: 1 })]);
    run.ends(ASKS).answers(1, "a").starts().restarts();
    assert_eq!(run.code(), Some(ErrorCode::SessionResumeFailed));
}

#[test]
fn a_lost_handle_fails_a_running_run() {
    let mut run = Case::interactive();
    run.starts_with_handle().does(Command::Recover(Survey { handle: false, ..Survey::INTACT }));
    assert_eq!(run.code(), Some(ErrorCode::SessionResumeFailed));
}

#[test]
fn a_reversible_call_in_flight_has_failed() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    let spec = adjourn_core::ContractSpec { irreversible: false, ..run.send("ann") };
    let call = run.requests(spec);
    run.dispatches(call).restarts();
    assert_eq!((run.status(), run.contract_status(call)), (RunStatus::Queued, ContractStatus::Failed));
}

#[test]
fn an_irreversible_call_in_flight_is_put_to_a_person_in_every_mode() {
    for mode in [ExecutionMode::Auto, ExecutionMode::Interactive] {
        for answer in ["happened", "did_not_happen"] {
            let mut run = Case::with(mode, |spec| spec.strict = adjourn_core::Strict::Off);
            run.starts_with_handle();
            let call = run.sends("ann");
            run.restarts();
            assert_eq!((run.status(), run.open()), (RunStatus::WaitingUser, vec![1]));
            assert_eq!(run.run().wait_deadline_at(), None);
            run.answers(1, answer);
            assert_eq!(run.contract(call).holds_its_key(), answer == "happened");
            assert_eq!(reason(&mut run), TurnReason::GoOn);
        }
    }
}

#[test]
fn nobody_knows_ends_the_run_and_leaves_the_call_in_doubt_until_it_is_settled() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    let call = run.sends("ann");
    run.restarts().answers(1, json!({"value": "cancel_run", "note": "no idea"}));
    assert_eq!(run.status(), RunStatus::Canceled);
    assert!(run.contract(call).holds_its_key());
    let by = adjourn_core::By::USER;
    run.does(Command::SettleContract { id: call, happened: false, note: None, by: by.clone() });
    assert!(!run.contract(call).holds_its_key());
    let again = run.tries(Command::SettleContract { id: call, happened: true, note: None, by });
    assert_eq!(again, Err(Refusal::NothingToSettle(call)));
}

#[test]
fn an_approved_call_in_doubt_is_not_made_again() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    let call = run.asks_to_send("ann");
    run.suspends().answers(1, "yes").starts().dispatches(call).restarts();
    assert_eq!((run.status(), run.open()), (RunStatus::WaitingUser, vec![2]));
    assert_eq!(run.tries(Command::DispatchContract(call)), Err(Refusal::Dispatched(call)));
}

#[test]
fn a_call_in_flight_of_a_run_that_waits_is_put_to_a_person_too() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    let call = run.sends("ann");
    run.asks_to_send("bob");
    run.suspends().restarts();
    assert_eq!((run.status(), run.open()), (RunStatus::WaitingUser, vec![1, 2]));
    assert_eq!(run.contract_status(call), ContractStatus::Waiting);
}

#[test]
fn a_call_in_flight_of_a_queued_run_is_put_to_a_person_too() {
    let mut run = Case::interactive();
    run.starts_with_handle();
    let call = run.asks_to_send("ann");
    run.suspends().answers(1, "yes").dispatches(call).restarts();
    assert_eq!((run.status(), run.open()), (RunStatus::Queued, vec![2]));
    assert_eq!(run.contract_status(call), ContractStatus::Waiting);
    run.starts().ends(DONE);
    assert_eq!(run.status(), RunStatus::WaitingUser);
    run.answers(2, "happened").starts().ends(DONE);
    assert_eq!(run.status(), RunStatus::Succeeded);
}

#[test]
fn a_recorded_call_dies_with_the_agent_that_asked_and_lives_in_the_journal() {
    let after_restart = |resumes_by| {
        let mut run = Case::with(ExecutionMode::Interactive, |spec| spec.resumes_by = resumes_by);
        run.starts_with_handle();
        let call = run.requests(run.send("ann"));
        run.restarts();
        run.contract_status(call)
    };
    assert_eq!(after_restart(ResumesBy::Handle), ContractStatus::Cancelled);
    assert_eq!(after_restart(ResumesBy::Journal), ContractStatus::Pending);
}

#[test]
fn a_sticky_run_goes_on_as_resumable() {
    let mut run = Case::with(ExecutionMode::Interactive, |spec| spec.profile = Profile::StickyProcess);
    run.starts_with_process().ends(ASKS).restarts();
    assert_eq!((run.status(), run.run().profile()), (RunStatus::WaitingUser, Profile::Resumable));
    assert!(!run.run().holds_slot());
    assert_eq!(run.run().wait_deadline_at(), None);
}

#[test]
fn a_run_that_had_to_end_ends() {
    let mut run = Case::interactive();
    run.starts().cancels().restarts();
    assert_eq!(run.status(), RunStatus::Canceled);
}

#[test]
fn a_turn_that_goes_on_is_given_its_answers_again() {
    let mut run = Case::interactive();
    run.starts_with_handle().ends(ASKS).answers(1, "a").starts();
    for _ in 0..2 {
        run.restarts().starts();
        let given: Vec<_> = run.run().turn_answers().map(|answer| answer.interaction_id.0).collect();
        assert_eq!(given, [1], "the turn may have been cut off before it saw the answer");
    }
    run.ends(ASKS).answers(2, "b").starts();
    let given: Vec<_> = run.run().turn_answers().map(|answer| answer.interaction_id.0).collect();
    assert_eq!(given, [2], "the next turn is given only what is new");
}

#[test]
fn a_first_turn_that_was_cut_off_twice_before_its_handle_begins_anew() {
    let mut run = Case::interactive();
    run.starts().restarts();
    assert_eq!(run.status(), RunStatus::Queued);
    run.restarts();
    assert_eq!(
        (run.status(), run.code()),
        (RunStatus::Queued, None),
        "it waited for its slot when it was cut off again"
    );
    run.starts_with_handle().ends(DONE);
    assert_eq!(run.status(), RunStatus::Succeeded);
}

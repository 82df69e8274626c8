//! Permissions that agents ask for their own tools.

use adjourn_core::{
    Command, Event, ExecutionMode, InteractionId, InteractionStatus, Profile, RunStatus, Source, Strict,
    TurnEnd, TurnReason,
};
use serde_json::Value;

use crate::case::{Case, DONE};
use crate::walk::permission;

fn sticky() -> Case {
    Case::with(ExecutionMode::Interactive, |spec| spec.profile = Profile::StickyProcess)
}

fn started(run: &mut Case) -> (u32, TurnReason, Vec<InteractionId>) {
    let events = run.tries(Command::StartTurn).expect("a slot is free");
    let Some(Event::TurnStarted { attempt, reason, answers }) = events.first() else { panic!("{events:?}") };
    (*attempt, *reason, answers.clone())
}

#[test]
fn a_process_that_stays_waits_in_its_turn_and_goes_on_in_it() {
    let mut run = sticky();
    run.starts_with_process().ends_turn(TurnEnd::NeedsPermission(vec![permission(1)]));
    assert_eq!((run.status(), run.run().holds_slot()), (RunStatus::WaitingUser, true));
    let question = run.run().open_interactions().next().unwrap();
    assert_eq!(question.subject.source(), Source::Permission);
    assert_eq!(run.run().wait_deadline_at(), question.deadline_at);
    run.answers(1, "allow");
    assert_eq!(started(&mut run), (1, TurnReason::Permission, vec![InteractionId(1)]));
    run.ends(DONE);
}

#[test]
fn a_process_that_ended_its_turn_is_given_a_new_one_that_does_not_count() {
    let mut run = Case::with(ExecutionMode::Interactive, |spec| spec.max_attempt = Some(1));
    run.starts_with_handle().ends_turn(TurnEnd::NeedsPermission(vec![permission(1)]));
    assert_eq!((run.status(), run.run().holds_slot()), (RunStatus::WaitingUser, false));
    run.answers(1, "allow");
    assert_eq!(started(&mut run), (1, TurnReason::Settled, vec![InteractionId(1)]));
    run.ends(DONE);
    assert_eq!(run.status(), RunStatus::Succeeded);
}

#[test]
fn asking_again_for_what_is_open_is_one_question() {
    let mut run = Case::interactive();
    let twice = vec![permission(1), permission(2), permission(1)];
    run.starts_with_handle().ends_turn(TurnEnd::NeedsPermission(twice));
    assert_eq!(run.open(), [1, 2]);
    run.answers(1, "allow").starts().ends_turn(TurnEnd::NeedsPermission(vec![permission(2)]));
    assert_eq!((run.status(), run.open()), (RunStatus::WaitingUser, vec![2]));
    run.answers(2, "reject").starts().ends_turn(TurnEnd::NeedsPermission(vec![permission(2)]));
    assert_eq!(run.open(), [3], "what was answered may be asked again");
}

#[test]
fn past_its_deadline_the_answer_is_no_whatever_strict_says() {
    for strict in [Strict::On, Strict::Off] {
        let mut run = Case::with(ExecutionMode::Interactive, |spec| {
            spec.profile = Profile::StickyProcess;
            spec.strict = strict;
        });
        run.starts_with_process().ends_turn(TurnEnd::NeedsPermission(vec![permission(1)]));
        run.waits(100).expires(1);
        assert_eq!(run.status(), RunStatus::Queued);
        let question = run.run().interaction(InteractionId(1)).unwrap();
        assert_eq!(question.status, InteractionStatus::Expired);
        assert_eq!(question.resolution.as_ref().unwrap().response, Value::Null);
        assert_eq!(started(&mut run).1, TurnReason::Permission);
    }
}

#[test]
fn in_auto_mode_a_permission_is_waited_for_as_well() {
    let mut run = Case::auto();
    run.starts_with_handle().ends_turn(TurnEnd::NeedsPermission(vec![permission(1)]));
    assert_eq!(run.status(), RunStatus::WaitingUser);
}

#[test]
fn a_process_that_is_lost_while_it_waits_asks_again_in_a_new_one() {
    let mut run = sticky();
    run.starts_with_process().ends_turn(TurnEnd::NeedsPermission(vec![permission(1)]));
    run.restarts();
    assert_eq!((run.status(), run.run().holds_slot()), (RunStatus::WaitingUser, false));
    run.answers(1, "allow");
    assert_eq!(started(&mut run), (1, TurnReason::Settled, vec![InteractionId(1)]));
}

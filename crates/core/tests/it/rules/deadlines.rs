//! Deadlines: what has one, and what its passing means.

use adjourn_core::{
    Actor, Boot, Command, ContractStatus, ErrorCode, Event, ExecutionMode, InteractionId, InteractionStatus,
    Profile, Question, Refusal, RunStatus, Strict, Timestamp,
};

use crate::case::{ASKS, Case, DONE};

use Profile::{Resumable, StickyProcess};
use Strict::{Off, On};

/// A run of this kind in its first turn.
fn running(profile: Profile, strict: Strict) -> Case {
    let mut run = Case::with(ExecutionMode::Interactive, |spec| {
        spec.profile = profile;
        spec.strict = strict;
    });
    run.starts_with_process();
    run
}

/// Whether the first question has a deadline.
fn has_deadline(run: &Case) -> bool {
    run.run().interaction(InteractionId(1)).is_some_and(|question| question.deadline_at.is_some())
}

fn not_due(question: u32) -> Result<Vec<adjourn_core::Event>, Refusal> {
    Err(Refusal::NotDue(InteractionId(question)))
}

#[test]
fn a_deadline_is_where_something_happens_at_it() {
    for (profile, strict, expected) in [
        (Resumable, On, false),
        (Resumable, Off, true),
        (StickyProcess, On, true),
        (StickyProcess, Off, true),
    ] {
        let mut turn = running(profile, strict);
        turn.ends(ASKS);
        let mut approval = running(profile, strict);
        approval.asks_to_send("ann");
        let mut form = running(profile, strict);
        form.asks_form(Question::open_text("What?"), None);
        for run in [turn, approval, form] {
            assert_eq!(has_deadline(&run), expected, "{profile} strict {strict}");
        }
        let mut own = running(profile, strict);
        own.asks_form(Question::open_text("What?"), Some(5));
        assert_eq!(own.run().wait_deadline_at(), Some(own.world.now.plus_seconds(5)));
    }
}

#[test]
fn a_strict_resumable_run_waits_for_ever() {
    let mut run = running(Resumable, On);
    run.ends(ASKS).waits(1_000_000);
    assert_eq!(run.tries(Command::Expire(InteractionId(1))), not_due(1));
    assert_eq!(run.status(), RunStatus::WaitingUser);
}

#[test]
fn before_its_deadline_a_question_does_not_expire() {
    let mut run = running(Resumable, Off);
    run.ends(ASKS).waits(99);
    assert_eq!(run.tries(Command::Expire(InteractionId(1))), not_due(1));
    run.waits(1).expires(1);
}

#[test]
fn where_strict_is_off_adjourn_decides() {
    for profile in [Resumable, StickyProcess] {
        let mut run = running(profile, Off);
        run.ends(ASKS).waits(100).expires(1);
        assert_eq!(run.status(), RunStatus::Queued);
        assert_eq!(run.run().holds_slot(), profile == StickyProcess);
        let interaction = run.run().interaction(InteractionId(1)).unwrap();
        assert_eq!(interaction.status, InteractionStatus::Expired);
        run.starts().ends(DONE);
    }
}

#[test]
fn a_strict_sticky_run_fails_once_its_process_is_gone() {
    let mut run = running(StickyProcess, On);
    run.ends(ASKS).waits(100).expires(1);
    assert_eq!(run.status(), RunStatus::WaitingUser);
    run.process_ends();
    assert_eq!(run.code(), Some(ErrorCode::InteractionWaitTimeout));
}

#[test]
fn reply_and_expiry_are_both_commits_and_the_first_one_wins() {
    let mut late = running(Resumable, Off);
    late.ends(ASKS).waits(500).answers(1, "late but first");
    assert!(matches!(late.tries(Command::Expire(InteractionId(1))), Err(Refusal::NotOpen { .. })));

    let mut expired = running(Resumable, Off);
    expired.ends(ASKS).waits(100).expires(1);
    let reply = expired.reply(1, "too late".into(), None);
    assert!(matches!(expired.tries(Command::Reply(reply)), Err(Refusal::NotOpen { .. })));
}

#[test]
fn only_the_question_that_expired_is_decided() {
    let mut run = running(Resumable, Off);
    let call = run.asks_to_send("ann");
    run.waits(50);
    run.asks_to_send("bob");
    run.suspends().waits(50).expires(1);
    assert_eq!((run.status(), run.open()), (RunStatus::Queued, vec![2]));
    assert_eq!(run.contract_status(call), ContractStatus::Cancelled);
}

#[test]
fn a_question_that_expires_in_mid_turn_is_taken_up_when_the_turn_ends() {
    let mut run = running(Resumable, Off);
    run.asks_to_send("ann");
    run.waits(100).expires(1);
    assert_eq!(run.status(), RunStatus::Running);
    run.suspends();
    assert_eq!(run.status(), RunStatus::Queued);
}

#[test]
fn where_strict_is_off_adjourn_answers_a_question_by_tool_as_well() {
    for profile in [Resumable, StickyProcess] {
        for own_timeout in [None, Some(100), Some(500)] {
            let mut run = running(profile, Off);
            let question = Question { default: Some("blue".into()), ..Question::open_text("What?") };
            let form = run.asks_form(question, own_timeout);
            run.suspends().waits(99);
            assert_eq!(run.tries(Command::Expire(InteractionId(1))), not_due(1));
            run.waits(1).expires(1);
            assert_eq!(run.status(), RunStatus::Queued);
            let contract = run.contract(form);
            assert_eq!(contract.result, Some("blue".into()));
            let way: Vec<_> = contract.transitions.iter().map(|step| (step.to, step.actor)).collect();
            let (running, completed) = (ContractStatus::Running, ContractStatus::Completed);
            assert_eq!(way[2..], [(running, Actor::AutoDecide), (completed, Actor::AutoDecide)]);
            assert!(run.run().consequence(form).unwrap().assumed);
        }
    }
}

#[test]
fn a_strict_sticky_run_fails_by_a_question_by_tool_as_well() {
    let mut run = running(StickyProcess, On);
    let form = run.asks_form(Question::open_text("What?"), None);
    run.waits(100);
    assert_eq!(run.tries(Command::Expire(InteractionId(1))), not_due(1), "the turn is still going on");
    run.suspends().expires(1).process_ends();
    assert_eq!(run.code(), Some(ErrorCode::InteractionWaitTimeout));
    assert_eq!(run.contract_status(form), ContractStatus::Cancelled);
}

#[test]
fn a_strict_resumable_run_waits_for_ever_for_the_answer_to_a_question_by_tool() {
    let mut run = running(Resumable, On);
    run.asks_form(Question::open_text("What?"), None);
    run.suspends().waits(1_000_000);
    assert_eq!(run.tries(Command::Expire(InteractionId(1))), not_due(1));
    assert_eq!(run.status(), RunStatus::WaitingUser);
}

#[test]
fn a_form_whose_own_time_has_passed_is_cancelled_in_every_kind_of_run() {
    for (profile, strict) in [(Resumable, On), (Resumable, Off), (StickyProcess, On), (StickyProcess, Off)] {
        let mut run = running(profile, strict);
        let form = run.asks_form(Question::open_text("What?"), Some(5));
        run.suspends().waits(5).expires(1);
        assert_eq!((run.status(), run.contract_status(form)), (RunStatus::Queued, ContractStatus::Cancelled));
    }
}

#[test]
fn with_its_process_a_strict_run_loses_the_deadlines_that_the_process_had() {
    let mut run = running(StickyProcess, On);
    run.asks_to_send("ann");
    let form = run.asks_form(Question::open_text("What?"), Some(500));
    let due = run.world.now.plus_seconds(500);
    run.suspends().process_ends();
    assert!(!has_deadline(&run));
    let rows: Vec<_> = run.world.journal.open.values().map(|row| row.deadline_at).collect();
    assert_eq!(rows, [None, Some(due)]);
    assert_eq!(run.run().wait_deadline_at(), Some(due));
    run.waits(500).expires(2);
    assert_eq!(run.contract_status(form), ContractStatus::Cancelled);
}

#[test]
fn an_overdue_question_expires_after_the_restart_that_preserved_it() {
    let mut run = running(Resumable, Off);
    run.ends(ASKS).waits(5000).restarts();
    assert_eq!(run.status(), RunStatus::WaitingUser);
    run.expires(1);
    assert_eq!(run.status(), RunStatus::Queued);
}

#[test]
fn a_question_of_a_run_that_has_to_end_does_not_expire() {
    let mut run = running(StickyProcess, Off);
    run.ends(ASKS).cancels().waits(100);
    assert_eq!(run.tries(Command::Expire(InteractionId(1))), not_due(1));
}

#[test]
fn a_clock_that_was_set_moves_a_deadline_once_and_expires_nothing() {
    let mut run = running(Resumable, Off);
    let boot = |hours: i64| Some(Boot { id: 7, at: Timestamp::from_millis(hours * 3_600_000) });
    run.world.boot = boot(0);
    run.ends(ASKS);
    let deadline = run.run().wait_deadline_at().unwrap();
    // Three hours ahead the deadline looks as if it had come.
    run.waits(3 * 3600).world.boot = boot(3);
    let moved = run.tries(Command::Expire(InteractionId(1))).unwrap();
    assert!(matches!(moved[..], [Event::DeadlineMoved { by_ms: 10_800_000, .. }]), "{moved:?}");
    assert_eq!(run.run().wait_deadline_at(), Some(deadline.plus_seconds(3 * 3600)));
    assert_eq!(run.status(), RunStatus::WaitingUser);
    assert_eq!(run.tries(Command::MoveDeadlines), Ok(Vec::new()), "moving it twice is moving it once");
    assert_eq!(run.tries(Command::Expire(InteractionId(1))), not_due(1));
}

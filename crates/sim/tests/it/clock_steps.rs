//! The wall clock is set, and everything takes the time that it was meant to.

use adjourn_core::fcmp::{FrameType, Header};
use adjourn_core::{Record, RunSpec, RunStatus, Strict};
use adjourn_store::{After, Store};

use crate::kernel::{Desk, asks, done, one_slot, plain, run_id};

/// A run that asked a question with a deadline a minute after.
fn asked_with_a_minute(desk: &mut Desk) {
    desk.creates(1, RunSpec { strict: Strict::Off, session_timeout_sec: 60, ..plain() });
    desk.commits();
    desk.ends(1, asks());
    desk.commits();
    assert_eq!(desk.status(1), RunStatus::WaitingUser);
}

#[test]
fn a_turn_times_out_although_the_clock_was_set_back() {
    let mut desk = Desk::new(one_slot());
    desk.passes(20_000);
    desk.creates(1, RunSpec { hard_timeout_sec: Some(10), ..plain() });
    desk.commits();
    assert_eq!(desk.effects(), ["start 1"]);
    desk.ahead = -7200;
    desk.passes(9);
    assert_eq!(desk.effects(), Vec::<String>::new());
    desk.passes(1);
    assert_eq!(desk.effects(), ["stop 1"]);
}

#[test]
fn a_turn_has_its_time_although_the_clock_was_set_forward() {
    let mut desk = Desk::new(one_slot());
    desk.creates(1, RunSpec { hard_timeout_sec: Some(10), ..plain() });
    desk.commits();
    assert_eq!(desk.effects(), ["start 1"]);
    desk.ahead = 3 * 3600;
    desk.passes(9);
    assert_eq!(desk.effects(), Vec::<String>::new());
    desk.passes(1);
    assert_eq!(desk.effects(), ["stop 1"]);
}

#[test]
fn a_commit_is_tried_again_although_the_clock_was_set_back() {
    let mut desk = Desk::new(one_slot());
    desk.passes(20_000);
    desk.creates(1, plain());
    desk.commits();
    desk.creates(2, plain());
    desk.commits();
    desk.ends(1, done());
    desk.fails_to_commit();
    desk.ahead = -7200;
    desk.passes(2);
    desk.ends(1, done());
    desk.commits();
    assert_eq!(desk.status(2), RunStatus::Running);
}

#[test]
fn a_question_expires_in_its_time_although_the_clock_was_set_back() {
    let mut desk = Desk::new(one_slot());
    desk.passes(20_000);
    asked_with_a_minute(&mut desk);
    desk.ahead = -7200;
    desk.passes(59);
    assert_eq!(desk.status(1), RunStatus::WaitingUser);
    desk.passes(1);
    assert_eq!(desk.status(1), RunStatus::Running);
}

#[test]
fn a_question_does_not_expire_because_the_clock_was_set_forward() {
    let mut desk = Desk::new(one_slot());
    asked_with_a_minute(&mut desk);
    desk.ahead = 3 * 3600;
    desk.passes(59);
    assert_eq!(desk.status(1), RunStatus::WaitingUser);
    desk.passes(1);
    assert_eq!(desk.status(1), RunStatus::Running);
}

#[test]
fn a_clock_that_was_set_while_nothing_ran_is_noticed_at_the_start() {
    for ahead in [-7200, 3 * 3600] {
        let mut desk = Desk::new(one_slot());
        desk.passes(20_000);
        asked_with_a_minute(&mut desk);
        desk.ahead = ahead;
        let mut desk = desk.restart();
        desk.recovers();
        desk.passes(59);
        assert_eq!(desk.status(1), RunStatus::WaitingUser, "set by {ahead} s");
        desk.passes(1);
        assert_eq!(desk.status(1), RunStatus::Running, "set by {ahead} s");
    }
}

#[test]
fn a_deadline_of_an_earlier_boot_stays_and_then_follows_the_clock_of_this_one() {
    let mut desk = Desk::new(one_slot());
    desk.passes(20_000);
    asked_with_a_minute(&mut desk);
    desk.boot_id = 1;
    let mut desk = desk.restart();
    desk.recovers();
    let deadline = desk.run(1).unwrap().wait_deadline_at();
    assert_eq!(deadline, Some(adjourn_core::Timestamp::from_millis(20_060_000)));
    desk.ahead = -7200;
    desk.passes(59);
    assert_eq!(desk.status(1), RunStatus::WaitingUser);
    desk.passes(1);
    assert_eq!(desk.status(1), RunStatus::Running);
}

#[test]
fn every_question_follows_the_clock_in_pages_and_once() {
    let slots = adjourn_kernel::Slots { total: 200, ..one_slot() };
    let mut desk = Desk::new(slots);
    desk.passes(20_000);
    for n in 1..=150 {
        desk.creates(n, RunSpec { strict: Strict::Off, session_timeout_sec: 60, ..plain() });
        desk.commits();
        desk.ends(n, asks());
        desk.commits();
    }
    let seq = |desk: &Desk, n| desk.run(n).unwrap().seq();
    let before: Vec<_> = (1..=150).map(|n| seq(&desk, n)).collect();
    desk.ahead = -7200;
    desk.passes(1);
    for n in 1..=150 {
        let run = desk.run(n).unwrap();
        let deadline = adjourn_core::Timestamp::from_millis((20_060 - 7200) * 1000);
        assert_eq!(run.wait_deadline_at(), Some(deadline), "{n}");
        assert_eq!(run.seq(), before[usize::try_from(n).unwrap() - 1] + 1, "{n}");
    }
    let rows = desk.memory.deadlines(1000).unwrap();
    assert!(rows.iter().all(|row| row.deadline_at == desk.run(1).unwrap().wait_deadline_at()));
    desk.passes(58);
    assert_eq!(desk.status(150), RunStatus::WaitingUser);
    desk.passes(1);
    assert_eq!(desk.status(150), RunStatus::Running);
}

#[test]
fn a_question_that_becomes_durable_after_the_clock_was_set_follows_it() {
    let mut desk = Desk::new(one_slot());
    desk.passes(20_000);
    desk.creates(1, RunSpec { strict: Strict::Off, session_timeout_sec: 60, ..plain() });
    desk.commits();
    desk.ends(1, asks());
    let items = desk.kernel.submit().unwrap();
    desk.ahead = -7200;
    desk.passes(0);
    let outcome = desk.memory.commit(&items);
    desk.kernel.settle(outcome);
    desk.passes(59);
    assert_eq!(desk.status(1), RunStatus::WaitingUser);
    desk.passes(1);
    assert_eq!(desk.status(1), RunStatus::Running);
}

#[test]
fn deadlines_follow_the_clock_although_the_first_commit_of_it_failed() {
    let mut desk = Desk::new(one_slot());
    desk.passes(20_000);
    asked_with_a_minute(&mut desk);
    desk.ahead = -7200;
    desk.kernel.tick(desk.now());
    desk.fails_to_commit();
    desk.passes(59);
    assert_eq!(desk.status(1), RunStatus::WaitingUser);
    desk.passes(1);
    assert_eq!(desk.status(1), RunStatus::Running);
}

#[test]
fn the_person_is_told_that_a_deadline_moved() {
    let mut desk = Desk::new(one_slot());
    desk.passes(20_000);
    asked_with_a_minute(&mut desk);
    desk.ahead = -7200;
    desk.passes(1);
    let entries = desk.memory.read(run_id(1).into(), After::Seq(0), 100).unwrap();
    let last = entries.last().unwrap();
    let header = Header { run_id: run_id(1), engine: "exec" };
    let frames = Record::<adjourn_core::Event>::of(last).unwrap().frames(header, last);
    assert_eq!(frames.len(), 1);
    assert_eq!(frames[0].kind, FrameType::Warning);
    assert_eq!(
        frames[0].data,
        serde_json::json!({
            "code": "DEADLINE_MOVED",
            "message": "the clock of this machine was set back by 7200 s, and the deadline of question 1 moved with it \
                        to 1970-01-01T03:34:20.000Z",
            "interaction_id": 1,
            "deadline_at": "1970-01-01T03:34:20.000Z",
        })
    );
}

#[test]
fn a_clock_that_is_corrected_by_a_second_moves_nothing() {
    let mut desk = Desk::new(one_slot());
    asked_with_a_minute(&mut desk);
    let seq = desk.run(1).unwrap().seq();
    desk.ahead = 1;
    desk.passes(1);
    assert_eq!(desk.run(1).unwrap().seq(), seq);
}

#[test]
fn the_sleep_of_the_machine_counts_as_time() {
    let slots = adjourn_kernel::Slots { total: 2, ..one_slot() };
    let mut desk = Desk::new(slots);
    asked_with_a_minute(&mut desk);
    desk.creates(2, RunSpec { hard_timeout_sec: Some(60), ..plain() });
    desk.commits();
    desk.effects();
    let seq = desk.run(1).unwrap().seq();
    // Both clocks go on while everything sleeps, and nobody looks at them.
    desk.seconds += 8 * 3600;
    desk.passes(0);
    assert_eq!(desk.effects(), ["stop 2", "start 1"]);
    let events = desk.run(1).unwrap().seq() - seq;
    assert_eq!((desk.status(1), events), (RunStatus::Running, 4), "it expired, and no deadline moved");
}

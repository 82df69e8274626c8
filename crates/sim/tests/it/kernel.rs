//! What the simulator found in the kernel, each as the shortest way there.

mod desk;

use std::collections::BTreeMap;
use std::time::Duration;

use adjourn_core::{
    Command, ErrorCode, ExecutionMode, Observation, Process, Profile, RunSpec, RunStatus, Strict, Survey,
    Timestamp,
};
use adjourn_kernel::{Denied, Slots};
use adjourn_store::Store;

pub(crate) use self::desk::{Desk, asks, at, done, full, one_slot, plain, run_id};

#[test]
fn a_question_that_is_durable_only_after_its_deadline_expires_all_the_same() {
    let mut desk = Desk::new(one_slot());
    desk.creates(1, RunSpec { strict: Strict::Off, session_timeout_sec: 5, ..plain() });
    desk.commits();
    desk.ends(1, asks());
    let items = desk.kernel.submit().unwrap();
    desk.seconds += 10;
    // Whoever looks now does not find the question.
    desk.kernel.tick(desk.now());
    let outcome = desk.memory.commit(&items);
    desk.kernel.settle(outcome);
    desk.passes(0);
    assert_eq!(desk.status(1), RunStatus::Running, "the auto decision opened the next turn");
}

#[test]
fn a_turn_whose_start_took_long_to_commit_has_its_time_and_no_more() {
    let mut desk = Desk::new(one_slot());
    desk.creates(1, RunSpec { hard_timeout_sec: Some(30), ..plain() });
    let items = desk.kernel.submit().unwrap();
    desk.seconds += 60;
    desk.kernel.tick(desk.now());
    assert_eq!(desk.effects(), [""; 0], "what did not begin is not stopped");
    let outcome = desk.memory.commit(&items);
    desk.kernel.settle(outcome);
    assert_eq!(desk.effects(), ["start 1"]);
    desk.passes(29);
    assert_eq!(desk.effects(), [""; 0]);
    desk.passes(1);
    assert_eq!(desk.effects(), ["stop 1"]);
}

#[test]
fn a_slot_whose_release_was_not_committed_is_not_given_away() {
    let mut desk = Desk::new(one_slot());
    desk.creates(1, plain());
    desk.commits();
    desk.ends(1, done());
    let _items = desk.kernel.submit().unwrap();
    desk.creates(2, plain());
    desk.kernel.settle(Err(full()));
    desk.commits();
    assert_eq!((desk.status(1), desk.status(2)), (RunStatus::Running, RunStatus::Queued));
    assert_eq!(desk.effects(), ["start 1"]);
    desk.ends(1, done());
    desk.commits();
    assert_eq!((desk.status(1), desk.status(2)), (RunStatus::Succeeded, RunStatus::Running));
}

#[test]
fn a_full_disk_costs_nobody_the_place_in_the_queue() {
    let mut desk = Desk::new(one_slot());
    for n in 1..=3 {
        desk.creates(n, plain());
        desk.commits();
    }
    desk.ends(1, done());
    desk.fails_to_commit();
    desk.creates(4, plain());
    desk.commits();
    desk.ends(1, done());
    desk.passes(2);
    desk.commits();
    let running: Vec<_> = (2..=4).filter(|n| desk.status(*n) == RunStatus::Running).collect();
    assert_eq!(running, [2]);
}

#[test]
fn a_cancel_that_could_not_be_committed_costs_nobody_the_place_in_the_queue() {
    let mut desk = Desk::new(one_slot());
    for n in 1..=3 {
        desk.creates(n, plain());
        desk.commits();
    }
    desk.asks(run_id(2), Command::Cancel(adjourn_core::By::USER));
    desk.fails_to_commit();
    desk.ends(1, done());
    desk.commits();
    assert_eq!((desk.status(2), desk.status(3)), (RunStatus::Running, RunStatus::Queued));
}

#[test]
fn after_a_restart_the_queue_stands_as_it_stood_and_as_full() {
    let mut desk = Desk::new(Slots { queue_max: 2, ..one_slot() });
    for n in 1..=3 {
        desk.creates(n, plain());
        desk.commits();
        desk.passes(1);
    }
    desk.ends(1, done());
    desk.commits();
    desk.creates(4, plain());
    desk.commits();
    assert_eq!(desk.status(2), RunStatus::Running);

    let mut desk = desk.restart();
    assert_eq!(desk.effects(), ["survey 2"]);
    desk.kernel.surveyed(run_id(2), Survey::INTACT);
    desk.commits();
    // Run 2 goes to the end of the queue; the slot is kept for the first while it is looked at, and for nobody else.
    assert_eq!(desk.effects(), ["survey 3"]);
    assert_eq!(desk.kernel.slots().waiting(), 3);
    desk.creates(5, plain());
    assert!(matches!(desk.answers().as_slice(), [Err(Denied::QueueFull { waiting: 3, queue_max: 2 })]));
    desk.kernel.surveyed(run_id(3), Survey::INTACT);
    desk.commits();
    assert_eq!(desk.effects(), ["start 3"]);
    desk.ends(3, done());
    desk.commits();
    assert_eq!(desk.effects(), ["survey 4"]);
}

#[test]
fn a_run_that_could_not_be_put_right_is_put_right_later() {
    let mut desk = Desk::new(one_slot());
    desk.creates(1, plain());
    desk.commits();
    let mut desk = desk.restart();
    desk.kernel.surveyed(run_id(1), Survey::INTACT);
    desk.fails_to_commit();
    // What is asked meanwhile waits.
    desk.asks(run_id(1), Command::Cancel(adjourn_core::By::USER));
    desk.commits();
    assert_eq!(desk.status(1), RunStatus::Running);
    desk.passes(1);
    assert_eq!(desk.status(1), RunStatus::Canceled);
    assert!(matches!(desk.answers().as_slice(), [Ok(_)]));
}

#[test]
fn a_run_that_cannot_be_read_after_a_restart_is_looked_at_later() {
    let mut desk = Desk::new(one_slot());
    desk.creates(1, plain());
    desk.commits();
    let mut desk = Desk::over(desk.memory, desk.slots, at(0, 0));
    // The page of running runs can be read, and the run cannot.
    desk.store.fail_reads_after(1, 1);
    desk.passes(0);
    assert_eq!(desk.effects(), [""; 0]);
    desk.passes(1);
    assert_eq!(desk.effects(), ["survey 1"]);
    desk.kernel.surveyed(run_id(1), Survey::INTACT);
    desk.commits();
    assert_eq!(desk.effects(), ["start 1"]);
}

#[test]
fn a_run_that_cannot_be_read_when_it_is_put_right_is_put_right_before_it_starts() {
    let mut desk = Desk::new(one_slot());
    desk.creates(1, plain());
    desk.commits();
    let mut desk = desk.restart();
    desk.effects();
    desk.store.fail_reads_after(0, 1);
    desk.kernel.surveyed(run_id(1), Survey::INTACT);
    desk.commits();
    assert_eq!(desk.effects(), [""; 0]);
    desk.passes(1);
    assert_eq!(desk.effects(), ["start 1"]);
    assert_eq!(desk.run(1).unwrap().turn(), 2, "it was put right once");
}

#[test]
fn whoever_could_not_be_read_when_its_slot_was_free_starts_later_and_first() {
    let mut desk = Desk::new(one_slot());
    for n in 1..=3 {
        desk.creates(n, plain());
        desk.commits();
    }
    desk.effects();
    let end = Command::EndTurn { turn: 1, observations: Vec::new(), end: done() };
    // The first two reads are the state of the run that ends, which is not kept in memory here: whether it can be read, and
    // what is decided on. The third is the state of the run that is next.
    desk.store.fail_reads_after(2, 1);
    desk.asks(run_id(1), end);
    desk.commits();
    assert_eq!(desk.effects(), [""; 0]);
    desk.passes(1);
    assert_eq!(desk.effects(), ["start 2"]);
}

#[test]
fn a_survey_counts_once() {
    let mut desk = Desk::new(one_slot());
    desk.creates(1, plain());
    desk.commits();
    let mut desk = desk.restart();
    for _ in 0..2 {
        desk.kernel.surveyed(run_id(1), Survey::INTACT);
        desk.commits();
    }
    assert_eq!(desk.effects(), ["survey 1", "start 1"]);
    assert_eq!(desk.run(1).unwrap().turn(), 2);
}

#[test]
fn facts_are_dated_by_the_wall_clock_as_it_is() {
    let mut desk = Desk::new(one_slot());
    desk.seconds = 100;
    desk.creates(1, plain());
    desk.commits();
    desk.ahead = -60;
    desk.creates(2, plain());
    desk.commits();
    assert_eq!(desk.run(2).unwrap().created_at(), Timestamp::from_millis(40_000));
}

#[test]
fn whoever_finds_no_slot_of_its_engine_needs_a_place_in_the_queue() {
    let engine = BTreeMap::from([("exec".to_owned(), 1)]);
    let mut desk = Desk::new(Slots { total: 2, engine, queue_max: 0 });
    desk.creates(1, plain());
    desk.creates(2, plain());
    desk.creates(3, RunSpec::new("acp", ExecutionMode::Auto));
    desk.commits();
    let created: Vec<_> = (1..=3).filter(|n| desk.run(*n).is_some()).collect();
    assert_eq!(created, [1, 3]);
}

#[test]
fn a_sticky_run_that_loses_its_process_while_it_is_held_up_waits_for_a_slot() {
    let mut desk = Desk::new(one_slot());
    let process = Process { pid: 7, started: 1 };
    desk.creates(1, RunSpec { profile: Profile::StickyProcess, ..plain() });
    desk.commits();
    let observations = vec![Observation::Process(process)];
    desk.asks(run_id(1), Command::Observe { turn: 1, observations });
    desk.ends(1, asks());
    desk.commits();
    desk.creates(2, plain());
    desk.commits();
    // The disk is full when the answer comes: it is recorded, and its turn does not start.
    desk.asks(run_id(1), reply());
    desk.fails_to_commit();
    desk.asks(run_id(1), reply());
    desk.asks(run_id(1), Command::ReportProcessEnded { process, loadable: true });
    desk.commits();
    desk.passes(1);
    assert_eq!((desk.status(1), desk.status(2)), (RunStatus::Queued, RunStatus::Running));
}

fn reply() -> Command {
    Command::Reply(adjourn_core::Reply {
        interaction_id: adjourn_core::InteractionId(1),
        response: serde_json::json!("because"),
        action: None,
        by: adjourn_core::By::USER,
        key: None,
        edited_id: adjourn_core::ExecutionId::from_bits(1),
        edited_key: None,
    })
}

#[test]
fn a_kernel_whose_journal_does_not_answer_waits_a_second_and_not_less() {
    let mut desk = Desk::new(one_slot());
    desk.creates(1, RunSpec { strict: Strict::Off, session_timeout_sec: 5, ..plain() });
    desk.commits();
    desk.ends(1, asks());
    desk.commits();
    desk.seconds += 5;
    desk.store.fail_reads_after(0, 1);
    desk.kernel.tick(desk.now());
    assert_eq!(desk.kernel.next_tick(&at(0, 0)), Some(Duration::from_secs(6)));
    desk.passes(1);
    let run = desk.run(1).unwrap();
    assert!(run.interactions()[0].resolution.is_some(), "the question expired");
}

#[test]
fn a_run_that_cannot_be_read_ends_and_nobody_waits_for_it() {
    let mut desk = Desk::new(one_slot());
    for n in 1..=4 {
        desk.creates(n, plain());
        desk.commits();
    }
    desk.ends(1, asks());
    desk.commits();
    // One waits for an answer, one has the slot, one is next for it, one comes after.
    for n in 1..=3 {
        desk.memory.damage(run_id(n).into());
    }
    let mut desk = desk.restart();
    desk.commits();
    for _ in 0..4 {
        for effect in desk.effects() {
            if let Some(n) = effect.strip_prefix("survey ") {
                desk.kernel.surveyed(run_id(n.parse().unwrap()), Survey::INTACT);
                desk.commits();
            }
        }
        desk.passes(0);
    }
    for n in 1..=3 {
        let run = desk.run(n).unwrap();
        assert_eq!(
            (run.status(), run.error().unwrap().code),
            (RunStatus::Failed, ErrorCode::JournalUnreadable)
        );
        assert_eq!(run.open_interactions().count(), 0);
    }
    assert_eq!(desk.status(4), RunStatus::Running);
    assert_eq!(desk.memory.open_interactions(None, 9).unwrap(), []);
    assert!(!desk.kernel.is_held_up());
    desk.ends(4, done());
    desk.commits();
    assert_eq!((desk.status(4), desk.kernel.memory()), (RunStatus::Succeeded, 0));
}

#[test]
fn a_queue_that_one_engine_fills_refuses_no_run_of_another_with_a_free_slot() {
    let engine = BTreeMap::from([("exec".to_owned(), 1)]);
    let mut desk = Desk::new(Slots { total: 2, engine, queue_max: 1 });
    for n in 1..=2 {
        desk.creates(n, plain());
        desk.commits();
    }
    desk.answers();
    desk.creates(3, plain());
    assert!(matches!(desk.answers().as_slice(), [Err(Denied::QueueFull { waiting: 1, queue_max: 1 })]));
    desk.creates(4, RunSpec::new("acp", ExecutionMode::Interactive));
    desk.commits();
    assert!(matches!(desk.answers().as_slice(), [Ok(_)]));
    assert_eq!((desk.status(2), desk.status(4)), (RunStatus::Queued, RunStatus::Running));
    desk.creates(5, RunSpec::new("acp", ExecutionMode::Interactive));
    assert!(matches!(desk.answers().as_slice(), [Err(Denied::QueueFull { .. })]), "no slot is left");
}

#[test]
fn a_run_that_a_slot_is_kept_for_keeps_its_place_when_an_earlier_state_of_it_becomes_durable() {
    let mut desk = Desk::new(one_slot());
    desk.creates(1, RunSpec { strict: Strict::Off, session_timeout_sec: 600, ..plain() });
    desk.commits();
    desk.ends(1, asks());
    desk.commits();
    assert_eq!(desk.status(1), RunStatus::WaitingUser);
    desk.effects();
    desk.kernel.miss_engine("exec");

    // Its deadline follows the clock, and it is answered, in one commit.
    desk.ahead = 100;
    desk.kernel.tick(desk.now());
    desk.asks(run_id(1), reply());
    assert_eq!(desk.effects(), ["survey 1"], "its engine is looked for");
    let items = desk.kernel.submit().unwrap();
    let outcome = desk.memory.commit(&items);
    desk.kernel.settle(outcome);

    desk.creates(2, plain());
    desk.fails_to_commit();
    assert_eq!(desk.kernel.slots().waiting(), 1, "run 1 is where it stood");
    desk.kernel.surveyed(run_id(1), Survey::INTACT);
    desk.commits();
    assert_eq!(desk.effects(), ["start 1"]);
}

//! Bugs that are planted around the kernel are found: a simulator that finds nothing proves nothing.

use adjourn_sim::{Bug, Crashes, Plan, Scenario, Unsynced, simulate};

/// Seeds within which each bug has to be found. Most are by the first.
const SEEDS_MAX: u64 = 60;

/// Places on the way of the chain of runs at which a crash can come.
const CHAIN_PLACES: u64 = 163;

/// Plants `bug`, and looks whether one of the rules that it breaks is what is found first.
fn check(bug: Bug, rules: &[&str]) {
    let found =
        (0..SEEDS_MAX).find_map(|seed| simulate(&Plan { bug: Some(bug), ..Plan::seeded(seed) }).err());
    let failure = found.unwrap_or_else(|| panic!("{bug:?} is not found within {SEEDS_MAX} seeds"));
    assert!(
        rules.contains(&failure.violation.rule),
        "{bug:?} is found, and taken for something else:\n{failure}"
    );
}

/// Plants `bug` in the chain of runs, and looks what is found first by a crash and a prune somewhere on its way.
fn check_chain(bug: Bug, rules: &[&str]) {
    let plan = |place| Plan {
        bug: Some(bug),
        crashes: Crashes([(place, Unsynced::Lost)].into()),
        ..Scenario::Chain.plan()
    };
    let found: Vec<_> = (0..CHAIN_PLACES).filter_map(|place| simulate(&plan(place)).err()).collect();
    assert!(!found.is_empty(), "{bug:?} is not found by a crash at any place");
    for failure in found {
        assert!(rules.contains(&failure.violation.rule), "{bug:?} is taken for something else:\n{failure}");
    }
}

#[test]
fn a_store_that_acknowledges_early_is_found() {
    check(Bug::AcknowledgesEarly, &["an answer is told when it is durable"]);
}

#[test]
fn a_refused_commit_that_comes_back_after_a_crash_is_found() {
    check(Bug::BringsRefusedBack, &["what was refused never happens"]);
}

#[test]
fn a_turn_that_is_started_twice_is_found() {
    check(Bug::StartsTwice, &["a turn is started once"]);
}

#[test]
fn a_turn_that_is_never_started_is_found() {
    check(Bug::NeverStarts, &["a turn that began was given to its engine"]);
}

#[test]
fn a_turn_that_is_started_before_its_commit_is_found() {
    check(Bug::StartsBeforeCommit, &["a turn is started when its start is durable"]);
}

#[test]
fn a_slot_too_many_is_found() {
    check(
        Bug::OneSlotTooMany,
        &["no more slots are held than there are", "no more is alive than there are slots"],
    );
}

#[test]
fn a_slot_that_leaks_is_found() {
    check(Bug::LeaksSlot, &["slots are held by exactly those whose state says so"]);
}

#[test]
fn a_timer_that_gets_lost_is_found() {
    check(
        Bug::LosesTimers,
        &[
            "what is due happens",
            "every run ends or waits for a person",
            "every roundtable goes on, is closed or waits for a person",
        ],
    );
}

#[test]
fn a_timer_that_fires_early_is_found() {
    check(Bug::FiresEarly, &["nothing happens before its time", "a turn has the time that it may take"]);
}

#[test]
fn a_reply_that_gets_lost_is_found() {
    check(Bug::LosesReply, &["a reply that was accepted is never lost"]);
}

#[test]
fn a_gap_in_a_stream_is_found() {
    check(Bug::SkipsFrame, &["frames are numbered without gaps", "an entry knows its last frame"]);
}

#[test]
fn a_restart_that_forgets_running_runs_is_found() {
    check(Bug::ForgetsRunning, &["slots are held by exactly those whose state says so"]);
}

#[test]
fn a_queue_in_the_wrong_order_is_found() {
    check(Bug::TurnsPriorityAround, &["a higher priority goes first"]);
}

#[test]
fn a_call_that_is_made_twice_is_found() {
    check(Bug::RepeatsCalls, &["an irreversible effect happens once"]);
}

#[test]
fn a_prune_that_forgets_a_successor_is_found() {
    check_chain(
        Bug::PrunesContinued,
        &["a conversation goes back to its first run", "an irreversible effect happens once"],
    );
}

#[test]
fn durations_by_the_wall_clock_are_found() {
    check(
        Bug::MeasuresByTheWallClock,
        &[
            "what is due happens",
            "a question waits as long as it was meant to",
            "a turn has the time that it may take",
        ],
    );
}

#[test]
fn a_prune_that_forgets_the_key_of_a_run_is_found() {
    check_chain(Bug::ForgetsCreateKeys, &["one key creates one run"]);
}

#[test]
fn a_clock_that_is_set_while_nothing_runs_is_found() {
    check(Bug::TakesStartsForBoots, &["what is due happens", "a question waits as long as it was meant to"]);
}

#[test]
fn work_that_begins_on_a_full_disk_is_found() {
    check(Bug::FillsTheDisk, &["nothing begins while the disk is below its reserve"]);
}

#[test]
fn a_kernel_that_does_not_hear_of_room_is_found() {
    check(Bug::ForgetsThatThereIsRoom, &["what is due happens", "every run ends or waits for a person"]);
}

#[test]
fn a_limit_of_attempts_that_is_forgotten_is_found() {
    check(Bug::ForgetsTheLimitOfAttempts, &["no run has more attempts than it may"]);
}

#[test]
fn a_run_that_waits_for_ever_although_it_is_not_strict_is_found() {
    check(Bug::TakesEveryRunForStrict, &["a run that is not strict decides its agent's questions in time"]);
}

#[test]
fn an_activation_that_is_created_twice_is_found() {
    check(Bug::CreatesActivationTwice, &["a run of a roundtable is announced durably before it is created"]);
}

#[test]
fn an_answer_that_is_recorded_twice_is_found() {
    check(Bug::RecordsAnswerTwice, &["each run of a roundtable is heard once"]);
}

#[test]
fn an_answer_that_is_recorded_before_the_end_of_its_run_is_found() {
    check(Bug::HearsBeforeTheEnd, &["a run is heard when its end is durable"]);
}

#[test]
fn a_round_that_is_recorded_before_its_answers_is_found() {
    check(
        Bug::RecordsRoundEarly,
        &["a run is lost that ended, or that cannot be created", "no answer is lost"],
    );
}

#[test]
fn a_restart_that_forgets_active_roundtables_is_found() {
    check(Bug::ForgetsRoundtables, &["every roundtable goes on, is closed or waits for a person"]);
}

#[test]
fn crashes_on_the_way_of_a_roundtable_find_a_restart_that_forgets_it() {
    let plan = |place| Plan {
        bug: Some(Bug::ForgetsRoundtables),
        crashes: Crashes([(place, Unsynced::Lost)].into()),
        ..Scenario::Roundtable.plan()
    };
    let found = (20..200).step_by(20).filter(|place| simulate(&plan(*place)).is_err()).count();
    // Where a run of it is at work, the end of that run has it go on.
    assert_eq!(found, 4, "of nine places");
}

#[test]
fn every_bug_has_its_test() {
    let tests = include_str!("planted.rs");
    for bug in Bug::ALL {
        assert!(tests.contains(&format!("Bug::{bug:?},")), "{bug:?}");
    }
}

#[test]
fn the_same_seeds_find_nothing_without_the_bugs() {
    for seed in 0..SEEDS_MAX {
        if let Err(failure) = simulate(&Plan::seeded(seed)) {
            panic!("seed {seed}\n{failure}");
        }
    }
}

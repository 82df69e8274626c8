//! Every crash that there is on the way of a run: not a sample, all of them.

use std::collections::BTreeMap;

use adjourn_sim::{Crashes, Outcome, Plan, Scenario, Unsynced, simulate};

/// Both things that can become of a batch that was not synced.
const BOTH: [Unsynced; 2] = [Unsynced::Lost, Unsynced::Kept];

fn crash_at(scenario: Scenario, crashes: &[(u64, Unsynced)]) -> Outcome {
    let crashes = Crashes(crashes.iter().copied().collect::<BTreeMap<_, _>>());
    let plan = Plan { crashes: crashes.clone(), ..scenario.plan() };
    simulate(&plan).unwrap_or_else(|failure| panic!("{scenario:?}, {crashes:?}\n{failure}"))
}

/// How the one run of a scenario ends, whatever happens on its way.
fn end(scenario: Scenario) -> &'static str {
    match scenario {
        Scenario::Cancel => "runs that were canceled",
        Scenario::Pause
        | Scenario::Repair
        | Scenario::Approval
        | Scenario::Call
        | Scenario::Expiry
        | Scenario::Sticky
        | Scenario::Permissions
        | Scenario::Elicitation
        | Scenario::Chain
        | Scenario::Roundtable => "runs that succeeded",
        Scenario::ClosedRoundtable => "roundtables that a person closed",
    }
}

fn assert_ends_well(scenario: Scenario, outcome: &Outcome, crashes: &[(u64, Unsynced)]) {
    let counts = &outcome.counts;
    assert_eq!(counts.get("crashes"), crashes.len() as u64, "{scenario:?}, {crashes:?}");
    let ends = match scenario {
        Scenario::Chain => 3,
        // Two rounds of a question, two answers and a synthesis: none of them twice.
        Scenario::Roundtable => 8,
        Scenario::Pause
        | Scenario::Repair
        | Scenario::Approval
        | Scenario::Call
        | Scenario::Cancel
        | Scenario::Expiry
        | Scenario::Sticky
        | Scenario::Permissions
        | Scenario::Elicitation
        | Scenario::ClosedRoundtable => 1,
    };
    assert_eq!(counts.get(end(scenario)), ends, "{scenario:?}, {crashes:?}\n{counts}");
    if scenario == Scenario::Roundtable {
        let came_to = ["rounds that were recorded", "answers at roundtables", "artifacts", "checkpoints"];
        let came_to = came_to.map(|what| counts.get(what));
        assert_eq!(came_to, [2, 4, 2, 1], "{crashes:?}\n{counts}");
        assert_eq!(counts.get("roundtables that concluded"), 1, "{crashes:?}\n{counts}");
    }
    if scenario != Scenario::ClosedRoundtable {
        assert_eq!(counts.get("runs"), ends, "{scenario:?}, {crashes:?}\n{counts}");
    }
    if scenario == Scenario::Expiry {
        assert_eq!(counts.get("questions that expired"), 1, "{crashes:?}");
    }
}

/// Crashes at each boundary of the undisturbed way. Gives how many there are.
fn crash_everywhere(scenario: Scenario) -> u64 {
    let undisturbed = crash_at(scenario, &[]);
    assert_ends_well(scenario, &undisturbed, &[]);
    for place in 0..undisturbed.boundaries {
        for unsynced in BOTH {
            let crashes = [(place, unsynced)];
            assert_ends_well(scenario, &crash_at(scenario, &crashes), &crashes);
        }
    }
    undisturbed.boundaries
}

#[test]
fn a_run_that_pauses_survives_a_crash_anywhere() {
    assert_eq!(crash_everywhere(Scenario::Pause), 45);
}

#[test]
fn a_run_whose_process_stays_survives_a_crash_anywhere() {
    assert_eq!(crash_everywhere(Scenario::Sticky), 58);
}

#[test]
fn a_run_that_waits_for_permissions_in_its_turn_survives_a_crash_anywhere() {
    assert_eq!(crash_everywhere(Scenario::Permissions), 71);
}

#[test]
fn a_run_that_is_repaired_survives_a_crash_anywhere() {
    assert_eq!(crash_everywhere(Scenario::Repair), 31);
}

#[test]
fn an_approved_call_survives_a_crash_anywhere_and_happens_once() {
    assert_eq!(crash_everywhere(Scenario::Approval), 65);
}

#[test]
fn a_call_survives_a_crash_anywhere_and_happens_once() {
    assert_eq!(crash_everywhere(Scenario::Call), 45);
}

#[test]
fn a_canceled_run_is_canceled_after_a_crash_anywhere() {
    assert_eq!(crash_everywhere(Scenario::Cancel), 32);
}

#[test]
fn a_question_expires_after_a_crash_anywhere() {
    assert_eq!(crash_everywhere(Scenario::Expiry), 44);
}

#[test]
fn a_run_that_pauses_survives_two_crashes_anywhere() {
    let scenario = Scenario::Pause;
    let mut pairs = 0;
    for first in 0..crash_at(scenario, &[]).boundaries {
        for unsynced in BOTH {
            let once = crash_at(scenario, &[(first, unsynced)]);
            for second in first + 1..once.boundaries {
                let crashes = [(first, unsynced), (second, unsynced)];
                assert_ends_well(scenario, &crash_at(scenario, &crashes), &crashes);
                pairs += 1;
            }
        }
    }
    assert_eq!(pairs, 2697);
}

#[test]
fn a_tool_that_asks_before_it_acts_survives_a_crash_anywhere() {
    assert_eq!(crash_everywhere(Scenario::Elicitation), 98);
}

#[test]
fn a_chain_of_runs_survives_a_crash_and_a_prune_anywhere() {
    assert_eq!(crash_everywhere(Scenario::Chain), 163);
}

#[test]
fn xx_32_a_roundtable_survives_a_crash_and_a_prune_anywhere() {
    assert_eq!(crash_everywhere(Scenario::Roundtable), 285);
}

#[test]
fn xx_32_a_roundtable_that_is_closed_stays_closed_after_a_crash_anywhere() {
    assert_eq!(crash_everywhere(Scenario::ClosedRoundtable), 117);
}

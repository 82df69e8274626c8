//! A roundtable over restarts, also when its process is killed.

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;

use adjourn_core::roundtable::{ActivationOutcome, Roundtable};
use adjourn_core::{ErrorCode, RoundtableId, RunStatus};
use rustix::process::{Signal, getpid, kill_process};
use serde_json::json;

use crate::stage::table::{all_of_it, artifact, synthesis};
use crate::stage::{Stage, child, until};

const FOLDER: &str = "ADJOURN_TEST_FOLDER";
const TABLE: &str = "ADJOURN_TEST_TABLE";
const LIVES_UNTIL: &str = "ADJOURN_TEST_LIVES_UNTIL";

/// Where the roundtable is: how far its stream got.
fn seq(stage: &Stage, id: RoundtableId) -> u64 {
    stage.service().roundtable(id).unwrap().seq()
}

#[test]
fn sm_13_a_round_goes_on_from_its_step_after_a_kill_and_nobody_who_was_heard_is_asked_again() {
    let stage = Stage::of_players("");
    stage.plays("close-1", &synthesis(&[artifact("scope", "users", &["users"])]));
    stage.plays("close-2", &all_of_it());
    // Nothing of it happens yet.
    stage.holds_back("open");
    let table = stage.table(json!({ "limits": { "max_rounds": 2 } })).id;
    stage.told("open-1", 1);
    let mut reached = seq(&stage, table);
    stage.close();
    stage.plays("open", &json!({ "question": "What do you hold?" }));

    let (folder, id) = (stage.path().display().to_string(), table.to_string());
    let mut kills = 0;
    loop {
        let lives_until = (reached + 1).to_string();
        let variables = [(FOLDER, &*folder), (TABLE, &*id), (LIVES_UNTIL, &*lives_until)];
        let mut command = child::command("scenarios::sm::restarts::child_that_holds_a_roundtable");
        let output = command.envs(variables).output().unwrap();
        until("its agents are gone", || stage.processes().is_empty().then_some(()));
        let looking = Stage::at(stage.path());
        let state = looking.read_table(table);
        // The process before may have closed the roundtable in the instant before it was killed.
        let advanced = state.seq() > reached || state.status().is_terminal();
        assert!(advanced, "{}", String::from_utf8_lossy(&output.stdout));
        reached = state.seq();
        if output.status.success() {
            break;
        }
        kills += 1;
    }
    // How often depends on how far each process gets before it looks.
    assert!(kills >= 4, "killed in both rounds, not {kills} times");

    stage.open();
    let table = stage.at_table(table);
    assert_eq!(table.close_reason(), "concluded");
    let state = table.closes();
    assert_nobody_was_asked_twice(&stage, &state);
    let steps = table.frames().into_iter().filter(|frame| frame.kind.name() == "round.step.changed");
    let steps: Vec<_> = steps.map(|frame| frame.data["to"].as_str().unwrap().to_owned()).collect();
    assert_eq!(steps, ["responses", "synthesis", "artifacts", "recorded"].repeat(2));
    assert_eq!(state.artifacts().len(), 4);
}

/// Every part was played by one run, and that was asked once, and once more for each time that it was interrupted.
fn assert_nobody_was_asked_twice(stage: &Stage, state: &Roundtable) {
    let mut asked = BTreeMap::new();
    for (run, part) in stage.asked() {
        asked.entry(run).or_insert_with(Vec::new).push(part);
    }
    for round in state.rounds() {
        assert_eq!(round.activations.len(), 4, "one for each part: {:#?}", round.activations);
        for activation in &round.activations {
            assert_eq!(activation.outcome, Some(ActivationOutcome::Recorded));
            let run = stage.service().run(activation.run_id).unwrap();
            assert_eq!(run.status(), RunStatus::Succeeded);
            let asked = asked.get(&run.id()).map_or(0, Vec::len);
            assert!(asked <= 1 + run.restarts() as usize, "{asked} times, {} restarts", run.restarts());
        }
    }
}

#[test]
#[ignore = "a process that another test starts"]
fn child_that_holds_a_roundtable() {
    let given = |name| env::var(name).ok();
    let (Some(folder), Some(id), Some(until)) = (given(FOLDER), given(TABLE), given(LIVES_UNTIL)) else {
        return;
    };
    let stage = Stage::at(&PathBuf::from(folder));
    let (id, until): (RoundtableId, u64) = (id.parse().unwrap(), until.parse().unwrap());
    stage.open();
    stage.at_table(id).until("the end of this process", |table| {
        if table.status().is_terminal() {
            return Some(());
        }
        if table.seq() >= until {
            kill_process(getpid(), Signal::KILL).unwrap();
        }
        None
    });
}

#[test]
fn a_roundtable_that_waits_waits_on_after_a_restart_and_takes_its_answer() {
    let stage = Stage::of_players("");
    let table = stage.table(json!({ "interactive": true })).id;
    stage.at_table(table).waits();
    stage.restart();
    let table = stage.at_table(table);
    assert_eq!(stage.store().open_interactions(None, 10).unwrap().len(), 1);
    table.reply(json!("continue")).unwrap();
    table.records(2);
}

#[test]
fn the_runs_of_a_roundtable_that_was_closed_right_before_the_end_are_canceled_after_it() {
    let stage = Stage::of_players("");
    stage.holds_back("answer");
    let table = stage.table(json!({}));
    stage.told("qa-1", 1);
    let (id, run) = (table.id, table.run_of(1, "qa"));
    // What a kill leaves between the fact and what follows from it.
    stage.close();
    stage.close_in_the_journal(id);
    stage.open();
    assert_eq!(stage.actor(run).ends().status(), RunStatus::Canceled);
}

#[test]
fn an_engine_that_is_missing_between_rounds_loses_nobody() {
    let stage = Stage::of_players("");
    let (there, hidden) = (stage.path().join("agent"), stage.path().join("hidden"));
    stage.holds_back("close");
    let table = stage.table(json!({ "limits": { "max_rounds": 2 } }));
    stage.told("close-1", 1);
    // It is started already, and nobody after it can be.
    std::fs::rename(&there, &hidden).unwrap();
    stage.plays("close-1", &json!({ "summary": "They hold what they hold." }));
    stage.plays("close-2", &all_of_it());
    until("the second round", || {
        let state = stage.service().roundtable(table.id).unwrap();
        state.current().is_some_and(|round| round.number == 2).then_some(())
    });
    // A run that is asked for now fails; the agents of the roundtable are asked when they are there.
    let other = stage.start(json!({ "execution_mode": "auto" }));
    other.ends();
    assert_eq!(other.code(), Some(ErrorCode::EngineNotFound));
    assert!(!stage.was_told("open-2", 1));
    std::fs::rename(&hidden, &there).unwrap();
    until("the engine is found", || {
        stage.advance(1);
        stage.was_told("open-2", 1).then_some(())
    });
    let state = table.closes();
    let lost = state.rounds().iter().flat_map(|round| &round.activations);
    let lost = lost.filter(|activation| matches!(activation.outcome, Some(ActivationOutcome::Lost(_))));
    assert_eq!((table.close_reason().as_str(), lost.count()), ("concluded", 0));
}

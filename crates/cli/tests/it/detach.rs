//! `run --detach`, and the owner in the background that it leaves the run to.

use std::fs;

use crate::world::World;

/// The id of a run of `engine` that was left to the background.
fn detached(world: &World, engine: &str) -> String {
    let said = world.says(&["run", "deploy", "--engine", engine, "--detach"]);
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(said.stderr.contains("it goes on; to see how: adjourn events run_"), "{}", said.stderr);
    said.stdout.trim().to_owned()
}

#[test]
fn a_run_that_is_left_goes_on_and_is_answered_later() {
    let world = World::new();
    let run = detached(&world, "asks");
    assert_eq!(world.until_waiting(1), [run.as_str()]);
    let said = world.says(&["reply", &run, "prod"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "{\n  \"where\": \"prod\"\n}\n"), "{said:?}");
    let events = world.says(&["events", &run, "--json"]).stdout;
    let seqs: Vec<_> = events
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
    assert!(!events.contains("restart."), "nobody cut it off: {events}");
    world.until_alone();
}

#[test]
fn the_owner_in_the_background_stays_as_long_as_something_works() {
    let world = World::new();
    let started = world.started();
    let first = detached(&world, "works");
    fs::read_to_string(&started).unwrap();
    // There is an owner, and this one is left to it as well.
    let second = detached(&world, "works");
    fs::read_to_string(&started).unwrap();
    let refused = world.says(&["prune", "--older-than", "1d"]);
    assert!(refused.stderr.contains("(adjourn background) since "), "{refused:?}");
    world.let_go(&first);
    world.let_go(&second);
    world.until_alone();
    for run in [first, second] {
        assert_eq!(world.json(&["show", &run])["status"], "succeeded");
        assert_eq!(world.starts(&run), 1);
    }
}

#[test]
fn a_question_that_is_decided_without_a_person_keeps_the_owner_there() {
    let world = World::new();
    let run = ["run", "deploy", "--engine", "asks", "--no-strict", "--session-timeout", "4", "--detach"];
    let said = world.says(&run);
    assert_eq!(said.code, Some(3), "{said:?}");
    world.until_alone();
    let run = world.json(&["show", said.stdout.trim()]);
    assert_eq!(run["status"], "succeeded", "{run}");
    assert_eq!(run["interactions"][0]["resolved_by"]["kind"], "auto_decide");
}

#[test]
fn a_request_that_is_refused_leaves_no_trace_in_a_fresh_folder() {
    let world = World::new();
    for more in [&[][..], &["--detach"]] {
        let said = world.says(&[&["run", "deploy", "--engine", "nobody"], more].concat());
        assert_eq!(said.code, Some(5), "{said:?}");
        assert!(said.stderr.contains("--engine: there is no engine `nobody`"), "{}", said.stderr);
        assert!(!world.path().join(".adjourn").exists(), "{more:?}");
    }
}

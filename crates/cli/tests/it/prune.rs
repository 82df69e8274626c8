//! `adjourn prune`.

use serde_json::{Value, json};

use crate::logs::post;
use crate::roundtable;
use crate::serving::Serving;
use crate::world::World;

/// A run that continues another and waits.
fn waiting_successor(world: &World, first: &str) -> String {
    world.write("asks.sh", "#!/bin/sh\ncat >/dev/null\necho 'And now?'\n");
    let server = Serving::start(world, "127.0.0.1:0", &[]);
    let request = json!({ "skill": "deploy", "engine": "asks", "continues": first });
    let answer = post(server.address(), "/v1/runs", &request.to_string());
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    world.until_waiting(1).remove(0)
}

/// What is said when these runs went, and nothing had to stay.
fn removed(runs: &[&str]) -> Value {
    json!({ "removed": runs, "kept": [], "removed_roundtables": [], "kept_roundtables": [] })
}

#[test]
fn finished_runs_go_with_their_folders_and_the_others_stay() {
    let world = World::new();
    let finished = world.finished_run();
    let waiting = world.waiting_run();
    let folder = |run: &str| world.path().join(".adjourn/runs").join(run);
    assert_eq!(world.says(&["prune", "--older-than", "1h"]).stderr, "0 runs removed\n");
    assert!(folder(&finished).is_dir());

    assert_eq!(world.json(&["prune", "--older-than", "0s"]), removed(&[&finished]));
    assert!(!folder(&finished).exists());
    assert_eq!(world.says(&["show", &finished]).code, Some(5));
    assert!(folder(&waiting).is_dir());
    assert_eq!(world.says(&["reply", &waiting, "prod"]).code, Some(0), "the rest goes on");
    assert_eq!(world.says(&["prune", "--older-than", "0s"]).stderr, "1 run removed\n");
    assert_eq!(world.says(&["ps"]).stderr, "there are no such runs\n");
}

#[test]
fn a_run_that_another_continues_is_kept_and_it_says_why() {
    let world = World::new();
    let first = world.finished_run();
    let second = waiting_successor(&world, &first);
    let kept = json!({ "run_id": first, "reason": "continued", "needed_by": second });
    assert_eq!(
        world.json(&["prune", "--older-than", "0s"]),
        json!({ "removed": [], "kept": [kept], "removed_roundtables": [], "kept_roundtables": [] })
    );
    let said = world.says(&["prune", "--older-than", "0s"]).stderr;
    assert_eq!(said, format!("0 runs removed\n{first} is kept: {second} continues it\n"));
    assert!(world.path().join(".adjourn/runs").join(&first).is_dir());

    assert_eq!(world.says(&["cancel", &second]).code, Some(0));
    let gone = removed(&[&second, &first]);
    assert_eq!(world.json(&["prune", "--older-than", "0s"]), gone, "the whole chain goes, its end first");
    assert_eq!(std::fs::read_dir(world.path().join(".adjourn/runs")).unwrap().count(), 0);
}

#[test]
fn a_folder_of_the_user_stays() {
    let world = World::new();
    world.write("here/kept.txt", "kept");
    let run = ["run", "deploy", "--engine", "asks", "--answer", "prod", "--workspace", "here"];
    assert_eq!(world.says(&run).code, Some(0));
    assert_eq!(world.says(&["prune", "--older-than", "0s"]).stderr, "1 run removed\n");
    assert!(world.path().join("here/kept.txt").is_file());
}

#[test]
fn a_version_of_a_skill_goes_with_the_last_run_that_reads_it() {
    let world = World::new();
    let versions = || std::fs::read_dir(world.path().join(".adjourn/skills")).unwrap().count();
    // What was asked and answered once is what is played.
    world.write("skills/deploy/assets/.keep", "");
    let record = ["--record", "skills/deploy/assets/recording.jsonl"];
    let asks = ["run", "deploy", "--engine", "asks", "--answer", "prod"];
    assert_eq!(world.says(&[&asks[..], &record].concat()).code, Some(0));
    assert_eq!(world.says(&["run", "deploy", "--engine", "replay", "--answer", "prod"]).code, Some(0));
    assert_eq!(world.says(&["run", "deploy", "--engine", "replay"]).code, Some(3));
    let waiting = world.until_waiting(1).remove(0);
    assert_eq!(versions(), 2, "with the recording, and before there was one");
    assert_eq!(world.says(&["prune", "--older-than", "0s"]).stderr, "2 runs removed\n");
    assert_eq!(versions(), 1, "one still waits");
    assert_eq!(world.says(&["reply", &waiting, "prod"]).code, Some(0));
    assert_eq!(world.says(&["prune", "--older-than", "0s"]).stderr, "1 run removed\n");
    assert_eq!(versions(), 0);
}

#[test]
fn a_closed_roundtable_goes_after_its_runs_and_an_active_one_stays() {
    let world = roundtable::world();
    let closed = world.says(&roundtable::START);
    assert_eq!(closed.code, Some(3), "{closed:?}");
    let id = world.items(&["roundtable", "list"])[0]["roundtable_id"].as_str().unwrap().to_owned();
    let kept = world.json(&["prune", "--older-than", "0s"]);
    assert_eq!(
        (&kept["removed"], &kept["removed_roundtables"]),
        (&json!([]), &json!([])),
        "it waits: {kept}"
    );
    assert_eq!(world.says(&["roundtable", "close", &id]).code, Some(0));

    let runs = world.items(&["ps", "--limit", "500"]).len();
    let said = world.says(&["prune", "--older-than", "0s"]).stderr;
    assert_eq!(said, format!("{runs} runs and 1 roundtable removed\n"));
    assert_eq!(world.items(&["roundtable", "list"]), Vec::<Value>::new());
    assert_eq!(world.says(&["roundtable", "show", &id]).code, Some(5));
}

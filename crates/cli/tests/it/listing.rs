//! `ps`, `show`, `inbox`, `events` and `files`: what is there.

use serde_json::json;

use crate::world::{World, assert_settled};

/// What a reading command prints.
fn shown(world: &World, arguments: &[&str]) -> String {
    let said = world.says(arguments);
    assert_eq!(said.code, Some(0), "{said:?}");
    said.stdout
}

#[test]
fn ps_lists_runs_the_newest_first() {
    let world = World::new();
    world.finished_run();
    world.says(&["run", "deploy", "--engine", "fails", "--label", "team=core"]);
    world.waiting_run();
    assert_settled!(world, shown(&world, &["ps"]));

    let statuses = |arguments: &[&str]| {
        world.items(arguments).iter().map(|run| run["status"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(statuses(&["ps", "--limit", "2"]), ["waiting_user", "failed"]);
    assert_eq!(statuses(&["ps", "--status", "succeeded"]), ["succeeded"]);
    assert_eq!(statuses(&["ps", "--label", "team=core"]), ["failed"]);
    assert_eq!(statuses(&["ps", "--skill", "deploy"]).len(), 3);
    assert_eq!(statuses(&["ps", "--skill", "other"]), [] as [&str; 0]);
    let more = world.says(&["ps", "--limit", "2"]);
    assert_eq!(more.stderr, "there are more: --limit shows more than 2\n");
}

#[test]
fn show_says_how_a_waiting_run_is_answered() {
    let world = World::new();
    let run = world.waiting_run();
    assert_settled!(world, shown(&world, &["show", &run]));
}

#[test]
fn show_tells_the_whole_story_of_a_run_that_ended() {
    let world = World::new();
    let run = world.finished_run();
    assert_settled!(world, shown(&world, &["show", &run]));
    let document = world.json(&["show", &run]);
    assert_eq!(document["result"], json!({"where": "prod"}));
    assert_eq!(document["interactions"][0]["response"], "prod");
    assert_eq!(document["interactions"][0]["resolved_by"]["kind"], "user");
}

#[test]
fn the_inbox_has_every_question_with_its_command() {
    let world = World::new();
    world.finished_run();
    assert_eq!(world.says(&["inbox"]).stderr, "nothing waits\n");
    world.waiting_run();
    world.waiting_run();
    assert_settled!(world, shown(&world, &["inbox"]));
    let open = world.items(&["inbox"]);
    assert_eq!(open[0]["prompt"], "Where should it go?");
    assert!(open[0]["run_id"].as_str().unwrap() < open[1]["run_id"].as_str().unwrap(), "the oldest first");
}

#[test]
fn events_are_one_line_each() {
    let world = World::new();
    let run = world.finished_run();
    assert_settled!(world, shown(&world, &["events", &run]));
    let later = shown(&world, &["events", &run, "--after", "3", "--json", "--follow"]);
    let first: serde_json::Value = serde_json::from_str(later.lines().next().unwrap()).unwrap();
    assert_eq!((&first["seq"], &first["protocol_version"]), (&json!(4), &json!("fcmp/1.0")));
}

#[test]
fn files_are_listed_and_printed_as_they_are() {
    let world = World::new();
    let run = world.finished_run();
    assert_eq!(shown(&world, &["files", &run]), "BYTES  FILE\n17     report.txt\n");
    assert_eq!(world.items(&["files", &run]), [json!({"path": "report.txt", "bytes": 17})]);
    assert_eq!(shown(&world, &["files", &run, "report.txt"]), "deployed to prod\n");
    for path in ["../logs/attempt-1.stdout", "/etc/passwd", "nothing.txt"] {
        let said = world.says(&["files", &run, path]);
        assert_eq!((said.code, said.stdout.as_str()), (Some(5), ""), "{path}");
    }
}

#[test]
fn a_run_is_found_by_an_end_of_its_id_that_no_other_has() {
    let world = World::new();
    let (first, second) = (world.finished_run(), world.finished_run());
    let id = |given: &str| world.json(&["show", given])["run_id"].as_str().unwrap().to_owned();
    assert_eq!(id(&first), first);
    assert_eq!(id(&second[second.len() - 10..]), second);
    assert_eq!(id(&first["run_".len()..]), first);
    // Made within the same second, they begin with the same time.
    let said = world.says(&["show", &first[..8]]);
    assert_eq!(said.code, Some(5), "{said:?}");
    let expected =
        format!("error: `{}` can be any of these runs:\n  {second}  succeeded  deploy", &first[..8]);
    assert!(said.stderr.starts_with(&expected), "{}", said.stderr);
}

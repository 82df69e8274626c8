//! One process at a time owns a data directory.

use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::world::World;

/// A run that works on and on.
fn busy(world: &World) -> Child {
    let started = world.started();
    let child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("adjourn"))
        .args(["run", "deploy", "--engine", "blocks"])
        .current_dir(world.path())
        .env_remove("ADJOURN_DATA")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::fs::read_to_string(started).unwrap();
    child
}

#[test]
fn a_second_owner_is_refused_and_readers_are_not() {
    let world = World::new();
    let mut child = busy(&world);
    let run = world.json(&["ps", "--status", "running"])[0]["run_id"].as_str().unwrap().to_owned();
    for arguments in [
        &["run", "deploy", "--engine", "asks"][..],
        &["reply", &run, "prod"],
        &["cancel", &run],
        &["prune", "--older-than", "1d"],
    ] {
        let said = world.says(arguments);
        assert_eq!(said.code, Some(5), "{said:?}");
        let owner = format!("error: .adjourn is in use by process {} (adjourn run) since ", child.id());
        assert!(said.stderr.starts_with(&owner), "{}", said.stderr);
        assert!(said.stderr.contains("talk to it over HTTP"), "{}", said.stderr);
    }
    for arguments in [&["show", &run][..], &["inbox"], &["events", &run], &["files", &run]] {
        assert_eq!(world.says(arguments).code, Some(0), "{arguments:?}");
    }
    kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

#[test]
fn following_the_events_of_another_process_ends_with_the_run() {
    let world = World::new();
    let mut child = busy(&world);
    let run = world.json(&["ps"])[0]["run_id"].as_str().unwrap().to_owned();
    let follower = std::process::Command::new(assert_cmd::cargo::cargo_bin!("adjourn"))
        .args(["events", &run, "--follow", "--json"])
        .current_dir(world.path())
        .env_remove("ADJOURN_DATA")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), Signal::TERM).unwrap();
    child.wait().unwrap();
    assert_eq!(world.says(&["cancel", &run]).code, Some(0));
    let output = follower.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", output.status);
    let frames: Vec<serde_json::Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let numbers: Vec<_> = frames.iter().map(|frame| frame["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=frames.len() as u64).collect::<Vec<_>>());
    assert_eq!(frames.last().unwrap()["data"]["terminal"]["status"], "canceled");
}

#[test]
fn a_command_lets_what_it_took_up_come_to_rest() {
    let world = World::new();
    let mut child = busy(&world);
    kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert_eq!(world.json(&["ps"])[0]["status"], "running", "it was cut off");

    // The agent that is started again has something to say.
    world.write("blocks.sh", "#!/bin/sh\ncat > /dev/null\necho 'What now?'\n");
    world.finished_run();
    let runs = world.json(&["ps"]);
    assert_eq!((&runs[0]["status"], &runs[1]["status"]), (&json!("succeeded"), &json!("waiting_user")));
}

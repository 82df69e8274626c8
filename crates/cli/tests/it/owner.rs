//! One process at a time owns a data directory.

use std::io::Write;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::world::World;

/// What `deploy` prints when it went to production.
const RESULT: &str = "{\n  \"where\": \"prod\"\n}\n";

/// A run that works on and on, and a command that watches it.
fn busy(world: &World) -> Child {
    busy_with(world, "0")
}

/// The same, where the command may be the owner itself.
fn busy_with(world: &World, foreground: &str) -> Child {
    let started = world.started();
    let child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("adjourn"))
        .env("ADJOURN_TRUST_CONFIG", "1")
        .env("ADJOURN_FOREGROUND", foreground)
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
fn whoever_comes_second_talks_to_the_owner() {
    let world = World::new();
    let mut child = busy(&world);
    let blocked = world.items(&["ps", "--status", "running"])[0]["run_id"].as_str().unwrap().to_owned();
    for arguments in [&["show", &blocked][..], &["inbox"], &["events", &blocked], &["files", &blocked]] {
        assert_eq!(world.says(arguments).code, Some(0), "{arguments:?}");
    }
    let finished = world.finished_run();
    let waiting = world.waiting_run();
    let said = world.says(&["reply", &waiting, "staging"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "{\n  \"where\": \"staging\"\n}\n"), "{said:?}");
    assert_eq!(world.says(&["rerun", &finished, "--answer", "prod"]).code, Some(0));
    let pruned = world.says(&["prune", "--older-than", "0s"]);
    assert_eq!(pruned.code, Some(5), "{pruned:?}");
    let owner = format!("error: .adjourn is in use by process {} (adjourn background) since ", owner(&world));
    assert!(pruned.stderr.starts_with(&owner), "{}", pruned.stderr);
    assert!(pruned.stderr.contains("wait until it is done, or end it"), "{}", pruned.stderr);
    assert_eq!(world.says(&["cancel", &blocked]).code, Some(0));
    assert_eq!(child.wait().unwrap().code(), Some(4), "the first terminal sees it as well");
    world.until_alone();
}

#[test]
fn a_second_terminal_answers_what_the_first_one_asks() {
    let world = World::new();
    let mut first = world.spawn(&["run", "deploy", "--engine", "asks"]);
    let run = world.until_waiting(1).remove(0);
    let second = world.says(&["reply", &run, "prod"]);
    assert_eq!((second.code, second.stdout.as_str()), (Some(0), RESULT), "{second:?}");
    // Nobody ever wrote a line to the first one.
    let stdin = first.stdin.take();
    let output = first.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), RESULT);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("> prod\n"), "what was answered elsewhere is shown: {told}");
}

/// The number of the process that owns the data directory.
fn owner(world: &World) -> i32 {
    let lock = std::fs::read_to_string(world.path().join(".adjourn/adjourn.lock")).unwrap();
    lock.strip_prefix("process ").unwrap().split_once(' ').unwrap().0.parse().unwrap()
}

#[test]
fn when_the_owner_is_killed_whoever_stays_starts_another() {
    let world = World::new();
    let mut first = busy(&world);
    let mut second = world.spawn(&["run", "deploy", "--engine", "asks"]);
    let run = world.until_waiting(1).remove(0);
    // What the next owner takes up comes to rest.
    world.write("blocks.sh", "#!/bin/sh\ncat > /dev/null\necho 'What now?'\n");
    kill_process(Pid::from_raw(owner(&world)).unwrap(), Signal::KILL).unwrap();
    second.stdin.take().unwrap().write_all(b"prod\n").unwrap();
    let output = second.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), RESULT);
    let events = world.says(&["events", &run, "--json"]).stdout;
    let replies = events.lines().filter(|line| line.contains("\"interaction.reply.accepted\"")).count();
    assert_eq!(replies, 2, "one frame and one trigger: {events}");
    assert_eq!(world.until_waiting(1).len(), 1, "the run of the first one was taken up as well");
    assert_eq!(first.wait().unwrap().code(), Some(3), "and it saw that");
}

#[test]
fn commands_that_start_at_once_share_one_owner() {
    let world = World::new();
    let children: Vec<_> = (0..8)
        .map(|n| {
            let answer = if n % 2 == 0 { "prod" } else { "staging" };
            world.spawn(&["run", "deploy", "--engine", "asks", "--answer", answer])
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    let statuses: Vec<_> = world.items(&["ps"]).iter().map(|run| run["status"].clone()).collect();
    assert_eq!(statuses, vec![json!("succeeded"); 8], "each of them made one run");
}

#[test]
fn following_the_events_of_another_process_ends_with_the_run() {
    let world = World::new();
    let mut child = busy(&world);
    let run = world.items(&["ps"])[0]["run_id"].as_str().unwrap().to_owned();
    let follower = std::process::Command::new(assert_cmd::cargo::cargo_bin!("adjourn"))
        .env("ADJOURN_TRUST_CONFIG", "1")
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
fn what_a_command_that_was_the_owner_left_is_taken_up() {
    let world = World::new();
    let mut child = busy_with(&world, "1");
    kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert_eq!(world.items(&["ps"])[0]["status"], "running", "it was cut off");

    // The agent that is started again has something to say.
    world.write("blocks.sh", "#!/bin/sh\ncat > /dev/null\necho 'What now?'\n");
    world.finished_run();
    world.until_waiting(1);
    let runs = world.items(&["ps"]);
    assert_eq!((&runs[0]["status"], &runs[1]["status"]), (&json!("succeeded"), &json!("waiting_user")));
}

#[test]
fn a_data_directory_with_a_long_path_is_shared_like_any_other() {
    let world = World::new();
    let data = format!("{}/data", "a-long-name/".repeat(20));
    std::fs::create_dir_all(world.path().join("a-long-name/".repeat(20))).unwrap();
    let config = world.path().join("adjourn.toml").display().to_string();
    let more = ["--config", &config, "--data", &data];
    let server = crate::serving::Serving::start_with(&world, &more, &["--listen", "127.0.0.1:0"]);
    let left = world.says(&[&more[..], &["run", "deploy", "--engine", "asks", "--json"]].concat());
    assert_eq!(left.code, Some(3), "{left:?}");
    let run: serde_json::Value = serde_json::from_str(&left.stdout).unwrap();
    let run = run["run_id"].as_str().unwrap();
    let said = world.says(&[&more[..], &["reply", run, "prod"]].concat());
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), RESULT), "{said:?}");
    drop(server);
}

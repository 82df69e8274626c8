//! `adjourn cancel`, and what a signal does to a run.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use crate::world::World;

#[test]
fn a_waiting_run_is_canceled_and_again_is_no_mistake() {
    let world = World::new();
    let run = world.waiting_run();
    for _ in 0..2 {
        let said = world.says(&["cancel", &run]);
        assert_eq!((said.code, said.stdout.as_str()), (Some(0), ""), "{}", said.stderr);
        assert!(said.stderr.contains("canceled"), "{}", said.stderr);
    }
    assert_eq!(world.json(&["cancel", &run])["status"], "canceled");
    assert_eq!(world.says(&["reply", &run, "prod"]).code, Some(5));
}

#[test]
fn a_run_that_ended_is_not_canceled() {
    let world = World::new();
    let run = world.finished_run();
    let said = world.says(&["cancel", &run]);
    assert_eq!(said.code, Some(5));
    assert_eq!(said.stderr, format!("error: run {run} is succeeded: there is nothing to cancel\n"));
}

#[test]
fn a_signal_leaves_the_run_to_the_next_command_and_its_process_ends() {
    let world = World::new();
    let started = world.started();
    let child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("adjourn"))
        .env("ADJOURN_TRUST_CONFIG", "1")
        .args(["run", "deploy", "--engine", "blocks", "--json"])
        .current_dir(world.path())
        .env_remove("ADJOURN_DATA")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::fs::read_to_string(&started).unwrap();
    kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), Signal::TERM).unwrap();
    // Both pipes end only when the agent's whole tree is gone as well.
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let run: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(run["status"], "running");

    let canceled = world.says(&["cancel", run["run_id"].as_str().unwrap()]);
    assert_eq!(canceled.code, Some(0), "{canceled:?}");
    // The number that the agent knows of itself is that of its sandbox.
    let works_here = |entry: &std::fs::DirEntry| {
        std::fs::read_link(entry.path().join("cwd"))
            .is_ok_and(|folder| folder.starts_with(world.path().join(".adjourn")))
    };
    let left: Vec<_> = std::fs::read_dir("/proc").unwrap().flatten().filter(works_here).collect();
    assert!(left.is_empty(), "{left:?} are still there");
}

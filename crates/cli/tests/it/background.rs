//! A turn runs in the background from its start: the command only watches.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::serving::Serving;
use crate::world::{World, said, until};

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), signal).unwrap();
}

#[test]
fn nothing_that_happens_to_the_command_changes_the_turn_that_it_watches() {
    for ends_by in [Signal::KILL, Signal::HUP, Signal::TERM, Signal::INT] {
        let world = World::new();
        let started = world.started();
        let mut command = world.spawn(&["run", "deploy", "--engine", "works", "--mode", "auto"]);
        fs::read_to_string(&started).unwrap();
        let run = world.items(&["ps"])[0]["run_id"].as_str().unwrap().to_owned();
        signal(&command, ends_by);
        let code = command.wait().unwrap().code();
        assert_eq!(code, if ends_by == Signal::KILL { None } else { Some(3) }, "{ends_by:?}");

        let shown = world.json(&["show", &run]);
        assert_eq!(
            (&shown["status"], &shown["attempt_number"]),
            (&json!("running"), &json!(1)),
            "{ends_by:?}"
        );
        world.let_go(&run);
        let shown = until("it succeeded", || {
            Some(world.json(&["show", &run])).filter(|run| run["status"] == "succeeded")
        });
        assert_eq!((&shown["restarts"], world.starts(&run)), (&json!(0), 1), "{ends_by:?}");
        world.until_alone();
    }
}

#[test]
fn two_commands_watch_one_turn_and_a_server_that_is_there_is_the_owner() {
    let world = World::new();
    let started = world.started();
    let first = world.spawn(&["run", "deploy", "--engine", "works", "--mode", "auto"]);
    fs::read_to_string(&started).unwrap();
    let run = world.items(&["ps"])[0]["run_id"].as_str().unwrap().to_owned();
    let second = world.spawn(&["events", &run, "--follow"]);
    world.let_go(&run);
    for command in [first, second] {
        let output = command.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    world.until_alone();

    let server = Serving::start(&world, "127.0.0.1:0", &[]);
    world.finished_run();
    let refused = world.says(&["prune", "--older-than", "1d"]);
    assert!(refused.stderr.contains("(adjourn serve) since "), "{refused:?}");
    drop(server);
}

#[test]
fn a_command_that_is_done_alone_makes_an_owner_end_that_only_waits() {
    let world = World::new();
    // Its deadline is an hour away, and there is an owner who waits for it.
    let run = ["run", "deploy", "--engine", "asks", "--no-strict", "--session-timeout", "3600", "--json"];
    let left = world.says(&run);
    assert_eq!(left.code, Some(3), "{left:?}");
    for arguments in [&["doctor"][..], &["prune", "--older-than", "1d"]] {
        let said = world.says(arguments);
        assert_eq!(said.code, Some(0), "{said:?}");
    }
    let run: Value = serde_json::from_str(&left.stdout).unwrap();
    until("somebody waits for the deadline again", || {
        world.path().join(".adjourn/adjourn.sock").exists().then_some(())
    });
    assert_eq!(world.says(&["reply", run["run_id"].as_str().unwrap(), "prod"]).code, Some(0));
}

#[test]
fn an_owner_that_only_waits_makes_room_for_a_changed_configuration() {
    let world = World::new();
    // Its deadline is an hour away, and there is an owner who waits for it, with the configuration as it was.
    let waits = ["run", "deploy", "--engine", "asks", "--no-strict", "--session-timeout", "3600", "--json"];
    assert_eq!(world.says(&waits).code, Some(3));
    let before = fs::read_to_string(world.path().join("adjourn.toml")).unwrap();
    world.write("adjourn.toml", &before.replace("[engines.asks]", "[engines.renamed]"));
    let said = world.says(&["run", "deploy", "--engine", "renamed", "--answer", "prod"]);
    assert_eq!((said.code, said.stderr.contains("warning")), (Some(0), false), "{said:?}");
    world.write("adjourn.toml", &before);
    let run = &world.items(&["inbox"])[0]["run_id"];
    let said = world.says(&["reply", run.as_str().unwrap(), "prod"]);
    assert_eq!(said.code, Some(0), "what waited goes on: {said:?}");
}

#[test]
fn an_owner_at_work_keeps_its_configuration_and_the_command_says_so() {
    let world = World::new();
    let started = world.started();
    let left = world.says(&["run", "deploy", "--engine", "works", "--mode", "auto", "--detach"]);
    assert_eq!(left.code, Some(3), "{left:?}");
    fs::read_to_string(&started).unwrap();
    let before = fs::read_to_string(world.path().join("adjourn.toml")).unwrap();
    world.write("adjourn.toml", &before.replace("[engines.asks]", "[engines.renamed]"));
    let run = world.items(&["ps"])[0]["run_id"].as_str().unwrap().to_owned();
    let said = world.says(&["run", "deploy", "--engine", "renamed", "--answer", "prod"]);
    assert!(said.stderr.contains("keeps the configuration that it was started with"), "{said:?}");
    assert_eq!(said.code, Some(5), "{said:?}");
    world.let_go(&run);
}

#[test]
fn an_owner_ends_with_the_data_directory_that_somebody_removed() {
    let world = World::new();
    let started = world.started();
    let left = world.says(&["run", "deploy", "--engine", "works", "--detach"]);
    assert_eq!(left.code, Some(3), "{left:?}");
    fs::read_to_string(&started).unwrap();
    let lock = fs::read_to_string(world.path().join(".adjourn/adjourn.lock")).unwrap();
    let pid = lock.strip_prefix("process ").unwrap().split_once(' ').unwrap().0;
    fs::remove_dir_all(world.path().join(".adjourn")).unwrap();
    // One that nobody has asked about yet has no arguments any more.
    let command = format!("/proc/{pid}/cmdline");
    until("it has ended", || fs::read(&command).map_or(true, |words| words.is_empty()).then_some(()));
}

#[test]
fn without_a_background_the_command_owns_the_directory_itself() {
    let world = World::new();
    let run = ["run", "deploy", "--engine", "asks", "--answer", "prod"];
    let said = said(world.adjourn(&run).env("ADJOURN_FOREGROUND", "1"));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(!world.path().join(".adjourn/background.log").exists());
    let wrong = crate::world::said(world.adjourn(&run).env("ADJOURN_FOREGROUND", "yes"));
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
}

const SHELL_CONFIG: &str = r#"
skills = ["./skills"]
[engines.shell]
kind = "exec"
preset = "command"
command = ["./shell.sh"]
pass_env = ["AGENT_KEY"]
"#;

/// Writes its environment down in each turn, and asks in the first.
const SHELL: &str = r#"#!/bin/sh
cat > /dev/null
if [ -z "$ADJOURN_HANDLE" ]; then
  env > first.txt
  echo "the key is $AGENT_KEY"
  echo '{"__SKILL_DONE__": false, "message": "Go on?"}'
else
  env > second.txt
  echo '{"__SKILL_DONE__": true}'
fi
"#;

fn variables(file: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(file).unwrap();
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[test]
fn an_agent_gets_the_environment_of_the_shell_that_asked_for_its_run_in_all_its_turns() {
    let world = World::new();
    world.write("adjourn.toml", SHELL_CONFIG);
    fs::set_permissions(world.write("shell.sh", SHELL), fs::Permissions::from_mode(0o755)).unwrap();
    let in_shell = |name: &str, arguments: &[&str]| {
        let mut command = world.adjourn(arguments);
        command.env("AGENT_KEY", format!("key-of-the-{name}-shell-9f3a7c51")).env("LC_TEST", name);
        command.env("HOOK_SECRET", "of nobody's business 61f0");
        said(&mut command)
    };
    let run = ["run", "deploy", "--engine", "shell", "--json"];
    let runs: Vec<String> = ["one", "two"]
        .iter()
        .map(|name| {
            // The owner was started by the first, and is still there for the second.
            let left = in_shell(name, &run);
            assert_eq!(left.code, Some(3), "{left:?}");
            let run: Value = serde_json::from_str(&left.stdout).unwrap();
            run["run_id"].as_str().unwrap().to_owned()
        })
        .collect();
    world.until_alone();
    for (name, run) in ["one", "two"].iter().zip(&runs) {
        assert_eq!(in_shell("third", &["reply", run, "yes"]).code, Some(0));
        let folder = world.path().join(".adjourn/runs").join(run);
        for turn in ["first.txt", "second.txt"] {
            let variables = variables(&folder.join("work").join(turn));
            assert_eq!(variables["AGENT_KEY"], format!("key-of-the-{name}-shell-9f3a7c51"), "{turn}");
            assert_eq!(variables["LC_TEST"], *name, "{turn}");
            assert!(!variables.contains_key("HOOK_SECRET"), "{turn}");
        }
        let kept = folder.join("environment.json");
        assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!fs::read_to_string(kept).unwrap().contains("HOOK_SECRET"));
        let again = in_shell("third", &["rerun", run, "--json"]);
        let again: Value = serde_json::from_str(&again.stdout).unwrap();
        let first = world.path().join(".adjourn/runs").join(again["run_id"].as_str().unwrap());
        assert_eq!(variables(&first.join("work/first.txt"))["LC_TEST"], "third");
    }
    // It is nowhere but in the agent's own files, and in what is kept for it.
    world.until_alone();
    let mut found = Vec::new();
    let places: Vec<_> = ["adjourn.db", "adjourn.db-wal", "background.log"]
        .map(|name| world.path().join(".adjourn").join(name))
        .into();
    for file in places.into_iter().chain(logs(&world)) {
        let bytes = fs::read(&file).unwrap_or_default();
        if bytes.windows(14).any(|part| part == b"shell-9f3a7c51") {
            found.push(file);
        }
    }
    assert_eq!(found, [""; 0].map(Path::new));
}

/// The raw output of all attempts.
fn logs(world: &World) -> Vec<std::path::PathBuf> {
    let runs = fs::read_dir(world.path().join(".adjourn/runs")).unwrap();
    let folders = runs.map(|run| run.unwrap().path().join("logs"));
    folders.filter_map(|logs| fs::read_dir(logs).ok()).flatten().map(|log| log.unwrap().path()).collect()
}

#[test]
fn the_agents_of_a_roundtable_get_the_environment_of_the_shell_that_started_it() {
    let world = World::new();
    world.write("adjourn.toml", SHELL_CONFIG);
    // It writes its environment down and is lost for the roundtable, which asks it again.
    let script = "#!/bin/sh\ncat > /dev/null\nenv > first.txt\n";
    fs::set_permissions(world.write("shell.sh", script), fs::Permissions::from_mode(0o755)).unwrap();
    let start = ["roundtable", "start", "a shop", "--engine", "shell", "--detach"];
    let left = said(world.adjourn(&start).env("AGENT_KEY", "key-of-the-table-9f3a7c51"));
    assert_eq!(left.code, Some(3), "{left:?}");
    let runs = world.path().join(".adjourn/runs");
    let file = until("an agent is asked", || {
        let mut runs = fs::read_dir(&runs).ok()?.map(|run| run.unwrap().path().join("work/first.txt"));
        runs.find(|file| fs::read_to_string(file).is_ok_and(|text| text.contains("AGENT_KEY")))
    });
    assert_eq!(variables(&file)["AGENT_KEY"], "key-of-the-table-9f3a7c51");
    until("it is closed, and nothing of the shell is kept", || {
        let kept = fs::read_dir(world.path().join(".adjourn/roundtables")).unwrap().count();
        (world.items(&["roundtable", "list"])[0]["status"] == "closed" && kept == 0).then_some(())
    });
}

#[test]
fn nobody_who_comes_by_the_port_says_what_environment_an_agent_gets() {
    let world = World::new();
    let server = Serving::start(&world, "127.0.0.1:0", &[]);
    let body = json!({ "prompt": "hi", "engine": "asks", "environment": { "PATH": "/evil" } });
    let answer = server.post("/v1/runs", &body);
    assert!(answer.contains("/environment") && answer.contains("unknown key"), "{answer}");
}

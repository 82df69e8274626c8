//! Runs whose engine is not there, and the configuration that a data directory remembers.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use assert_cmd::Command;
use serde_json::Value;

use crate::world::{Said, World, said, until};

const CONFIG: &str = r#"
skills = ["./skills"]

[engines.away]
kind = "exec"
preset = "command"
command = ["away-agent"]
"#;

/// A world with an agent that is found by its name, in a folder that may be on PATH.
struct Away {
    world: World,
}

impl Away {
    fn new() -> Self {
        let world = World::new();
        world.write("away.toml", CONFIG);
        let agent = world.path().join("bin/away-agent");
        fs::create_dir(agent.parent().unwrap()).unwrap();
        fs::copy(world.path().join("asks.sh"), agent).unwrap();
        Self { world }
    }

    /// A command in a shell that has the agent on its PATH.
    fn with_path(&self, arguments: &[&str]) -> Command {
        let mut command = self.world.adjourn(arguments);
        let path = format!("{}:{}", self.world.path().join("bin").display(), std::env::var("PATH").unwrap());
        command.env("PATH", path);
        command
    }

    /// A run that waits, and what was said about it.
    fn waiting(&self, more: &[&str]) -> (String, Said) {
        let run = ["run", "deploy", "--engine", "away", "--json"];
        let said = said(&mut self.with_path(&[more, &run[..]].concat()));
        assert_eq!(said.code, Some(3), "{said:?}");
        let run: Value = serde_json::from_str(&said.stdout).unwrap();
        (run["run_id"].as_str().unwrap().to_owned(), said)
    }

    fn hide(&self) {
        fs::rename(self.world.path().join("bin"), self.world.path().join("hidden")).unwrap();
    }

    fn show(&self) {
        fs::rename(self.world.path().join("hidden"), self.world.path().join("bin")).unwrap();
    }
}

#[test]
fn rt_06_a_run_is_answered_from_a_shell_that_does_not_have_its_agent() {
    let away = Away::new();
    let (run, _) = away.waiting(&["--config", "away.toml"]);
    away.world.until_alone();
    let said = away.world.says(&["reply", &run, "prod"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "{\n  \"where\": \"prod\"\n}\n"), "{said:?}");
}

#[test]
fn rt_06_a_run_whose_agent_is_removed_is_kept_and_goes_on_when_it_is_installed_again() {
    let away = Away::new();
    let world = &away.world;
    let (run, _) = away.waiting(&["--config", "away.toml"]);
    world.until_alone();
    away.hide();
    let finished =
        world.says(&["--config", "adjourn.toml", "run", "deploy", "--engine", "asks", "--answer", "prod"]);
    assert_eq!(finished.code, Some(0), "another command in this directory: {finished:?}");
    assert_eq!(world.json(&["show", &run])["status"], "waiting_user", "it harms nobody");
    world.until_alone();

    let said = world.says(&["--config", "away.toml", "reply", &run, "prod"]);
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(
        said.stderr.contains("its engine `away` is not installed or not configured here"),
        "{}",
        said.stderr
    );
    assert!(said.stderr.contains(&format!("to end it instead: adjourn cancel {run}")), "{}", said.stderr);
    let shown = world.json(&["show", &run]);
    assert_eq!((&shown["status"], &shown["blocked_by"]), (&"queued".into(), &"ENGINE_NOT_FOUND".into()));
    assert_eq!(shown["warnings"][0]["code"], "ENGINE_NOT_FOUND", "{shown}");
    assert_eq!(world.items(&["ps"])[1]["blocked_by"], "ENGINE_NOT_FOUND");
    assert!(world.says(&["ps"]).stdout.contains("blocked by ENGINE_NOT_FOUND"));
    assert!(world.says(&["show", &run]).stdout.contains("it goes on by itself when it is"));

    away.show();
    // Nobody asks for it.
    until("it succeeded", || {
        Some(world.json(&["show", &run])).filter(|run| run["status"] == "succeeded" && run["restarts"] == 0)
    });
}

#[test]
fn a_blocked_run_is_canceled_like_any_other() {
    let away = Away::new();
    let (run, _) = away.waiting(&["--config", "away.toml"]);
    away.hide();
    assert_eq!(away.world.says(&["reply", &run, "prod"]).code, Some(3));
    assert_eq!(away.world.says(&["cancel", &run]).code, Some(0));
    assert_eq!(away.world.json(&["show", &run])["status"], "canceled");
    away.world.until_alone();
}

#[test]
fn the_hint_of_a_command_with_a_configuration_works_as_it_is_printed() {
    let away = Away::new();
    let more = ["--data", "some data", "--config", "away.toml"];
    let (run, said) = away.waiting(&more);
    let hint = format!("answer it with: adjourn --data 'some data' reply {run} staging\n");
    assert!(said.stderr.ends_with(&hint), "{}", said.stderr);
    let answered = away.world.says(&["--data", "some data", "reply", &run, "prod"]);
    assert_eq!(answered.code, Some(0), "{answered:?}");

    let file = away.world.path().join("some data/adjourn.configuration");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let remembered = fs::read_to_string(file).unwrap();
    assert_eq!(remembered.trim_end(), away.world.path().join("away.toml").to_str().unwrap());
}

#[test]
fn a_configuration_that_is_named_wins_and_is_remembered_and_doctor_says_which_counts() {
    let away = Away::new();
    let world = &away.world;
    let doctor = |world: &World| world.json(&["doctor"])["configuration"].clone();
    world.finished_run();
    assert_eq!(doctor(world)["source"], "beside");
    away.waiting(&["--config", "away.toml"]);
    assert_eq!(doctor(world)["source"], "remembered");
    assert!(world.says(&["doctor"]).stdout.contains("away.toml (the data directory was last used with it)"));
    let unknown = world.says(&["run", "deploy", "--engine", "asks"]);
    assert!(unknown.stderr.contains("there is no engine `asks`"), "{unknown:?}");
    world.until_alone();
    let named = ["--config", "adjourn.toml", "run", "deploy", "--engine", "asks", "--answer", "prod"];
    assert_eq!(world.says(&named).code, Some(0));
    assert!(doctor(world)["file"].as_str().unwrap().ends_with("/adjourn.toml"));
    assert_eq!(world.says(&["run", "deploy", "--engine", "asks", "--answer", "prod"]).code, Some(0));
}

#[test]
fn a_remembered_configuration_that_has_vanished_is_named_and_keeps_nobody_from_looking() {
    let away = Away::new();
    let (run, _) = away.waiting(&["--config", "away.toml"]);
    away.world.until_alone();
    fs::rename(away.world.path().join("away.toml"), away.world.path().join("moved.toml")).unwrap();
    let said = away.world.says(&["reply", &run, "prod"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    for part in ["away.toml, which .adjourn was last used with, is not there any more", "--config FILE"] {
        assert!(said.stderr.contains(part), "{}", said.stderr);
    }
    for arguments in [&["ps"][..], &["inbox"], &["show", &run], &["doctor"]] {
        assert_eq!(away.world.says(arguments).code, Some(0), "{arguments:?}");
    }
    assert_eq!(away.world.says(&["--config", "moved.toml", "reply", &run, "prod"]).code, Some(0));
}

#[test]
fn a_remembered_configuration_is_trusted_as_it_was_named_and_not_because_it_is_remembered() {
    let away = Away::new();
    let world = &away.world;
    let as_user = |mut command: Command| {
        command.env_remove("ADJOURN_TRUST_CONFIG").env("XDG_STATE_HOME", world.path().join("state"));
        said(&mut command)
    };
    let run = ["--config", "away.toml", "run", "deploy", "--engine", "away", "--json"];
    let left = as_user(away.with_path(&run));
    assert_eq!(left.code, Some(3), "{left:?}");
    let run: Value = serde_json::from_str(&left.stdout).unwrap();
    world.until_alone();
    let answered = as_user(world.adjourn(&["reply", run["run_id"].as_str().unwrap(), "prod"]));
    assert_eq!(answered.code, Some(0), "{answered:?}");
    world.until_alone();

    // A data directory that came with a folder names a file of its own.
    let planted = world.write("planted.toml", CONFIG);
    world.write(".adjourn/adjourn.configuration", &format!("{}\n", planted.display()));
    let refused = as_user(away.with_path(&["run", "deploy", "--engine", "away"]));
    assert_eq!(refused.code, Some(5), "{refused:?}");
    assert!(
        refused.stderr.contains("planted.toml says what to run, and nobody allowed that"),
        "{}",
        refused.stderr
    );
}

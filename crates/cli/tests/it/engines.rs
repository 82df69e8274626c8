//! `adjourn engines`.

use serde_json::{Value, json};

use crate::world::World;

fn engine<'a>(engines: &'a Value, name: &str) -> &'a Value {
    engines.as_array().unwrap().iter().find(|engine| engine["name"] == name).unwrap()
}

#[test]
fn engines_are_listed_with_what_they_answer() {
    let world = World::new();
    let engines = world.json(&["engines"]);
    let asks = json!({
        "name": "asks", "kind": "exec", "profile": "resumable", "installed": true, "answers": true,
        "version": "unknown", "problem": null,
        "because": "each turn is a process of its own, which is given its handle",
        "sandbox": "namespaces, Landlock, seccomp",
    });
    assert_eq!(engine(&engines, "asks"), &asks);
    let missing = engine(&engines, "missing");
    assert_eq!((&missing["installed"], &missing["answers"]), (&json!(false), &json!(false)));
    assert!(missing["problem"].as_str().unwrap().contains("there is no such program"), "{missing}");
    assert_eq!(engine(&engines, "replay")["installed"], true);

    let said = world.says(&["engines"]);
    let head = "ENGINE    KIND    PROFILE    INSTALLED  SANDBOX  ANSWERS\n";
    assert!(said.stdout.starts_with(head), "{}", said.stdout);
    assert!(
        said.stdout.contains("\nSandbox on this machine: namespaces, Landlock, seccomp\n"),
        "{}",
        said.stdout
    );
    let line = "missing   exec    resumable  no         on       to install it: check `command` of the engine in adjourn.toml";
    assert!(said.stdout.contains(line), "{}", said.stdout);
    assert!(!world.path().join(".adjourn").exists(), "looking makes nothing");
}

#[test]
fn an_agent_says_its_version() {
    let world = World::new();
    let agent = world.write("claude", "#!/bin/sh\necho '9.8.7 (Claude Code)'\n");
    std::fs::set_permissions(agent, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    world.write(
        "adjourn.toml",
        "[engines.claude]\nkind = \"exec\"\npreset = \"claude\"\ncommand = [\"./claude\"]\n",
    );
    assert_eq!(engine(&world.json(&["engines"]), "claude")["version"], "9.8.7 (Claude Code)");
}

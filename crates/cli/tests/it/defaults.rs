//! The default of a question: chosen beforehand at a terminal, and part of what is shown of the question.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::terminal::{ENTER, Terminal};
use crate::world::{World, said};

/// Asks four questions with a default, one of each kind that has to be filled in or chosen.
const DEFAULTS: &str = r#"#!/bin/sh
cat > /dev/null
ask() { echo "{\"__SKILL_DONE__\": false, \"message\": \"$1\", \"ui_hints\": $2}"; }
case "$ADJOURN_ATTEMPT" in
1) ask "Which place?" '{"kind": "choose_one", "options": ["staging", "canary", "prod"], "default": "canary"}' ;;
2) ask "Which branch?" '{"kind": "open_text", "default": "main"}' ;;
3) ask "Which checks?" '{"kind": "choose_many", "options": ["lint", "unit", "load"], "default": ["unit", "load"]}' ;;
4) ask "How exactly?" '{"kind": "form", "fields": [
     {"name": "speed", "kind": "choose_one", "options": ["slow", "fast"], "required": true, "default": "fast"},
     {"name": "copies", "kind": "integer", "default": 3}]}' ;;
*) echo '{"__SKILL_DONE__": true, "done": "yes"}' ;;
esac
"#;

fn world() -> World {
    let world = World::new();
    let script = world.write("defaults.sh", DEFAULTS);
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
    let config = fs::read_to_string(world.path().join("adjourn.toml")).unwrap();
    let engine = "[engines.defaults]\nkind = \"exec\"\npreset = \"command\"\ncommand = [\"./defaults.sh\"]\n";
    world.write("adjourn.toml", &format!("{config}\n{engine}"));
    world
}

#[test]
fn at_a_terminal_enter_takes_the_default() {
    let world = world();
    let mut terminal = Terminal::start(&world, &["run", "deploy", "--engine", "defaults"]);
    for (question, enters) in
        [("Which place?", 1), ("Which branch?", 1), ("Which checks?", 1), ("How exactly?", 0), ("speed", 1)]
    {
        terminal.until_seen(question);
        for _ in 0..enters {
            terminal.types(ENTER);
        }
    }
    terminal.until_seen("copies");
    terminal.types(ENTER);
    assert_eq!(terminal.ended().0, Some(0));
    let run = world.items(&["ps"])[0]["run_id"].as_str().unwrap().to_owned();
    let interactions = world.json(&["show", &run])["interactions"].clone();
    let responses: Vec<_> =
        interactions.as_array().unwrap().iter().map(|asked| asked["response"].clone()).collect();
    assert_eq!(
        responses,
        [json!("canary"), json!("main"), json!(["unit", "load"]), json!({ "speed": "fast", "copies": 3 })]
    );
}

#[test]
fn the_command_that_answers_shows_the_default() {
    let world = world();
    let mut shown = String::new();
    let mut arguments = vec!["run", "deploy", "--engine", "defaults"];
    for (answer, command) in [
        ("staging", "canary"),
        ("next", "main"),
        ("lint", "unit,load"),
        ("{}", "--data '{\"speed\":\"fast\",\"copies\":3}'"),
    ] {
        let left = said(&mut world.adjourn(&arguments));
        assert_eq!(left.code, Some(3), "{left:?}");
        assert!(left.stderr.contains(command), "{command}: {}", left.stderr);
        shown.push_str(&left.stderr);
        arguments.extend(["--answer", answer]);
    }
    for mark in ["- canary, the default", "The default is main.", "- unit, the default"] {
        assert!(shown.contains(mark), "{mark}: {shown}");
    }
}

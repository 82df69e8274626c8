//! A question that somebody else resolves while it is on a terminal is taken off it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::roundtable;
use crate::terminal::Terminal;
use crate::world::World;

/// Asks twice, and waits before the second question until it is told to go on.
const TWICE: &str = r#"#!/bin/sh
cat > /dev/null
case "$ADJOURN_ATTEMPT" in
1) echo '{"__SKILL_DONE__": false, "message": "First question?"}' ;;
2) until [ -e "$(dirname "$0")/go" ]; do sleep 0.02; done
   echo '{"__SKILL_DONE__": false, "message": "Second question?"}' ;;
*) echo '{"__SKILL_DONE__": true, "done": "yes"}' ;;
esac
"#;

fn world() -> World {
    let world = World::new();
    let script = world.write("twice.sh", TWICE);
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
    let config = fs::read_to_string(world.path().join("adjourn.toml")).unwrap();
    let engine = "[engines.twice]\nkind = \"exec\"\npreset = \"command\"\ncommand = [\"./twice.sh\"]\n";
    world.write("adjourn.toml", &format!("{config}\n{engine}"));
    world
}

fn answers(world: &World, run: &str) -> Vec<String> {
    let interactions = world.json(&["show", run])["interactions"].clone();
    let responses = interactions.as_array().unwrap().iter().map(|asked| &asked["response"]);
    responses.map(|response| response.as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_answer_in_one_terminal_takes_the_question_off_the_other() {
    let world = world();
    let mut first = Terminal::start(&world, &["run", "deploy", "--engine", "twice"]);
    first.until_seen("First question?");
    first.types("half an ans");
    first.until_seen("half an ans");
    let run = world.until_waiting(1).remove(0);
    let mut second = Terminal::start(&world, &["reply", &run, "one"]);
    first.until_seen("withdrawn:");
    first.until_seen("answered `one` (by socket); nothing was sent from here");

    // Typed on, by somebody who has not noticed: no answer to what comes next.
    first.types("wer\r");
    first.until_seen("wer");
    world.write("go", "");
    first.until_seen("Second question?");
    second.until_seen("Second question?");
    first.types("mine");
    first.until_seen("mine");
    second.types("two\r");
    first.until_seen("answered `two` (by socket); nothing was sent from here");
    let done = (Some(0), "{\n  \"done\": \"yes\"\n}\n".to_owned());
    assert_eq!((first.ended(), second.ended()), (done.clone(), done));
    assert_eq!(answers(&world, &run), ["one", "two"]);
}

#[test]
fn a_question_whose_deadline_passes_is_taken_off_the_terminal() {
    let world = World::new();
    let mut terminal = Terminal::start(
        &world,
        &["run", "deploy", "--engine", "asks", "--no-strict", "--session-timeout", "1"],
    );
    terminal.until_seen("Where should it go?");
    terminal.until_seen("withdrawn:");
    terminal.until_seen("nobody answered in time, and `staging` was decided; nothing was sent from here");
    assert_eq!(terminal.ended(), (Some(0), "{\n  \"where\": \"staging\"\n}\n".to_owned()));
}

#[test]
fn a_question_of_a_run_that_is_canceled_is_taken_off_the_terminal() {
    let world = World::new();
    let mut terminal = Terminal::start(&world, &["run", "deploy", "--engine", "asks"]);
    terminal.until_seen("Where should it go?");
    let run = world.until_waiting(1).remove(0);
    assert_eq!(world.says(&["cancel", &run]).code, Some(0));
    terminal.until_seen("the run was canceled; nothing was sent from here");
    assert_eq!(terminal.ended(), (Some(4), String::new()));
}

#[test]
fn a_question_of_a_roundtable_is_taken_off_the_terminal_as_well() {
    let world = roundtable::world();
    let mut terminal = Terminal::start(&world, &[&roundtable::START[..], &["--interactive"]].concat());
    terminal.until_seen("with a remark from me");
    let table = world.items(&["roundtable", "list"])[0]["roundtable_id"].as_str().unwrap().to_owned();
    // It stays with the table until that asks again, and leaves it waiting.
    let said = world.says(&["roundtable", "reply", &table, "continue"]);
    assert_eq!(said.code, Some(3), "{said:?}");
    terminal.until_seen("withdrawn:");
    terminal.until_seen("(by socket); nothing was sent from here");
    terminal.until_seen("Go on discussing");
    let said = world.says(&["roundtable", "close", &table]);
    assert_eq!(said.code, Some(0), "{said:?}");
    terminal.until_seen("the roundtable was closed; nothing was sent from here");
    assert_eq!(terminal.ended().0, Some(4));
}

//! `adjourn reply`.

use crate::world::World;

#[test]
fn a_run_that_was_left_waiting_goes_on_with_its_answer() {
    let world = World::new();
    let run = world.waiting_run();
    let said = world.says(&["reply", &run, "Production"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(said.stdout, "{\n  \"where\": \"prod\"\n}\n");
}

#[test]
fn an_end_of_the_id_is_enough() {
    let world = World::new();
    let run = world.waiting_run();
    let said = world.says(&["reply", &run[run.len() - 8..], "--data", "\"staging\"", "--json"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.stdout.contains("\"where\": \"staging\""), "{}", said.stdout);
}

#[test]
fn what_is_no_answer_is_refused_and_the_question_stays_open() {
    let world = World::new();
    let run = world.waiting_run();
    let said = world.says(&["reply", &run, "moon"]);
    assert_eq!(said.code, Some(5), "{said:?}");
    let expected = "error: `moon` is no answer: it is not one of the options: \"staging\" (Staging first), \"prod\" \
                    (Production)\nWhere should it go?\n";
    assert!(said.stderr.starts_with(expected), "{}", said.stderr);
    assert_eq!(world.items(&["inbox"]).len(), 1);

    let said = world.says(&["reply", &run, "prod", "--interaction", "7"]);
    assert_eq!(said.code, Some(5), "{said:?}");
    assert_eq!(said.stderr, "error: the run has no question 7: the open one is 1\n");
}

#[test]
fn nothing_is_answered_twice() {
    let world = World::new();
    let run = world.waiting_run();
    let reply = ["reply", &run, "prod", "--interaction", "1", "--key", "k1"];
    assert_eq!(world.says(&reply).code, Some(0));
    let again = world.says(&reply);
    assert_eq!(again.code, Some(0), "the same key is the same answer: {again:?}");
    let other = world.says(&["reply", &run, "staging", "--interaction", "1"]);
    assert_eq!(other.code, Some(5), "{other:?}");
    assert_eq!(other.stderr, "error: question 1 is answered: it has no open question\n");
}

#[test]
fn the_same_key_is_the_same_answer_also_after_the_next_question_appeared() {
    let world = World::new();
    // Asks where, and then when, each time in words of its own.
    let asks_twice = r#"#!/bin/sh
cat >/dev/null
turn=$(($(cat turns 2>/dev/null || echo 0) + 1)); echo $turn >turns
case $turn in
  1) echo '{"__SKILL_DONE__": false, "message": "Where?", "ui_hints": {"kind": "choose_one",
       "options": [{"value": "staging", "label": "Staging first"}, {"value": "prod", "label": "Production"}]}}' ;;
  2) echo '{"__SKILL_DONE__": false, "message": "When?"}' ;;
  *) echo '{"__SKILL_DONE__": true, "where": "prod"}' ;;
esac
"#;
    world.write("asks.sh", asks_twice);
    let run = world.waiting_run();
    // By its label: what is sent is the value.
    let reply = ["reply", &run, "Production", "--key", "k1"];
    assert_eq!(world.says(&reply).code, Some(3), "it asks again");
    let again = world.says(&reply);
    assert_eq!(again.code, Some(3), "the same key is the same answer: {again:?}");
    let other = world.says(&["reply", &run, "now", "--key", "k1"]);
    assert_eq!(other.code, Some(5), "{other:?}");
    assert_eq!(world.json(&["show", &run])["open_interactions"], serde_json::json!([2]));
    assert_eq!(world.says(&["reply", &run, "now", "--key", "k2"]).code, Some(0));
}

#[test]
fn an_answer_has_to_be_given() {
    let world = World::new();
    let run = world.waiting_run();
    let said = world.says(&["reply", &run]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.stderr.contains("there is no answer: give it as text"), "{}", said.stderr);
    let said = world.says(&["reply", &run, "--data", "elsewhere"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.stderr.contains("adjourn --data DIR reply"), "{}", said.stderr);
}

#[test]
fn another_data_directory_is_named_in_the_command_that_answers() {
    let world = World::new();
    let said = world.says(&[
        "--data",
        "other place",
        "run",
        "deploy",
        "--engine",
        "asks",
        "--config",
        "adjourn.toml",
    ]);
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(said.stderr.contains("adjourn --data 'other place' reply run_"), "{}", said.stderr);
    assert_eq!(world.items(&["ps", "--data", "other place"]).len(), 1);
}

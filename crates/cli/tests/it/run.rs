//! `adjourn run`.

use serde_json::{Value, json};

use crate::world::{World, assert_settled, said};

#[test]
fn a_run_asks_and_goes_on_with_an_answer_that_was_given_beforehand() {
    let world = World::new();
    let said = world.says(&["run", "deploy", "--engine", "asks", "--answer", "Staging first"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(said.stdout, "{\n  \"where\": \"staging\"\n}\n");
    assert_settled!(world, said.stderr);
}

#[test]
fn answers_come_from_the_lines_of_stdin() {
    let world = World::new();
    let mut command = world.adjourn(&["run", "deploy", "--engine", "asks"]);
    let said = said(command.write_stdin("\nmoon\nprod\nnobody asked for this\n"));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(said.stdout, "{\n  \"where\": \"prod\"\n}\n");
    let refused = "this is no answer: `moon`: it is not one of the options: \"staging\" (Staging first)";
    assert!(said.stderr.contains(refused), "{}", said.stderr);
}

#[test]
fn without_an_answer_the_run_is_left_waiting_and_the_command_that_answers_it_is_shown() {
    let world = World::new();
    let said = world.says(&["run", "deploy", "--engine", "asks"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(3), ""));
    assert_settled!(world, said.stderr);
}

#[test]
fn as_json_stdout_is_the_run_and_nothing_else() {
    let world = World::new();
    let said = world.says(&["run", "deploy", "--engine", "asks", "--json", "--label", "team=core"]);
    assert_eq!(said.code, Some(3), "{said:?}");
    let run: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(run["status"], "waiting_user");
    assert_eq!(run["pending"]["kind"], "choose_one");
    assert_eq!(run["pending"]["prompt"], "Where should it go?");
    assert_eq!(run["labels"], json!({"team": "core"}));
    assert!(said.stderr.contains("answer it with: adjourn reply run_"), "{}", said.stderr);
}

#[test]
fn a_run_without_a_skill_takes_what_the_agent_says() {
    let world = World::new();
    world.write("asks.sh", "#!/bin/sh\ncat > /dev/null\nprintf 'It is \\033[31mfine\\033[0m.\\n'\n");
    let said = world.says(&["run", "--prompt", "How is it?", "--engine", "asks", "--mode", "auto"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(
        said.stdout, "It is \\u{1b}[31mfine\\u{1b}[0m.\n",
        "an agent does not get to colour the terminal"
    );
}

#[test]
fn a_run_that_fails_says_why() {
    let world = World::new();
    let said = world.says(&["run", "deploy", "--engine", "fails"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""));
    assert_settled!(world, said.stderr);
}

#[test]
fn an_agent_that_is_not_there_fails_the_run_with_its_code() {
    let world = World::new();
    let said = world.says(&["run", "deploy", "--engine", "missing"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stderr.contains("ENGINE_NOT_FOUND: `"), "{}", said.stderr);
    assert!(said.stderr.contains("no-such-agent` cannot be started"), "{}", said.stderr);
}

#[test]
fn a_run_works_where_it_is_told_with_the_files_it_is_given() {
    let world = World::new();
    let notes = world.write("notes.txt", "tea");
    world.write("here/kept.txt", "kept");
    world.write("asks.sh", "#!/bin/sh\ncat > /dev/null\npwd > where.txt\necho done\n");
    let file = format!("notes={}", notes.display());
    let said = world.says(&[
        "run",
        "--prompt",
        "Look",
        "--engine",
        "asks",
        "--mode",
        "auto",
        "--workspace",
        "here",
        "--file",
        &file,
    ]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let here = std::fs::read_to_string(world.path().join("here/where.txt")).unwrap();
    assert_eq!(here.trim(), world.path().join("here").canonicalize().unwrap().to_str().unwrap());
}

#[test]
fn a_run_is_recorded_and_the_recording_plays() {
    let world = World::new();
    let recording = ["--record", "skills/deploy/assets/recording.jsonl"];
    world.write("skills/deploy/assets/.keep", "");
    let said =
        world.says(&[&["run", "deploy", "--engine", "asks", "--answer", "prod"], &recording[..]].concat());
    assert_eq!(said.code, Some(0), "{said:?}");
    let said = world.says(&["run", "deploy", "--engine", "replay", "--answer", "prod"]);
    assert_eq!(
        (said.code, said.stdout.as_str()),
        (Some(0), "{\n  \"where\": \"prod\"\n}\n"),
        "{}",
        said.stderr
    );
}

#[test]
fn a_recording_is_played_only_for_somebody_who_asks_nothing_of_it() {
    let world = World::new();
    let arguments = ["run", "deploy", "--engine", "asks", "--answer", "prod"];
    world.write("skills/deploy/assets/.keep", "");
    let recorded =
        world.says(&[&arguments[..], &["--record", "skills/deploy/assets/recording.jsonl"]].concat());
    assert_eq!(recorded.code, Some(0), "{recorded:?}");
    world.write("adjourn.toml", "skills = [\"skills\"]\n");
    let run = |data: &str, more: &[&str]| {
        let arguments = [&["--data", data, "run", "deploy", "--answer", "prod"], more].concat();
        said(world.adjourn(&arguments).env("PATH", "/usr/bin:/bin"))
    };
    // In a data directory that is there, and in one that would have to be made.
    for data in [".adjourn", "new"] {
        let refused = run(data, &["--input", "{\"text\": \"mine\"}"]);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(5), ""), "{refused:?}");
        assert!(refused.stderr.contains("no engine is installed here"), "{}", refused.stderr);
        let played = run(data, &["--json"]);
        assert_eq!(played.code, Some(0), "{played:?}");
        assert!(played.stderr.contains("plays a recording"), "{}", played.stderr);
        let run: serde_json::Value = serde_json::from_str(&played.stdout).unwrap();
        assert_eq!(
            (&run["engine"], &run["warnings"][0]["code"]),
            (&"replay".into(), &"RECORDING_PLAYED".into())
        );
    }
}

#[test]
fn no_colour_where_nobody_wants_any() {
    let world = World::new();
    let arguments = ["run", "deploy", "--engine", "asks", "--answer", "prod"];
    let plain = world.says(&arguments);
    assert!(!plain.stderr.contains('\u{1b}'), "{}", plain.stderr);
    let forced = said(world.adjourn(&arguments).env("CLICOLOR_FORCE", "1"));
    assert!(forced.stderr.contains("\u{1b}[32msucceeded"), "{}", forced.stderr);
    let refused = said(world.adjourn(&["ps"]).env("NO_COLOR", "1"));
    assert!(!refused.stdout.contains('\u{1b}'), "{}", refused.stdout);
}

#[test]
fn a_rerun_is_a_new_run_of_the_same_request() {
    let world = World::new();
    let earlier = world.finished_run();
    let said = world.says(&["rerun", &earlier, "--answer", "staging"]);
    assert_eq!(
        (said.code, said.stdout.as_str()),
        (Some(0), "{\n  \"where\": \"staging\"\n}\n"),
        "{}",
        said.stderr
    );
    let runs = world.items(&["ps"]);
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0]["skill"], runs[1]["skill"]);
}

//! Everything that can be typed wrongly: what is wrong, where, and what would be right.

use crate::world::World;

#[test]
fn wrong_use_is_told_apart_from_what_is_refused() {
    let world = World::new();
    world.write("bad.json", "{\n  oops\n}");
    world.write("broken/SKILL.md", "---\nname: broken\ndescription: x\n---\nx\n");
    world.write("broken/assets/runner.json", "{\"id\": \"broken\",,}");
    let run = ["run", "deploy", "--engine", "asks"];
    for (more, code, expected) in [
        (&["--input", "{bad"][..], 2, "--input is not JSON: key must be a string at line 1 column 2"),
        (&["--input", "notes.json"], 2, "; a file is given as @FILE"),
        (
            &["--input", "@bad.json"],
            2,
            "--input: bad.json is not JSON: key must be a string at line 2 column 3",
        ),
        (&["--input", "@nope.json"], 2, "--input: nope.json cannot be read: No such file"),
        (&["--param", "x"], 2, "--param x: it should be a name and a value, as in --param name=value"),
        (&["--file", "a=nope"], 2, "--file a: nope cannot be read: No such file"),
        (&["--file", "a=skills"], 2, "--file a: skills is not a file"),
        (&["--mode", "sometimes"], 2, "`sometimes` is not one of auto, interactive"),
        (&["--profile", "sticky"], 2, "`sticky` is not one of resumable, sticky_process"),
        (&["--prompt", "also"], 2, "cannot be used with"),
        (&["--engin", "asks"], 2, "a similar argument exists: '--engine'"),
        (&["--session-timeout", "0"], 5, "--session-timeout: should be a whole number from 1 to"),
        (
            &["--repair-limit", "1001"],
            5,
            "--repair-limit: should be a whole number from 0 to 1000, it is 1001",
        ),
        (&["--workspace", "nowhere"], 5, "nowhere is not a folder that can be worked in"),
        (&["--detach", "--answer", "prod"], 2, "cannot be used with"),
    ] {
        check(&world, &[&run[..], more].concat(), code, expected);
    }
    for (arguments, code, expected) in [
        (&["run"][..], 2, "<SKILL>"),
        (&["run", "deplyo"], 5, "there is no skill `deplyo`; did you mean `deploy`?"),
        (&["run", "./broken"], 5, "assets/runner.json:1: error: not valid JSON"),
        (
            &["run", "deploy", "--engine", "ask"],
            5,
            "--engine: there is no engine `ask`; did you mean `asks`?",
        ),
        (&["ps", "--status", "happy"], 2, "[possible values: queued, running, waiting_user"),
        (&["ps", "--label", "x"], 2, "as in --label team=core"),
        (&["prune"], 2, "--older-than <AGE>"),
        (&["prune", "--older-than", "3w"], 2, "it should be a number and d, h, m or s, as in 30d"),
        (&["--config", "nope.toml", "engines"], 2, "the configuration nope.toml cannot be read"),
        (&["shwo"], 2, "a similar subcommand exists: 'show'"),
    ] {
        check(&world, arguments, code, expected);
    }
}

fn check(world: &World, arguments: &[&str], code: i32, expected: &str) {
    let said = world.says(arguments);
    assert_eq!((said.code, said.stdout.as_str()), (Some(code), ""), "{arguments:?}: {}", said.stderr);
    assert!(
        said.stderr.starts_with("error: ") && said.stderr.contains(expected),
        "{arguments:?}: {}",
        said.stderr
    );
}

#[test]
fn a_broken_configuration_is_told_with_its_place() {
    let world = World::new();
    world.write("adjourn.toml", "[slots]\ntotl = 3\n");
    for arguments in [&["run", "deploy"][..], &["engines"]] {
        check(&world, arguments, 2, "adjourn.toml:2:1: slots.totl: unknown key; did you mean `total`?");
    }
}

#[test]
fn without_a_data_directory_there_is_nothing_to_look_at() {
    let world = World::new();
    for arguments in [
        &["ps"][..],
        &["show", "abcdef"],
        &["inbox"],
        &["events", "abcdef"],
        &["files", "abcdef"],
        &["reply", "abcdef", "x"],
        &["cancel", "abcdef"],
        &["rerun", "abcdef"],
        &["prune", "--older-than", "1d"],
    ] {
        check(&world, arguments, 5, "there is no data directory .adjourn: nothing was run here yet");
        assert!(!world.path().join(".adjourn").exists(), "{arguments:?} made one");
    }
}

#[test]
fn a_run_that_is_not_there_is_not_found() {
    let world = World::new();
    world.finished_run();
    for (run, expected) in [
        ("zzzz", "there is no run `zzzz`: `adjourn ps` lists those there are"),
        ("run_00000000000000000000000000", "there is no run run_00000000000000000000000000"),
        ("abc", "`abc` is too short for a run"),
    ] {
        for command in ["show", "events", "files", "cancel", "rerun"] {
            check(&world, &[command, run], 5, expected);
        }
    }
}

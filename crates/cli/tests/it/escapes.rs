//! What skills and agents write is shown, and does nothing to the terminal.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::world::{Said, World};

fn is_harmless(said: &Said) {
    for text in [&said.stdout, &said.stderr] {
        let bad = text.chars().find(|char| *char != '\n' && *char != '\t' && adjourn_core::is_hidden(*char));
        assert_eq!(bad, None, "{text:?}");
    }
}

#[test]
fn the_words_of_a_broken_skill_do_nothing_to_the_terminal() {
    let world = World::new();
    world.write(
        "bad/SKILL.md",
        "---\nname: \"a\\e]0;owned\\a\"\ndescription: \"b\\e[2J\u{202e}\"\nwrong\u{9b}key: 1\n---\nDo.\n",
    );
    world.write("bad/assets/runner.json", "{\"id\": \"x\\u001b[31m\", \"eng\\u001b[7mines\": 1}");
    let said = world.says(&["skills", "check", "bad"]);
    is_harmless(&said);
    assert!(said.stdout.contains("\\u{1b}"), "{}", said.stdout);
    let said = world.says(&["run", "./bad", "--engine", "asks"]);
    is_harmless(&said);
    assert!(said.stderr.contains("\\u{1b}"), "{}", said.stderr);
}

#[test]
fn the_words_of_an_agent_do_nothing_to_the_terminal() {
    let world = World::new();
    let agent = world.write(
        "rude",
        "#!/bin/sh\ncat >/dev/null\ntouch \"$(printf 'a\\033[2Jb')\"\n\
         printf 'hello \\033]0;owned\\007 \\342\\200\\256 there\\n'\nprintf 'oops \\033[31m\\n' >&2\nexit $CODE\n",
    );
    fs::set_permissions(agent, fs::Permissions::from_mode(0o755)).unwrap();
    let engine = |name: &str, code: u8| {
        format!(
            "[engines.{name}]\nkind = \"exec\"\npreset = \"command\"\ncommand = [\"./rude\"]\nenv = {{ CODE = \"{code}\" }}\n"
        )
    };
    world.write("adjourn.toml", &format!("{}{}", engine("rude", 0), engine("fails", 3)));
    let said = world.says(&["run", "--prompt", "go \u{1b}[5m", "--engine", "rude", "--mode", "auto"]);
    is_harmless(&said);
    assert!(
        said.stdout.contains("hello \\u{1b}]0;owned\\u{7} \\u{202e} there")
            || said.stderr.contains("\\u{1b}"),
        "{said:?}"
    );
    let said = world.says(&["run", "--prompt", "go", "--engine", "fails", "--mode", "auto"]);
    is_harmless(&said);
    let runs = world.items(&["ps"]);
    for run in &runs {
        let id = run["run_id"].as_str().unwrap();
        for command in ["show", "events", "trace", "files"] {
            is_harmless(&world.says(&[command, id]));
        }
    }
    is_harmless(&world.says(&["ps"]));
    is_harmless(&world.says(&["engines"]));
}

#[test]
fn the_version_that_a_program_tells_does_nothing_to_the_terminal() {
    let world = World::new();
    let agent = world.write("claude", "#!/bin/sh\nprintf '1.0 \\033[2J\\n'\n");
    fs::set_permissions(agent, fs::Permissions::from_mode(0o755)).unwrap();
    world.write(
        "adjourn.toml",
        "[engines.claude]\nkind = \"exec\"\npreset = \"claude\"\ncommand = [\"./claude\"]\n",
    );
    let said = world.says(&["engines"]);
    is_harmless(&said);
    assert!(said.stdout.contains("1.0 \\u{1b}[2J"), "{}", said.stdout);
}

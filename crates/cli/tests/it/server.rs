//! `--server`: the same commands, with a server somewhere.

use std::io::Write;

use serde_json::json;

use crate::serving::Serving;
use crate::world::World;

const RESULT: &str = "{\n  \"where\": \"prod\"\n}\n";

#[test]
fn with_a_server_everything_happens_there_and_nothing_here() {
    let (there, here) = (World::new(), World::new());
    let server = Serving::start(&there, "127.0.0.1:0", &[]);
    let url = server.url();
    let say = |arguments: &[&str]| here.says(&[&["--server", &url], arguments].concat());

    let said = say(&["run", "deploy", "--engine", "asks"]);
    assert_eq!(said.code, Some(3), "{said:?}");
    let command = format!("answer it with: adjourn --server {url} reply run_");
    assert!(said.stderr.contains(&command), "{}", said.stderr);
    let run = there.until_waiting(1).remove(0);
    for (arguments, expected) in [
        (&["ps"][..], run.as_str()),
        (&["inbox"], "Where should it go?"),
        (&["show", &run], "waiting_user"),
        (&["events", &run], "user.input.required"),
    ] {
        let said = say(arguments);
        assert_eq!(said.code, Some(0), "{said:?}");
        assert!(said.stdout.contains(expected), "{arguments:?}: {}", said.stdout);
    }
    let said = say(&["reply", &run[run.len() - 8..], "prod"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), RESULT), "{said:?}");
    assert_eq!(say(&["files", &run, "report.txt"]).stdout, "deployed to prod\n");
    assert_eq!(say(&["events", &run, "--follow", "--after", "3"]).code, Some(0));
    assert_eq!(say(&["cancel", &run]).code, Some(5));
    assert_eq!(say(&["rerun", &run, "--answer", "prod"]).stdout, RESULT);

    let by_environment = crate::world::said(here.adjourn(&["ps", "--json"]).env("ADJOURN_SERVER", &url));
    let list: serde_json::Value = serde_json::from_str(&by_environment.stdout).unwrap();
    assert_eq!(list["items"].as_array().unwrap().len(), 2);
    assert!(!here.path().join(".adjourn").exists());
}

#[test]
fn what_a_server_elsewhere_cannot_do_is_said_before_it_is_asked() {
    let (there, here) = (World::new(), World::new());
    let server = Serving::start(&there, "127.0.0.1:0", &[]);
    let url = server.url();
    for (arguments, code, expected) in [
        (&["run", "./skills/deploy"][..], 2, "give the name of a skill that is installed at http://"),
        (&["run", "deploy", "--workspace", "."], 2, "--workspace is a place on this machine"),
        (&["run", "deploy", "--record", "r.jsonl"], 2, "--record is a place on this machine"),
        (&["prune", "--older-than", "1d"], 2, "runs are removed where they are kept"),
        (&["run", "deplyo"], 5, "there is no skill `deplyo`; did you mean `deploy`?"),
        (&["show", "run_00000000000000000000000000"], 5, "there is no run run_00000000000000000000000000"),
    ] {
        let said = here.says(&[&["--server", &url], arguments].concat());
        assert_eq!(said.code, Some(code), "{arguments:?}: {said:?}");
        assert!(said.stderr.contains(expected), "{arguments:?}: {}", said.stderr);
    }
    for (url, code, expected) in [
        ("localhost", 2, "it should be the address of a server, as in http://127.0.0.1:7717"),
        ("http://127.0.0.1:1", 5, "no answer from http://127.0.0.1:1: "),
    ] {
        let said = here.says(&["--server", url, "ps"]);
        assert_eq!(said.code, Some(code), "{said:?}");
        assert!(said.stderr.contains(expected), "{}", said.stderr);
    }
}

#[test]
fn whoever_stays_with_a_run_comes_back_after_the_server_was_started_again() {
    let (there, here) = (World::new(), World::new());
    let mut server = Serving::start(&there, "127.0.0.1:0", &[]);
    let mut client = here.spawn(&["--server", &server.url(), "run", "deploy", "--engine", "asks"]);
    let run = there.until_waiting(1).remove(0);
    let address = server.address().to_owned();
    server.kill();
    let _again = Serving::start(&there, &address, &[]);
    // The second question would be the first one again, were anything told twice.
    client.stdin.take().unwrap().write_all(b"prod\n").unwrap();
    let output = client.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), RESULT);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(told.matches("I looked at the service.").count(), 1, "{told}");
    assert_eq!(there.json(&["show", &run])["result"], json!({"where": "prod"}));
}

#[test]
fn files_are_sent_to_a_server_elsewhere() {
    let (there, here) = (World::new(), World::new());
    there.write("asks.sh", "#!/bin/sh\nprompt=$(cat)\ncat $(find .. -name notes.txt)\n");
    let notes = here.write("tea.txt", "two cups of tea");
    let server = Serving::start(&there, "127.0.0.1:0", &[]);
    let file = format!("notes.txt={}", notes.display());
    let run = ["run", "--prompt", "Look", "--engine", "asks", "--mode", "auto", "--file", &file];
    let said = here.says(&[&["--server", &server.url()], &run[..]].concat());
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "two cups of tea\n"), "{said:?}");
}

#[test]
fn a_token_comes_from_the_environment_and_its_name_is_who_answered() {
    let (there, here) = (World::new(), World::new());
    let token = |role: &str| {
        let said = there.says(&["token", &format!("ada-{role}"), "--role", role, "--file", "tokens"]);
        said.stdout.trim_end().to_owned()
    };
    let (admin, reads) = (token("admin"), token("read"));
    let server = Serving::start(&there, "127.0.0.1:0", &["--tokens", "tokens"]);
    let url = server.url();
    let say = |token: Option<&str>, arguments: &[&str]| {
        let mut command = here.adjourn(&[&["--server", &url], arguments].concat());
        if let Some(token) = token {
            command.env("ADJOURN_TOKEN", token);
        }
        crate::world::said(&mut command)
    };
    let run = ["run", "deploy", "--engine", "asks", "--answer", "prod"];
    for (token, expected) in [
        (None, "read from $ADJOURN_TOKEN"),
        (Some("adj_wrong"), "read from $ADJOURN_TOKEN"),
        (Some(reads.as_str()), "admin"),
    ] {
        let said = say(token, &run);
        assert_eq!((said.code, said.stdout.as_str()), (Some(5), ""), "{said:?}");
        assert!(said.stderr.contains(expected), "{}", said.stderr);
        assert!(token.is_none_or(|token| !said.stderr.contains(token)), "{}", said.stderr);
    }
    assert_eq!(say(Some(&admin), &run).stdout, RESULT);
    assert_eq!(say(Some(&reads), &["ps"]).code, Some(0));
    let runs = there.items(&["ps"]);
    let shown = there.says(&["show", runs[0]["run_id"].as_str().unwrap()]).stdout;
    assert!(shown.contains("(answered, ada-admin by token, "), "{shown}");
}

//! A data directory that an earlier version wrote opens and goes on.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};

use serde_json::{Map, Value, json};

use crate::roundtable;
use crate::world::World;

/// Runs and roundtables of the fixture.
const WAITING_RUN: &str = "run_01m7jagmdveh4s7qesnemqnvp8";
const WAITING_ROUNDTABLE: &str = "rt_01m7jagmkwe70r0drzqx2v9p9x";
const KILLED_ROUNDTABLE: &str = "rt_01m7jagnjkebxvpm0zp5jsejse";

const ASKS: &str = r#"#!/bin/sh
prompt=$(cat)
case "$prompt" in *prod*) echo '{"__SKILL_DONE__": true, "where": "prod"}' ;; *) echo "Where should it go?" ;; esac
"#;

/// The data directory as its owner left it when it was killed.
fn world() -> World {
    let world = roundtable::world();
    let config = fs::read_to_string(world.path().join("adjourn.toml")).unwrap();
    let asks = "\n[engines.asks]\nkind = \"exec\"\npreset = \"command\"\ncommand = [\"./asks.sh\"]\n";
    world.write("adjourn.toml", &format!("{config}{asks}"));
    fs::set_permissions(world.write("asks.sh", ASKS), fs::Permissions::from_mode(0o755)).unwrap();
    let data = world.path().join(".adjourn");
    fs::DirBuilder::new().mode(0o700).create(&data).unwrap();
    let journal = rusqlite::Connection::open(data.join("adjourn.db")).unwrap();
    journal.execute_batch(include_str!("fixtures/journal.sql")).unwrap();
    let workspaces: Map<String, Value> =
        serde_json::from_str(include_str!("fixtures/workspaces.json")).unwrap();
    for (path, written) in &workspaces {
        let path = data.join(path);
        let folder = path.parent().unwrap();
        for made in ["work", "logs"] {
            fs::create_dir_all(folder.join(made)).unwrap();
        }
        fs::write(path, written.to_string()).unwrap();
    }
    world
}

#[test]
fn a_data_directory_that_the_version_before_wrote_opens_and_goes_on() {
    let world = world();
    let waits = world.json(&["show", WAITING_RUN]);
    assert_eq!(
        (&waits["status"], &waits["pending"]["prompt"]),
        (&json!("waiting_user"), &json!("Where should it go?"))
    );
    let answered = world.says(&["reply", WAITING_RUN, "prod"]);
    assert_eq!(answered.code, Some(0), "{answered:?}");

    let decided = world.says(&["roundtable", "reply", WAITING_ROUNDTABLE, "accept"]);
    assert_eq!(decided.code, Some(0), "{decided:?}");
    assert!(decided.stdout.contains("### REQ-001 Cards are taken"), "{}", decided.stdout);

    // The participant that was interrupted is asked again, and everybody else only once.
    let went_on = world.says(&["roundtable", "attach", KILLED_ROUNDTABLE]);
    assert_eq!(went_on.code, Some(3), "it asks after two rounds: {went_on:?}");
    let table = world.json(&["roundtable", "show", KILLED_ROUNDTABLE]);
    assert_eq!(table["rounds"].as_array().unwrap().len(), 2, "{table}");
    let first = &table["rounds"][0];
    let answers: Vec<_> = first["answers"].as_array().unwrap().iter().map(|it| &it["role"]).collect();
    assert_eq!((answers, &first["missing"]), (vec![&json!("product"), &json!("qa")], &json!([])), "{first}");
    let checked = world.says(&["doctor"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
}

//! `adjourn doctor`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::world::World;

fn closed_to_others(world: &World) {
    world.until_alone();
    let data = world.path().join(".adjourn");
    fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).unwrap();
    for entry in fs::read_dir(&data).unwrap().map(Result::unwrap) {
        if entry.path().is_file() {
            fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o600)).unwrap();
        }
    }
}

fn damage(world: &World, statement: &str) {
    let connection = Connection::open(world.path().join(".adjourn/adjourn.db")).unwrap();
    connection.execute_batch(statement).unwrap();
}

fn examined(world: &World, arguments: &[&str]) -> (Option<i32>, Value) {
    let said = world.says(&[&["--json", "doctor"], arguments].concat());
    (said.code, serde_json::from_str(&said.stdout).unwrap_or_else(|_| panic!("{said:?}")))
}

#[test]
fn a_sound_directory_is_healthy_and_an_open_one_is_closed() {
    let world = World::new();
    world.finished_run();
    world.waiting_run();
    closed_to_others(&world);
    let (code, found) = examined(&world, &[]);
    assert_eq!((code, &found["healthy"], &found["streams"]), (Some(0), &json!(true), &json!(2)), "{found}");
    let said = world.says(&["doctor"]);
    assert!(said.stdout.starts_with(".adjourn is healthy\n2 journals with "), "{said:?}");
    fs::set_permissions(world.path().join(".adjourn/adjourn.lock"), fs::Permissions::from_mode(0o644))
        .unwrap();
    let said = world.says(&["doctor"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let closed = ".adjourn/adjourn.lock was open to other users of this machine (mode 644), and was closed";
    assert!(said.stdout.contains(closed), "{said:?}");
}

#[test]
fn damage_is_named_with_its_run_and_lists_are_written_again() {
    let world = World::new();
    let finished = world.finished_run();
    let waiting = world.waiting_run();
    let garbled = world.waiting_run();
    closed_to_others(&world);
    let id = |run: &str| format!("{:032x}", run.parse::<adjourn_core::RunId>().unwrap().bits());
    damage(&world, &format!("UPDATE runs SET status = 1, attempt = 9 WHERE id = x'{}'", id(&finished)));
    damage(
        &world,
        &format!("UPDATE open_interactions SET question = '{{' WHERE stream = x'00{}'", id(&waiting)),
    );
    damage(
        &world,
        &format!(
            "UPDATE entries SET payload = x'7b' WHERE stream = x'00{0}' \
             AND seq = (SELECT max(seq) FROM entries WHERE stream = x'00{0}')",
            id(&garbled)
        ),
    );
    let (code, found) = examined(&world, &[]);
    let remedy = |found: &Value, run: &str| {
        let findings = found["findings"].as_array().unwrap();
        findings.iter().find(|finding| finding["stream"] == run).map(|finding| finding["remedy"].clone())
    };
    assert_eq!((code, &found["healthy"]), (Some(1), &json!(false)), "{found}");
    assert_eq!(remedy(&found, &finished), Some(json!("repair")), "{found}");
    assert_eq!(remedy(&found, &waiting), Some(json!("repair")), "{found}");
    assert_eq!(remedy(&found, &garbled), Some(json!("ends_as_failed")), "{found}");
    let text = world.says(&["doctor"]).stdout;
    assert!(text.contains(&format!("{finished}: the list of runs shows it as running")), "{text}");
    assert!(text.contains(&format!("{garbled}: its journal cannot be read")), "{text}");

    let (code, found) = examined(&world, &["--repair"]);
    assert_eq!((code, &found["repaired"]), (Some(1), &json!(2)), "{found}");
    assert_eq!((remedy(&found, &finished), remedy(&found, &waiting)), (None, None), "{found}");
    assert_eq!(world.json(&["show", &finished])["status"], "succeeded");
    // Whoever works on the directory next ends what cannot be read, and the rest goes on.
    assert_eq!(world.says(&["reply", &waiting, "prod"]).code, Some(0));
    assert_eq!(world.json(&["show", &garbled])["error"]["code"], "JOURNAL_UNREADABLE");
    let (code, found) = examined(&world, &[]);
    assert_eq!((code, &found["findings"]), (Some(0), &json!([])), "{found}");
}

#[test]
fn a_torn_database_is_reported() {
    let world = World::new();
    for _ in 0..3 {
        world.finished_run();
    }
    closed_to_others(&world);
    let file = world.path().join(".adjourn/adjourn.db");
    damage(&world, "PRAGMA wal_checkpoint(TRUNCATE)");
    let mut bytes = fs::read(&file).unwrap();
    let pages = bytes.len() / 4096;
    for page in 2..pages.min(12) {
        bytes[page * 4096..page * 4096 + 64].fill(0xA5);
    }
    fs::write(&file, bytes).unwrap();
    let said = world.says(&["doctor"]);
    assert!(matches!(said.code, Some(1 | 5)), "{said:?}");
    assert!(format!("{}{}", said.stdout, said.stderr).contains("damaged"), "{said:?}");
}

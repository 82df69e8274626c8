//! Whatever is found in the data directory, the answer is a message and never a panic.

use std::fs;
use std::path::Path;

use adjourn_core::Change;
use adjourn_store::conformance::Random;
use adjourn_store::conformance::items::{
    Script, claim, claim_key, holder, paused_run, question, run_id, with,
};
use adjourn_store::{After, Error, RunFilter, SqliteStore, Store};
use rusqlite::Connection;
use tempfile::TempDir;

fn database(dir: &TempDir) -> std::path::PathBuf {
    dir.path().join("adjourn.db")
}

fn open_error(dir: &Path) -> String {
    SqliteStore::open(dir).unwrap_err().to_string()
}

fn reader_error(dir: &Path) -> String {
    SqliteStore::open_reader(dir).unwrap_err().to_string()
}

/// A directory with a journal of `runs` finished runs, closed.
fn journal(runs: u64) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    for n in 0..runs {
        store.commit(&paused_run(n)).unwrap();
    }
    dir
}

#[test]
fn a_path_that_is_a_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "text").unwrap();
    for path in [file.clone(), file.join("below")] {
        let expected = format!(
            "cannot use {} as data directory: it, or something above it, is a file: give the path of a directory",
            path.display()
        );
        assert_eq!(open_error(&path), expected);
    }
    assert!(reader_error(&file).contains("is a file"));
    assert_eq!(fs::read(&file).unwrap(), b"text");
}

#[test]
fn a_directory_that_is_missing_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let deep = dir.path().join("a/b/c");
    SqliteStore::open(&deep).unwrap();
    assert!(deep.join("adjourn.db").is_file());
}

#[test]
fn a_directory_that_cannot_be_made_is_refused() {
    // Nobody, root included, can make a directory there.
    let error = SqliteStore::open(Path::new("/proc/adjourn")).unwrap_err();
    assert!(matches!(error, Error::Directory { .. }), "{error}");
}

#[test]
fn a_directory_without_write_permission_is_refused() {
    if rustix::process::geteuid().is_root() {
        return; // Permissions do not hold for root; the message has a unit test.
    }
    let dir = tempfile::tempdir().unwrap();
    let mut permissions = fs::metadata(dir.path()).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(dir.path(), permissions).unwrap();
    assert!(open_error(dir.path()).contains("permission denied"));
}

#[test]
fn a_database_that_is_a_directory_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(database(&dir)).unwrap();
    let error = open_error(dir.path());
    assert!(error.contains("adjourn.db cannot be opened"), "{error}");
}

#[test]
fn an_empty_file_becomes_a_journal() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(database(&dir), "").unwrap();
    SqliteStore::open(dir.path()).unwrap();
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let garbage = b"these are my notes, please do not overwrite them. ".repeat(100);
    fs::write(database(&dir), &garbage).unwrap();
    for error in [open_error(dir.path()), reader_error(dir.path())] {
        assert!(
            error.contains("adjourn.db is not a journal of adjourn: it is no SQLite database"),
            "{error}"
        );
    }
    assert_eq!(fs::read(database(&dir)).unwrap(), garbage);
}

#[test]
fn a_database_of_another_program_is_refused_and_left_alone() {
    for statement in ["CREATE TABLE notes (text)", "PRAGMA application_id = 7"] {
        let dir = tempfile::tempdir().unwrap();
        Connection::open(database(&dir)).unwrap().execute_batch(statement).unwrap();
        let before = fs::read(database(&dir)).unwrap();
        for error in [open_error(dir.path()), reader_error(dir.path())] {
            assert!(error.contains("it is a SQLite database of another program"), "{error}");
        }
        assert_eq!(fs::read(database(&dir)).unwrap(), before);
    }
}

#[test]
fn a_journal_of_a_newer_version_is_refused() {
    let dir = journal(1);
    let newer = "UPDATE refinery_schema_history SET version = 99 WHERE version = 2";
    Connection::open(database(&dir)).unwrap().execute_batch(newer).unwrap();
    for error in [open_error(dir.path()), reader_error(dir.path())] {
        let expected = format!(
            "{} has format 99, this adjourn knows formats up to 4: use a newer adjourn",
            database(&dir).display()
        );
        assert_eq!(error, expected);
    }
}

#[test]
fn a_journal_that_was_never_finished_is_finished_by_its_owner_and_refused_to_readers() {
    let dir = tempfile::tempdir().unwrap();
    // What a kill leaves between the two steps of making a database.
    let half = "PRAGMA application_id = 0x41646a6e";
    Connection::open(database(&dir)).unwrap().execute_batch(half).unwrap();
    assert!(reader_error(dir.path()).contains("older format"));
    SqliteStore::open(dir.path()).unwrap();
    SqliteStore::open_reader(dir.path()).unwrap();
}

#[test]
fn a_migration_that_stops_halfway_is_done_again() {
    let dir = tempfile::tempdir().unwrap();
    let connection = Connection::open(database(&dir)).unwrap();
    // The tables can be made, but not the note that they were.
    let history = "PRAGMA application_id = 0x41646a6e;
        CREATE TABLE refinery_schema_history(version INTEGER PRIMARY KEY, name TEXT, applied_on TEXT, checksum TEXT);
        CREATE TRIGGER stop BEFORE INSERT ON refinery_schema_history BEGIN SELECT RAISE(ABORT, 'no room'); END;";
    connection.execute_batch(history).unwrap();
    let error = open_error(dir.path());
    assert_eq!(error, "the journal cannot be brought to the current format: no room (SQLite code 1811)");
    connection.execute_batch("DROP TRIGGER stop").unwrap();
    SqliteStore::open(dir.path()).unwrap();
}

#[test]
fn a_journal_from_before_roundtables_keeps_its_questions_and_keys() {
    let dir = tempfile::tempdir().unwrap();
    let asked = question(run_id(1), 1, 5, Some(9));
    let item = with(Script::run(1).next(1, 1, "asks"), Change::InteractionOpened(asked.clone()));
    let item = with(item, claim("create", "key", &holder(1)));
    SqliteStore::open(dir.path()).unwrap().commit(&[item]).unwrap();
    let back = "DROP TABLE roundtables;
        ALTER TABLE open_interactions RENAME COLUMN stream TO run;
        UPDATE open_interactions SET run = substr(run, 2);
        ALTER TABLE claims RENAME COLUMN stream TO run;
        UPDATE claims SET run = substr(run, 2);
        DELETE FROM refinery_schema_history WHERE version = 4;";
    Connection::open(database(&dir)).unwrap().execute_batch(back).unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    assert_eq!(store.open_interactions(None, 10).unwrap(), [asked]);
    assert_eq!(store.holder(&claim_key("create", "key")).unwrap(), Some(holder(1)));
}

#[test]
fn a_second_owner_is_told_who_the_first_is() {
    let dir = tempfile::tempdir().unwrap();
    let first = SqliteStore::open(dir.path()).unwrap();
    let expected = format!("is in use by process {}", std::process::id());
    assert!(open_error(dir.path()).contains(&expected));
    drop(first);
    SqliteStore::open(dir.path()).unwrap();
}

#[test]
fn a_reader_needs_a_journal() {
    let dir = tempfile::tempdir().unwrap();
    assert!(reader_error(dir.path()).contains("there is no journal in it (adjourn.db is missing)"));
    assert!(reader_error(&dir.path().join("missing")).contains("there is no such directory"));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "a reader made something");
}

#[test]
fn a_reader_reads_beside_the_owner_and_after_it_and_never_commits() {
    let dir = journal(2);
    let alone = SqliteStore::open_reader(dir.path()).unwrap();
    assert_eq!(alone.runs(&RunFilter::default(), 10).unwrap().len(), 2);

    let owner = SqliteStore::open(dir.path()).unwrap();
    let beside = SqliteStore::open_reader(dir.path()).unwrap();
    owner.commit(&paused_run(2)).unwrap();
    for reader in [&alone, &beside] {
        assert_eq!(reader.head().unwrap(), owner.head().unwrap());
        assert_eq!(reader.run(run_id(2)).unwrap(), owner.run(run_id(2)).unwrap());
        let refused = reader.commit(&paused_run(3)).unwrap_err().to_string();
        assert_eq!(refused, "the journal cannot commit: it was opened for reading only");
    }
}

/// Uses a store for everything. What matters is that each call returns.
fn use_everything(store: &SqliteStore) -> Vec<Error> {
    let mut errors = Vec::new();
    errors.extend(store.head().err());
    errors.extend(store.read_all(0, usize::MAX).err());
    for n in 0..50 {
        errors.extend(store.read(run_id(n).into(), After::START, 10).err());
        errors.extend(store.read(run_id(n).into(), After::Frame(3), 10).err());
        errors.extend(store.run(run_id(n)).err());
    }
    for skill in [None, Some("code-review".to_owned())] {
        errors.extend(store.runs(&RunFilter { skill, ..RunFilter::default() }, 1000).err());
    }
    errors.extend(store.open_interactions(None, 10).err());
    errors.extend(store.deadlines(10).err());
    errors.extend(store.commit(&paused_run(1000)).err());
    errors.extend(store.commit(&paused_run(7)).err());
    errors
}

#[test]
fn damaged_pages_are_reported_and_never_panic() {
    let sound = fs::read(database(&journal(50))).unwrap();
    let mut noticed = 0;
    for seed in 0..40 {
        println!("seed {seed}");
        let dir = tempfile::tempdir().unwrap();
        let mut bytes = sound.clone();
        let mut random = Random::new(seed);
        // The first page says what the file is; the others hold the data.
        let pages = bytes.len() as u64 / 4096;
        for _ in 0..1 + random.below(8) {
            let page = 1 + random.below(pages - 1);
            let start = usize::try_from(page * 4096 + random.below(4000)).unwrap();
            for byte in &mut bytes[start..start + 64] {
                *byte = random.bits() as u8;
            }
        }
        fs::write(database(&dir), bytes).unwrap();
        match SqliteStore::open(dir.path()) {
            Err(error) => {
                assert!(matches!(error, Error::Damaged { .. } | Error::Failed { .. }), "{error}");
                noticed += 1;
            }
            Ok(store) => {
                let errors = use_everything(&store);
                noticed += u32::from(errors.iter().any(|error| matches!(error, Error::Damaged { .. })));
            }
        }
    }
    // Bytes within a payload, or in free space, are nobody's to notice here.
    assert!(noticed >= 10, "damage was noticed in {noticed} of 40 files");
}

#[test]
fn a_file_that_was_cut_off_is_reported_and_never_panics() {
    let sound = fs::read(database(&journal(50))).unwrap();
    for keep in [100, 512, 4096, 4097, 8192, 40_000] {
        let dir = tempfile::tempdir().unwrap();
        fs::write(database(&dir), &sound[..keep]).unwrap();
        if let Ok(store) = SqliteStore::open(dir.path()) {
            assert!(!use_everything(&store).is_empty(), "{keep} bytes");
        }
    }
}

/// A journal of two runs that was changed behind its back.
fn damaged(statement: &str) -> (TempDir, SqliteStore) {
    let dir = journal(2);
    Connection::open(database(&dir)).unwrap().execute_batch(statement).unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    (dir, store)
}

#[test]
fn what_breaks_an_invariant_is_named_with_its_place_and_readers_get_over_it() {
    let run = run_id(0);
    let cases = [
        (
            "UPDATE entries SET events = 0 WHERE position = 2",
            format!("the entry of {run} at position 2: it has no events"),
        ),
        (
            "UPDATE entries SET events = 9 WHERE position = 6",
            format!("the entry of {run} at position 6: it has more events than there are places for"),
        ),
        (
            "UPDATE entries SET events = 3 WHERE position = 6",
            format!("the entry of {run} at position 6: it does not follow the one before it"),
        ),
        (
            "DELETE FROM entries WHERE position = 6",
            format!("the entry of {run} at position 8: it does not follow the one before it"),
        ),
        (
            "UPDATE entries SET frame = 0 WHERE position = 8",
            format!("the entry of {run} at position 8: it does not follow the one before it"),
        ),
        ("UPDATE entries SET stream = x'07' WHERE position = 6", "[07] is not a stream".to_owned()),
        ("UPDATE entries SET seq = -1 WHERE position = 6", "a count is negative".to_owned()),
    ];
    for (statement, expected) in cases {
        let (_dir, store) = damaged(statement);
        let found = store.examine().unwrap();
        let is_named = found.findings.iter().any(|finding| finding.problem.contains(&expected));
        assert!(is_named, "{statement}: {:?}", found.findings);
        // Everything behind the damage is still there for whoever reads on.
        let last = store.read_all(0, 100).unwrap().last().unwrap().position;
        assert_eq!(last, store.head().unwrap(), "{statement}");
        store.read(run.into(), After::START, 100).unwrap();
        assert_eq!(store.read(run_id(1).into(), After::START, 100).unwrap().len(), 4, "{statement}");
    }
}

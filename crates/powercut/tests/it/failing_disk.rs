//! Each call of a commit fails once, or from there on; then the process is killed. Refused means refused.

use std::fs;
use std::path::Path;

use adjourn_powercut::{Call, Failure, Fault, On, Recording};
use adjourn_store::conformance::items::paused_run;
use adjourn_store::{Error, RunFilter, SqliteStore, Store};

/// Runs that are there before a commit fails.
const FIRST: u64 = 3;

/// How many calls one commit could have. A commit of the test has about twenty.
const CALLS_MAX: usize = 200;

/// What is on the disk when a process is killed: the files as they are, with the log, without what SQLite keeps in memory.
fn killed(dir: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for name in ["adjourn.db", "adjourn.db-wal"] {
        if dir.join(name).exists() {
            fs::copy(dir.join(name), copy.path().join(name)).unwrap();
        }
    }
    copy
}

/// Whether SQLite finds the database sound. The events of these tests are no runs that could be read.
fn is_sound(store: &SqliteStore) -> bool {
    store.examine().unwrap().findings.iter().all(|finding| finding.stream.is_some())
}

fn runs(store: &SqliteStore) -> u64 {
    store.runs(&RunFilter::default(), usize::MAX).unwrap().len() as u64
}

/// Opens a store in `dir` with some runs in it.
fn open(dir: &Path, count: u64) -> SqliteStore {
    let store = SqliteStore::open(dir).unwrap();
    for run in 0..count {
        store.commit(&paused_run(run)).unwrap();
    }
    store
}

/// How many runs there are when the log is as long as it gets: the commit of the next one copies it into the database, and
/// the one after that writes a new log from its beginning.
fn runs_of_a_full_log() -> u64 {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 0);
    let length = || fs::metadata(dir.path().join("adjourn.db")).unwrap().len();
    let before = length();
    let mut runs = 0;
    while length() == before {
        store.commit(&paused_run(runs)).unwrap();
        runs += 1;
    }
    runs - 1
}

/// Has one call of the commit of run `first` after the other fail, and checks what a kill leaves at each.
fn check(first: u64, on: On, calls: &'static [Call], how: Failure, times: usize) -> usize {
    let mut failed_commits = 0;
    for spared in 0..CALLS_MAX {
        let dir = tempfile::tempdir().unwrap();
        let recording = Recording::start(dir.path());
        let store = open(dir.path(), first);
        recording.fail(Fault { on, calls, spared, times, how });
        let outcome = store.commit(&paused_run(first));
        let there = if outcome.is_ok() { first + 1 } else { first };
        let context = format!("{on:?} {calls:?} {how:?}, {spared} spared: {outcome:?}");

        let left = killed(dir.path());
        let found = SqliteStore::open(left.path()).unwrap();
        match &outcome {
            // Whoever asked was told that it is not known. It is, where files could still be cut off.
            Err(Error::Unresolved { .. }) if calls.contains(&Call::Truncate) => {
                assert!(runs(&found) <= first + 1, "{context}");
            }
            Ok(_) | Err(_) => assert_eq!(runs(&found), there, "{context}"),
        }
        assert_eq!(found.head().unwrap(), runs(&found) * 10, "{context}");
        assert!(is_sound(&found), "{context}");
        drop(found);

        if matches!(outcome, Err(Error::Unresolved { .. })) && times == usize::MAX {
            let next = store.commit(&paused_run(there)).unwrap_err();
            assert!(matches!(next, Error::Unresolved { .. }), "nothing else is accepted meanwhile: {next}");
        }
        // The process that goes on sees the same, and works again when the disk does.
        let failed = recording.fail_no_more();
        assert_eq!(store.head().unwrap(), there * 10, "{context}");
        assert_eq!(runs(&store), there, "{context}");
        store.commit(&paused_run(there)).unwrap();
        assert_eq!(runs(&store), there + 1, "{context}");
        let left = killed(dir.path());
        let found = SqliteStore::open(left.path()).unwrap();
        assert_eq!((runs(&found), is_sound(&found)), (there + 1, true), "{context}");
        if failed == 0 {
            return failed_commits;
        }
        failed_commits += usize::from(outcome.is_err());
    }
    panic!("a commit has more than {CALLS_MAX} calls");
}

#[test]
fn a_commit_whose_sync_fails_does_not_come_back_after_a_kill() {
    assert!(check(FIRST, On::Log, &[Call::Sync], Failure::Io, 1) > 0);
}

#[test]
fn a_commit_whose_syncs_all_fail_does_not_come_back_after_a_kill() {
    assert!(check(FIRST, On::Database, &[Call::Sync], Failure::Io, usize::MAX) > 0);
}

#[test]
fn each_call_of_a_commit_that_fails_once_leaves_what_was_acknowledged() {
    for how in [Failure::Io, Failure::Full] {
        assert!(check(FIRST, On::Database, &Call::ALL, how, 1) > 0);
    }
}

#[test]
fn a_disk_that_fails_for_good_from_any_call_on_leaves_what_was_acknowledged() {
    for how in [Failure::Io, Failure::Full] {
        assert!(check(FIRST, On::Database, &Call::ALL, how, usize::MAX) > 0);
    }
}

#[test]
fn a_commit_that_begins_a_new_log_or_copies_the_old_one_leaves_what_was_acknowledged() {
    let full = runs_of_a_full_log();
    const CALLS: &[Call] = &[Call::Write, Call::Truncate, Call::Sync];
    // A commit is durable before the log is copied: if only that fails, it counts.
    check(full, On::Database, &[Call::Sync, Call::Truncate], Failure::Io, 1);
    assert!(check(full + 1, On::Database, CALLS, Failure::Io, 1) > 0);
    assert!(check(full + 1, On::Database, &[Call::Sync], Failure::Io, usize::MAX) > 0);
}

/// What a killed process wrote and did not sync counts as committed. So it has to be on the disk before anybody acts on it.
#[test]
fn a_log_that_a_kill_left_is_made_durable_before_it_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), FIRST);
    let left = killed(dir.path());
    let recording = Recording::start(left.path());
    recording.fail(Fault { on: On::Log, calls: &[Call::Sync], spared: 0, times: 1, how: Failure::Io });
    assert!(matches!(SqliteStore::open(left.path()), Err(Error::Directory { .. })));
    assert_eq!(recording.fail_no_more(), 1);
    let found = SqliteStore::open(left.path()).unwrap();
    assert_eq!(runs(&found), runs(&store));
}

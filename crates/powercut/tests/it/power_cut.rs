//! Power cuts under the store alone: while the database is made, between commits, while the log is copied into it.

use adjourn_powercut::{Call, Depth, Failure, Fault, Keep, On, Recording};
use adjourn_store::conformance::items::paused_run;
use adjourn_store::{RunFilter, SqliteStore, Store};

/// Runs that are committed, one after the other: enough for the log to be copied into the database and begun anew.
const RUNS: u64 = 80;

/// Of the states of all commits, every so many are tried. There is one about every two syncs for each way to lose.
const EVERY: usize = 7;

#[test]
fn every_commit_that_was_acknowledged_is_there_after_a_power_cut_and_none_is_half_there() {
    let dir = tempfile::tempdir().unwrap();
    let recording = Recording::start(dir.path());
    let store = SqliteStore::open(dir.path()).unwrap();
    let made = recording.tape().len();
    for run in 0..RUNS {
        store.commit(&paused_run(run)).unwrap();
        recording.mark("durable");
    }
    drop(store);
    let (mut seen, mut tried) = (0, 0);
    let depth = Depth::wanted();
    recording.tape().try_each(0, depth, |point| {
        seen += 1;
        // All of them while the database is made.
        if depth == Depth::Short && point.step > made && seen % EVERY != 0 {
            return;
        }
        tried += 1;
        let left = tempfile::tempdir().unwrap();
        point.rebuild(left.path()).unwrap();
        let store = SqliteStore::open(left.path()).unwrap_or_else(|error| panic!("{point}: {error}"));
        let runs = store.runs(&RunFilter::default(), usize::MAX).unwrap().len() as u64;
        let acknowledged = point.marks.len() as u64;
        assert!(runs == acknowledged || runs == acknowledged + 1, "{point}: {runs} are there");
        assert_eq!(store.head().unwrap(), runs * 10, "{point}");
        let findings = store.examine().unwrap().findings;
        assert!(findings.iter().all(|finding| finding.stream.is_some()), "{point}: {findings:?}");
        // And it takes the next one.
        store.commit(&paused_run(runs)).unwrap();
    });
    println!("store: {tried} of {seen} states tried");
    assert!(tried > 100, "{tried}");
}

/// A sync that fails makes the system take what it could not write for written. What SQLite copied into the database before,
/// without a sync because somebody was still reading, is lost with it, and has to be copied again.
#[test]
fn a_database_that_could_not_be_synced_once_has_everything_after_a_later_power_cut() {
    let dir = tempfile::tempdir().unwrap();
    let recording = Recording::start(dir.path());
    let store = SqliteStore::open(dir.path()).unwrap();
    let mut runs = 0;
    let mut commit = |count| {
        for _ in 0..count {
            store.commit(&paused_run(runs)).unwrap();
            runs += 1;
        }
        runs
    };
    commit(20);
    // A reader keeps the rest of the log from being copied, so that the first part is not synced.
    let reader = rusqlite::Connection::open(dir.path().join("adjourn.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM runs").unwrap();
    commit(RUNS);
    drop(reader);
    recording.fail(Fault { on: On::Pages, calls: &[Call::Sync], spared: 0, times: 1, how: Failure::Io });
    commit(1);
    assert_eq!(recording.fail_no_more(), 1, "a copy of the log could not be synced");
    // Long enough for the log to be copied, and written over from its beginning.
    let acknowledged = commit(2 * RUNS);
    drop(store);

    let tape = recording.tape();
    tape.try_each(tape.len() - 1, Depth::Short, |point| {
        if point.keep == Keep::Nothing {
            let left = tempfile::tempdir().unwrap();
            point.rebuild(left.path()).unwrap();
            let store = SqliteStore::open(left.path()).unwrap();
            let findings = store.examine().unwrap().findings;
            assert!(findings.iter().all(|finding| finding.stream.is_some()), "{point}: {findings:?}");
            let found = store.runs(&RunFilter::default(), usize::MAX).unwrap().len() as u64;
            assert_eq!(found, acknowledged, "{point}");
        }
    });
}

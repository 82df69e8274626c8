//! Power cuts under the store alone: while the database is made, between commits, while the log is copied into it.

use adjourn_powercut::{Depth, Recording};
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
    recording.tape().try_each(0, Depth::Short, |point| {
        seen += 1;
        // All of them while the database is made.
        if point.step > made && seen % EVERY != 0 {
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

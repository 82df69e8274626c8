//! Writing through a store.

use std::path::Path;

use adjourn_core::Item;
use adjourn_store::{Outcome, SqliteStore, Store};

use super::figures::{Figures, Stopwatch};
use super::paused;

/// Of a run that [pauses once](paused::items).
pub(crate) const EVENTS_PER_RUN: u64 = 14;

/// How many other runs are created before a run gets its first, second, third and fourth item: a turn takes some time,
/// a person takes long.
const LAGS: [u64; 4] = [0, 100, 5_000, 5_100];

/// The items of `runs` runs that go on at the same time.
pub(crate) fn interleaved_runs(runs: u64) -> Vec<Item> {
    let mut waiting: Vec<[Option<Item>; 4]> = (0..runs).map(|n| paused::items(n).map(Some)).collect();
    let steps = 0..runs + LAGS[3];
    let order =
        steps.flat_map(|step| (0..4).filter_map(move |stage| Some((step.checked_sub(LAGS[stage])?, stage))));
    order
        .filter(|&(run, _)| run < runs)
        .filter_map(|(run, stage)| waiting[usize::try_from(run).expect("it fits in memory")][stage].take())
        .collect()
}

/// Commits everything in batches.
pub(crate) fn measure<S: Store>(items: &[Item], batch: usize, open: impl Fn(&Path) -> S) -> Figures {
    let dir = tempfile::tempdir().expect("a directory for temporary files");
    let store = open(dir.path());
    let mut stopwatch = Stopwatch::start();
    for batch in items.chunks(batch) {
        let outcomes = stopwatch.commit(|| store.commit(batch)).expect("the disk has room");
        assert!(outcomes.iter().all(|outcome| matches!(outcome, Outcome::Accepted { .. })));
    }
    stopwatch.stop(items.iter().map(|item| u64::from(item.events)).sum())
}

/// What a finished run takes on disk.
pub(crate) fn size_of_a_run(runs: u64) {
    let items = interleaved_runs(runs);
    let dir = tempfile::tempdir().expect("a directory for temporary files");
    let store = SqliteStore::open(dir.path()).expect("it is empty");
    for batch in items.chunks(256) {
        store.commit(batch).expect("the disk has room");
    }
    // Closing moves everything from the log into the database.
    drop(store);
    let bytes = std::fs::metadata(dir.path().join("adjourn.db")).map_or(0, |file| file.len());
    let payload: usize = items.iter().map(|item| item.payload.len()).sum();
    println!(
        "a finished run that paused once: {} bytes on disk, of which {} are payload",
        bytes / runs,
        payload as u64 / runs
    );
    let connection = rusqlite::Connection::open(dir.path().join("adjourn.db")).expect("it was just closed");
    let mut statement = connection
        .prepare("SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT 8")
        .expect("dbstat is built in");
    let parts = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, u32>(1)?)));
    for (name, bytes) in parts.expect("it can be read").flatten() {
        println!("  {name:<32} {:>6} bytes", u64::from(bytes) / runs);
    }
}

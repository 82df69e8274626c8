//! Watching misses nothing, and nobody waits for anybody.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use adjourn_core::Entry;
use tokio::sync::watch;

use super::items::Script;
use super::{Fixture, accept};
use crate::{After, Outcome, RunFilter, Store};

const STREAMS: u64 = 3;
const COMMITS: u64 = 100;

/// Commits to a few streams in turn, in batches of one to three, from its own thread.
fn write(store: &dyn Store) {
    let mut scripts: Vec<_> = (0..STREAMS).map(Script::run).collect();
    for n in 0..COMMITS {
        let batch: Vec<_> = scripts
            .iter_mut()
            .take(usize::try_from(1 + n % STREAMS).expect("small"))
            .map(|script| script.next(2, 1, n.to_string()))
            .collect();
        let outcomes = store.commit(&batch).unwrap();
        assert!(outcomes.iter().all(|outcome| matches!(outcome, Outcome::Accepted { .. })));
    }
}

/// How long a change that was committed may take to show. A test that hangs says nothing.
const PATIENCE: Duration = Duration::from_secs(20);

/// Waits for the watch to change, on a thread that has no async runtime.
fn changed(watch: &mut watch::Receiver<u64>) {
    let started = Instant::now();
    while !watch.has_changed().unwrap() {
        assert!(started.elapsed() < PATIENCE, "a commit was not announced");
        thread::yield_now();
    }
    watch.mark_unchanged();
}

/// Reads what is there, waits, reads on, until `enough` entries were seen.
fn tail(watch: &mut watch::Receiver<u64>, enough: u64, mut read: impl FnMut() -> Vec<Entry>) -> Vec<Entry> {
    let mut seen: Vec<Entry> = Vec::new();
    loop {
        loop {
            let page = read();
            if page.is_empty() {
                break;
            }
            seen.extend(page);
        }
        if seen.len() as u64 >= enough {
            return seen;
        }
        changed(watch);
    }
}

pub fn watching_everything_sees_every_entry_once(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let entries: u64 = (0..COMMITS).map(|n| 1 + n % STREAMS).sum();
    let mut watch = store.watch();
    let seen = thread::scope(|scope| {
        scope.spawn(|| write(store));
        let mut position = 0;
        tail(&mut watch, entries, || {
            let page = store.read_all(position, 2).unwrap();
            position = page.last().map_or(position, |entry| entry.position);
            page
        })
    });
    let positions: Vec<_> = seen.iter().map(|entry| entry.position).collect();
    assert_eq!(positions, (1..=entries).map(|n| n * 2).collect::<Vec<_>>());
    assert_eq!(seen, store.read_all(0, usize::MAX).unwrap());
    assert_eq!(*watch.borrow(), store.head().unwrap());
}

pub fn watching_a_stream_sees_every_entry_once_and_nothing_else(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    thread::scope(|scope| {
        let readers: Vec<_> = (0..STREAMS)
            .map(|n| {
                scope.spawn(move || {
                    let stream = Script::run(n).stream;
                    let entries = (0..COMMITS).filter(|commit| commit % STREAMS >= n).count() as u64;
                    let mut watch = store.watch_stream(stream);
                    let mut seq = 0;
                    let seen = tail(&mut watch, entries, || {
                        let page = store.read(stream, After::Seq(seq), 3).unwrap();
                        seq = page.last().map_or(seq, |entry| entry.seq);
                        page
                    });
                    let places: Vec<_> = seen.iter().map(|entry| entry.seq).collect();
                    assert_eq!(places, (1..=entries).map(|n| n * 2).collect::<Vec<_>>());
                    assert!(seen.iter().all(|entry| entry.stream == stream));
                })
            })
            .collect();
        scope.spawn(|| write(store));
        for reader in readers {
            reader.join().unwrap();
        }
    });
    let quiet = store.watch_stream(Script::run(0).stream);
    accept(store, Script::run(77).next(1, 1, "another stream"));
    assert!(!quiet.has_changed().unwrap());
}

pub fn a_watch_begins_with_what_is_there(fixture: &mut dyn Fixture) {
    let store = fixture.store();
    let (mut one, mut other) = (Script::run(1), Script::run(2));
    assert_eq!(*store.watch().borrow(), 0);
    accept(store, one.next(3, 1, "one"));
    let mut all = store.watch();
    let mut stream = store.watch_stream(one.stream);
    accept(store, other.next(4, 1, "other"));
    assert_eq!((*all.borrow_and_update(), *stream.borrow_and_update()), (7, 3));
    accept(store, one.next(2, 1, "one"));
    changed(&mut all);
    changed(&mut stream);
    assert_eq!((*all.borrow(), *stream.borrow()), (9, 9));
    assert_eq!(*store.watch_stream(other.stream).borrow(), 7);
    assert_eq!(*store.watch_stream(Script::run(3).stream).borrow(), 0);
}

pub fn reading_does_not_wait_for_writing(fixture: &mut dyn Fixture) {
    /// A busy machine may give a commit no company; one in this many gets some.
    const COMMITS_MAX: u64 = 50;
    const ITEMS: u64 = 1_000;
    let store = fixture.store();
    let mut run = Script::run(1);
    accept(store, run.next(1, 1, "there"));
    let mut meanwhile = 0;
    for commits in 0..COMMITS_MAX {
        // A commit that takes long: whether a read ends while it lasts is what is looked at, not how fast it is.
        let large: Vec<_> = (0..ITEMS).map(|_| run.next(1, 1, vec![0; 1_000])).collect();
        let before = 1 + commits * ITEMS;
        let (begun, done) = (AtomicBool::new(false), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                begun.store(true, Ordering::SeqCst);
                store.commit(&large).unwrap();
                done.store(true, Ordering::SeqCst);
            });
            while !done.load(Ordering::SeqCst) {
                let has_begun = begun.load(Ordering::SeqCst);
                let head = store.head().unwrap();
                assert_eq!(store.runs(&RunFilter::default(), 10).unwrap().len(), 1);
                // Nobody sees half of a commit.
                assert!(head == before || head == before + ITEMS, "{head}");
                meanwhile += u32::from(has_begun && head == before && !done.load(Ordering::SeqCst));
            }
        });
        assert_eq!(store.head().unwrap(), before + ITEMS);
        if meanwhile > 0 {
            return;
        }
    }
    panic!("no read ended while a commit lasted");
}

//! Everything that is measured, in order.

use std::time::Instant;

use adjourn_store::conformance::items::Script;
use adjourn_store::{After, SqliteStore, Store};

use super::bare::Bare;
use super::figures::Figures;
use super::{journal, listing, writing};

/// How much is measured.
#[derive(Debug)]
pub(crate) struct Options {
    /// Runs in the database that lists are read from.
    pub(crate) runs: u64,
    /// Events written in batches; a sixteenth of it one by one, a quarter of it read back.
    pub(crate) events: u64,
    /// How often each writing is repeated. The median is shown: syncs of a busy disk differ by a factor of two.
    pub(crate) rounds: usize,
}

impl Options {
    pub(crate) fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self { runs: 1_000_000, events: 400_000, rounds: 5 };
        while let Some(name) = arguments.next() {
            let value = arguments.next().and_then(|value| value.replace('_', "").parse().ok());
            let value = value.ok_or_else(|| format!("`{name}` takes a number"))?;
            match name.as_str() {
                "--runs" => options.runs = value,
                "--events" => options.events = value,
                _ => return Err(format!("`{name}` is not an option")),
            }
        }
        Ok(options)
    }
}

pub(crate) fn run(options: &Options) {
    let mut yardstick = None;
    for (batch, events) in [(1, options.events / 16), (256, options.events)] {
        let items = writing::interleaved_runs(events / writing::EVENTS_PER_RUN);
        let mut bare = Vec::new();
        let mut store = Vec::new();
        // Taken in turns, so that a slow minute of the disk is everybody's.
        for _ in 0..options.rounds {
            bare.push(Bare::measure(&items, batch));
            store.push(writing::measure(&items, batch, |dir| SqliteStore::open(dir).expect("it is empty")));
        }
        let (bare, store) = (Figures::median(bare), Figures::median(store));
        println!("commits of {batch:>3}, bare loop: {bare}");
        println!("commits of {batch:>3}, store:     {store}");
        let speed = store.speed() / bare.speed();
        let cpu = store.cpu_per_event().as_secs_f64() / bare.cpu_per_event().as_secs_f64();
        println!("commits of {batch:>3}: {speed:.2} of the bare loop's speed, {cpu:.2} of its CPU time");
        yardstick = Some(bare);
    }
    let yardstick = yardstick.expect("the bare loop was measured");
    for writers in [1, 16, 256, 4096] {
        let events = if writers == 1 { options.events / 16 } else { options.events };
        let runs = (events / writing::EVENTS_PER_RUN).max(1);
        let journal = (0..options.rounds).map(|_| journal::measure(runs, writers)).collect();
        let journal = Figures::median(journal);
        let (p50, p99) = (journal.percentile(50), journal.percentile(99));
        println!(
            "journal, {writers:>4} writers: {:>9.0} events/s, p50 {p50:.1?}, p99 {p99:.1?}",
            journal.speed()
        );
        println!(
            "journal, {writers:>4} writers: {:.2} of the bare loop's speed at 256, {:.1} times its p99",
            journal.speed() / yardstick.speed(),
            p99.as_secs_f64() / yardstick.percentile(99).as_secs_f64()
        );
    }
    writing::size_of_a_run(options.events / writing::EVENTS_PER_RUN);
    read_back(options.events / 4);
    listing::measure(options.runs);
}

/// Reads a long stream back, in pages as an exporter does.
fn read_back(events: u64) {
    const EVENTS_PER_ITEM: u32 = 2;
    const PAGE: usize = 1000;
    let dir = tempfile::tempdir().expect("a directory for temporary files");
    let store = SqliteStore::open(dir.path()).expect("it is empty");
    let mut run = Script::run(1);
    let items: Vec<_> = (0..events / u64::from(EVENTS_PER_ITEM))
        .map(|_| run.next(EVENTS_PER_ITEM, 2, vec![b'x'; 300]))
        .collect();
    for batch in items.chunks(1000) {
        store.commit(batch).expect("the disk has room");
    }
    for (name, from_seq) in [("by event", true), ("by frame", false)] {
        let started = Instant::now();
        let mut after = if from_seq { After::START } else { After::Frame(0) };
        let mut read = 0;
        loop {
            let page = store.read(run.stream, after, PAGE).expect("it was written a moment ago");
            let Some(last) = page.last() else { break };
            after = if from_seq { After::Seq(last.seq) } else { After::Frame(last.last_frame) };
            read += page.iter().map(|entry| u64::from(entry.events)).sum::<u64>();
        }
        assert_eq!(read, run.seq);
        let took = started.elapsed();
        let speed = read as f64 / took.as_secs_f64();
        println!("reading a stream of {read} events back {name}: {took:.1?}, {speed:.0} events/s");
    }
}

//! Writing through the journal: commands of many writers at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use adjourn_core::Command;
use adjourn_kernel::Journal;
use adjourn_store::SqliteStore;
use adjourn_store::conformance::items::{at, run_id};
use tokio::task::JoinSet;

use super::figures::{Figures, Stopwatch};
use super::paused;

/// Has `writers` writers take `runs` runs from their beginning to their end, each one command after the other.
pub(crate) fn measure(runs: u64, writers: u64) -> Figures {
    let dir = tempfile::tempdir().expect("a directory for temporary files");
    let store = Arc::new(SqliteStore::open(dir.path()).expect("it is empty"));
    let (journal, threads) = Journal::start(store).expect("threads can be started");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime can be built");
    let next = Arc::new(AtomicU64::new(0));
    let mut stopwatch = Stopwatch::start();
    let (events, commits) = runtime.block_on(async {
        let mut tasks = JoinSet::new();
        for _ in 0..writers {
            tasks.spawn(write(journal.clone(), next.clone(), runs));
        }
        let mut events = 0;
        let mut commits = Vec::new();
        while let Some(written) = tasks.join_next().await {
            let (wrote, took) = written.expect("a writer does not panic");
            events += wrote;
            commits.extend(took);
        }
        (events, commits)
    });
    stopwatch.add(commits);
    let figures = stopwatch.stop(events);
    drop(journal);
    threads.join();
    figures
}

async fn write(journal: Journal, next: Arc<AtomicU64>, runs: u64) -> (u64, Vec<Duration>) {
    let mut events = 0;
    let mut took = Vec::new();
    loop {
        let n = next.fetch_add(1, Ordering::Relaxed);
        if n >= runs {
            return (events, took);
        }
        let [create, start, ask, reply, go_on, done] = paused::commands();
        // What the kernel decides at the same moment is asked at the same moment.
        for pair in [vec![create, start], vec![ask], vec![reply, go_on], vec![done]] {
            let before = Instant::now();
            events += ask_all(&journal, n, pair).await;
            took.push(before.elapsed());
        }
    }
}

async fn ask_all(journal: &Journal, n: u64, commands: Vec<Command>) -> u64 {
    let asked = commands.into_iter().map(|command| journal.ask(run_id(n), command, at(n)));
    let answers = futures::future::join_all(asked).await;
    answers.into_iter().map(|answer| answer.expect("the script fits the rules").events.len() as u64).sum()
}

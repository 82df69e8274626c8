//! `adjourn bench`: runs that pause once, with an engine that costs nothing: what is left is Adjourn.

mod figures;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use adjourn_core::{
    By, Command, Create, ExecutionId, ExecutionMode, InteractionId, Reply, RunId, RunSpec, RunStatus,
    StreamId, Wanted,
};
use adjourn_runtime::still::StillDesk;
use adjourn_runtime::{Driver, Runtime, Slots, SystemClock};
use adjourn_store::{SqliteStore, Store};
use anyhow::{Context, Result};
use serde_json::json;
use tokio::task::JoinSet;

use self::figures::{Figures, Measured};

/// Measure how many runs that pause once this machine can take
///
/// Each run is created, works one turn, asks, is answered at once, works a second turn and ends. The engine is part of
/// the program and does nothing; everything else is real: the journal on disk, the queue, the slots, the stream.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How many runs
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// How many at the same time
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u64).range(1..))]
    concurrency: u64,
}

pub(crate) fn run(options: &Options, as_json: bool) -> Result<()> {
    let dir = tempfile::Builder::new()
        .prefix("adjourn-bench")
        .tempdir_in(".")
        .context("cannot make a folder for the benchmark here")?;
    let tasks = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let figures = tasks.block_on(measure(options, dir.path()))?;
    if as_json {
        println!("{}", figures.to_json());
    } else {
        println!("{figures}");
    }
    Ok(())
}

async fn measure(options: &Options, dir: &std::path::Path) -> Result<Figures> {
    let store = Arc::new(SqliteStore::open(dir)?);
    let slots = Slots { total: usize::try_from(options.concurrency)?, ..Slots::default() };
    let desk = Arc::new(StillDesk);
    let handle = tokio::runtime::Handle::current();
    let (runtime, threads) =
        Runtime::start(store.clone(), slots, Wanted::default(), Arc::new(SystemClock), |weak| {
            Driver::new(weak, desk, handle)
        })?;
    let next = Arc::new(AtomicU64::new(0));
    let started = Instant::now();
    let mut clients = JoinSet::new();
    for _ in 0..options.concurrency.min(options.runs) {
        clients.spawn(client(runtime.clone(), next.clone(), options.runs));
    }
    let mut replies = Vec::new();
    while let Some(client) = clients.join_next().await {
        replies.extend(client??);
    }
    let took = started.elapsed();
    let events = store.head()?;
    let commits = threads.committed().batches();
    drop(runtime);
    tokio::task::spawn_blocking(move || threads.join()).await?;
    drop(store);
    Figures::new(Measured { runs: options.runs, took, replies, commits, events }, dir)
}

/// Takes one run after the other through its life. Gives back how long each took from its reply to its end.
async fn client(runtime: Runtime, next: Arc<AtomicU64>, runs: u64) -> Result<Vec<Duration>> {
    let mut replies = Vec::new();
    while next.fetch_add(1, Ordering::Relaxed) < runs {
        let run_id = RunId::from_bits(uuid::Uuid::now_v7().as_u128());
        let spec = RunSpec::new("still", ExecutionMode::Interactive);
        let mut changes = runtime.store().watch_stream(StreamId::Run(run_id));
        runtime.ask(run_id, Command::Create(Create { spec, key: None })).await?;
        until(&runtime, run_id, &mut changes, |status| status == RunStatus::WaitingUser).await?;
        let before = Instant::now();
        let reply = Reply {
            interaction_id: InteractionId(1),
            response: json!("2.4.0"),
            action: None,
            by: By::USER,
            key: None,
            edited_id: ExecutionId::from_bits(0),
        };
        runtime.ask(run_id, Command::Reply(reply)).await?;
        until(&runtime, run_id, &mut changes, RunStatus::is_terminal).await?;
        replies.push(before.elapsed());
    }
    Ok(replies)
}

async fn until(
    runtime: &Runtime,
    run_id: RunId,
    changes: &mut tokio::sync::watch::Receiver<u64>,
    is_there: impl Fn(RunStatus) -> bool,
) -> Result<()> {
    loop {
        changes.borrow_and_update();
        let row = runtime.store().run(run_id)?.context("the run was created a moment ago")?;
        if is_there(row.status) {
            return Ok(());
        }
        changes.changed().await?;
    }
}

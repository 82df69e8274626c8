//! `adjourn bench`: runs that pause once, with an engine that costs nothing: what is left is Adjourn.

mod audience;
mod connection;
mod figures;
mod http;
mod news;
mod percentiles;
mod scrape;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use adjourn_core::{
    By, Command, Create, ExecutionId, ExecutionMode, InteractionId, Reply, RunId, RunSpec, RunStatus,
    StreamId,
};
use adjourn_kernel::{Slots, SystemClock};
use adjourn_runtime::bench_engine::BenchTurns;
use adjourn_runtime::{Driver, Runtime, RuntimeOptions};
use adjourn_store::{SqliteStore, Store};
use anyhow::{Context, Result};
use serde_json::json;
use tokio::task::JoinSet;

use self::audience::Audience;
use self::connection::Address;
use self::figures::{Figures, Measured};
use self::http::Load;
use self::percentiles::Percentiles;
use crate::data::Global;
use crate::exit::wrong_use;

/// Measure how many runs that pause once this machine can take
///
/// Each run is created, works one turn, asks, is answered at once, works a second turn and ends. The engine is part of
/// the program and does nothing; everything else is real: the journal on disk, the queue, the slots, the stream.
///
/// With `--server`, the same over HTTP against a server that is running: its clients learn what became of their runs from
/// one stream of all events. The engine is `replay`, and the skill has to be one that the server knows, with a recording
/// that asks once; `crates/cli/bench/pause` is one. With `--subscribers`, what is measured is how soon many subscribers of
/// event streams see what happens; its skill is `crates/cli/bench/talk`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How many runs
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    runs: Option<u64>,
    /// How many at the same time
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u64).range(1..))]
    concurrency: u64,
    /// With --server: the skill that it runs
    #[arg(long)]
    skill: Option<String>,
    /// With --server: how many subscribers; one in 50 follows all runs, the others one each
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    subscribers: Option<u64>,
    /// With subscribers: how many state changes there are in a second
    #[arg(long, requires = "subscribers", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    changes_per_second: u64,
    /// With subscribers: for how long
    #[arg(long, requires = "subscribers", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
}

/// How many runs there are unless it is said: enough for the figures to stand still.
const RUNS_DEFAULT: u64 = 20_000;

/// How many runs subscribers follow unless it is said.
const RUNS_FOLLOWED_DEFAULT: u64 = 500;

pub(crate) fn run(options: &Options, global: &Global) -> Result<()> {
    let (server, as_json) = (global.server.as_deref().map(str::parse::<Address>), global.json);
    let server = server.transpose().map_err(wrong_use)?;
    if server.is_none() && (options.skill.is_some() || options.subscribers.is_some()) {
        return Err(wrong_use("--skill and --subscribers are for a server: name it with --server"));
    }
    let tasks = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    match (&server, options.subscribers) {
        (Some(address), Some(subscribers)) => {
            adjourn_server::raise_descriptor_limit()?;
            let audience = Audience {
                address: address.clone(),
                skill: options.skill.clone().unwrap_or_else(|| "talk".to_owned()),
                subscribers,
                runs: options.runs.unwrap_or(RUNS_FOLLOWED_DEFAULT),
                changes_per_second: options.changes_per_second,
                seconds: options.seconds,
            };
            let figures = tasks.block_on(audience.measure())?;
            print(as_json, &figures.to_json(), &figures);
        }
        (Some(address), None) => {
            let load = Load {
                address: address.clone(),
                skill: options.skill.clone().unwrap_or_else(|| "pause".to_owned()),
                runs: options.runs.unwrap_or(RUNS_DEFAULT),
                clients: options.concurrency,
            };
            let figures = tasks.block_on(load.measure())?;
            print(as_json, &figures.to_json(), &figures);
        }
        (None, _) => {
            let dir = tempfile::Builder::new()
                .prefix("adjourn-bench")
                .tempdir_in(".")
                .context("cannot make a folder for the benchmark here")?;
            let figures = tasks.block_on(measure(options, dir.path()))?;
            print(as_json, &figures.to_json(), &figures);
        }
    }
    Ok(())
}

fn print(as_json: bool, json: &serde_json::Value, text: &impl std::fmt::Display) {
    if as_json {
        println!("{json}");
    } else {
        println!("{text}");
    }
}

async fn measure(options: &Options, dir: &std::path::Path) -> Result<Figures> {
    let store = Arc::new(SqliteStore::open(dir)?);
    let slots = Slots { total: usize::try_from(options.concurrency)?, ..Slots::default() };
    let turn_setup = Arc::new(BenchTurns);
    let handle = tokio::runtime::Handle::current();
    let (runtime, threads) =
        Runtime::start(store.clone(), RuntimeOptions::new(slots), Arc::new(SystemClock), |weak| {
            Driver::new(weak, turn_setup, handle)
        })?;
    let runs = options.runs.unwrap_or(RUNS_DEFAULT);
    let next = Arc::new(AtomicU64::new(0));
    let started = Instant::now();
    let mut clients = JoinSet::new();
    for _ in 0..options.concurrency.min(runs) {
        clients.spawn(client(runtime.clone(), next.clone(), runs));
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
    let replies = Percentiles::new(replies);
    Figures::new(Measured { runs, took, replies, commits, events }, dir)
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
            edited_key: None,
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

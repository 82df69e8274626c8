//! From a kill to the first reply, with many runs that wait: `cargo xtask bench waiting [--runs N]`.
//!
//! A process makes runs that wait and is killed. The next one opens the same data directory and answers one of them at
//! once, while the others are still being put right. Neither time nor memory may depend on how many there are.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use adjourn_core::{
    By, Command as Ask, Create, ExecutionId, ExecutionMode, InteractionId, Reply, RunId, RunSpec, RunStatus,
};
use adjourn_kernel::Threads;
use adjourn_kernel::{Slots, SystemClock};
use adjourn_runtime::bench_engine::BenchTurns;
use adjourn_runtime::{Driver, Runtime, RuntimeOptions};
use adjourn_store::{RunFilter, SqliteStore, Store};
use serde_json::json;

/// Runs that are made at the same time.
const AT_ONCE: u64 = 512;

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["__make", data, runs] => make(Path::new(data), runs.parse().expect("a number")),
        ["__reply", data] => reply(Path::new(data)),
        ["--runs", runs] => compare(runs.parse().expect("--runs takes a number")),
        [] => compare(100_000),
        other => panic!("`{}` is not understood: there is --runs N", other.join(" ")),
    }
}

fn compare(most: u64) {
    for runs in [most / 100, most] {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let data = folder.path().join("data");
        let program = std::env::current_exe().expect("this program has a path");
        let mut child = Command::new(&program)
            .args(["__make", &data.display().to_string(), &runs.to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .expect("it can be started again");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("it is piped"))
            .read_line(&mut line)
            .expect("it says when it is done");
        child.kill().expect("it is there to be killed");
        child.wait().expect("it was killed");
        let killed = Instant::now();
        let mut next = Command::new(&program)
            .args(["__reply", &data.display().to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .expect("it can be started again");
        let mut lines =
            BufReader::new(next.stdout.take().expect("it is piped")).lines().map_while(Result::ok);
        let first = lines.next().expect("it says when the reply is durable");
        println!("{runs:>7} runs wait: first reply {:.1?} after the kill, {first}", killed.elapsed());
        for line in lines {
            println!("                    {line}");
        }
        next.wait().expect("it ends by itself");
    }
}

fn start(data: &Path) -> (Runtime, Threads) {
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(data).expect("nobody else has it"));
    let slots = Slots { total: usize::try_from(AT_ONCE).expect("it is small"), ..Slots::default() };
    let tasks = tokio::runtime::Handle::current();
    Runtime::start(store, RuntimeOptions::new(slots), Arc::new(SystemClock), |weak| {
        Driver::new(weak, Arc::new(BenchTurns), tasks)
    })
    .expect("the journal can be read")
}

/// Makes runs that wait, says so, and waits to be killed.
fn make(data: &Path, runs: u64) {
    let tasks =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime can be built");
    tasks.block_on(async {
        let (runtime, _threads) = start(data);
        let mut changes = runtime.store().watch();
        let mut creating = tokio::task::JoinSet::new();
        for _ in 0..runs {
            let runtime = runtime.clone();
            creating.spawn(async move {
                let id = RunId::from_bits(uuid::Uuid::now_v7().as_u128());
                let spec = RunSpec::new("still", ExecutionMode::Interactive);
                runtime.ask(id, Ask::Create(Create { spec, key: None })).await.expect("there is room");
            });
            // No more than there are slots, so that the queue never fills up.
            if creating.len() as u64 >= AT_ONCE {
                creating.join_next().await;
            }
        }
        creating.join_all().await;
        loop {
            changes.borrow_and_update();
            let unfinished = [RunStatus::Queued, RunStatus::Running].map(|status| {
                let filter = RunFilter { status: Some(status), ..RunFilter::default() };
                runtime.store().runs(&filter, 1).expect("it can be read").len()
            });
            if unfinished == [0, 0] {
                break;
            }
            changes.changed().await.expect("the store is there");
        }
        println!("made");
        std::future::pending::<()>().await;
    });
}

/// Answers the oldest question, and says what that took; then what the rest of the recovery took.
fn reply(data: &Path) {
    let started = Instant::now();
    let tasks =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime can be built");
    tasks.block_on(async {
        let (runtime, _threads) = start(data);
        let open = runtime.store().open_interactions(None, 1).expect("it can be read");
        let reply = Reply {
            interaction_id: InteractionId(1),
            response: json!("2.4.0"),
            action: None,
            by: By::USER,
            key: None,
            edited_id: ExecutionId::from_bits(0),
            edited_key: None,
        };
        let run_id = open[0].stream.run().expect("only runs ask here");
        runtime.ask(run_id, Ask::Reply(reply)).await.expect("the question is open");
        println!("{:.1?} after the start, {} MB of memory", started.elapsed(), memory_kb() / 1000);
        let mut head = 0;
        // Over when nothing more is written for a while.
        while head != runtime.store().head().expect("it can be read") {
            head = runtime.store().head().expect("it can be read");
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        }
        println!(
            "all put right {:.1?} after the start, {} MB of memory at most",
            started.elapsed(),
            memory_kb() / 1000
        );
    });
    std::process::exit(0);
}

/// The most memory that this process ever had.
fn memory_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or(0)
}

//! Runs of a trivial agent beside a bare start of it: `cargo xtask bench agents [--runs N]`.
//!
//! The agent reads its prompt and prints one line of JSON. It is started bare, then as runs one after the other and eight at
//! a time, with the sandbox and without. What a run costs above the bare start is Adjourn: journal, folders, processes, walls.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use adjourn_core::{ExecutionMode, RunId, RunStatus};
use adjourn_engine::supervisor;
use adjourn_runtime::Service;
use adjourn_runtime::config::Config;
use adjourn_runtime::request::RunRequest;

/// Runs of each kind, where the command line does not say.
const RUNS: usize = 300;

/// Turns at the same time.
const SLOTS: usize = 8;

const AGENT: &str = "#!/bin/sh\ncat >/dev/null\necho '{\"__SKILL_DONE__\": true}'\n";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.peek().is_some_and(|first| first == supervisor::SUBCOMMAND) {
        return supervisor::main();
    }
    let runs = match arguments.collect::<Vec<_>>().as_slice() {
        [] => RUNS,
        [name, runs] if name == "--runs" => runs.parse().expect("--runs takes a number"),
        other => panic!("`{}` is not understood: there is --runs N", other.join(" ")),
    };
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let agent = folder.path().join("agent.sh");
    std::fs::write(&agent, AGENT).expect("the agent can be written");
    let bare = time_each(runs, || {
        let ended = Command::new("sh").arg(&agent).stdin(Stdio::null()).stdout(Stdio::piped()).output();
        assert!(ended.expect("sh is there").status.success());
    });
    println!("bare start            {:>7.2} ms each", milliseconds(bare));
    let tasks =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime can be built");
    for sandbox in ["on", "off"] {
        let data = folder.path().join(sandbox);
        let measured = tasks.block_on(measure(&data, &agent, sandbox, runs));
        println!(
            "run, sandbox {sandbox:<8} {:>7.2} ms each, {:>4.0} runs/s with {SLOTS} slots",
            milliseconds(measured.one_by_one),
            measured.per_second
        );
    }
    // The service's threads end with the process.
    std::process::exit(0);
}

struct Measured {
    one_by_one: Duration,
    per_second: f64,
}

async fn measure(data: &Path, agent: &Path, sandbox: &str, runs: usize) -> Measured {
    let text = format!(
        "[slots]\ntotal = {SLOTS}\n[engines.agent]\nkind = \"exec\"\npreset = \"command\"\nsandbox = \"{sandbox}\"\n\
         command = [\"sh\", \"{}\"]\n",
        agent.display()
    );
    let config = Config::parse(&data.with_extension("toml"), &text, &BTreeMap::new()).expect("it is valid");
    let (service, _threads) = Service::open(data, config).expect("nobody else has it");
    // The launcher is started, and the walls are tried out, by the first run.
    ended(&service, create(&service).await).await;
    let began = Instant::now();
    for _ in 0..runs {
        ended(&service, create(&service).await).await;
    }
    let one_by_one = began.elapsed() / u32::try_from(runs).expect("few enough");
    let began = Instant::now();
    let mut going = tokio::task::JoinSet::new();
    for _ in 0..runs {
        let service = service.clone();
        going.spawn(async move { ended(&service, create(&service).await).await });
        // One more than there are slots, so that none is ever free.
        if going.len() > SLOTS {
            going.join_next().await;
        }
    }
    going.join_all().await;
    Measured { one_by_one, per_second: runs as f64 / began.elapsed().as_secs_f64() }
}

async fn create(service: &Service) -> RunId {
    let request = RunRequest {
        prompt: Some("work".to_owned()),
        engine: Some("agent".to_owned()),
        execution_mode: Some(ExecutionMode::Auto),
        ..RunRequest::default()
    };
    service.create(request, None, None).await.expect("there is room").run.id()
}

async fn ended(service: &Service, run_id: RunId) {
    let mut changes = service.store().watch_stream(run_id.into());
    loop {
        let status = service.row(run_id).expect("it can be read").status;
        if status.is_terminal() {
            assert_eq!(
                status,
                RunStatus::Succeeded,
                "{:?}",
                service.run(run_id).map(|run| run.error().cloned())
            );
            return;
        }
        changes.changed().await.expect("the store is there");
    }
}

fn time_each(count: usize, mut what: impl FnMut()) -> Duration {
    let began = Instant::now();
    for _ in 0..count {
        what();
    }
    began.elapsed() / u32::try_from(count).expect("few enough")
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

//! A service on a data directory of its own, and what a test does with one.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use adjourn_core::fcmp::{Frame, Header};
use adjourn_core::{By, Record, Run, RunId, RunStatus, StreamId};
use adjourn_engine::supervisor::Supervisor;
use adjourn_kernel::SystemClock;
use adjourn_kernel::Threads;
use adjourn_runtime::config::Config;
use adjourn_runtime::request::RunRequest;
use adjourn_runtime::{ReplyRequest, Service};
use adjourn_store::After;
use serde_json::Value;

/// How long a test waits for what has to happen. Much longer than it takes: it is only reached by a failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A service at work.
pub(crate) struct Stage {
    pub(crate) service: Service,
    threads: Threads,
}

impl Stage {
    pub(crate) fn open(data: &Path, config: Config) -> Self {
        let opened = Service::open_with(data, config, supervisor(), Arc::new(SystemClock));
        let (service, threads) = opened.unwrap();
        Self { service, threads }
    }

    /// Ends the service, so that nobody writes any more into its folder.
    pub(crate) async fn close(self) {
        drop(self.service);
        // Not here: a turn that has just ended is still a task of ours, and the threads wait for it.
        tokio::task::spawn_blocking(|| self.threads.join()).await.unwrap();
    }

    pub(crate) async fn create(&self, request: RunRequest) -> RunId {
        self.service.create(request, None, None).await.unwrap().run.id()
    }

    /// The run when it neither works nor waits for a slot.
    pub(crate) async fn settled(&self, run_id: RunId) -> Run {
        let mut changes = self.service.store().watch_stream(StreamId::Run(run_id));
        loop {
            changes.mark_unchanged();
            let run = self.service.run(run_id).unwrap();
            match run.status() {
                RunStatus::Queued | RunStatus::Running => changes.changed().await.unwrap(),
                RunStatus::WaitingUser | RunStatus::Succeeded | RunStatus::Failed | RunStatus::Canceled => {
                    return run;
                }
            }
        }
    }

    /// The same for an agent that may never end.
    pub(crate) async fn settled_in_time(&self, run_id: RunId) -> Run {
        tokio::time::timeout(PATIENCE, self.settled(run_id)).await.expect("it did not come to an end")
    }

    /// Answers the oldest open question.
    pub(crate) async fn answer(&self, run_id: RunId, response: Value) {
        let reply = ReplyRequest { interaction_id: None, response, action: None, by: By::USER, key: None };
        self.service.reply(run_id, reply).await.unwrap();
    }

    /// The whole stream of a run.
    pub(crate) fn frames(&self, run_id: RunId) -> Vec<Frame> {
        let run = self.service.run(run_id).unwrap();
        let header = Header { run_id, engine: &run.spec().engine };
        let entries = self.service.store().read(run_id.into(), After::START, usize::MAX).unwrap();
        entries
            .iter()
            .flat_map(|entry| Record::<adjourn_core::Event>::of(entry).unwrap().frames(header, entry))
            .collect()
    }
}

/// The supervisor that the engine's own tests use: a test binary cannot be one itself, its arguments are its harness's.
pub(crate) fn supervisor() -> Supervisor {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| {
        let test = std::env::current_exe().unwrap();
        // A test binary is in `target/debug/deps`.
        let program = test.ancestors().nth(2).unwrap().join("adjourn-supervise");
        // There when the whole workspace is tested. Who tests this crate alone may not have it yet.
        if !program.exists() {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.args(["build", "--quiet", "--package", "adjourn-engine", "--bin", "adjourn-supervise"]);
            if !cfg!(debug_assertions) {
                cargo.arg("--release");
            }
            assert!(cargo.status().unwrap().success(), "the supervisor cannot be built");
        }
        program
    });
    Supervisor::new(vec![program.into()])
}

/// A path of this repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path).canonicalize().unwrap()
}

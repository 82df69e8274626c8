//! A data directory at work, with agents that do what the test tells them and a clock that the test sets.
//!
//! Nothing here sleeps and hopes: a test waits for a file of the agent or for a commit, and [`PATIENCE`] ends only what
//! will never come.

mod actor;
mod agent;
pub(crate) mod child;
pub(crate) mod table;
pub(crate) mod ways;
pub(crate) mod world;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use adjourn_core::{FrameType, RunId, Timestamp};
use adjourn_engine::supervisor::Supervisor;
use adjourn_kernel::Threads;
use adjourn_kernel::{Clock, Steady};
use adjourn_runtime::config::Config;
use adjourn_runtime::request::RunRequest;
use adjourn_runtime::{Service, ServiceError};
use adjourn_store::Store;
use adjourn_testkit::acp::TakesUp;
use serde_json::{Value, json};

pub(crate) use actor::{Actor, Turn, answer, refusal};
pub(crate) use agent::done;

/// How long a test waits for what has to happen. Much longer than it takes: it is only reached by a failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// How often files are looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Clocks that stand still until a test advances or sets them.
pub(crate) struct HandClock {
    steady_ms: AtomicI64,
    /// How far the wall clock was set ahead of where it began.
    ahead_ms: AtomicI64,
}

/// The wall time of the boot.
const BOOTED_AT_MS: i64 = 1_700_000_000_000;

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(BOOTED_AT_MS + self.steady().millis() + self.ahead_ms.load(Ordering::SeqCst))
    }

    fn steady(&self) -> Steady {
        Steady::from_millis(self.steady_ms.load(Ordering::SeqCst))
    }

    fn boot_id(&self) -> u64 {
        1
    }
}

/// A data directory, and the service that works on it.
pub(crate) struct Stage {
    folder: PathBuf,
    /// What removes the folder in the end, where it is ours.
    temporary: Option<tempfile::TempDir>,
    clock: Arc<HandClock>,
    settings: RefCell<String>,
    open: RefCell<Option<Open>>,
}

struct Open {
    service: Service,
    threads: Threads,
    tasks: tokio::runtime::Runtime,
}

impl Stage {
    /// With everything at its default.
    pub(crate) fn new() -> Self {
        Self::with("")
    }

    /// With so many slots.
    pub(crate) fn with_slots(total: usize) -> Self {
        Self::with(&format!("[slots]\ntotal = {total}"))
    }

    /// With these settings, besides the engine and the skill of all tests.
    pub(crate) fn with(settings: &str) -> Self {
        Self::configured(settings, "")
    }

    /// With these settings of the engine.
    pub(crate) fn with_engine(settings: &str) -> Self {
        Self::configured("", settings)
    }

    fn configured(settings: &str, of_engine: &str) -> Self {
        let stage = Self::closed(agent::STEERED);
        stage.configure(&agent::settings(stage.path(), settings, of_engine));
        stage.open();
        stage
    }

    /// With an agent that speaks ACP and takes up its conversations like this, and these settings of its engine.
    pub(crate) fn acp(takes_up: TakesUp, settings: &str, of_engine: &str) -> Self {
        let stage = Self::closed(agent::STEERED);
        agent::install_acp(stage.path(), takes_up);
        stage.configure(&agent::acp_settings(stage.path(), settings, of_engine));
        stage.open();
        stage
    }

    /// With agents that play the roles of a roundtable, and these settings.
    pub(crate) fn of_players(settings: &str) -> Self {
        let stage = Self::closed(table::PLAYER);
        stage.configure(&agent::settings(stage.path(), settings, ""));
        stage.dry_run();
        stage.open();
        stage
    }

    /// Everything in its place, with this script for an agent, and nobody at work yet.
    pub(crate) fn closed(script: &str) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        agent::install(temporary.path(), script);
        let mut stage = Self::at(temporary.path());
        stage.temporary = Some(temporary);
        stage
    }

    /// A stage that another process has built.
    pub(crate) fn at(folder: &Path) -> Self {
        // Some moment; what the tests do with it is adding.
        let clock = Arc::new(HandClock { steady_ms: AtomicI64::new(0), ahead_ms: AtomicI64::new(0) });
        Self {
            folder: folder.to_owned(),
            temporary: None,
            clock,
            settings: RefCell::new(agent::settings(folder, "", "")),
            open: RefCell::new(None),
        }
    }

    /// What the next service to open is configured with, in all.
    pub(crate) fn configure(&self, settings: &str) {
        *self.settings.borrow_mut() = settings.to_owned();
    }

    /// What the next service to open is configured with.
    pub(crate) fn settings(&self) -> String {
        self.settings.borrow().clone()
    }

    /// Lets a service work on the data directory.
    pub(crate) fn open(&self) {
        let tasks =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let opened = {
            let _entered = tasks.enter();
            Service::open_with(&self.data(), self.config(), supervisor(), self.clock.clone())
        };
        let (service, threads) = opened.unwrap();
        *self.open.borrow_mut() = Some(Open { service, threads, tasks });
    }

    /// Ends the service as the end of its process would: whatever goes on is dropped where it is.
    pub(crate) fn close(&self) {
        if let Some(Open { service, threads, tasks }) = self.open.borrow_mut().take() {
            drop(service);
            drop(tasks);
            threads.join();
        }
    }

    /// Ends the service, and lets another one take up what it left.
    pub(crate) fn restart(&self) {
        self.close();
        self.open();
    }

    pub(crate) fn path(&self) -> &Path {
        &self.folder
    }

    /// The data directory.
    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    fn config(&self) -> Config {
        let file = self.path().join("adjourn.toml");
        Config::parse(&file, &self.settings.borrow(), &BTreeMap::new()).unwrap()
    }

    /// A handle to the service. Whoever keeps it keeps the service from closing.
    pub(crate) fn service(&self) -> Service {
        self.open.borrow().as_ref().expect("the stage is open").service.clone()
    }

    pub(crate) fn store(&self) -> Arc<dyn Store> {
        self.service().store().clone()
    }

    /// Waits for what is asked of the service, or fails the test.
    pub(crate) fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        let tasks = self.open.borrow().as_ref().expect("the stage is open").tasks.handle().clone();
        tasks
            .block_on(async { tokio::time::timeout(PATIENCE, future).await })
            .unwrap_or_else(|_| panic!("waited for {PATIENCE:?} in vain"))
    }

    /// Asks for a run of the skill, on the engine that the tests steer, with more in the request or something else.
    pub(crate) fn request(&self, more: Value) -> Result<Actor<'_>, ServiceError> {
        self.request_with(more, None)
    }

    /// The same with an idempotency key.
    pub(crate) fn request_with(&self, more: Value, key: Option<&str>) -> Result<Actor<'_>, ServiceError> {
        let service = self.service();
        let created = service.create(request(more), key.map(str::to_owned), None);
        self.wait(created).map(|created| self.actor(created.run.id()))
    }

    /// A run that was created.
    pub(crate) fn start(&self, more: Value) -> Actor<'_> {
        self.request(more).unwrap()
    }

    /// The run with this id.
    pub(crate) fn actor(&self, id: RunId) -> Actor<'_> {
        Actor::new(self, id)
    }

    /// Lets time pass, and returns when the service has seen it.
    pub(crate) fn advance(&self, seconds: i64) {
        self.advance_closed(seconds);
        self.nudge();
    }

    /// Sets the wall clock so far ahead, or back, while nobody is at work or looks at it.
    pub(crate) fn set_clock(&self, ahead_seconds: i64) {
        self.clock.ahead_ms.fetch_add(ahead_seconds * 1000, Ordering::SeqCst);
    }

    /// Lets time pass while nobody is at work.
    pub(crate) fn advance_closed(&self, seconds: i64) {
        self.clock.steady_ms.fetch_add(seconds * 1000, Ordering::SeqCst);
    }

    /// Asks the service something that changes nothing. When it answers it has decided all that came before.
    pub(crate) fn nudge(&self) {
        let nobody = self.actor(RunId::from_bits(1));
        nobody.reply("is anybody there?").unwrap_err();
    }

    /// All statuses of all runs, in the order in which they changed: `(run, to)`.
    pub(crate) fn history(&self) -> Vec<(RunId, String)> {
        let store = self.store();
        let runs = store.read_all(0, usize::MAX).unwrap();
        let frames = runs.iter().flat_map(actor::frames_of);
        let changes = frames.filter(|frame| frame.kind == FrameType::StateChanged);
        changes.map(|frame| (frame.run_id, frame.data["to"].as_str().unwrap().to_owned())).collect()
    }

    /// The folders of runs that there are.
    pub(crate) fn run_folders(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.data().join("runs")) else { return Vec::new() };
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Stage {
    /// A failed test leaves nothing behind either.
    fn drop(&mut self) {
        if let Some(Open { service, tasks, .. }) = self.open.borrow_mut().take() {
            drop(service);
            drop(tasks);
        }
        agent::kill_all(self.path());
    }
}

/// A request for a run of the skill, with more in it. What is null there is left out.
pub(crate) fn request(more: Value) -> RunRequest {
    let mut document = json!({ "skill": agent::SKILL, "engine": agent::ENGINE });
    for (key, value) in more.as_object().expect("a request is an object") {
        document[key] = value.clone();
    }
    RunRequest::read(&document).unwrap()
}

pub(crate) fn supervisor() -> Supervisor {
    Supervisor::new(vec![env!("CARGO_BIN_EXE_adjourn-runtime-supervise").into()])
}

/// Waits for something to be there that announces itself to nobody: a file, or the end of a process.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "waited for {PATIENCE:?} in vain: {what}");
        std::thread::sleep(LOOK_AGAIN);
    }
}

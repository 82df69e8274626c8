//! A data directory at work: what every surface asks things of.

mod contracts;
mod edits;
mod journal;
mod refused_attempts;
mod rerun;
mod surroundings;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use adjourn_core::machines::RoundtableStatus;
use adjourn_core::{
    Action, By, Command, ErrorCode, ExecutionId, FieldError, Interaction, InteractionId, ListedRun, Reply,
    ReplyKey, RoundtableId, Run, RunId, RunRow, RunStatus, RunView, canonical, roundtable,
};
use adjourn_engine::supervisor::Supervisor;
use adjourn_kernel::{
    Clock, Committed, Denied, DiskSpace, Effect, Room, Slots, SystemClock, Threads, load_readable,
};
use adjourn_store::{Error, RunFilter, SqliteStore, Store};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

pub use contracts::Settle;
pub use journal::{Journal, can_go_on};
pub use surroundings::EngineInfo;

use self::edits::Edit;
use crate::config::Config;
use crate::disk::Disk;
use crate::driver::Driver;
use crate::reader;
use crate::roundtable::carry_out;
use crate::runtime::{EffectHandler, Runtime, RuntimeOptions, WeakRuntime};
use crate::turn_setup::TurnSetup;
use crate::workspace::{WorkspaceError, Workspaces};

/// What was asked for and cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The request is wrong in itself: everything that is wrong with it.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Invalid(Vec<FieldError>),
    /// No engine was named, and none that could do it is installed here; with everything else that is wrong.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    NoEngine(Vec<FieldError>),
    /// The skill cannot be used, or there is none of that name.
    #[error("{0}")]
    Skill(String),
    /// There is no such run.
    #[error("there is no run {0}")]
    UnknownRun(RunId),
    /// There is no such contract.
    #[error("there is no contract {0}")]
    UnknownContract(ExecutionId),
    /// No result of that call was lost, or a person said already what became of it.
    #[error("there is nothing to settle about {id}: {problem}")]
    NothingToSettle {
        /// The contract.
        id: ExecutionId,
        /// Why, and what to do instead.
        problem: String,
    },
    /// There is no such roundtable.
    #[error("there is no roundtable {0}")]
    UnknownRoundtable(RoundtableId),
    /// The rules of roundtables do not allow it.
    #[error(transparent)]
    Roundtable(roundtable::Refusal),
    /// The run that should be continued has not ended, or left nothing to go on from.
    #[error("{run} cannot be continued: {problem}")]
    NotContinuable {
        /// The run.
        run: RunId,
        /// Why not.
        problem: String,
    },
    /// The rules or the journal do not allow it.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// The journal cannot be read.
    #[error(transparent)]
    Store(#[from] Error),
    /// The folders of the run cannot be made or read.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The tool server that has to be asked does not answer. It may later.
    #[error("{0}")]
    ToolServerUnavailable(String),
    /// Adjourn itself is at fault.
    #[error("{0}")]
    Internal(String),
}

/// A run that was created, or had been with the same idempotency key.
#[derive(Debug, Clone)]
pub struct Created {
    /// The run.
    pub run: Arc<Run>,
    /// What the asker should know.
    pub notice: Option<String>,
}

/// An answer to a question.
#[derive(Debug, Clone)]
pub struct ReplyRequest {
    /// Which question; none for the oldest that is open.
    pub interaction_id: Option<InteractionId>,
    /// The answer.
    pub response: Value,
    /// What to do with a call that needs approval.
    pub action: Option<Action>,
    /// Who answers.
    pub by: By,
    /// The idempotency key that it was sent with.
    pub key: Option<String>,
}

/// A data directory at work. Cheap to clone; the work ends when the last one is gone.
#[derive(Clone)]
pub struct Service {
    runtime: Runtime,
    driver: Driver,
    turn_setup: Arc<TurnSetup>,
    committed: Arc<Committed>,
    disk: Arc<Disk>,
}

impl Service {
    /// Opens `data_dir` as its owner, takes up what a restart left behind, and works on it. Has to be called within a
    /// Tokio runtime.
    pub fn open(data_dir: &Path, config: Config) -> Result<(Self, Threads), Error> {
        let supervisor = Supervisor::current_exe().map_err(no_program)?;
        Self::open_with(data_dir, config, supervisor, Arc::new(SystemClock))
    }

    /// [`open`](Self::open) with another way to start agents, and another clock.
    pub fn open_with(
        data_dir: &Path,
        config: Config,
        supervisor: Supervisor,
        clock: Arc<dyn Clock>,
    ) -> Result<(Self, Threads), Error> {
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(data_dir)?);
        let data_dir = data_dir.canonicalize().unwrap_or_else(|_| data_dir.to_owned());
        let workspaces = Workspaces::new(&data_dir);
        let known = store.clone();
        // A crash between making a workspace and creating its run leaves one that nobody knows.
        let swept = workspaces.sweep(|run_id| !matches!(known.run(run_id), Ok(None)));
        if let Err(error) = swept {
            return Err(Error::Directory { path: data_dir, problem: error.to_string() });
        }
        // One that cannot be read may need them.
        workspaces.sweep_roundtable_shells(|id| {
            known
                .roundtable(id)
                .map_or(true, |row| row.is_some_and(|row| row.status != RoundtableStatus::Closed))
        });
        let disk = Arc::new(Disk::new(&data_dir, config.server.disk_reserve_mb));
        let slots = slots(&config);
        let wanted = config.webhooks.iter().flat_map(|webhooks| webhooks.events.iter().copied()).collect();
        let variables: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let turn_setup = Arc::new(TurnSetup::new(config, variables, workspaces, supervisor));
        let mut made = None;
        let (for_roundtables, effects) = tokio::sync::mpsc::unbounded_channel();
        let options = RuntimeOptions { slots, wanted, room: disk.space().room() };
        let (runtime, threads) = Runtime::start(store, options, clock, |weak| {
            let tasks = tokio::runtime::Handle::current();
            let driver = Driver::new(weak, turn_setup.clone(), tasks.clone());
            made = Some(driver.clone());
            EffectHandlers { driver, for_roundtables, workspaces: turn_setup.workspaces().clone(), tasks }
        })?;
        let driver = made.expect("the runtime was started with its driver");
        let committed = threads.committed();
        let watched = disk.clone().watch(runtime.downgrade());
        watched.map_err(|error| Error::Failed { doing: "start its threads", problem: error.to_string() })?;
        let service = Self { runtime, driver, turn_setup, committed, disk };
        tokio::spawn(carry_out(service.downgrade(), effects));
        let (workspaces, known) = (service.turn_setup.workspaces().clone(), service.store().clone());
        tokio::task::spawn_blocking(move || {
            let swept = workspaces.sweep_calls(|run_id, id| is_over(known.as_ref(), run_id, id));
            if let Err(error) = swept {
                tracing::warn!(%error, "arguments of calls that have ended could not be removed");
            }
        });
        if let Some(attempts) = service.turn_setup.agents().refused_attempts() {
            tokio::spawn(refused_attempts::write_down(service.downgrade(), attempts));
        }
        Ok((service, threads))
    }

    /// A handle that does not keep the work going.
    pub fn downgrade(&self) -> WeakService {
        let Self { runtime, driver, turn_setup, committed, disk } = self.clone();
        WeakService { runtime: runtime.downgrade(), driver, turn_setup, committed, disk }
    }

    /// Opens `data_dir` for reading, whoever owns it: nothing is driven, and every command is denied. Without a configuration it
    /// is not said whether an engine is there. Has to be called within a Tokio runtime.
    pub fn open_reader(data_dir: &Path, config: Option<Config>) -> Result<Self, Error> {
        let store = Arc::new(SqliteStore::open_reader(data_dir)?);
        tokio::spawn(reader::look(Arc::downgrade(&store)));
        let data_dir = data_dir.canonicalize().unwrap_or_else(|_| data_dir.to_owned());
        let supervisor = Supervisor::current_exe().map_err(no_program)?;
        let disk = Arc::new(Disk::new(&data_dir, None));
        let workspaces = Workspaces::new(&data_dir);
        let turn_setup = Arc::new(TurnSetup::of_reader(config, workspaces, supervisor));
        let runtime = Runtime::at_rest(store, Arc::new(SystemClock));
        let driver = Driver::new(runtime.downgrade(), turn_setup.clone(), tokio::runtime::Handle::current());
        Ok(Self { runtime, driver, turn_setup, committed: Arc::default(), disk })
    }

    /// Answers a question.
    pub async fn reply(&self, run_id: RunId, answer: ReplyRequest) -> Result<Arc<Run>, ServiceError> {
        let ReplyRequest { interaction_id, response, action, by, key } = answer;
        let interaction_id = match interaction_id {
            Some(id) => id,
            None => meant(&self.run(run_id)?, key.as_deref()),
        };
        let body = json!({ "interaction_id": interaction_id, "response": response, "action": action });
        let key = key.map(|key| ReplyKey { key, digest: sha256(&canonical(&body)) });
        let edited_id = ExecutionId::from_bits(uuid::Uuid::now_v7().as_u128());
        let edit = match action {
            Some(Action::Edit) => self.edit(run_id, interaction_id, response.clone(), edited_id).await?,
            Some(Action::Approve | Action::Reject) | None => None,
        };
        let (response, edited_key) = match edit {
            Some(Edit { shown, key }) => (shown, Some(key)),
            None => (response, None),
        };
        let reply = Reply { interaction_id, response, action, by, key, edited_id, edited_key };
        self.look_for_engine(run_id).await;
        let replied = self.runtime.ask(run_id, Command::Reply(reply)).await;
        let is_recorded = replied.as_ref().is_ok_and(|replied| replied.state.contract(edited_id).is_some());
        if edited_key.is_some() && !is_recorded {
            self.forget_edit(run_id, edited_id).await;
        }
        Ok(replied?.state)
    }

    /// Has a run stay queued whose engine is not there: a turn of it would fail.
    async fn look_for_engine(&self, run_id: RunId) {
        let missed = self.off_thread(move |service| {
            let row = service.row(run_id)?;
            Ok(service.turn_setup.misses_engine(run_id, &row.engine).then_some(row.engine))
        });
        // Whatever cannot be read is said by the reply itself.
        if let Ok(Some(engine)) = missed.await {
            self.runtime.miss_engine(engine);
        }
    }

    /// What keeps a queued run from starting, besides the slots: its engine is not there now.
    pub fn blocked_by(&self, run_id: RunId, status: RunStatus, engine: &str) -> Option<ErrorCode> {
        let is_blocked = status == RunStatus::Queued && self.turn_setup.misses_engine(run_id, engine);
        is_blocked.then_some(ErrorCode::EngineNotFound)
    }

    /// A run as it is shown.
    pub fn view(&self, run: &Run) -> RunView {
        let blocked_by = self.blocked_by(run.id(), run.status(), &run.spec().engine);
        RunView { blocked_by, ..RunView::of(run) }
    }

    /// Runs as they are listed.
    pub fn listed(&self, filter: &RunFilter, limit: usize) -> Result<Vec<ListedRun>, ServiceError> {
        let rows = self.store().runs(filter, limit)?.into_iter();
        let listed = rows.map(|row| {
            let blocked_by = self.blocked_by(row.run_id, row.status, &row.engine);
            ListedRun { row, blocked_by }
        });
        Ok(listed.collect())
    }

    /// Cancels a run: it ends when its processes are gone.
    pub async fn cancel(&self, run_id: RunId, by: By) -> Result<Arc<Run>, ServiceError> {
        Ok(self.runtime.ask(run_id, Command::Cancel(by)).await?.state)
    }

    /// The state of a run, as far as its journal can be read.
    pub fn run(&self, run_id: RunId) -> Result<Run, ServiceError> {
        load_readable(self.store().as_ref(), run_id)?.ok_or(ServiceError::UnknownRun(run_id))
    }

    /// The row of a run, which is cheaper than its state.
    pub fn row(&self, run_id: RunId) -> Result<RunRow, ServiceError> {
        self.store().run(run_id)?.ok_or(ServiceError::UnknownRun(run_id))
    }

    /// The store. Surfaces use [`journal`](Self::journal).
    pub fn store(&self) -> &Arc<dyn Store> {
        self.runtime.store()
    }

    /// The runtime. Surfaces use the operations of the service.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// What was made durable so far, and how long that took.
    pub fn committed(&self) -> &Committed {
        &self.committed
    }

    /// How much of the disk with the data directory was free when it was last looked.
    pub fn disk_space(&self) -> DiskSpace {
        self.disk.space()
    }

    /// Refuses new work while the disk has too little room for it, before anything is written for it.
    pub(crate) fn check_room(&self) -> Result<(), ServiceError> {
        match self.disk.space().room() {
            Room::Enough => Ok(()),
            Room::BelowReserve(DiskSpace { free_bytes, reserve_bytes }) => {
                Err(ServiceError::Denied(Denied::DiskReserve { free_bytes, reserve_bytes }))
            }
        }
    }

    /// What agents are writing.
    pub fn driver(&self) -> &Driver {
        &self.driver
    }

    /// Skills, folders and engines. Surfaces use the operations of the service.
    pub fn turn_setup(&self) -> &Arc<TurnSetup> {
        &self.turn_setup
    }
}

/// A data directory at work, as long as somebody else keeps it going.
#[derive(Clone)]
pub struct WeakService {
    runtime: WeakRuntime,
    driver: Driver,
    turn_setup: Arc<TurnSetup>,
    committed: Arc<Committed>,
    disk: Arc<Disk>,
}

impl WeakService {
    /// The service, unless it has ended.
    pub fn upgrade(&self) -> Option<Service> {
        let runtime = self.runtime.upgrade()?;
        let Self { driver, turn_setup, committed, disk, .. } = self.clone();
        Some(Service { runtime, driver, turn_setup, committed, disk })
    }
}

/// The handlers of the kernel's effects in a service.
struct EffectHandlers {
    driver: Driver,
    /// Where effects go that need the service itself. As many as there are seats at roundtables.
    for_roundtables: tokio::sync::mpsc::UnboundedSender<Effect>,
    workspaces: Workspaces,
    tasks: tokio::runtime::Handle,
}

impl EffectHandler for EffectHandlers {
    fn handle(&self, effect: Effect) {
        match effect {
            Effect::StartTurn(_) | Effect::StopTurn { .. } | Effect::Survey(_) => self.driver.handle(effect),
            Effect::ForgetCall(run_id, id) => {
                let workspaces = self.workspaces.clone();
                // What cannot be removed now, the next start finds.
                self.tasks.spawn_blocking(move || workspaces.forget_call(run_id, id));
            }
            Effect::PrepareActivation { .. }
            | Effect::CreateActivation { .. }
            | Effect::ForgetRoundtable(_) => {
                // Fails only when the service has ended.
                let _ = self.for_roundtables.send(effect);
            }
        }
    }
}

/// Whether a call has ended and it is known how. One that was never recorded is over with its run.
fn is_over(store: &dyn Store, run_id: RunId, id: ExecutionId) -> bool {
    match (store.contract(id), store.run(run_id)) {
        (Ok(Some(contract)), _) => contract.status.is_terminal() && !contract.unknown,
        (Ok(None), Ok(Some(run))) => run.status.is_terminal(),
        (Ok(None), Ok(None)) => true,
        (Err(_), _) | (_, Err(_)) => false,
    }
}

/// The question that an answer without a number is for: the one that the same key answered before, else the oldest that is
/// open. With none open, the last one, which is refused with what there is.
fn meant(run: &Run, key: Option<&str>) -> InteractionId {
    let same_key = |interaction: &&Interaction| {
        let before = interaction.resolution.as_ref().and_then(|resolution| resolution.key.as_ref());
        before.is_some_and(|before| Some(before.key.as_str()) == key)
    };
    let answered = run.interactions().iter().find(same_key);
    let meant = answered.or_else(|| run.open_interactions().next()).or_else(|| run.interactions().last());
    meant.map_or(InteractionId(0), |interaction| interaction.interaction_id)
}

fn no_program(error: std::io::Error) -> Error {
    Error::Failed { doing: "find its own program", problem: error.to_string() }
}

fn slots(config: &Config) -> Slots {
    let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    Slots {
        total: count(config.slots.total),
        engine: config.slots.engine.iter().map(|(name, most)| (name.clone(), count(*most))).collect(),
        queue_max: count(config.slots.queue_max),
    }
}

pub(crate) fn sha256(text: &str) -> String {
    hex(Sha256::digest(text))
}

pub(crate) fn hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

//! The acp engine: any agent that speaks the Agent Client Protocol over its stdin and stdout.
//!
//! The agent is a process that is told things while it lives, so that it can stay between turns (`sticky_process`); it
//! can also be ended with each turn and its conversation be taken up by a new one (`resumable`). What the protocol says
//! is left to its official crate, whose types stay in this folder. What it does not say is ours: how long a message may
//! be, how much an agent may print, how long it may take, and that nothing of it is left behind.
//!
//! This engine is **not** where a permission is decided: it knows the policy of its configuration, and whatever that
//! leaves open goes to a person and comes back as a [`Decision`](crate::Decision).

mod call;
mod failure;
mod files;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod gateway;
mod keeper;
mod live;
mod narrator;
mod permission;
mod play;
mod probe;
mod session;
mod terminals;
mod wire;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use adjourn_core::{Profile, ResumesBy, RunId, named};
use futures::future::BoxFuture;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use permission::{PermissionAnswer, PermissionRule, ToolKind};

use crate::environment::ShellVariables;
use crate::exec::Permission;
use crate::gateway::{Gateway, Offered};
use crate::sandbox::SandboxOptions;
use crate::supervisor::Supervisor;
use crate::turn::{Engine, Finished, Probe, Seen, Turn};
use keeper::Kept;
use live::Live;
use play::Played;

named! {
    /// Something that the agent may have Adjourn do for it, in its workspace and nowhere else.
    pub enum Serves {
        /// Read and write files.
        Files = "fs",
        /// Run commands.
        Terminal = "terminal",
    }
}

/// How an agent is called, and what it may do.
#[derive(Clone, PartialEq, Eq)]
pub struct AcpConfig {
    /// Its program and arguments.
    pub command: Vec<String>,
    /// What it may do without asking.
    pub permission: Permission,
    /// How its requests for permissions are answered; the first rule that fits counts, and after all of them what
    /// `permission` means.
    pub rules: Vec<PermissionRule>,
    /// What it may have Adjourn do for it.
    pub serves: Vec<Serves>,
    /// The model, where the agent should not choose and offers a choice.
    pub model: Option<String>,
    /// Variables that are added to its environment.
    pub env: BTreeMap<String, String>,
    /// Names of our own variables that it gets besides the allow-listed ones.
    pub pass_env: Vec<String>,
    /// The wall around it; none where a person switched it off.
    pub sandbox: Option<SandboxOptions>,
}

/// Without values of the environment, among which are keys.
impl fmt::Debug for AcpConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcpConfig")
            .field("command", &self.command)
            .field("permission", &self.permission)
            .field("rules", &self.rules)
            .field("serves", &self.serves)
            .field("model", &self.model)
            .field("env", &self.env.keys())
            .field("pass_env", &self.pass_env)
            .field("sandbox", &self.sandbox)
            .finish()
    }
}

impl AcpConfig {
    /// An agent with nothing changed.
    pub fn new(command: Vec<String>) -> Self {
        Self {
            command,
            permission: Permission::Workspace,
            rules: Vec::new(),
            serves: Vec::new(),
            model: None,
            env: BTreeMap::new(),
            pass_env: Vec::new(),
            sandbox: Some(SandboxOptions::default()),
        }
    }
}

/// Executes turns with an agent that speaks the protocol.
pub struct AcpEngine {
    config: AcpConfig,
    supervisor: Supervisor,
    gateway: Gateway,
    /// Conversations that wait for their next turn.
    staying: Mutex<HashMap<RunId, Live>>,
    /// The processes of all of them, and of those whose turn goes on.
    processes: Mutex<HashMap<RunId, Arc<Kept>>>,
}

impl AcpEngine {
    /// An engine for the agent in `config`, whose processes are kept by `supervisor` and call their tools by `gateway`.
    pub fn new(config: AcpConfig, supervisor: Supervisor, gateway: Gateway) -> Self {
        Self { config, supervisor, gateway, staying: Mutex::default(), processes: Mutex::default() }
    }

    fn staying(&self) -> MutexGuard<'_, HashMap<RunId, Live>> {
        // Nothing panics while it holds a map; if something did, it would still be a map.
        self.staying.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn processes(&self) -> MutexGuard<'_, HashMap<RunId, Arc<Kept>>> {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn execute(&self, turn: Turn, seen: mpsc::Sender<Seen>, stop: CancellationToken) -> Finished {
        if stop.is_cancelled() {
            return Finished::Stopped;
        }
        let stayed = self.staying().remove(&turn.run_id);
        // One that was not asked for belongs to a turn that its run never heard of the end of.
        let stayed = match stayed {
            Some(live) if turn.process == Some(live.process()) && live.is_there() => Some(live),
            Some(live) => {
                self.dismiss(turn.run_id, live).await;
                None
            }
            None => None,
        };
        let offered = tokio::select! {
            biased;
            () = stop.cancelled() => Err(Finished::Stopped),
            offered = Offered::by(&*turn.tools) => offered.map_err(Finished::Failed),
        };
        let live = match (stayed, offered) {
            (Some(mut live), Ok(offered)) => {
                live.seat = live.badge.as_ref().map(|badge| badge.seat(turn.tools.clone(), offered));
                Ok(live)
            }
            (None, Ok(offered)) => self.begin(&turn, offered, &seen, &stop).await,
            (Some(live), Err(finished)) => {
                self.dismiss(turn.run_id, live).await;
                Err(finished)
            }
            (None, Err(finished)) => Err(finished),
        };
        let mut live = match live {
            Ok(live) => live,
            Err(finished) => return finished,
        };
        let played = live.play(&turn, &self.config, &seen, &stop).await;
        live.seat = None;
        match (played, turn.profile) {
            (Played::Over(finished), _) => {
                self.dismiss(turn.run_id, live).await;
                finished
            }
            (Played::Pause(finished), Profile::StickyProcess) => {
                self.staying().insert(turn.run_id, live);
                finished
            }
            (Played::Pause(finished), Profile::Resumable) => {
                live.leave_turn().await;
                self.dismiss(turn.run_id, live).await;
                finished
            }
        }
    }

    /// Ends a conversation that has no further turn in this process.
    async fn dismiss(&self, run_id: RunId, mut live: Live) {
        live.end().await;
        self.forget(run_id, &live.kept());
    }

    /// A process is gone; unless another one took its place, nothing stays with the run.
    fn forget(&self, run_id: RunId, gone: &Arc<Kept>) {
        let mut processes = self.processes();
        if processes.get(&run_id).is_some_and(|kept| Arc::ptr_eq(kept, gone)) {
            processes.remove(&run_id);
            self.staying().remove(&run_id);
        }
    }

    /// Starts a process, and in it a new conversation or the one that the turn goes on with.
    async fn begin(
        &self,
        turn: &Turn,
        offered: Offered,
        seen: &mpsc::Sender<Seen>,
        stop: &CancellationToken,
    ) -> Result<Live, Finished> {
        let badge = match offered.is_empty() {
            true => None,
            false => Some(self.gateway.admit(turn.run_id).await.map_err(Finished::Failed)?),
        };
        let seat = badge.as_ref().map(|badge| badge.seat(turn.tools.clone(), offered));
        let mut live = self.start(turn, badge.as_ref()).await?;
        (live.badge, live.seat) = (badge, seat);
        self.processes().insert(turn.run_id, live.kept());
        let opened = tokio::select! {
            biased;
            () = stop.cancelled() => Err(Finished::Stopped),
            opened = live.open(turn, &self.config, seen) => opened,
        };
        match opened {
            Ok(()) => Ok(live),
            Err(finished) => {
                self.dismiss(turn.run_id, live).await;
                Err(finished)
            }
        }
    }
}

impl Engine for AcpEngine {
    fn resumes_by(&self) -> ResumesBy {
        ResumesBy::Handle
    }

    fn run(&self, turn: Turn, seen: mpsc::Sender<Seen>, stop: CancellationToken) -> BoxFuture<'_, Finished> {
        Box::pin(self.execute(turn, seen, stop))
    }

    fn gone(&self, run_id: RunId) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let kept = self.processes().get(&run_id).cloned();
            if let Some(kept) = kept {
                kept.gone().await;
                self.forget(run_id, &kept);
            }
        })
    }

    fn end(&self, run_id: RunId) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let stays = self.staying().remove(&run_id);
            if let Some(live) = stays {
                return self.dismiss(run_id, live).await;
            }
            // Its turn goes on.
            let kept = self.processes().get(&run_id).cloned();
            if let Some(kept) = kept {
                kept.end().await;
                self.forget(run_id, &kept);
            }
        })
    }

    /// An agent that cannot take up a conversation is never said to have a handle; whether one that says it can does, is
    /// seen when it is tried.
    fn can_resume(&self, turn: &Turn) -> bool {
        turn.handle.is_some() && turn.workspace.is_dir()
    }

    fn is_installed(&self, shell: Option<&ShellVariables>) -> bool {
        self.locate(&self.environment(shell)).is_ok()
    }

    fn probe(&self) -> BoxFuture<'_, Probe> {
        Box::pin(self.find_out())
    }
}

impl fmt::Debug for AcpEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcpEngine").field("config", &self.config).finish_non_exhaustive()
    }
}

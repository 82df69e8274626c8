//! The exec engine: an agent's command line that takes a prompt and prints what happens.
//!
//! What differs between agents is in their [profiles](profile), which are data. The prompt goes in by stdin, never
//! through a shell and never as an argument that `ps` would show. Output is logged as it is, with the secrets of the
//! agent's environment covered, and read line by line; what cannot be read stays in the log and is no error.
//!
//! This engine is **not** for agents that stay between turns: each turn is a process tree that is gone when it ends.

mod call;
mod ending;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod gateway_access;
mod interpret;
mod output;
mod presets;
mod probe;
mod profile;
mod used;
mod watch;

use std::collections::BTreeMap;
use std::fmt;

use adjourn_core::{ErrorCode, Observation, ResumesBy};
use futures::future::BoxFuture;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub(crate) use output::{CHUNK_BYTES, OUTPUT_BYTES_MAX};
pub use presets::Preset;
pub use profile::Permission;

use crate::environment::ShellVariables;
use crate::gateway::Gateway;
use crate::lines::TEXT_BYTES_MAX;
use crate::sandbox::SandboxOptions;
use crate::supervisor::{Program, Supervised, Supervisor};
use crate::turn::{Engine, Finished, Probe, Seen, Turn, failed, not_started, show};
use ending::Ending;
use gateway_access::GatewayAccess;
use output::Broken;
use profile::Output;
use watch::{Read, Unread, watch};

/// How an agent is called.
#[derive(Clone, PartialEq, Eq)]
pub struct ExecConfig {
    /// Which agent it is.
    pub preset: Preset,
    /// Its program and arguments that are always added; empty for the preset's own program.
    pub command: Vec<String>,
    /// What it may do without asking.
    pub permission: Permission,
    /// The model, where the agent should not choose.
    pub model: Option<String>,
    /// Variables that are added to its environment.
    pub env: BTreeMap<String, String>,
    /// Names of our own variables that it gets besides the allow-listed ones.
    pub pass_env: Vec<String>,
    /// The wall around it; none where a person switched it off.
    pub sandbox: Option<SandboxOptions>,
}

/// Without values of the environment, among which are keys.
impl fmt::Debug for ExecConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecConfig")
            .field("preset", &self.preset)
            .field("command", &self.command)
            .field("permission", &self.permission)
            .field("model", &self.model)
            .field("env", &self.env.keys())
            .field("pass_env", &self.pass_env)
            .field("sandbox", &self.sandbox)
            .finish()
    }
}

impl ExecConfig {
    /// A preset with nothing changed.
    pub fn new(preset: Preset) -> Self {
        Self {
            preset,
            command: Vec::new(),
            permission: Permission::Workspace,
            model: None,
            env: BTreeMap::new(),
            pass_env: Vec::new(),
            sandbox: Some(SandboxOptions::default()),
        }
    }
}

/// Executes turns with an agent's command line.
#[derive(Debug)]
pub struct ExecEngine {
    config: ExecConfig,
    supervisor: Supervisor,
    gateway: Gateway,
}

impl ExecEngine {
    /// An engine for the agent in `config`, whose processes are kept by `supervisor` and call their tools by `gateway`.
    pub fn new(config: ExecConfig, supervisor: Supervisor, gateway: Gateway) -> Self {
        Self { config, supervisor, gateway }
    }

    /// Starts the agent, or says why it cannot be.
    async fn start(
        &self,
        turn: &Turn,
        guest: Option<&GatewayAccess>,
    ) -> Result<(Supervised, Unread), Finished> {
        let mut environment = self.environment(turn.shell.as_ref());
        let program =
            self.locate(&environment).map_err(|problem| failed(ErrorCode::EngineNotFound, problem))?;
        if !turn.workspace.is_dir() {
            let problem = format!("the workspace {} is not there", turn.workspace.display());
            return Err(failed(ErrorCode::Internal, problem));
        }
        let unread = Unread::open(turn, self.profile().output).await;
        environment.set("ADJOURN_RUN_ID", turn.run_id.to_string());
        environment.set("ADJOURN_ATTEMPT", turn.attempt.to_string());
        if let Some(handle) = &turn.handle {
            environment.set("ADJOURN_HANDLE", handle);
        }
        if let Some(guest) = guest {
            guest.set(&mut environment);
        }
        let mut agent = Program::new(program, &turn.workspace);
        agent.sandbox = self.sandbox(turn, guest, &environment)?;
        (agent.args, agent.env) = (self.args(turn, guest), environment.into_variables());
        let supervised = self.supervisor.start(agent).await.map_err(not_started)?;
        self.gateway.agents().register(turn.run_id, supervised.process());
        Ok((supervised, unread))
    }

    async fn execute(&self, mut turn: Turn, seen: mpsc::Sender<Seen>, stop: CancellationToken) -> Finished {
        let received = tokio::select! {
            biased;
            () = stop.cancelled() => return Finished::Stopped,
            received = self.receive(&turn) => received,
        };
        let guest = match received {
            Ok(guest) => guest,
            Err(error) => return Finished::Failed(error),
        };
        if let Some(guest) = &guest {
            turn.masker = match turn.masker.and(guest.token()) {
                Ok(masker) => masker,
                Err(error) => return failed(ErrorCode::Internal, error.to_string()),
            };
        }
        let (mut supervised, unread) = match self.start(&turn, guest.as_ref()).await {
            Ok(started) => started,
            Err(finished) => return finished,
        };
        let watched = tokio::select! {
            biased;
            () = stop.cancelled() => None,
            watched = watch(&mut supervised, unread, &turn.prompt, &seen) => Some(watched),
        };
        let read = match watched {
            Some(Ok(read)) => read,
            Some(Err(broken)) => {
                let _ = supervised.end().await;
                return self.broken(&broken);
            }
            None => {
                let _ = supervised.end().await;
                return Finished::Stopped;
            }
        };
        let Read { exit, rest, report, complaints } = read;
        if let (Some(used), Some(handle)) = (report.used, report.handle.as_ref().or(turn.handle.as_ref())) {
            // Worth no failure: a turn would be counted twice.
            let _ = used.keep(&turn.logs, handle).await;
        }
        let ending = Ending { profile: self.profile(), exit, complaints, report };
        tokio::select! {
            biased;
            () = stop.cancelled() => Finished::Stopped,
            () = self.show_rest(&turn, rest, &ending, &seen) => ending.finished(),
        }
    }

    /// The last message, and the handle of an agent that has no word for it.
    async fn show_rest(&self, turn: &Turn, rest: Vec<Seen>, ending: &Ending<'_>, seen: &mpsc::Sender<Seen>) {
        for one in rest {
            show(seen, one).await;
        }
        let has_handle = turn.handle.is_some() || ending.report.handle.is_some();
        if matches!(self.profile().output, Output::Text) && !has_handle {
            show(seen, Seen::Fact(Observation::Handle(turn.run_id.to_string()))).await;
        }
    }

    fn broken(&self, broken: &Broken) -> Finished {
        match broken {
            Broken::TooMuch => failed(
                ErrorCode::EngineOutputLimit,
                format!(
                    "{} was ended because it printed too much: {} MiB in one attempt, or a message of {} MiB",
                    self.profile().name,
                    OUTPUT_BYTES_MAX >> 20,
                    TEXT_BYTES_MAX >> 20,
                ),
            ),
            Broken::Io(error) => {
                let name = self.profile().name;
                failed(ErrorCode::Internal, format!("the output of {name} cannot be read: {error}"))
            }
        }
    }
}

impl Engine for ExecEngine {
    fn resumes_by(&self) -> ResumesBy {
        ResumesBy::Handle
    }

    fn run(&self, turn: Turn, seen: mpsc::Sender<Seen>, stop: CancellationToken) -> BoxFuture<'_, Finished> {
        Box::pin(self.execute(turn, seen, stop))
    }

    /// Agents keep their conversations where only they know; what can be told is whether there is a place for it to work.
    fn can_resume(&self, turn: &Turn) -> bool {
        turn.handle.is_some() && turn.workspace.is_dir()
    }

    fn is_installed(&self, shell: Option<&ShellVariables>) -> bool {
        self.locate(&self.environment(shell)).is_ok()
    }

    fn probe(&self) -> BoxFuture<'_, Probe> {
        Box::pin(self.ask_version())
    }
}

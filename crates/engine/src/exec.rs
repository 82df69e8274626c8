//! The exec engine: an agent's command line that takes a prompt and prints what happens.
//!
//! What differs between agents is in their [profiles](profile), which are data. The prompt goes in by stdin, never
//! through a shell and never as an argument that `ps` would show. Output is logged as it is, with the secrets of the
//! agent's environment covered, and read line by line; what cannot be read stays in the log and is no error.
//!
//! This engine is **not** for agents that stay between turns: each turn is a process tree that is gone when it ends.

mod ending;
mod interpret;
mod lines;
mod log;
mod output;
mod presets;
mod probe;
mod profile;
mod used;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use adjourn_core::{ErrorCode, Observation, OutputStream, ResumesBy};
use futures::future::BoxFuture;
use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use log::log_file;
pub use presets::Preset;
pub use profile::Permission;

use crate::environment::Environment;
use crate::program;
use crate::redact::Redactor;
use crate::supervisor::{Agent, Supervised, Supervisor};
use crate::turn::{Engine, Finished, Probe, Seen, Turn};
use ending::{Ending, failed};
use interpret::Interpreter;
use log::Log;
use output::{Broken, Budget, OUTPUT_BYTES_MAX, Tail, Tap, show};
use profile::{Arg, Output, Profile};
use used::Used;

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
            .finish()
    }
}

impl ExecConfig {
    /// A preset with nothing changed.
    pub fn new(preset: Preset) -> Self {
        Self {
            preset,
            command: Vec::new(),
            permission: Permission::default(),
            model: None,
            env: BTreeMap::new(),
            pass_env: Vec::new(),
        }
    }
}

/// Executes turns with an agent's command line.
#[derive(Debug)]
pub struct ExecEngine {
    config: ExecConfig,
    supervisor: Supervisor,
}

impl ExecEngine {
    /// An engine for the agent in `config`, whose processes are kept by `supervisor`.
    pub fn new(config: ExecConfig, supervisor: Supervisor) -> Self {
        Self { config, supervisor }
    }

    fn profile(&self) -> &'static Profile {
        self.config.preset.profile()
    }

    /// The name or path of the program.
    fn program(&self) -> &str {
        self.config.command.first().map_or(self.profile().program, String::as_str)
    }

    fn environment(&self) -> Environment {
        let mut environment = Environment::new(std::env::vars_os(), &self.config.pass_env, &self.config.env);
        for (name, value) in self.profile().grant(self.config.permission).env {
            // Who sets it in the configuration knows better.
            if !self.config.env.contains_key(*name) {
                environment.set(name, value);
            }
        }
        environment
    }

    fn locate(&self, environment: &Environment) -> Result<PathBuf, String> {
        let path = environment.get("PATH");
        program::locate(self.program(), path).ok_or_else(|| {
            let place = match (self.program().contains('/'), path) {
                (true, _) => "there is no such program".to_owned(),
                (false, Some(path)) => format!("it is in no folder of PATH ({})", path.display()),
                (false, None) => "PATH is not set".to_owned(),
            };
            format!(
                "`{}` cannot be started: {place}. To install it: {}",
                self.program(),
                self.profile().install
            )
        })
    }

    fn args(&self, turn: &Turn) -> Vec<OsString> {
        let profile = self.profile();
        let template = if turn.handle.is_some() { profile.resume } else { profile.start };
        let mut args: Vec<OsString> = Vec::new();
        for arg in template {
            match arg {
                Arg::Is(text) => args.push(text.into()),
                Arg::Model => {
                    if let Some(model) = &self.config.model {
                        args.extend([profile.model.into(), model.into()]);
                    }
                }
                Arg::Permission => {
                    args.extend(profile.grant(self.config.permission).args.iter().map(OsString::from));
                }
                Arg::Extra => args.extend(self.config.command.iter().skip(1).map(OsString::from)),
                Arg::Handle => args.extend(turn.handle.iter().map(OsString::from)),
            }
        }
        args
    }

    /// The turn until its process is there, or why it is not.
    async fn start(&self, turn: &Turn) -> Result<Started, Finished> {
        let mut environment = self.environment();
        let program =
            self.locate(&environment).map_err(|problem| failed(ErrorCode::EngineNotFound, problem))?;
        let redactor = Redactor::new(environment.secrets());
        environment.set("ADJOURN_RUN_ID", turn.run_id.to_string());
        environment.set("ADJOURN_ATTEMPT", turn.attempt.to_string());
        if let Some(handle) = &turn.handle {
            environment.set("ADJOURN_HANDLE", handle);
        }
        if !turn.workspace.is_dir() {
            let problem = format!("the workspace {} is not there", turn.workspace.display());
            return Err(failed(ErrorCode::Internal, problem));
        }
        let log = |stream| Log::open(&turn.logs, turn.attempt, stream);
        let logs = async { Ok((log(OutputStream::Stdout).await?, log(OutputStream::Stderr).await?)) }.await;
        let logs = logs.map_err(|error| log_failed(turn, &error))?;
        let mut agent = Agent::new(program, &turn.workspace);
        (agent.args, agent.env) = (self.args(turn), environment.into_variables());
        let supervised = self.supervisor.start(agent).await;
        let supervised = supervised
            .map_err(|error| failed(ErrorCode::Internal, format!("cannot start a supervisor: {error}")))?;
        Ok(Started { supervised, logs, redactor })
    }

    async fn execute(&self, turn: Turn, seen: mpsc::Sender<Seen>, stop: CancellationToken) -> Finished {
        if stop.is_cancelled() {
            return Finished::Stopped;
        }
        let Started { mut supervised, logs, redactor } = match self.start(&turn).await {
            Ok(started) => started,
            Err(finished) => return finished,
        };
        let process = Observation::Process(supervised.process());
        let used_before = match &turn.handle {
            Some(handle) => Used::load(&turn.logs, handle).await,
            None => Used::default(),
        };
        let mut interpreter = Interpreter::new(self.profile().output, turn.attempt, used_before);
        let mut tail = Tail::default();
        let budget = Budget::after(logs.0.bytes_before + logs.1.bytes_before);
        let (stdin, stdout, stderr) =
            (supervised.stdin.take(), supervised.stdout.take(), supervised.stderr.take());
        let (Some(stdout), Some(stderr)) = (stdout, stderr) else {
            return failed(ErrorCode::Internal, "the agent was started without pipes");
        };
        let over = CancellationToken::new();
        let stdout =
            Tap { pipe: stdout, over: &over, log: logs.0, budget: &budget, redactor: redactor.clone() };
        let stderr = Tap { pipe: stderr, over: &over, log: logs.1, budget: &budget, redactor };
        let work = async {
            show(&seen, Seen::Fact(process)).await;
            let events = stdout.read_events(&mut interpreter, &seen);
            let complaints = stderr.read_complaints(&mut tail);
            let ending = async {
                let exit = supervised.wait().await?;
                over.cancel();
                Ok(exit)
            };
            let given = give(stdin, &turn.prompt, &over);
            tokio::try_join!(ending, given, events, complaints).map(|(exit, ..)| exit)
        };
        let worked: Result<_, Broken> = tokio::select! {
            biased;
            () = stop.cancelled() => {
                let _ = supervised.end().await;
                return Finished::Stopped;
            }
            worked = work => worked,
        };
        let exit = match worked {
            Ok(exit) => exit,
            Err(broken) => {
                let _ = supervised.end().await;
                return self.broken(&turn, &broken);
            }
        };
        let (rest, report) = interpreter.finish();
        if let (Some(used), Some(handle)) = (report.used, report.handle.as_ref().or(turn.handle.as_ref())) {
            // Worth no failure: a turn would be counted twice.
            let _ = used.keep(&turn.logs, handle).await;
        }
        let ending = Ending { profile: self.profile(), exit, complaints: tail.text(), report };
        let shown = self.show_rest(&turn, rest, &ending, &seen);
        tokio::select! {
            biased;
            () = stop.cancelled() => Finished::Stopped,
            () = shown => ending.finished(),
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

    fn broken(&self, turn: &Turn, broken: &Broken) -> Finished {
        match broken {
            Broken::TooMuch => failed(
                ErrorCode::EngineOutputLimit,
                format!(
                    "{} was ended because it printed too much: {} MiB in one attempt, or a message of {} MiB",
                    self.profile().name,
                    OUTPUT_BYTES_MAX >> 20,
                    interpret::TEXT_BYTES_MAX >> 20,
                ),
            ),
            Broken::Io(error) => log_failed(turn, error),
        }
    }
}

/// A turn whose process is there.
struct Started {
    supervised: Supervised,
    /// For stdout and stderr.
    logs: (Log, Log),
    redactor: Redactor,
}

/// Gives the agent its prompt. One that does not read it will say itself what is wrong, if anything is.
async fn give(stdin: Option<ChildStdin>, prompt: &str, over: &CancellationToken) -> Result<(), Broken> {
    if let Some(mut stdin) = stdin {
        tokio::select! {
            _ = stdin.write_all(prompt.as_bytes()) => {}
            () = over.cancelled() => {}
        }
    }
    Ok(())
}

fn log_failed(turn: &Turn, error: &std::io::Error) -> Finished {
    failed(ErrorCode::Internal, format!("the output cannot be kept in {}: {error}", turn.logs.display()))
}

impl Engine for ExecEngine {
    fn resumes_by(&self) -> ResumesBy {
        ResumesBy::Handle
    }

    fn run(&self, turn: Turn, seen: mpsc::Sender<Seen>, stop: CancellationToken) -> BoxFuture<'_, Finished> {
        Box::pin(self.execute(turn, seen, stop))
    }

    /// Agents keep their conversations where only they know; what can be told is whether there is an agent, and a
    /// place for it to work.
    fn can_resume(&self, turn: &Turn) -> bool {
        turn.handle.is_some() && turn.workspace.is_dir() && self.locate(&self.environment()).is_ok()
    }

    fn probe(&self) -> BoxFuture<'_, Probe> {
        Box::pin(self.ask_version())
    }
}

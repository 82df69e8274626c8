//! Agents are started under a supervisor, so that nothing of them is left when their turn is over.
//!
//! An agent is a tree of processes that nobody but it knows: shells, language servers, daemons that left their group
//! with `setsid` or were forked twice. Killing the leader leaves the rest; killing its group leaves what left the group.
//! So each agent runs under a tiny process of our own, the same binary started again, which
//!
//! - is the *subreaper* of all that the agent starts: an orphan becomes its child, never init's;
//! - gets a signal when Adjourn dies, whatever it dies of;
//! - ends when the agent ends, with its exit status, but only after everything else of the agent is gone as well.
//!
//! So the end of the supervisor *is* the end of the tree, and it is the supervisor's process that is reported and
//! remembered: recovery ends the supervisor of a turn that was cut off ([`end_orphan`]) and knows that all is gone.
//!
//! Subreapers and death signals are Linux's. Elsewhere the supervisor ends the process group, and no more.
//!
//! ```no_run
//! # async fn example() -> std::io::Result<()> {
//! use adjourn_engine::supervisor::{Agent, Supervisor};
//!
//! let supervisor = Supervisor::current_exe()?;
//! let mut agent = Agent::new("/usr/bin/claude", "/work/space");
//! agent.args = vec!["--version".into()];
//! let mut started = supervisor.start(agent).await?;
//! let status = started.wait().await?;
//! # Ok(()) }
//! ```

mod child;
mod inside;
mod orphan;
mod process;
mod spawner;

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

pub use child::{Exit, Supervised};
pub use inside::main;
pub use orphan::end_orphan;

/// The hidden subcommand of `adjourn` that calls [`main`].
pub const SUBCOMMAND: &str = "__supervise";

/// How long an agent may take to end by itself once it was told to, before it is killed.
///
/// A canceled run's processes have to be gone within 5 s; agents write their session files in some 100 ms. The rest is
/// for a busy machine.
const GRACE: Duration = Duration::from_secs(2);

/// How long it may take until a tree that was told to end is gone: its grace, and a second to kill what ignores it.
const END_MAX: Duration = GRACE.saturating_add(Duration::from_secs(1));

/// How a supervisor is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Supervisor {
    /// The program and its first arguments; what is to be supervised follows them.
    pub command: Vec<OsString>,
}

/// What a supervisor is to start.
#[derive(Clone, PartialEq, Eq)]
pub struct Agent {
    /// The program, as a path: it is not searched for.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The folder it works in.
    pub folder: PathBuf,
    /// Its whole environment: nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
}

/// Without values of the environment, among which are keys.
impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("Agent")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("folder", &self.folder)
            .field("env", &names)
            .finish()
    }
}

impl Agent {
    /// A program without arguments and environment.
    pub fn new(program: impl Into<PathBuf>, folder: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), args: Vec::new(), folder: folder.into(), env: Vec::new() }
    }
}

impl Supervisor {
    /// The running program itself, which has to answer to [`SUBCOMMAND`].
    pub fn current_exe() -> io::Result<Self> {
        Ok(Self { command: vec![std::env::current_exe()?.into(), SUBCOMMAND.into()] })
    }

    /// Starts an agent with its stdin, stdout and stderr as pipes.
    ///
    /// Has to be called within a Tokio runtime.
    pub async fn start(&self, agent: Agent) -> io::Result<Supervised> {
        let (program, first) =
            self.command.split_first().ok_or_else(|| io::Error::other("the supervisor has no command"))?;
        let mut command = tokio::process::Command::new(program);
        command
            .args(first)
            .arg(std::process::id().to_string())
            .arg(agent.program)
            .args(agent.args)
            .current_dir(agent.folder)
            .env_clear()
            .envs(agent.env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        spawner::spawn(command).await
    }
}

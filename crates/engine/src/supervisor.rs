//! Programs of others are started under a supervisor, so that nothing of them is left when their work is over.
//!
//! An agent is a tree of processes that nobody but it knows: shells, language servers, daemons that left their group
//! with `setsid` or were forked twice. Killing the leader leaves the rest; killing its group leaves what left the group.
//! So there are two small processes of our own between Adjourn and its programs:
//!
//! - the launcher, one for all of them, which is this binary started once more, and forks
//! - a supervisor for each, which builds the wall around its program ([`Sandbox`]), starts it,
//!   passes its exit status on, and ends only after everything else of the program is gone.
//!
//! So the end of the supervisor *is* the end of the tree, and it is the supervisor's process that is reported and
//! remembered: recovery waits for the supervisor of a turn that was cut off ([`end_orphan`]) and knows that all is gone.
//! A supervisor notices the death of Adjourn, whatever it dies of, by the pipe between them.
//!
//! Namespaces and subreapers are Linux's. Elsewhere the supervisor ends the process group, and no more.
//!
//! ```no_run
//! # async fn example() -> Result<(), adjourn_engine::supervisor::StartError> {
//! use adjourn_engine::supervisor::{Program, Supervisor};
//!
//! let supervisor = Supervisor::current_exe()?;
//! let mut program = Program::new("/usr/bin/claude", "/work/space");
//! program.args = vec!["--version".into()];
//! let mut started = supervisor.start(program).await?;
//! let status = started.wait().await?;
//! # Ok(()) }
//! ```

mod child;
mod client;
mod launcher;
mod orphan;
mod process;
mod strays;
mod supervise;
mod wire;

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use tokio::sync::OnceCell;

use crate::sandbox::{Sandbox, Walls, WithoutWalls};
use client::Client;
use wire::{Launch, OsText};

pub use child::{Exit, Supervised};
pub use orphan::end_orphan;
pub(crate) use orphan::stopped;

/// The hidden subcommand of `adjourn` that calls [`main`].
pub const SUBCOMMAND: &str = "__supervise";

/// How long an agent may take to end by itself once it was told to, before it is killed.
///
/// A canceled run's processes have to be gone within 5 s; agents write their session files in some 100 ms. The rest is
/// for a busy machine.
const GRACE: Duration = Duration::from_secs(2);

/// How long it may take until a tree that was told to end is gone: its grace, and a second to kill what ignores it.
const END_MAX: Duration = GRACE.saturating_add(Duration::from_secs(1));

/// What is said of a program that has no wall around it.
pub const NO_WALLS: &str = "off";

/// How the words about the walls of a machine begin where none can be built.
pub const NONE: &str = crate::sandbox::NONE;

/// What is added where no wall can be built, and a person said that the program may run all the same.
pub const ACCEPTED: &str = "; a person accepted that";

/// The launcher: what the hidden subcommand does, until Adjourn closes the socket that is its stdin.
pub fn main() -> ExitCode {
    launcher::main()
}

/// Starts programs under supervisors. Clones share one launcher.
#[derive(Debug, Clone)]
pub struct Supervisor {
    client: Client,
    walls: std::sync::Arc<OnceCell<Walls>>,
}

/// A program to start.
#[derive(Clone, PartialEq, Eq)]
pub struct Program {
    /// The program, as a path: it is not searched for.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The folder it works in.
    pub folder: PathBuf,
    /// Its whole environment: nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// The wall around it; none for a program that may do what its user may do.
    pub sandbox: Option<Sandbox>,
}

/// Without values of the environment, among which are keys.
impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("Program")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("folder", &self.folder)
            .field("env", &names)
            .field("sandbox", &self.sandbox)
            .finish()
    }
}

impl Program {
    /// A program without arguments, environment and wall.
    pub fn new(program: impl Into<PathBuf>, folder: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            folder: folder.into(),
            env: Vec::new(),
            sandbox: None,
        }
    }
}

/// Why a program was not started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The wall around it cannot be built here, and it is not started without.
    #[error("the sandbox cannot be built: {0}")]
    NoSandbox(String),
    /// The program cannot be executed.
    #[error("{0}")]
    NotStarted(String),
    /// Something is wrong between us and the launcher.
    #[error("cannot start a supervisor: {0}")]
    Io(#[from] io::Error),
}

impl Supervisor {
    /// A program and its first arguments that become the launcher, by calling [`main`].
    pub fn new(command: Vec<OsString>) -> Self {
        Self { client: Client::new(command), walls: std::sync::Arc::default() }
    }

    /// The running program itself, which has to answer to [`SUBCOMMAND`].
    pub fn current_exe() -> io::Result<Self> {
        Ok(Self::new(vec![std::env::current_exe()?.into(), SUBCOMMAND.into()]))
    }

    /// Starts a program with its stdin, stdout and stderr as pipes; returns when it runs.
    ///
    /// Has to be called within a Tokio runtime.
    pub async fn start(&self, program: Program) -> Result<Supervised, StartError> {
        let Program { program, args, folder, env, sandbox } = program;
        let (sandbox, walls) = match sandbox {
            Some(sandbox) => {
                let walls = self.walls().await;
                match (walls.isolation(), sandbox.without_walls) {
                    (Err(_), WithoutWalls::Accepted) => (None, format!("{}{ACCEPTED}", walls.summary())),
                    (Ok(_), _) | (Err(_), WithoutWalls::Refused) => {
                        (Some(sandbox.with(walls).map_err(StartError::NoSandbox)?), walls.summary())
                    }
                }
            }
            None => (None, NO_WALLS.to_owned()),
        };
        let launch = Launch {
            program,
            args: args.into_iter().map(OsText).collect(),
            folder,
            env: env.into_iter().map(|(name, value)| (OsText(name), OsText(value))).collect(),
            sandbox,
        };
        let mut started = Supervised::start(&self.client, launch).await?;
        started.set_walls(walls);
        Ok(started)
    }

    /// The walls that can be built on this machine, found out by building them once.
    pub async fn walls(&self) -> &Walls {
        self.walls.get_or_init(|| Walls::try_out(&self.client)).await
    }
}

/// Whether a sandbox can be built, by building it.
pub(crate) trait TrialLauncher {
    /// Starts a program in this sandbox; the problem is why that is not possible.
    fn try_sandbox(&self, sandbox: Sandbox) -> impl Future<Output = Result<(), String>> + Send;
}

impl TrialLauncher for Client {
    async fn try_sandbox(&self, sandbox: Sandbox) -> Result<(), String> {
        // The launcher itself ends at once when it is started without a socket.
        let (program, args) = self.command().split_first().ok_or("the supervisor has no command")?;
        let launch = Launch {
            program: program.into(),
            args: args.iter().cloned().map(OsText).collect(),
            folder: "/".into(),
            env: Vec::new(),
            sandbox: Some(sandbox),
        };
        match Supervised::start(self, launch).await {
            Ok(mut started) => started.end().await.map(drop).map_err(|error| error.to_string()),
            Err(StartError::NoSandbox(problem) | StartError::NotStarted(problem)) => Err(problem),
            Err(StartError::Io(error)) => Err(error.to_string()),
        }
    }
}

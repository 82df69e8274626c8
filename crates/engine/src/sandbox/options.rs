//! What may be chosen about the sandbox of an engine or a tool server, and the wall that follows from it.

use std::io;
use std::path::{Path, PathBuf};

use adjourn_core::{ErrorCode, named};

use super::state_folders::{self, StateFolder};
use super::{Sandbox, UnixSockets, WithoutWalls, Writes};
use crate::environment::Environment;
use crate::exec::Permission;
use crate::turn::{Finished, failed};
use crate::user_list::UserList;

named! {
    /// Something that is closed unless the configuration opens it.
    pub enum Allowance {
        /// Unix sockets: ssh-agent, Docker, a local database. Whoever can talk to Docker or to the session bus can leave
        /// the sandbox.
        UnixSockets = "unix_sockets",
    }
}

/// What Adjourn keeps from every program of others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Protected {
    /// Folders that are not there for it.
    pub hidden: Vec<PathBuf>,
    /// Files that it can read and not change.
    pub read_only: Vec<PathBuf>,
}

/// The sandbox of an engine or a tool server, as configured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SandboxOptions {
    /// What Adjourn keeps to itself.
    pub protected: Protected,
    /// More folders and files that can be written.
    pub write: Vec<PathBuf>,
    /// What is open although it is closed by default.
    pub allow: Vec<Allowance>,
    /// Where a person may have said that these programs run even where there is no sandbox; none for never.
    pub without_walls: Option<Box<Acceptance>>,
}

/// Where it is written down that the programs of an engine run without a sandbox where none can be built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acceptance {
    list: UserList,
    engine: String,
}

impl Acceptance {
    /// Where it is written down for the engine called `engine`; none where a user has no folder for it.
    pub fn of_user(engine: &str, variable: impl Fn(&str) -> Option<PathBuf>) -> Option<Self> {
        let list = UserList::of_user("without-sandbox", variable)?;
        Some(Self { list, engine: engine.to_owned() })
    }

    /// Whether a person accepted it.
    pub fn is_given(&self) -> bool {
        self.list.has(&self.engine)
    }

    /// Writes down that a person accepted it.
    pub fn give(&self) -> io::Result<()> {
        self.list.add(&self.engine, |_| false)
    }
}

/// Where an agent works, and what it may do there.
pub(crate) struct Workplace<'a> {
    pub(crate) workspace: &'a Path,
    /// Folders besides that it has to read; not all of them need exist.
    pub(crate) reads: &'a [PathBuf],
    pub(crate) permission: Permission,
}

impl SandboxOptions {
    /// The wall around an agent that keeps its own things in `state`, which is made where it is not there.
    pub(crate) fn for_agent(
        &self,
        work: &Workplace<'_>,
        state: &[StateFolder],
        environment: &Environment,
    ) -> Result<Sandbox, Finished> {
        let mut writable = state_folders::prepare(state, environment).map_err(|error| {
            failed(ErrorCode::Internal, format!("a folder for the agent's own files cannot be made: {error}"))
        })?;
        writable.extend(temporary_folders(environment));
        writable.extend(self.write.iter().cloned());
        let writes = match work.permission {
            Permission::ReadOnly => Writes::Only(writable),
            Permission::Workspace => {
                writable.push(work.workspace.to_owned());
                Writes::Only(writable)
            }
            Permission::Full => {
                // What is not there cannot be hidden, and the agent could make it.
                for hidden in &self.protected.hidden {
                    let _ = std::fs::create_dir_all(hidden);
                }
                Writes::Everywhere
            }
        };
        let mut sandbox = self.sandbox(writes, UnixSockets::Denied);
        let reads = work.reads.iter().filter(|path| path.exists()).cloned();
        if self.without_walls.as_ref().is_some_and(|acceptance| acceptance.is_given()) {
            sandbox.without_walls = WithoutWalls::Accepted;
        }
        sandbox.visible = reads.chain([work.workspace.to_owned()]).collect();
        Ok(sandbox.canonical())
    }

    /// The wall around a tool server. Where it writes and whom it talks to is its purpose, so only what is Adjourn's own is
    /// closed.
    pub(crate) fn for_tool_server(&self, folder: &Path) -> Sandbox {
        let sandbox = self.sandbox(Writes::Everywhere, UnixSockets::Allowed);
        // Its folder may be around the data directory, and never inside of it.
        debug_assert!(!self.protected.hidden.iter().any(|hidden| folder.starts_with(hidden)));
        sandbox.canonical()
    }

    fn sandbox(&self, writes: Writes, unix_sockets: UnixSockets) -> Sandbox {
        let Protected { hidden, read_only } = self.protected.clone();
        let unix_sockets =
            if self.allow.contains(&Allowance::UnixSockets) { UnixSockets::Allowed } else { unix_sockets };
        Sandbox { hidden, read_only, writes, unix_sockets, ..Sandbox::new() }
    }
}

impl Sandbox {
    /// Without links in its paths: the kernel compares files, and we compare paths.
    fn canonical(mut self) -> Self {
        let writable = match &mut self.writes {
            Writes::Only(paths) => Some(paths),
            Writes::Everywhere => None,
        };
        let lists = [&mut self.hidden, &mut self.visible, &mut self.read_only];
        for path in lists.into_iter().chain(writable).flatten() {
            if let Ok(real) = path.canonicalize() {
                *path = real;
            }
        }
        self
    }
}

/// Where programs put temporary files.
fn temporary_folders(environment: &Environment) -> Vec<PathBuf> {
    let named = environment.get("TMPDIR").map(PathBuf::from);
    named.into_iter().chain(["/tmp", "/var/tmp"].map(PathBuf::from)).collect()
}

//! The sandbox: the wall around a program of others, so that it reaches its work and nothing of Adjourn.
//!
//! A [`Sandbox`] is data: what is hidden, what can be written, what can be talked to. On Linux it is built from four parts,
//! each of which stops something that the others do not:
//!
//! | part | stops |
//! |---|---|
//! | namespaces (mounts, processes) | seeing hidden folders and other processes; outliving the supervisor |
//! | Landlock | writing anywhere else, signals and abstract sockets to the outside, undoing the mounts |
//! | seccomp | sockets with a path (Landlock knows none), reading other processes, kernel interfaces nobody needs |
//! | capabilities | what root could do besides, where Adjourn runs as root |
//!
//! On macOS the same data becomes a Seatbelt profile. A sandbox is built whole or the program is not started. Where the
//! kernel has no namespaces for us, it is checked whether the rest still keeps the promise.
//!
//! This is **not** where it is decided what an agent may do: see [`options`](crate::SandboxOptions).

#[cfg(target_os = "linux")]
mod capabilities;
#[cfg(target_os = "linux")]
mod everything_but;
#[cfg(target_os = "linux")]
mod folders;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod namespaces;
mod options;
mod seatbelt;
#[cfg(target_os = "linux")]
mod seccomp;
pub(crate) mod state_folders;
mod walls;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

pub(crate) use options::Workplace;
pub use options::{Acceptance, Allowance, Protected, SandboxOptions};
pub(crate) use state_folders::StateFolder;
pub(crate) use walls::NONE;
pub use walls::Walls;

/// The wall around one program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    /// Folders that are not there for the program, but for what is in `visible`.
    pub hidden: Vec<PathBuf>,
    /// Folders below a hidden one that are there all the same.
    pub visible: Vec<PathBuf>,
    /// Files that can be read and not changed, replaced or removed.
    pub read_only: Vec<PathBuf>,
    /// Where the program can write.
    pub writes: Writes,
    /// Whether the program can open Unix sockets. A socket to Docker or to the session bus is a way out.
    pub unix_sockets: UnixSockets,
    /// How the program is kept apart from other processes; the supervisor chooses the strongest that can be had.
    pub isolation: Isolation,
    /// Whether the program may run on a machine that has none of this.
    #[serde(skip)]
    pub without_walls: WithoutWalls,
}

/// Whether a program may run where no wall at all can be built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WithoutWalls {
    /// It is not started.
    #[default]
    Refused,
    /// A person said that it may.
    Accepted,
}

/// Where a program can write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Writes {
    /// In these folders and files, and nowhere else. What does not exist is passed over.
    Only(Vec<PathBuf>),
    /// Everywhere that its user can, but in what is hidden or read-only.
    Everywhere,
}

/// Whether a program can open Unix sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnixSockets {
    /// It cannot; pairs of connected sockets for its own children are fine.
    Denied,
    /// It can.
    Allowed,
}

/// How a program is kept apart from other processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// In namespaces of mounts and processes, as root may make them.
    Namespaces,
    /// The same inside of a user namespace, as everybody may make them where the system allows it.
    UserNamespaces,
    /// Not at all: other processes can be seen, and folders are closed by Landlock alone.
    None,
}

impl Sandbox {
    /// A wall that hides nothing and lets nothing be written.
    pub fn new() -> Self {
        Self {
            hidden: Vec::new(),
            visible: Vec::new(),
            read_only: Vec::new(),
            writes: Writes::Only(Vec::new()),
            unix_sockets: UnixSockets::Denied,
            isolation: Isolation::None,
            without_walls: WithoutWalls::Refused,
        }
    }

    /// The sandbox as it can be built here; the problem is why it cannot.
    pub(crate) fn with(self, walls: &Walls) -> Result<Self, String> {
        let isolation = walls.isolation()?;
        let mut sandbox = Self { isolation, ..self };
        match isolation {
            Isolation::None => {
                sandbox.check_without_namespaces()?;
                // Only a mount hides Adjourn's own socket from a program that can open any.
                sandbox.unix_sockets = UnixSockets::Denied;
            }
            Isolation::Namespaces | Isolation::UserNamespaces => {}
        }
        Ok(sandbox)
    }

    /// Landlock allows whole folders: what is hidden inside of a folder that can be written could be written too.
    fn check_without_namespaces(&self) -> Result<(), String> {
        let Writes::Only(writable) = &self.writes else { return Ok(()) };
        let protected = self.hidden.iter().chain(&self.read_only);
        for path in protected.filter(|path| path.exists()) {
            if let Some(around) = writable.iter().find(|folder| path.starts_with(folder)) {
                return Err(format!(
                    "without user namespaces, {} cannot be kept from a program that may write in {}: move one of them, \
                     or allow user namespaces on this machine",
                    path.display(),
                    around.display()
                ));
            }
        }
        Ok(())
    }

    /// Whether the program gets namespaces of its own.
    pub(crate) fn has_namespaces(&self) -> bool {
        match self.isolation {
            Isolation::Namespaces | Isolation::UserNamespaces => true,
            Isolation::None => false,
        }
    }

    /// Whether something stays visible although it is below a hidden folder.
    #[cfg(target_os = "linux")]
    fn visible_below<'a>(&'a self, hidden: &'a Path) -> impl Iterator<Item = &'a Path> {
        self.visible.iter().map(PathBuf::as_path).filter(move |path| path.starts_with(hidden))
    }
}

impl Default for Sandbox {
    fn default() -> Self {
        Self::new()
    }
}

/// Puts this process into new namespaces. Its next child is the first process in them.
#[cfg(target_os = "linux")]
pub(crate) fn enter_namespaces(sandbox: &Sandbox) -> Result<(), String> {
    namespaces::enter(sandbox.isolation)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn enter_namespaces(_sandbox: &Sandbox) -> Result<(), String> {
    Err("this system has no namespaces".to_owned())
}

/// Hides folders and makes files read-only, in the namespaces that this process is in.
#[cfg(target_os = "linux")]
pub(crate) fn arrange_folders(sandbox: &Sandbox) -> Result<(), String> {
    if sandbox.has_namespaces() { folders::arrange(sandbox) } else { Ok(()) }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn arrange_folders(_sandbox: &Sandbox) -> Result<(), String> {
    Ok(())
}

/// Does beforehand what is the same for all sandboxes.
pub(crate) fn prepare() {
    #[cfg(target_os = "linux")]
    seccomp::prepare();
}

/// Restricts this process, and with it the program that it becomes.
#[cfg(target_os = "linux")]
pub(crate) fn restrict_self(sandbox: &Sandbox) -> Result<(), String> {
    capabilities::drop_dangerous()?;
    landlock::restrict(sandbox)?;
    seccomp::restrict(sandbox.unix_sockets)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn restrict_self(_sandbox: &Sandbox) -> Result<(), String> {
    Ok(())
}

/// The command that executes a program.
#[cfg(not(target_os = "macos"))]
pub(crate) fn command(program: &Path, _sandbox: Option<&Sandbox>) -> Result<Command, String> {
    Ok(Command::new(program))
}

/// The command that executes a program: in a sandbox, through the program of the system that applies a profile.
#[cfg(target_os = "macos")]
pub(crate) fn command(program: &Path, sandbox: Option<&Sandbox>) -> Result<Command, String> {
    Ok(match sandbox {
        None => Command::new(program),
        Some(sandbox) => {
            let mut command = Command::new(seatbelt::SANDBOX_EXEC);
            command.arg("-p").arg(seatbelt::profile(sandbox)?).arg(program);
            command
        }
    })
}

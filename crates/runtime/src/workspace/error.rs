//! Why a workspace is not to be had.

use std::io;
use std::path::PathBuf;

use adjourn_core::RunId;

/// Why a workspace, or a file in it, is not to be had.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The skill cannot be copied.
    #[error("the skill cannot be copied: {}", .0.join("; "))]
    SkillUnfit(Vec<String>),
    /// The folder that was asked for cannot be worked in.
    #[error("{} is not a folder that can be worked in", .0.display())]
    NotAFolder(PathBuf),
    /// There is none.
    #[error("{0} has no workspace any more")]
    Missing(RunId),
    /// The kept version of a skill is not what its name says.
    #[error(
        "the kept version of the skill `{skill}` in {} does not match its digest: somebody changed it. Remove that folder \
         and start the run again",
        folder.display()
    )]
    VersionDamaged {
        /// The skill.
        skill: String,
        /// Where the version is kept.
        folder: PathBuf,
    },
    /// A path does not name a file in the workspace.
    #[error("`{path}` {problem}")]
    BadPath {
        /// The path.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A file that comes with a request cannot be had: not there, not a file, too long.
    #[error("`{name}` cannot be copied: {source}")]
    BadUpload {
        /// Its name in the request.
        name: String,
        /// Why not.
        source: io::Error,
    },
    /// A file that a run was given is gone, or is not what it was.
    #[error(
        "`{name}`, which {run} was given, is missing or not what it was: start a run with the file instead"
    )]
    GivenDamaged {
        /// The run.
        run: RunId,
        /// The name of the file.
        name: String,
    },
    /// The disk says no.
    #[error("{what} failed: {source}")]
    Io {
        /// What was to be done.
        what: String,
        /// Why it was not.
        source: io::Error,
    },
}

/// Adds to an I/O error what was to be done.
pub(super) fn doing(what: impl Into<String>) -> impl FnOnce(io::Error) -> WorkspaceError {
    let what = what.into();
    move |source| WorkspaceError::Io { what, source }
}

/// Whose fault it is that a file that comes with a request was not copied.
pub(super) fn uploading(name: &str, source: io::Error) -> WorkspaceError {
    match source.kind() {
        io::ErrorKind::NotFound
        | io::ErrorKind::PermissionDenied
        | io::ErrorKind::InvalidInput
        | io::ErrorKind::FileTooLarge
        | io::ErrorKind::NotADirectory => WorkspaceError::BadUpload { name: name.to_owned(), source },
        _ => WorkspaceError::Io { what: format!("copying `{name}`"), source },
    }
}

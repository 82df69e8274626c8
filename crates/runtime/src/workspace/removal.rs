//! The end of workspaces: those of pruned runs, and what a crash left.

use std::fs;
use std::io;
use std::path::Path;

use adjourn_core::RunId;
use adjourn_store::files;

use super::error::doing;
use super::{LOGS, WorkspaceError, Workspaces};

/// What a workspace is called until it is complete.
pub(super) const NEW: &str = ".new-";

/// What it is called once its removal has begun.
pub(super) const GONE: &str = ".gone-";

/// In the folder of a run: this other run works in it.
const USED_BY: &str = "used-by-";

/// In the folder of a run: the run was removed, only its working folder is still used.
const REMOVED: &str = "removed";

impl Workspaces {
    /// Removes the workspace of a run that is no more. A folder of the user stays, and so does one that another run
    /// works in. Links are removed, never followed. It does not matter if it is gone already.
    pub fn remove(&self, run_id: RunId) -> Result<(), WorkspaceError> {
        let owner = self.owner(run_id).ok().filter(|owner| *owner != run_id);
        let own = self.runs.join(run_id.to_string());
        if self.is_used(run_id)? {
            put_mark(&own.join(REMOVED)).map_err(doing("marking the workspace"))?;
            gone_is_fine(files::remove_tree(&own.join(LOGS))).map_err(doing("removing the logs"))?;
        } else {
            self.clear(&own, run_id)?;
        }
        if let Some(owner) = owner {
            let folder = self.runs.join(owner.to_string());
            let mark = folder.join(format!("{USED_BY}{run_id}"));
            gone_is_fine(files::remove_file(&mark)).map_err(doing("unmarking the workspace"))?;
            if folder.join(REMOVED).exists() && !self.is_used(owner)? {
                self.clear(&folder, owner)?;
            }
        }
        Ok(())
    }

    /// Removes what a crash left: uploads, incomplete folders and versions, removals that were not finished, and folders whose run is not
    /// known. Call it before any run is created. Returns how many there were.
    pub fn sweep(&self, is_known: impl Fn(RunId) -> bool) -> Result<usize, WorkspaceError> {
        self.sweep_incoming()?;
        self.sweep_versions()?;
        let entries = match fs::read_dir(&self.runs) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(doing("reading the workspaces")(error)),
        };
        let mut swept = 0;
        for entry in entries {
            let entry = entry.map_err(doing("reading the workspaces"))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(NEW) || name.starts_with(GONE) {
                remove_all(&entry.path()).map_err(doing(format!("removing `{name}`")))?;
                swept += 1;
            } else if let Ok(run_id) = name.parse::<RunId>() {
                let kept =
                    is_known(run_id) || (entry.path().join(REMOVED).exists() && self.is_used(run_id)?);
                if !kept {
                    self.remove(run_id)?;
                    swept += 1;
                }
            }
        }
        Ok(swept)
    }

    /// Remembers that `user` works in the folder of `owner`, durably.
    pub(super) fn mark(&self, owner: RunId, user: RunId) -> Result<(), WorkspaceError> {
        let folder = self.runs.join(owner.to_string());
        put_mark(&folder.join(format!("{USED_BY}{user}")))
            .and_then(|()| files::sync_folder(&folder))
            .map_err(doing("marking the workspace"))
    }

    /// Whether another run works in the folder of this one. A mark of a run that was never completed does not count.
    fn is_used(&self, run_id: RunId) -> Result<bool, WorkspaceError> {
        let entries = match fs::read_dir(self.runs.join(run_id.to_string())) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(doing("reading the workspace")(error)),
        };
        for entry in entries {
            let name =
                entry.map_err(doing("reading the workspace"))?.file_name().to_string_lossy().into_owned();
            if name.strip_prefix(USED_BY).is_some_and(|user| self.runs.join(user).is_dir()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Renamed first: a crash in the middle must not leave a workspace that looks whole.
    fn clear(&self, folder: &Path, run_id: RunId) -> Result<(), WorkspaceError> {
        let gone = self.runs.join(format!("{GONE}{run_id}"));
        gone_is_fine(files::rename(folder, &gone)).map_err(doing("removing the workspace"))?;
        gone_is_fine(remove_all(&gone)).map_err(doing("removing the workspace"))
    }
}

/// `remove_dir_all` opens each folder without following links, so an agent cannot lead it elsewhere.
fn remove_all(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() { files::remove_tree(path) } else { files::remove_file(path) }
}

/// Makes an empty file, if it is not there: all it says is in its name.
fn put_mark(path: &Path) -> io::Result<()> {
    match files::write_new(path, 0o644, |_| Ok(())) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

fn gone_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

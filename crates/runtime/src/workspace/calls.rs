//! Arguments of calls that must not be written down in the journal, where only the owner of the data directory can read
//! them. They are there as long as the call may still be made, or a person has to say what became of it.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use adjourn_core::{ExecutionId, RunId};
use adjourn_store::files;
use serde_json::Value;

use super::error::doing;
use super::{WorkspaceError, Workspaces};

const CALLS: &str = "calls";

impl Workspaces {
    /// Keeps the arguments of a call, durably: the call may be made long after a restart.
    pub(crate) fn keep_call(
        &self,
        run_id: RunId,
        id: ExecutionId,
        arguments: &Value,
    ) -> Result<(), WorkspaceError> {
        let failed = || doing("keeping the arguments of a call");
        let folder = self.runs.join(run_id.to_string()).join(CALLS);
        let file = self.call_file(run_id, id);
        files::ensure_private_folder(&folder)
            .and_then(|()| {
                files::write_new(&file, 0o600, |file| file.write_all(arguments.to_string().as_bytes()))
            })
            .and_then(|()| files::sync_file(&file))
            .and_then(|()| files::sync_folder(&folder))
            .map_err(failed())
    }

    /// The arguments of a call as they were asked for.
    pub(crate) fn kept_call(&self, run_id: RunId, id: ExecutionId) -> Result<Value, WorkspaceError> {
        let failed = || doing("reading the arguments of a call");
        let bytes = fs::read(self.call_file(run_id, id)).map_err(failed())?;
        serde_json::from_slice(&bytes).map_err(|error| failed()(error.into()))
    }

    /// Removes the arguments of a call that is over. Most calls have none here.
    pub(crate) fn forget_call(&self, run_id: RunId, id: ExecutionId) {
        // Whether it was there does not matter, and what cannot be removed now the next start finds.
        let _ = files::remove_file(&self.call_file(run_id, id));
    }

    /// Removes the arguments of all calls that are over: a crash may have come between the end of a call and this.
    pub(crate) fn sweep_calls(
        &self,
        is_over: impl Fn(RunId, ExecutionId) -> bool,
    ) -> Result<(), WorkspaceError> {
        let failed = || doing("looking for arguments of calls that have ended");
        for run_id in ids::<RunId>(&self.runs, "").map_err(failed())? {
            let folder = self.runs.join(run_id.to_string()).join(CALLS);
            for id in ids::<ExecutionId>(&folder, ".json").map_err(failed())? {
                if is_over(run_id, id) {
                    self.forget_call(run_id, id);
                }
            }
        }
        Ok(())
    }

    fn call_file(&self, run_id: RunId, id: ExecutionId) -> PathBuf {
        self.runs.join(run_id.to_string()).join(CALLS).join(format!("{id}.json"))
    }
}

/// The ids that the entries of a folder are called by, with this ending; none where there is no folder.
fn ids<T: FromStr>(folder: &Path, ending: &str) -> io::Result<Vec<T>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        entries => entries?,
    };
    let mut ids = Vec::new();
    for entry in entries {
        ids.extend(entry?.file_name().to_str().and_then(|name| name.strip_suffix(ending)?.parse().ok()));
    }
    Ok(ids)
}

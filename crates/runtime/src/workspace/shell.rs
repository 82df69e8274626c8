//! The variables of the shell that asked for a run or a roundtable, which agents work with.
//!
//! ```text
//! DATA/runs/run_…/environment.json          of a run: goes with its folder
//! DATA/roundtables/rt_….environment.json    of a roundtable, for the runs of its agents: goes when it is closed
//! ```
//!
//! Only the owner of the data directory can read them. Nothing of them is in the journal.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use adjourn_core::{RoundtableId, RunId};
use adjourn_engine::ShellVariables;
use adjourn_store::files;

use super::{WorkspaceError, Workspaces, doing};

const SHELL: &str = "environment.json";

impl Workspaces {
    /// The variables that a run was asked for with; none for a run that no shell asked for, or from before they were kept.
    pub(crate) fn shell(&self, run_id: RunId) -> Option<ShellVariables> {
        read(&self.runs.join(run_id.to_string()).join(SHELL))
    }

    /// The variables that a roundtable was asked for with.
    pub(crate) fn roundtable_shell(&self, id: RoundtableId) -> Option<ShellVariables> {
        read(&self.roundtable_file(id))
    }

    /// Keeps the variables that a roundtable is asked for with. When this returns, they are durable.
    pub(crate) fn keep_roundtable_shell(
        &self,
        id: RoundtableId,
        shell: &ShellVariables,
    ) -> Result<(), WorkspaceError> {
        let file = self.roundtable_file(id);
        let keep = || {
            files::ensure_private_folder(&self.roundtables)?;
            write_to(&file, shell)?;
            files::sync_file(&file)?;
            files::sync_folder(&self.roundtables)
        };
        keep().map_err(doing("keeping the environment"))
    }

    /// Removes the variables of a roundtable that is closed, or never was.
    pub(crate) fn forget_roundtable_shell(&self, id: RoundtableId) {
        // What cannot be removed now, the next start finds.
        _ = files::remove_file(&self.roundtable_file(id));
    }

    /// Removes the variables of all roundtables that need none any more.
    pub(crate) fn sweep_roundtable_shells(&self, is_needed: impl Fn(RoundtableId) -> bool) {
        let Ok(entries) = fs::read_dir(&self.roundtables) else { return };
        for name in entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()) {
            let id = name.strip_suffix(SHELL).and_then(|name| name.strip_suffix('.'));
            if let Some(id) = id.and_then(|id| id.parse().ok()).filter(|id| !is_needed(*id)) {
                self.forget_roundtable_shell(id);
            }
        }
    }

    fn roundtable_file(&self, id: RoundtableId) -> PathBuf {
        self.roundtables.join(format!("{id}.{SHELL}"))
    }
}

/// Writes the variables into the folder of a run that is being made.
pub(super) fn write(folder: &Path, shell: &ShellVariables) -> io::Result<()> {
    write_to(&folder.join(SHELL), shell)
}

fn write_to(file: &Path, shell: &ShellVariables) -> io::Result<()> {
    let text = serde_json::to_vec(shell)?;
    files::write_new(file, 0o600, |file| file.write_all(&text))
}

fn read(file: &Path) -> Option<ShellVariables> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

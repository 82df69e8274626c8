//! Arguments of calls that must not be written down in the journal, where only the owner of the data directory can read
//! them.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

use adjourn_core::{ExecutionId, RunId};
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
        let file = self.call_file(run_id, id);
        if let Some(folder) = file.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed())?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let mut open = options.open(&file).map_err(failed())?;
        open.write_all(arguments.to_string().as_bytes()).map_err(failed())?;
        open.sync_all().map_err(failed())?;
        // The name as well: it is in the folder that the file is found.
        file.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all()).map_err(failed())
    }

    /// The arguments of a call as they were asked for.
    pub(crate) fn kept_call(&self, run_id: RunId, id: ExecutionId) -> Result<Value, WorkspaceError> {
        let failed = || doing("reading the arguments of a call");
        let bytes = fs::read(self.call_file(run_id, id)).map_err(failed())?;
        serde_json::from_slice(&bytes).map_err(|error| failed()(error.into()))
    }

    fn call_file(&self, run_id: RunId, id: ExecutionId) -> PathBuf {
        self.runs.join(run_id.to_string()).join(CALLS).join(format!("{id}.json"))
    }
}

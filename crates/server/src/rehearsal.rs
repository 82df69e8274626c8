//! What is wrong with a request, told before there is a data directory to create its run in.

use std::collections::BTreeMap;
use std::path::Path;

use adjourn_engine::supervisor::Supervisor;
use adjourn_runtime::Desk;
use adjourn_runtime::config::Config;
use adjourn_runtime::workspace::Workspaces;
use serde_json::Value;

use crate::local::{self, Reach};
use crate::problem::Problem;

/// Refuses what `POST /v1/runs` by the socket of `data_dir` would refuse, as far as that can be told without a journal.
/// Nothing is made: a folder in which nothing was ever run stays as it is.
pub fn rehearse(data_dir: &Path, config: Config, document: Value) -> Result<(), Problem> {
    let request = local::read(document, Reach::ThisMachine).map_err(Problem::invalid)?.request;
    let supervisor = Supervisor::current_exe().map_err(|error| Problem::internal(error.to_string()))?;
    let desk = Desk::new(config, BTreeMap::new(), Workspaces::new(data_dir), supervisor);
    Ok(desk.rehearse(request)?)
}

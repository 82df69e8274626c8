//! Dry run of a request: reports what is wrong with it before there is a data directory.

use std::collections::BTreeMap;
use std::path::Path;

use adjourn_api::NewRoundtable;
use adjourn_api::read::Document;
use adjourn_engine::supervisor::Supervisor;
use adjourn_runtime::TurnSetup;
use adjourn_runtime::config::Config;
use adjourn_runtime::workspace::Workspaces;
use serde_json::Value;

use crate::extract::local::{self, Reach};
use crate::problem::Problem;

/// Refuses what `POST /v1/runs` by the socket of `data_dir` would refuse, as far as that can be told without a journal.
/// Nothing is made: a folder in which nothing was ever run stays as it is.
pub fn dry_run(data_dir: &Path, config: Config, document: Value) -> Result<(), Problem> {
    let request = local::read(Document::of(document), Reach::ThisMachine)?.request;
    Ok(turn_setup(data_dir, config)?.dry_run(request)?)
}

/// The same for `POST /v1/roundtables`.
pub fn dry_run_roundtable(data_dir: &Path, config: Config, request: NewRoundtable) -> Result<(), Problem> {
    turn_setup(data_dir, config)?.plan_roundtable(&request.into())?;
    Ok(())
}

fn turn_setup(data_dir: &Path, config: Config) -> Result<TurnSetup, Problem> {
    let supervisor = Supervisor::current_exe().map_err(|error| Problem::internal(error.to_string()))?;
    Ok(TurnSetup::new(config, BTreeMap::new(), Workspaces::new(data_dir), supervisor))
}

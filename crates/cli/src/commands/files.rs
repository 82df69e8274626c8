//! `adjourn files`: what a run left in its workspace.

use std::io::Read;

use adjourn_runtime::workspace::{Listed, Workspace, Workspaces};
use anyhow::Context;
use clap::Args;
use serde_json::json;

use crate::data::Global;
use crate::exit::Exit;
use crate::find::find;
use crate::output::{print, print_bytes, print_json};
use crate::table::{Cell, table};
use crate::text::clean;

/// Bytes that are read and printed at once.
const CHUNK_BYTES: usize = 64 << 10;

/// List the files of a run, or print one of them
#[derive(Debug, Args)]
pub(super) struct Files {
    /// The run: its id, or an end of it that no other run has
    #[arg(value_name = "RUN")]
    run: String,

    /// A file in its workspace, to be printed as it is
    #[arg(value_name = "PATH")]
    path: Option<String>,
}

impl Files {
    pub(super) fn run(self, global: &Global) -> anyhow::Result<Exit> {
        let store = global.reader()?;
        let run_id = find(&store, &self.run)?;
        let workspace = Workspaces::new(&global.absolute_data()).open(run_id)?;
        match &self.path {
            Some(path) => print_file(&workspace, path)?,
            None => list(global, &workspace)?,
        }
        Ok(Exit::Done)
    }
}

fn print_file(workspace: &Workspace, path: &str) -> anyhow::Result<()> {
    let mut file = workspace.result_file(path)?;
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let count = file.read(&mut chunk).with_context(|| format!("{path} cannot be read"))?;
        if count == 0 {
            return Ok(());
        }
        print_bytes(&chunk[..count])?;
    }
}

fn list(global: &Global, workspace: &Workspace) -> anyhow::Result<()> {
    let listing = workspace.files()?;
    if global.json {
        let files =
            listing.files.iter().map(|Listed { path, bytes }| json!({ "path": path, "bytes": bytes }));
        return print_json(&files.collect::<Vec<_>>());
    }
    anstream::eprintln!("in {}", workspace.work.display());
    let rows: Vec<_> = listing
        .files
        .iter()
        .map(|Listed { path, bytes }| {
            vec![Cell::from(bytes.to_string()), Cell::from(clean(&path.display().to_string()))]
        })
        .collect();
    if !rows.is_empty() {
        print(&table(&["BYTES", "FILE"], &rows))?;
    }
    if rows.is_empty() {
        anstream::eprintln!("there are no files");
    } else if listing.truncated {
        anstream::eprintln!("there are more than are listed");
    }
    Ok(())
}

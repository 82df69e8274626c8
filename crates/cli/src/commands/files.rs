//! `adjourn files`: what a run left in its workspace.

use adjourn_api::FileView;
use adjourn_core::RunId;
use anyhow::Context;
use clap::Args;
use futures::StreamExt;

use crate::client::{Client, Role};
use crate::data::Global;
use crate::exit::Exit;
use crate::find::find;
use crate::output::{ForeignPieces, print, print_json};
use crate::table::{Cell, table};
use crate::text::clean;

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
    pub(super) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        let mut client = Client::connect(global, Role::Reads).await?;
        let run_id = find(&mut client, &self.run).await?.run_id;
        match &self.path {
            Some(path) => print_file(&mut client, run_id, path).await?,
            None => list(&mut client, run_id).await?,
        }
        Ok(Exit::Done)
    }
}

async fn print_file(client: &mut Client<'_>, run_id: RunId, path: &str) -> anyhow::Result<()> {
    let mut pieces = client.file(run_id, path).await?.into_body().into_data_stream();
    let mut shown = ForeignPieces::new();
    while let Some(piece) = pieces.next().await {
        shown.print(&piece.with_context(|| format!("{path} could not be read to its end"))?)?;
    }
    Ok(shown.finish()?)
}

async fn list(client: &mut Client<'_>, run_id: RunId) -> anyhow::Result<()> {
    let files = client.files(run_id).await?;
    if client.global.json {
        return print_json(&files);
    }
    if let Some(Ok(workspace)) = client.global.workspace(run_id) {
        anstream::eprintln!("in {}", clean(&workspace.work.display().to_string()));
    }
    let rows: Vec<_> = files
        .items
        .iter()
        .map(|FileView { path, bytes, problem }| {
            let problem = problem.as_ref().map(|problem| format!(" ({problem})")).unwrap_or_default();
            vec![Cell::from(bytes.to_string()), Cell::from(format!("{path}{problem}"))]
        })
        .collect();
    if !rows.is_empty() {
        print(&table(&["BYTES", "FILE"], &rows))?;
    }
    if rows.is_empty() {
        anstream::eprintln!("there are no files");
    } else if files.truncated {
        anstream::eprintln!("there are more than are listed");
    }
    Ok(())
}

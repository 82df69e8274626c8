//! `adjourn roundtable export`: the document that came out.

use std::path::PathBuf;

use adjourn_core::RoundtableId;
use anyhow::Context;
use axum::body::Bytes;
use clap::{Args, ValueEnum};

use super::session;
use crate::client::{Client, Role};
use crate::data::Global;
use crate::exit::Exit;
use crate::find::find_roundtable;
use crate::output::print_foreign;

/// Bytes of a document: a hundred rounds of it are far less.
const DOCUMENT_BYTES_MAX: usize = 256 << 20;

/// Print the document that came out of a roundtable
#[derive(Debug, Args)]
pub(super) struct Export {
    /// The roundtable: its id, or an end of it that no other has
    #[arg(value_name = "ROUNDTABLE")]
    roundtable: String,

    /// As what [default: md, with --json json]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,

    /// Into a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Keep session.json and session.md in a folder current after every round, until the roundtable closes
    #[arg(long, value_name = "DIR", conflicts_with_all = ["format", "output"])]
    follow: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// A document for people, in Markdown
    Md,
    /// All of it, for programs
    Json,
}

impl Export {
    pub(super) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        let mut client = Client::connect(global, Role::Reads).await?;
        let table = find_roundtable(&mut client, &self.roundtable).await?;
        if let Some(folder) = &self.follow {
            return session::follow(&mut client, table, folder).await;
        }
        let id = table.roundtable_id;
        let format = match (self.format, global.json) {
            (Some(Format::Md), _) | (None, false) => "md",
            (Some(Format::Json), _) | (None, true) => "json",
        };
        let document = fetch(&mut client, id, format).await?;
        match &self.output {
            Some(file) => {
                std::fs::write(file, &document)
                    .with_context(|| format!("{} cannot be written", file.display()))?;
                anstream::eprintln!("written to {}", file.display());
            }
            None => print_foreign(&document)?,
        }
        Ok(Exit::Done)
    }
}

/// The document, ended by a line end.
pub(super) async fn fetch(client: &mut Client<'_>, id: RoundtableId, format: &str) -> anyhow::Result<Bytes> {
    let response = client.export_roundtable(id, format).await?;
    let document = axum::body::to_bytes(response.into_body(), DOCUMENT_BYTES_MAX)
        .await
        .context("the document could not be read to its end")?;
    if document.ends_with(b"\n") {
        return Ok(document);
    }
    Ok([&document[..], b"\n"].concat().into())
}

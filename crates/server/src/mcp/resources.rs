//! Transcripts of runs, as resources.

use adjourn_api::{Code, Page};
use adjourn_core::RunId;
use adjourn_store::RunFilter;
use rmcp::model::{ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};

use super::transcript::transcript;
use crate::api::runs::bad_cursor;
use crate::extract::query::run_id;
use crate::problem::Problem;
use crate::server::Server;
use crate::stream::run_reader::RunReader;
use crate::stream::sse::PAGE_ENTRIES;

/// Transcripts of one page of the list: what a person looks for is recent.
const LISTED: usize = 50;

const SCHEME: &str = "adjourn://runs/";
const SUFFIX: &str = "/transcript";
const MIME_TYPE: &str = "text/markdown";

pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{SCHEME}{{run_id}}{SUFFIX}"), "transcript")
        .with_title("Transcript of a run")
        .with_description(
            "what the agent said and did, what it asked, and what it was answered, from the beginning",
        )
        .with_mime_type(MIME_TYPE)
}

/// The transcripts of runs, the newest first.
pub(super) async fn list(server: &Server, cursor: Option<String>) -> Result<ListResourcesResult, Problem> {
    let before = cursor.as_deref().map(run_id).transpose().map_err(|_| bad_cursor())?;
    let filter = RunFilter { before, ..RunFilter::default() };
    let rows = server.blocking(move |service| Ok(service.journal().runs(&filter, LISTED + 1)?)).await?;
    let Page { items: rows, next_cursor } = Page::cut(rows, LISTED, |row| row.run_id.to_string());
    let resources = rows.iter().map(|row| {
        let what = row.skill.as_deref().unwrap_or("a prompt");
        Resource::new(uri(row.run_id), row.run_id.to_string())
            .with_title(format!("{what} on {}, {}", row.engine, row.status))
            .with_description(format!("a run that was started at {}", row.created_at))
            .with_mime_type(MIME_TYPE)
    });
    let mut list = ListResourcesResult::with_all_items(resources.collect());
    list.next_cursor = next_cursor;
    Ok(list)
}

pub(super) async fn read(server: &Server, uri: &str) -> Result<ReadResourceResult, Problem> {
    let named = uri.strip_prefix(SCHEME).and_then(|rest| rest.strip_suffix(SUFFIX));
    let id = named.ok_or_else(|| {
        let detail = format!("there is no resource `{uri}`: they are called {SCHEME}RUN{SUFFIX}");
        Problem::new(Code::UnknownRoute, detail)
    })?;
    let id = run_id(id)?;
    let text = server.blocking(move |service| {
        let run = service.run(id)?;
        let reader = RunReader { journal: service.journal(), id, engine: run.spec().engine.clone() };
        transcript(&run, |after| Ok(reader.frames(after, PAGE_ENTRIES)?.0))
    });
    let contents = ResourceContents::text(text.await?, uri).with_mime_type(MIME_TYPE);
    Ok(ReadResourceResult::new(vec![contents]))
}

fn uri(id: RunId) -> String {
    format!("{SCHEME}{id}{SUFFIX}")
}

//! What can be asked, each with the type of its answer.

use std::path::PathBuf;

use adjourn_api::{Answer, CreatedView, Files, History, Local, Page, SettleCall, Waiting};
use adjourn_core::{
    ContractView, ExecutionId, Frame, InteractionView, ListedRun, RunId, RunView, Settlement, TraceStep,
};
use axum::body::Body;
use axum::http::Response;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::call::{Call, Payload, encoded};
use super::{Client, Refused, Sse};

/// The member of a request with the variables of this shell, which only an owner on this machine takes.
const ENVIRONMENT: &str = Local::ENVIRONMENT;

/// Items of a page, when all of them are wanted: as many as a server gives.
const PAGE: usize = 500;

/// Which runs are listed.
#[derive(Debug, Default)]
pub(crate) struct RunQuery {
    pub(crate) status: Option<String>,
    pub(crate) skill: Option<String>,
    pub(crate) label: Option<String>,
}

impl Client<'_> {
    pub(crate) async fn run(&mut self, id: RunId) -> anyhow::Result<RunView> {
        self.ask(&Call::get(format!("/v1/runs/{id}"))).await
    }

    pub(crate) async fn interactions(&mut self, id: RunId) -> anyhow::Result<Vec<InteractionView>> {
        let page: Page<_> = self.ask(&Call::get(format!("/v1/runs/{id}/interactions"))).await?;
        Ok(page.items)
    }

    /// The contracts of a run, the oldest first.
    pub(crate) async fn contracts(&mut self, id: RunId) -> anyhow::Result<Vec<ContractView>> {
        let page: Page<_> = self.ask(&Call::get(format!("/v1/runs/{id}/contracts"))).await?;
        Ok(page.items)
    }

    /// Every step of every contract of a run, in order.
    pub(crate) async fn trace(&mut self, id: RunId) -> anyhow::Result<Page<TraceStep>> {
        self.ask(&Call::get(format!("/v1/runs/{id}/trace"))).await
    }

    /// Says what became of a call whose result was lost. The same again changes nothing.
    pub(crate) async fn settle(
        &mut self,
        id: ExecutionId,
        outcome: Settlement,
        note: Option<&str>,
    ) -> anyhow::Result<ContractView> {
        let body = Payload::json(&SettleCall { outcome, note: note.map(str::to_owned) });
        self.ask(&Call::post(format!("/v1/contracts/{id}/settle"), body)).await
    }

    /// Up to `limit` runs, the newest first.
    pub(crate) async fn runs(&mut self, query: &RunQuery, limit: usize) -> anyhow::Result<Page<ListedRun>> {
        let RunQuery { status, skill, label } = query;
        let mut filter = String::new();
        for (name, value) in [("status", status), ("skill", skill), ("label", label)] {
            if let Some(value) = value {
                filter.push_str(&format!("&{name}={}", encoded(value)));
            }
        }
        self.pages(&format!("/v1/runs?{}", filter.trim_start_matches('&')), limit).await
    }

    /// Everything that waits for a person, the oldest first.
    pub(crate) async fn inbox(&mut self) -> anyhow::Result<Page<Waiting>> {
        self.pages("/v1/inbox?", usize::MAX).await
    }

    /// The first `limit` items of a list, page by page. `path` ends with a query that may be empty.
    pub(super) async fn pages<T: DeserializeOwned>(
        &mut self,
        path: &str,
        limit: usize,
    ) -> anyhow::Result<Page<T>> {
        let mut all = Page { items: Vec::new(), next_cursor: None };
        loop {
            let count = (limit - all.items.len()).min(PAGE);
            let mut path = format!("{path}&limit={count}").replace("?&", "?");
            if let Some(cursor) = &all.next_cursor {
                path.push_str(&format!("&cursor={}", encoded(cursor)));
            }
            let page: Page<T> = self.ask(&Call::get(path)).await?;
            all.items.extend(page.items);
            all.next_cursor = page.next_cursor;
            if all.next_cursor.is_none() || all.items.len() >= limit {
                return Ok(all);
            }
        }
    }

    pub(crate) async fn files(&mut self, id: RunId) -> anyhow::Result<Files> {
        self.ask(&Call::get(format!("/v1/runs/{id}/files"))).await
    }

    /// A file as it is, to be read piece by piece.
    pub(crate) async fn file(&mut self, id: RunId, path: &str) -> anyhow::Result<Response<Body>> {
        let path: Vec<_> = path.split('/').map(encoded).collect();
        self.open(&Call::get(format!("/v1/runs/{id}/files/{}", path.join("/")))).await
    }

    /// Some of the frames after `after`; none where there are no more.
    pub(crate) async fn history(&mut self, id: RunId, after: u64) -> anyhow::Result<Vec<Frame>> {
        let call = Call::get(format!("/v1/runs/{id}/events?after={after}&limit={PAGE}"));
        let History { events, next_after } = self.ask(&call.accept("application/json")).await?;
        debug_assert_eq!(events.last().map_or(after, |last| last.seq), next_after);
        Ok(events)
    }

    /// The frames after `after`, as they come; none where no more will.
    pub(crate) async fn events(&mut self, id: RunId, after: u64) -> anyhow::Result<Option<Sse>> {
        let call = Call::get(format!("/v1/runs/{id}/events")).header("last-event-id", after);
        self.follow(&call.accept("text/event-stream")).await
    }

    /// The state changes of all runs, from now on.
    pub(crate) async fn all_events(&mut self) -> anyhow::Result<Option<Sse>> {
        self.follow(&Call::get("/v1/events".to_owned()).accept("text/event-stream")).await
    }

    /// Creates a run. The same `key` again creates no other.
    pub(crate) async fn create(
        &mut self,
        request: Value,
        files: Vec<(String, PathBuf)>,
        key: &str,
    ) -> anyhow::Result<CreatedView> {
        let post = |request| {
            let files = files.clone();
            let payload =
                if files.is_empty() { Payload::Json(request) } else { Payload::Form(request, files) };
            Call::post("/v1/runs".to_owned(), payload).key(key)
        };
        self.ask_from_shell(request, post).await
    }

    /// Makes a request with the variables of this shell, and without them to somebody who does not take them.
    pub(super) async fn ask_from_shell<T: DeserializeOwned>(
        &mut self,
        request: Value,
        post: impl Fn(Value) -> Call,
    ) -> anyhow::Result<T> {
        let Some(shell) = self.global.shell() else { return self.ask(&post(request)).await };
        let mut from_shell = request.clone();
        from_shell[ENVIRONMENT] = json!(shell);
        match self.ask(&post(from_shell)).await {
            Err(error) if is_of_an_earlier_owner(&error) => self.ask(&post(request)).await,
            answer => answer,
        }
    }

    /// Creates a run by the request that another was created by.
    pub(crate) async fn rerun(&mut self, id: RunId, key: &str) -> anyhow::Result<CreatedView> {
        let payload = match self.global.shell() {
            Some(shell) => Payload::Json(json!({ ENVIRONMENT: shell })),
            None => Payload::Nothing,
        };
        self.ask(&Call::post(format!("/v1/runs/{id}/rerun"), payload).key(key)).await
    }

    pub(crate) async fn reply(&mut self, id: RunId, answer: &Answer, key: &str) -> anyhow::Result<RunView> {
        self.ask(&Call::post(format!("/v1/runs/{id}/reply"), Payload::json(answer)).key(key)).await
    }

    pub(crate) async fn cancel(&mut self, id: RunId) -> anyhow::Result<RunView> {
        self.ask(&Call::post(format!("/v1/runs/{id}/cancel"), Payload::Nothing)).await
    }
}

/// Whether a request was refused for the variables of this shell: by an owner of an earlier version, which does not know of
/// them and gives agents its own.
fn is_of_an_earlier_owner(error: &anyhow::Error) -> bool {
    let refused = error.downcast_ref::<Refused>();
    refused.is_some_and(|refused| refused.errors.iter().any(|error| error.path == format!("/{ENVIRONMENT}")))
}

/// A key that no other request has: if this one is made again, it is known to be the same.
pub(crate) fn new_key() -> String {
    uuid::Uuid::now_v7().to_string()
}

//! What can be asked of roundtables.

use adjourn_api::{ArtifactChange, EscalateRoundtable, NewRoundtable, OpenedView, Page, RoundtableAnswer};
use adjourn_core::machines::RoundtableStatus;
use adjourn_core::roundtable::{ArtifactId, ArtifactView, RoundtableView};
use adjourn_core::{RoundtableId, RoundtableRow};
use axum::body::Body;
use axum::http::Response;
use serde_json::json;

use super::call::{Call, Payload};
use super::{Client, Sse};

impl Client<'_> {
    /// Opens a roundtable. The same `key` again opens no other.
    pub(crate) async fn open_roundtable(
        &mut self,
        request: &NewRoundtable,
        key: &str,
    ) -> anyhow::Result<OpenedView> {
        let request = json!(request);
        let post = |request| Call::post("/v1/roundtables".to_owned(), Payload::Json(request)).key(key);
        self.ask_from_shell(request, post).await
    }

    pub(crate) async fn roundtable(&mut self, id: RoundtableId) -> anyhow::Result<RoundtableView> {
        self.ask(&Call::get(format!("/v1/roundtables/{id}"))).await
    }

    /// Up to `limit` roundtables, the newest first.
    pub(crate) async fn roundtables(
        &mut self,
        status: Option<RoundtableStatus>,
        limit: usize,
    ) -> anyhow::Result<Page<RoundtableRow>> {
        let filter = status.map(|status| format!("status={status}")).unwrap_or_default();
        self.pages(&format!("/v1/roundtables?{filter}"), limit).await
    }

    /// The frames after `after`, as they come; none where no more will.
    pub(crate) async fn roundtable_events(
        &mut self,
        id: RoundtableId,
        after: u64,
    ) -> anyhow::Result<Option<Sse>> {
        let call = Call::get(format!("/v1/roundtables/{id}/events")).header("last-event-id", after);
        self.follow(&call.accept("text/event-stream")).await
    }

    pub(crate) async fn reply_to_roundtable(
        &mut self,
        id: RoundtableId,
        answer: &RoundtableAnswer,
        key: &str,
    ) -> anyhow::Result<RoundtableView> {
        let path = format!("/v1/roundtables/{id}/reply");
        self.ask(&Call::post(path, Payload::json(answer)).key(key)).await
    }

    pub(crate) async fn escalate_roundtable(
        &mut self,
        id: RoundtableId,
        note: Option<String>,
    ) -> anyhow::Result<RoundtableView> {
        let body = Payload::json(&EscalateRoundtable { note });
        self.ask(&Call::post(format!("/v1/roundtables/{id}/escalate"), body)).await
    }

    /// Changes a result of a roundtable. The same `key` again changes nothing.
    pub(crate) async fn change_artifact(
        &mut self,
        id: RoundtableId,
        artifact: ArtifactId,
        change: &ArtifactChange,
        key: &str,
    ) -> anyhow::Result<ArtifactView> {
        let path = format!("/v1/roundtables/{id}/artifacts/{artifact}");
        self.ask(&Call::post(path, Payload::json(change)).key(key)).await
    }

    pub(crate) async fn close_roundtable(&mut self, id: RoundtableId) -> anyhow::Result<RoundtableView> {
        self.ask(&Call::post(format!("/v1/roundtables/{id}/close"), Payload::Nothing)).await
    }

    /// The document that came out, as it is.
    pub(crate) async fn export_roundtable(
        &mut self,
        id: RoundtableId,
        format: &str,
    ) -> anyhow::Result<Response<Body>> {
        self.open(&Call::get(format!("/v1/roundtables/{id}/export?format={format}"))).await
    }
}

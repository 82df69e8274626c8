//! Answers that are more than one thing of the core: pages, and what comes with a thing that was created.

use adjourn_core::roundtable::RoundtableView;
use adjourn_core::{Frame, InteractionView, RoundtableId, RunId, RunView};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A page of a list.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Page<T> {
    #[allow(missing_docs, reason = "the name says what it is")]
    pub items: Vec<T>,
    /// Where the next page begins; none after the last.
    pub next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// All there is.
    pub fn whole(items: Vec<T>) -> Self {
        Self { items, next_cursor: None }
    }

    /// The first `limit` of items of which one more was asked for. `cursor` says where to go on after one of them.
    pub fn cut(mut items: Vec<T>, limit: usize, cursor: impl FnOnce(&T) -> String) -> Self {
        let is_last = items.len() <= limit;
        items.truncate(limit);
        let next_cursor = items.last().filter(|_| !is_last).map(cursor);
        Self { items, next_cursor }
    }

    /// The same page with other items.
    pub fn map<U>(self, change: impl FnOnce(Vec<T>) -> Vec<U>) -> Page<U> {
        Page { items: change(self.items), next_cursor: self.next_cursor }
    }
}

/// A run that was created.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct CreatedView {
    #[serde(flatten)]
    #[allow(missing_docs, reason = "the name says what it is")]
    pub run: RunView,
    /// What the asker should know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// A roundtable that was opened.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct OpenedView {
    #[serde(flatten)]
    #[allow(missing_docs, reason = "the name says what it is")]
    pub roundtable: RoundtableView,
    /// What the asker should know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// A page of history.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct History {
    #[allow(missing_docs, reason = "the name says what it is")]
    pub events: Vec<Frame>,
    /// Where to go on, now or when there is more.
    pub next_after: u64,
}

/// The files of a run.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Files {
    #[allow(missing_docs, reason = "the name says what it is")]
    pub items: Vec<FileView>,
    /// Always null: the list has one page.
    pub next_cursor: Option<String>,
    /// There are more than are listed.
    pub truncated: bool,
}

/// A file.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct FileView {
    /// Relative to the workspace.
    pub path: String,
    #[allow(missing_docs, reason = "the name says what it is")]
    pub bytes: u64,
    /// Why its content is not given out, where it is not: it has other names (hard links), which may be outside of the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A question that waits, and whose it is.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Waiting {
    /// A run asks.
    Run(WaitingRun),
    /// A roundtable asks.
    Roundtable(WaitingRoundtable),
}

/// A question of a run.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[allow(missing_docs, reason = "the names say what they are")]
pub struct WaitingRun {
    pub run_id: RunId,
    pub skill: Option<String>,
    pub engine: String,
    #[serde(flatten)]
    pub interaction: InteractionView,
}

/// A question of a roundtable.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[allow(missing_docs, reason = "the names say what they are")]
pub struct WaitingRoundtable {
    pub roundtable_id: RoundtableId,
    /// What is discussed.
    pub subject: String,
    #[serde(flatten)]
    pub interaction: InteractionView,
}

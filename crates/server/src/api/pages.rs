//! Lists, page by page.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use crate::problem::Problem;

/// Items of a page that does not say how many it wants.
const LIMIT_DEFAULT: usize = 50;

/// Items of a page: a page is held in memory.
pub(crate) const LIMIT_MAX: usize = 500;

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Page<T> {
    items: Vec<T>,
    /// Where the next page begins; none after the last.
    next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// All there is.
    pub(crate) fn whole(items: Vec<T>) -> Json<Self> {
        Json(Self { items, next_cursor: None })
    }

    /// The first `limit` of items of which one more was asked for. `cursor` says where to go on after one of them.
    pub(crate) fn cut(mut items: Vec<T>, limit: usize, cursor: impl FnOnce(&T) -> String) -> Self {
        let is_last = items.len() <= limit;
        items.truncate(limit);
        let next_cursor = items.last().filter(|_| !is_last).map(cursor);
        Self { items, next_cursor }
    }

    /// The items, and where the next page begins.
    pub(crate) fn into_parts(self) -> (Vec<T>, Option<String>) {
        (self.items, self.next_cursor)
    }

    /// The same page with other items.
    pub(crate) fn map<U>(self, change: impl FnOnce(Vec<T>) -> Vec<U>) -> Page<U> {
        Page { items: change(self.items), next_cursor: self.next_cursor }
    }
}

/// How many items a page has.
pub(crate) fn limit(given: Option<usize>) -> Result<usize, Problem> {
    match given.unwrap_or(LIMIT_DEFAULT) {
        limit @ 1..=LIMIT_MAX => Ok(limit),
        other => Err(Problem::bad_request(format!("`limit` is {other}: it should be 1 to {LIMIT_MAX}"))),
    }
}
